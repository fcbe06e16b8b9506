package io.fencing.fence.redis;

import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import io.lettuce.core.output.CommandOutput;
import io.lettuce.core.protocol.RedisCommand;

/**
 * Sends a command again that a cluster has not run, because the slot of its keys is just
 * moving and not all of them, or the guards, are on one node. Gives up after about five
 * seconds, and at once when the command is done, as one that has timed out. Used by one
 * thread at a time.
 */
final class TryAgain implements Runnable {

	private static final int MOST = 100;

	private static final int PAUSE_MILLIS = 50;

	private final ScheduledExecutorService timer;

	private final RedisCommand<?, ?, ?> command;

	private final Consumer<TryAgain> send;

	private int attempts;

	/**
	 * Create one for a command.
	 * @param timer runs what is to be done later
	 * @param command the command
	 * @param send sends it, as if the caller had called once more
	 */
	TryAgain(ScheduledExecutorService timer, RedisCommand<?, ?, ?> command, Consumer<TryAgain> send) {
		this.timer = timer;
		this.command = command;
		this.send = send;
	}

	/**
	 * Send the command again, a little later.
	 * @return whether it will be, else its error counts
	 */
	boolean later() {
		if (this.attempts == MOST || this.command.isDone()) {
			return false;
		}
		this.attempts++;
		try {
			this.timer.schedule(this, PAUSE_MILLIS, TimeUnit.MILLISECONDS);
			return true;
		}
		catch (RejectedExecutionException ex) {
			// the driver is about to stop
			return false;
		}
	}

	@Override
	public void run() {
		if (this.command.isDone()) {
			return;
		}
		CommandOutput<?, ?, ?> output = this.command.getOutput();
		if (output != null) {
			output.setError((String) null);
		}
		try {
			this.send.accept(this);
		}
		catch (RuntimeException ex) {
			this.command.completeExceptionally(ex);
		}
	}

}
