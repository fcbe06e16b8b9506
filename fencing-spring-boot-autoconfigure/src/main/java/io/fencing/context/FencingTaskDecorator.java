package io.fencing.context;

import io.fencing.FencingContext;

import org.springframework.core.task.TaskDecorator;

/**
 * Takes the context of the operation that submits a task along to the thread that runs
 * it. A task that starts after its operation has ended is refused. Thread-safe.
 */
public final class FencingTaskDecorator implements TaskDecorator {

	@Override
	public Runnable decorate(Runnable task) {
		FencingContext context = FencingContext.current();
		return (context != null) ? context.wrap(task) : task;
	}

}
