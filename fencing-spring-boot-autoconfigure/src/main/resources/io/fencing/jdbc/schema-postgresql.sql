CREATE TABLE IF NOT EXISTS fencing_fence (
	resource_key VARCHAR(64) NOT NULL,
	namespace VARCHAR NOT NULL,
	token BIGINT NOT NULL,
	owner VARCHAR(64) NOT NULL,
	claimed_at TIMESTAMP WITH TIME ZONE NOT NULL,
	CONSTRAINT fencing_fence_pk PRIMARY KEY (resource_key)
) WITH (fillfactor = 70);
