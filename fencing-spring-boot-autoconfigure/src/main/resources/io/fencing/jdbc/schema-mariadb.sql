CREATE TABLE IF NOT EXISTS fencing_fence (
	resource_key VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
	namespace TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
	token BIGINT NOT NULL,
	owner VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
	claimed_at DATETIME(6) NOT NULL,
	CONSTRAINT fencing_fence_pk PRIMARY KEY (resource_key)
) ENGINE = InnoDB;
