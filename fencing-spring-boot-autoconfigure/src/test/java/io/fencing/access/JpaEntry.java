package io.fencing.access;

import java.util.UUID;

import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Table;

/**
 * An entry of an account, of JPA.
 */
@Entity
@Table(name = "entry")
class JpaEntry {

	@Id
	String id = UUID.randomUUID().toString();

	String account;

	int amount;

	protected JpaEntry() {
	}

	JpaEntry(String account, int amount) {
		this.account = account;
		this.amount = amount;
	}

}
