/**
 * What the JDBC fence and the JDBC journal share: dialects, table names, schema scripts.
 */
@NullMarked
package io.fencing.jdbc;

import org.jspecify.annotations.NullMarked;
