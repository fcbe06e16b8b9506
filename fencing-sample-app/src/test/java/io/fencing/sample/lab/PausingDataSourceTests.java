package io.fencing.sample.lab;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;

import javax.sql.DataSource;

import io.fencing.sample.SampleTest;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The pause of the lab comes where it is said to come.
 */
@SampleTest
class PausingDataSourceTests {

	private final String account = "lab-" + UUID.randomUUID();

	@Autowired
	private DataSource dataSource;

	@Test
	void whenPausedThenOnceAndBeforeAnythingIsSent() {
		LabAccounts accounts = JdbcAccounts.undecorated(this.dataSource);
		LabAccounts others = JdbcAccounts.undecorated(this.dataSource);
		accounts.open(this.account, BigDecimal.ONE);
		List<BigDecimal> seen = new ArrayList<>();
		accounts.pauseBeforeSending(() -> {
			seen.add(others.read(this.account));
			others.write(this.account, BigDecimal.TEN);
		});
		accounts.write(this.account, new BigDecimal("2.00"));
		assertThat(seen).containsExactly(new BigDecimal("1.00"));
		assertThat(accounts.read(this.account)).isEqualTo("2.00");
		assertThat(seen).hasSize(1);
	}

	@Test
	void whenPausedThenOtherThreadsAreNot() {
		LabAccounts accounts = JdbcAccounts.undecorated(this.dataSource);
		accounts.open(this.account, BigDecimal.ONE);
		List<String> pauses = new ArrayList<>();
		accounts.pauseBeforeSending(() -> pauses.add("paused"));
		assertThat(CompletableFuture.supplyAsync(() -> accounts.read(this.account)).join()).isEqualTo("1.00");
		assertThat(pauses).isEmpty();
		accounts.read(this.account);
		assertThat(pauses).hasSize(1);
	}

}
