package io.fencing.autoconfigure;

import io.fencing.InvalidFencedOperationException;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Looks at applications that must not start.
 */
final class StartFailures {

	private StartFailures() {
	}

	/**
	 * The start fails with what a user can act on.
	 * @param runner starts the application
	 * @param texts what the message says
	 */
	static void assertRefused(ApplicationContextRunner runner, String... texts) {
		runner.run((context) -> {
			assertThat(context).hasFailed();
			Throwable failure = context.getStartupFailure();
			while (!(failure instanceof InvalidFencedOperationException) && failure.getCause() != null) {
				failure = failure.getCause();
			}
			assertThat(failure).isInstanceOf(InvalidFencedOperationException.class).hasMessageContaining("; ");
			assertThat(failure.getMessage()).contains(texts);
		});
	}

}
