/**
 * The lab: one worker is held up until its lease is gone, and goes on.
 */
@NullMarked
package io.fencing.sample.lab;

import org.jspecify.annotations.NullMarked;
