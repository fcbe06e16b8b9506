package io.fencing.access;

import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Table;

/**
 * An account of JPA.
 */
@Entity
@Table(name = "account")
class JpaAccount {

	@Id
	String id;

	int balance;

	protected JpaAccount() {
	}

	JpaAccount(String id, int balance) {
		this.id = id;
		this.balance = balance;
	}

}
