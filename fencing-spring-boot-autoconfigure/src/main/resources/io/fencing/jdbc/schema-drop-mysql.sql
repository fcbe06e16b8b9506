DROP TABLE IF EXISTS fencing_fence;
