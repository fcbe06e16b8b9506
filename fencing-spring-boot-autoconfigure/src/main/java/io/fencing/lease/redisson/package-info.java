/**
 * The coordinator on Redis, through Redisson: key layout, scripts, lazy client.
 */
@NullMarked
package io.fencing.lease.redisson;

import org.jspecify.annotations.NullMarked;
