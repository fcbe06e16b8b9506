/**
 * What makes a request over HTTP repeatable.
 */
@NullMarked
package io.fencing.sample.idempotency;

import org.jspecify.annotations.NullMarked;
