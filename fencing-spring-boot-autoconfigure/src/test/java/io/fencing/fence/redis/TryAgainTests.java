package io.fencing.fence.redis;

import java.util.concurrent.Callable;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandType;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * How often a command that a cluster has not run is sent again.
 */
class TryAgainTests {

	private final AsyncCommand<String, String, String> command = new AsyncCommand<>(
			new Command<>(CommandType.GET, new StatusOutput<>(StringCodec.UTF8)));

	private final AtomicInteger sent = new AtomicInteger();

	/** Runs at once what is to be done later, and adds up the delays. */
	private final AtomicInteger millis = new AtomicInteger();

	private final ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1) {

		@Override
		public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
			TryAgainTests.this.millis.addAndGet((int) unit.toMillis(delay));
			return super.schedule(task, 0, unit);
		}

	};

	@AfterEach
	void stop() {
		this.timer.shutdownNow();
	}

	@Test
	void whenServerGoesOnToRefuseThenItIsAskedForFiveSecondsAndNoLonger() {
		TryAgain again = new TryAgain(this.timer, this.command, (self) -> {
			this.sent.incrementAndGet();
			if (!self.later()) {
				this.command.cancel();
			}
		});
		assertThat(again.later()).isTrue();
		await().until(this.command::isDone);
		assertThat(this.sent).hasValue(100);
		assertThat(this.millis).hasValue(5_000);
	}

	@Test
	void whenCommandIsDoneThenItIsNotSentAgain() throws Exception {
		TryAgain again = new TryAgain(this.timer, this.command, (self) -> this.sent.incrementAndGet());
		this.timer.submit((Callable<Boolean>) () -> {
			boolean later = again.later();
			this.command.cancel();
			return later;
		}).get();
		this.timer.submit(() -> {
		}).get();
		assertThat(this.sent).hasValue(0);
		assertThat(again.later()).isFalse();
	}

	@Test
	void whenSendingFailsThenCommandFails() {
		TryAgain again = new TryAgain(this.timer, this.command, (self) -> {
			throw new IllegalStateException("refused");
		});
		again.later();
		await().until(this.command::isDone);
		assertThat(this.command).isCompletedExceptionally();
	}

	@Test
	void whenTimerHasStoppedThenErrorCounts() {
		this.timer.shutdownNow();
		assertThat(new TryAgain(this.timer, this.command, (self) -> {
		}).later()).isFalse();
	}

}
