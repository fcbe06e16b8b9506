/**
 * A payments ledger on real servers, with a lab that shows a stale write refused.
 */
@NullMarked
package io.fencing.sample;

import org.jspecify.annotations.NullMarked;
