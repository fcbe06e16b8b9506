package io.fencing.sample.ledger;

import java.math.BigDecimal;

/**
 * What a movement left behind.
 *
 * @param account the account
 * @param balance its balance after the movement
 * @param token the token that the movement was fenced with
 */
public record Receipt(String account, BigDecimal balance, long token) {
}
