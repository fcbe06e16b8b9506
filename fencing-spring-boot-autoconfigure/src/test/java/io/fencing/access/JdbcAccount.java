package io.fencing.access;

import org.springframework.data.annotation.Id;
import org.springframework.data.relational.core.mapping.Table;

/**
 * An account of Spring Data JDBC.
 *
 * @param id the key
 * @param balance what is in it
 */
@Table("account")
record JdbcAccount(@Id String id, int balance) {
}
