package io.fencing.autoconfigure;

import io.fencing.ApplicationShutdownException;
import io.fencing.autoconfigure.LedgerApplication.Ledger;
import org.junit.jupiter.api.Test;

import org.springframework.context.ConfigurableApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A context that is stopped and started again, as Spring's test support does with those
 * that it keeps while others run.
 */
class RestartedApplicationTests {

	@Test
	void whenContextIsStartedAgainThenOperationsRunAgain() {
		try (ConfigurableApplicationContext node = LedgerApplication.start()) {
			Ledger ledger = node.getBean(Ledger.class);
			ledger.createTable();
			ledger.open("a");
			node.stop();
			assertThatExceptionOfType(ApplicationShutdownException.class).isThrownBy(() -> ledger.add("a", 1));
			node.start();
			ledger.add("a", 2);
			assertThat(ledger.read("a")).isEqualTo(2);
		}
	}

}
