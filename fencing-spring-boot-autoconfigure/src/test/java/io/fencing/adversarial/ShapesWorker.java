package io.fencing.adversarial;

import java.util.List;
import java.util.Random;
import java.util.function.BooleanSupplier;

import io.fencing.FencingContext;

import org.springframework.transaction.support.TransactionSynchronizationManager;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * One thread that attempts random shapes. What it attempts follows from its seed; what
 * becomes of it, does not.
 */
final class ShapesWorker implements Runnable {

	private final ShapesNode node;

	private final List<String> accounts;

	private final Random random;

	private final ShapesTally tally;

	private final BooleanSupplier goOn;

	ShapesWorker(ShapesNode node, List<String> accounts, long seed, ShapesTally tally, BooleanSupplier goOn) {
		this.node = node;
		this.accounts = accounts;
		this.random = new Random(seed);
		this.tally = tally;
		this.goOn = goOn;
	}

	@Override
	public void run() {
		while (this.goOn.getAsBoolean()) {
			TransactionShape[] shapes = TransactionShape.values();
			TransactionShape shape = shapes[this.random.nextInt(shapes.length)];
			// of its own, since an attempt that is refused draws less
			Random decisions = new Random(this.random.nextLong());
			attempt(shape, new ShapeAttempt(this.node, this.accounts, decisions));
			checkNothingIsLeft(shape);
		}
	}

	private void attempt(TransactionShape shape, ShapeAttempt attempt) {
		try {
			shape.run(attempt);
			this.tally.succeeded(shape);
		}
		catch (RuntimeException | Error ex) {
			this.tally.failed(shape, ex);
		}
		finally {
			this.tally.acknowledged(attempt.getAcknowledged());
		}
	}

	private void checkNothingIsLeft(TransactionShape shape) {
		try {
			assertThat(FencingContext.current()).as("context after " + shape).isNull();
			assertThat(TransactionSynchronizationManager.getResourceMap()).as("resources after " + shape).isEmpty();
			assertThat(TransactionSynchronizationManager.isSynchronizationActive()).as("synchronization after " + shape)
				.isFalse();
		}
		catch (AssertionError ex) {
			this.tally.violated(ex);
		}
	}

}
