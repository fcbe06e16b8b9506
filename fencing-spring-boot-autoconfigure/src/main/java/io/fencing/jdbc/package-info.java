/**
 * What the JDBC fence and the JDBC journal share: dialects, table names, schema scripts,
 * and limits of how long their statements run.
 */
@NullMarked
package io.fencing.jdbc;

import org.jspecify.annotations.NullMarked;
