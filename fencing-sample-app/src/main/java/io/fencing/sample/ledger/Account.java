package io.fencing.sample.ledger;

import java.math.BigDecimal;

/**
 * An account as it stands.
 *
 * @param account its id
 * @param balance its balance
 */
record Account(String account, BigDecimal balance) {
}
