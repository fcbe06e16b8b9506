/**
 * The Redis and PostgreSQL servers that the application starts for itself.
 */
@NullMarked
package io.fencing.sample.servers;

import org.jspecify.annotations.NullMarked;
