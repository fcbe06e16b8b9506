package io.fencing.fence.jdbc;

import java.util.concurrent.CompletionException;

import io.fencing.AdmissionTimeoutException;
import io.fencing.context.OperationContext;
import io.fencing.testing.TestServers;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tasks that carry the context of an operation, on a database without shared locks.
 */
class H2CarriedTaskTests {

	private final FencedDatabase database = FencedDatabase.create(TestServers.newH2());

	// rule 4: a hold of its own, which nobody shares here
	@Test
	void rule4WhenOperationsOwnTransactionIsOpenThenTaskIsRefusedAtOnceAndElseItRuns() throws Exception {
		this.database.operations.run(() -> {
			this.database.writeInTransaction(1);
			assertThat(carried(2)).isOne();
		}, TestHeld.next("a"));
		assertThat(this.database.balance()).isEqualTo(2);
		assertThatExceptionOfType(AdmissionTimeoutException.class).isThrownBy(
				() -> this.database.operations.run(() -> this.database.transaction().executeWithoutResult((status) -> {
					this.database.write(3);
					assertThatExceptionOfType(CompletionException.class).isThrownBy(() -> carried(4))
						.withCauseInstanceOf(AdmissionTimeoutException.class);
				}), TestHeld.next("a")));
		assertThat(this.database.balance()).isEqualTo(2);
	}

	private int carried(int balance) {
		OperationContext context = OperationContext.get();
		return Operations.elsewhere(context
			.wrap(() -> this.database.jdbc.update("UPDATE account SET balance = ? WHERE id = 'a'", balance)));
	}

}
