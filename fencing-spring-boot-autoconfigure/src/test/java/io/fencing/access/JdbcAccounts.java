package io.fencing.access;

import org.springframework.data.jdbc.repository.query.Modifying;
import org.springframework.data.jdbc.repository.query.Query;
import org.springframework.data.repository.CrudRepository;

/**
 * Accounts with Spring Data JDBC.
 */
interface JdbcAccounts extends CrudRepository<JdbcAccount, String> {

	@Modifying
	@Query("UPDATE account SET balance = :balance WHERE id = :id")
	int write(String id, int balance);

}
