CREATE TABLE IF NOT EXISTS fencing_fence (
	resource_key VARCHAR(64) NOT NULL,
	namespace VARCHAR NOT NULL,
	token BIGINT NOT NULL,
	owner VARCHAR(64) NOT NULL,
	claimed_at TIMESTAMP WITH TIME ZONE NOT NULL,
	CONSTRAINT fencing_fence_pk PRIMARY KEY (resource_key)
);
CREATE TABLE IF NOT EXISTS fencing_operation (
	operation_key VARCHAR(64) NOT NULL,
	namespace VARCHAR NOT NULL,
	name VARCHAR NOT NULL,
	identity VARCHAR NOT NULL,
	resource_keys VARCHAR NOT NULL,
	input_hash VARCHAR(64) NOT NULL,
	token BIGINT NOT NULL,
	owner VARCHAR(64) NOT NULL,
	state VARCHAR(16) NOT NULL,
	external BOOLEAN NOT NULL,
	attempts INTEGER NOT NULL,
	result VARBINARY,
	started_at TIMESTAMP WITH TIME ZONE NOT NULL,
	changed_at TIMESTAMP WITH TIME ZONE NOT NULL,
	check_at TIMESTAMP WITH TIME ZONE NOT NULL,
	checks INTEGER NOT NULL,
	CONSTRAINT fencing_operation_pk PRIMARY KEY (operation_key)
);
CREATE INDEX IF NOT EXISTS fencing_operation_changed ON fencing_operation (state, changed_at);
