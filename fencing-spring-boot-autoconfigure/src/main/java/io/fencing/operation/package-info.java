/**
 * The one place that knows the whole order of a call.
 */
@NullMarked
package io.fencing.operation;

import org.jspecify.annotations.NullMarked;
