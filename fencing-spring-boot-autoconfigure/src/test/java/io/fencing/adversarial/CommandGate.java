package io.fencing.adversarial;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.lettuce.core.event.command.CommandListener;
import io.lettuce.core.event.command.CommandStartedEvent;

/**
 * Runs an action, once, at the last moment before a thread sends a command to Redis.
 * Thread-safe.
 */
final class CommandGate implements CommandListener {

	private final Map<Thread, Runnable> actions = new ConcurrentHashMap<>();

	/**
	 * Run an action before the next command of the calling thread.
	 * @param action the action
	 */
	void beforeNextCommand(Runnable action) {
		this.actions.put(Thread.currentThread(), action);
	}

	/**
	 * Forget the action of the calling thread, if it has not run.
	 */
	void open() {
		this.actions.remove(Thread.currentThread());
	}

	@Override
	public void commandStarted(CommandStartedEvent event) {
		Runnable action = this.actions.remove(Thread.currentThread());
		if (action != null) {
			action.run();
		}
	}

}
