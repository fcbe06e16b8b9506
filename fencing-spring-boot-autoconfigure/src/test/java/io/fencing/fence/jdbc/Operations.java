package io.fencing.fence.jdbc;

import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;

import io.fencing.FencingException;
import io.fencing.context.OperationContext;
import io.fencing.fence.Fence;
import io.fencing.fence.Fence.CallerTransaction;

/**
 * What the executor does with a fence, in short: inspect, claim, open, hold, run, and end
 * with the refusal that was recorded.
 */
final class Operations {

	private final Fence fence;

	Operations(Fence fence) {
		this.fence = fence;
	}

	OperationContext enter(TestHeld... held) {
		OperationContext context = new OperationContext("withdraw",
				List.of(held)
					.stream()
					.sorted((one, other) -> one.getResource().compareTo(other.getResource()))
					.toList(),
				OperationContext.get());
		this.fence.claim(context);
		return context;
	}

	<T> T call(Callable<T> body, TestHeld... held) throws Exception {
		return call(false, body, held);
	}

	<T> T callInOwnTransaction(Callable<T> body, TestHeld... held) throws Exception {
		return call(true, body, held);
	}

	void run(Step body, TestHeld... held) throws Exception {
		call(false, () -> {
			body.run();
			return true;
		}, held);
	}

	private <T> T call(boolean ownTransaction, Callable<T> body, TestHeld... held) throws Exception {
		CallerTransaction caller = this.fence.inspect("withdraw", ownTransaction);
		OperationContext context = enter(held);
		OperationContext.Scope scope = context.open();
		if (caller != null) {
			caller.afterCompletion(() -> close(context, scope));
		}
		try {
			if (caller != null) {
				caller.hold(context);
			}
			return end(context, body);
		}
		finally {
			if (caller == null) {
				close(context, scope);
			}
		}
	}

	private static void close(OperationContext context, OperationContext.Scope scope) {
		scope.close();
		context.end();
	}

	/**
	 * Run a part of an operation whose other parts run before and after something else.
	 */
	static <T> T in(OperationContext context, Callable<T> part) throws Exception {
		try (OperationContext.Scope scope = context.open()) {
			return end(context, part);
		}
	}

	private static <T> T end(OperationContext context, Callable<T> body) throws Exception {
		T result;
		try {
			result = body.call();
		}
		catch (Exception ex) {
			throwRefusal(context);
			throw ex;
		}
		throwRefusal(context);
		return result;
	}

	private static void throwRefusal(OperationContext context) {
		FencingException refusal = context.getRefusal();
		if (refusal != null) {
			throw refusal;
		}
	}

	/**
	 * Run on another thread, to its end: as another worker.
	 */
	static <T> T elsewhere(Callable<T> work) {
		CompletableFuture<T> result = new CompletableFuture<>();
		Thread thread = new Thread(() -> {
			try {
				result.complete(work.call());
			}
			catch (Throwable ex) {
				result.completeExceptionally(ex);
			}
		}, "elsewhere");
		thread.setDaemon(true);
		thread.start();
		return result.join();
	}

	/**
	 * A part of a body.
	 */
	@FunctionalInterface
	interface Step {

		void run() throws Exception;

	}

}
