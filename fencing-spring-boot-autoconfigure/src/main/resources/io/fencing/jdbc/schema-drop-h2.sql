DROP TABLE IF EXISTS fencing_fence;
DROP TABLE IF EXISTS fencing_operation;
