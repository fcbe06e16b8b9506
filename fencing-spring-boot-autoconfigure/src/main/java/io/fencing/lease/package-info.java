/**
 * Leases: who may start work, for how long, and how one JVM keeps them.
 */
@NullMarked
package io.fencing.lease;

import org.jspecify.annotations.NullMarked;
