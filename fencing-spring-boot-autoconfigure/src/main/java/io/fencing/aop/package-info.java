/**
 * From an annotated method to a request: metadata, expressions, the aspect and what is
 * verified at start-up.
 */
@NullMarked
package io.fencing.aop;

import org.jspecify.annotations.NullMarked;
