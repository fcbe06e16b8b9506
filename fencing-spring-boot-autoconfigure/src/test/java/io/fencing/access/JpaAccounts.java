package io.fencing.access;

import org.springframework.data.jpa.repository.JpaRepository;
import org.springframework.data.jpa.repository.Modifying;
import org.springframework.data.jpa.repository.Query;
import org.springframework.transaction.annotation.Transactional;

/**
 * Accounts with Spring Data JPA.
 */
interface JpaAccounts extends JpaRepository<JpaAccount, String> {

	@Modifying
	@Transactional
	@Query("UPDATE JpaAccount a SET a.balance = :balance WHERE a.id = :id")
	int write(String id, int balance);

}
