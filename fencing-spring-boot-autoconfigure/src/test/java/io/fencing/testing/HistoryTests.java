package io.fencing.testing;

import io.fencing.testing.History.Operation;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The check accepts what is right and names what is wrong.
 */
class HistoryTests {

	private final History history = new History();

	@Test
	void whenEachReadsWhatTheOneBeforeWroteThenNoViolation() {
		this.history.add(new Operation("b", 43, 1, 2, 30, 40));
		this.history.add(new Operation("a", 42, 0, 1, 10, 20));
		assertThat(this.history.getViolations(0, 2)).isEmpty();
	}

	@Test
	void whenTwoHaveReadTheSameValueThenLostUpdateIsNamed() {
		this.history.add(new Operation("a", 42, 0, 1, 10, 20));
		this.history.add(new Operation("b", 43, 0, 1, 30, 40));
		assertThat(this.history.getViolations(0, 1)).hasSize(2)
			.anyMatch((text) -> text.contains("added 2 to 0, but the value is 1"))
			.anyMatch((text) -> text.contains("has not read what"));
	}

	@Test
	void whenOlderTokenIsAcceptedAfterNewerThenNamed() {
		this.history.add(new Operation("b", 43, 0, 1, 10, 40));
		this.history.add(new Operation("a", 42, 1, 2, 20, 50));
		assertThat(this.history.getViolations(0, 2)).singleElement().asString().contains("accepted after the newer");
	}

	@Test
	void whenAcknowledgedWriteDisappearsLaterThenNamed() {
		this.history.add(new Operation("a", 42, 0, 1, 10, 20));
		assertThat(this.history.getViolations(0, 0)).isNotEmpty();
	}

	@Test
	void whenBuiltOnWhatHadNotStartedThenNamed() {
		this.history.add(new Operation("a", 42, 0, 1, 30, 40));
		this.history.add(new Operation("b", 43, 1, 2, 10, 20));
		assertThat(this.history.getViolations(0, 2)).singleElement().asString().contains("had started");
	}

	@Test
	void whenSentAsLineThenSameOnTheOtherSide() {
		Operation operation = new Operation("a", 42, 0, 1, -30, 40);
		assertThat(Operation.parse(operation.toLine())).isEqualTo(operation);
	}

}
