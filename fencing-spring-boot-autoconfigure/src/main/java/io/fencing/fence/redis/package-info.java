/**
 * The fence of Redis: every command of an operation travels inside a script that checks
 * the guards of its resources first.
 */
@NullMarked
package io.fencing.fence.redis;

import org.jspecify.annotations.NullMarked;
