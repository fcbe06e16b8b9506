/**
 * Failures as HTTP answers.
 */
@NullMarked
package io.fencing.sample.web;

import org.jspecify.annotations.NullMarked;
