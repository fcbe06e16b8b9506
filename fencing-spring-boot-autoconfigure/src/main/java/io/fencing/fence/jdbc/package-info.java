/**
 * The fence of relational databases: claims at entry, holds in each transaction, and the
 * guard in front of {@code JdbcTemplate}.
 */
@NullMarked
package io.fencing.fence.jdbc;

import org.jspecify.annotations.NullMarked;
