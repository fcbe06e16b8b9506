/**
 * Accounts and the operations on them, each fenced by its accounts.
 */
@NullMarked
package io.fencing.sample.ledger;

import org.jspecify.annotations.NullMarked;
