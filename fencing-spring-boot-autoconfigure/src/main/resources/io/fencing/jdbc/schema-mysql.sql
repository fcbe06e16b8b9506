CREATE TABLE IF NOT EXISTS fencing_fence (
	resource_key VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
	namespace TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
	token BIGINT NOT NULL,
	owner VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
	claimed_at DATETIME(6) NOT NULL,
	CONSTRAINT fencing_fence_pk PRIMARY KEY (resource_key)
) ENGINE = InnoDB;
CREATE TABLE IF NOT EXISTS fencing_operation (
	operation_key VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
	namespace TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
	name TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
	identity TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
	resource_keys TEXT CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
	input_hash VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
	token BIGINT NOT NULL,
	owner VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
	state VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
	external BOOLEAN NOT NULL,
	attempts INTEGER NOT NULL,
	result LONGBLOB,
	started_at DATETIME(6) NOT NULL,
	changed_at DATETIME(6) NOT NULL,
	check_at DATETIME(6) NOT NULL,
	checks INTEGER NOT NULL,
	CONSTRAINT fencing_operation_pk PRIMARY KEY (operation_key),
	INDEX fencing_operation_changed (state, changed_at)
) ENGINE = InnoDB;
