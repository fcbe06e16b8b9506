package io.fencing.sample.lab;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.lettuce.core.event.command.CommandListener;
import io.lettuce.core.event.command.CommandStartedEvent;

/**
 * As {@link PausingDataSource}, for Redis: where the driver writes the next command of
 * one thread to its connection.
 */
final class PausingCommands implements CommandListener {

	private final Map<Thread, Runnable> pauses = new ConcurrentHashMap<>();

	/**
	 * Have the calling thread held up before its next command is sent.
	 * @param pause what holds it up
	 */
	void pauseNextCommand(Runnable pause) {
		this.pauses.put(Thread.currentThread(), pause);
	}

	@Override
	public void commandStarted(CommandStartedEvent event) {
		Runnable pause = this.pauses.remove(Thread.currentThread());
		if (pause != null) {
			pause.run();
		}
	}

}
