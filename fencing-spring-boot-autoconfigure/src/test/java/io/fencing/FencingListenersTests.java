package io.fencing;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class FencingListenersTests {

	@Test
	void whenListenerThrowsAnythingThenOthersAreToldAndTheWorkGoesOn() {
		List<OperationOutcome> told = new ArrayList<>();
		FencingListener failing = new FencingListener() {
			@Override
			public void onFinished(String operation, OperationOutcome outcome, Duration took) {
				throw new AssertionError(outcome);
			}
		};
		FencingListener recording = new FencingListener() {
			@Override
			public void onFinished(String operation, OperationOutcome outcome, Duration took) {
				told.add(outcome);
			}
		};
		new FencingListeners(List.of(failing, recording)).onFinished("withdraw", OperationOutcome.SUCCESS,
				Duration.ZERO);
		assertThat(told).containsExactly(OperationOutcome.SUCCESS);
	}

}
