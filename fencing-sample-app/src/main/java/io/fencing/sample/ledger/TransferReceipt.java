package io.fencing.sample.ledger;

/**
 * What a transfer left behind.
 *
 * @param from the account that paid
 * @param to the account that was paid
 */
public record TransferReceipt(Receipt from, Receipt to) {
}
