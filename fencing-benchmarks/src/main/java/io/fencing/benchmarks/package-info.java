/**
 * Measures what a fence costs.
 */
@NullMarked
package io.fencing.benchmarks;

import org.jspecify.annotations.NullMarked;
