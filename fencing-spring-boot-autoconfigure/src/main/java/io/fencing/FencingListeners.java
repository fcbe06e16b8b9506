package io.fencing;

import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * All listeners of an application as one. What one of them throws is logged and keeps
 * nothing from the others, nor from the work. Thread-safe.
 */
public final class FencingListeners implements FencingListener {

	private static final Logger logger = LoggerFactory.getLogger(FencingListeners.class);

	private final List<FencingListener> listeners;

	/**
	 * Create the composite.
	 * @param listeners the listeners, in order
	 */
	public FencingListeners(List<? extends FencingListener> listeners) {
		this.listeners = List.copyOf(listeners);
	}

	@Override
	public void onAcquired(String operation, HeldResource held, Duration waited) {
		tell((listener) -> listener.onAcquired(operation, held, waited));
	}

	@Override
	public void onLost(String operation, HeldResource held) {
		tell((listener) -> listener.onLost(operation, held));
	}

	@Override
	public void onReleased(String operation, HeldResource held, Duration heldFor, @Nullable RuntimeException failure) {
		tell((listener) -> listener.onReleased(operation, held, heldFor, failure));
	}

	@Override
	public void onAdmitted(String operation, String storage, Duration took) {
		tell((listener) -> listener.onAdmitted(operation, storage, took));
	}

	@Override
	public void onRejected(String operation, String storage, RejectionReason reason) {
		tell((listener) -> listener.onRejected(operation, storage, reason));
	}

	@Override
	public void onRegression(String operation, String storage, long issued, long accepted) {
		tell((listener) -> listener.onRegression(operation, storage, issued, accepted));
	}

	@Override
	public void onUnfenced(@Nullable String operation, @Nullable String storage) {
		tell((listener) -> listener.onUnfenced(operation, storage));
	}

	@Override
	public void onObserved(String operation, String storage, Observation observation) {
		tell((listener) -> listener.onObserved(operation, storage, observation));
	}

	@Override
	public void onFinished(String operation, OperationOutcome outcome, Duration took) {
		tell((listener) -> listener.onFinished(operation, outcome, took));
	}

	private void tell(Consumer<FencingListener> event) {
		for (FencingListener listener : this.listeners) {
			try {
				event.accept(listener);
			}
			catch (RuntimeException ex) {
				logger.warn("A fencing listener of type '{}' failed; fix it, the work goes on",
						listener.getClass().getName(), ex);
			}
		}
	}

}
