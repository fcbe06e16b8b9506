package io.fencing.lease;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import io.fencing.FencingListener;
import io.fencing.HeldResource;
import org.jspecify.annotations.Nullable;

/**
 * Writes down what it is told about leases.
 */
public final class RecordingListener implements FencingListener {

	public final List<HeldResource> acquired = new CopyOnWriteArrayList<>();

	public final List<HeldResource> lost = new CopyOnWriteArrayList<>();

	public final List<HeldResource> released = new CopyOnWriteArrayList<>();

	public final List<RuntimeException> failures = new CopyOnWriteArrayList<>();

	@Override
	public void onAcquired(String operation, HeldResource held, Duration waited) {
		this.acquired.add(held);
	}

	@Override
	public void onLost(String operation, HeldResource held) {
		this.lost.add(held);
	}

	@Override
	public void onReleased(String operation, HeldResource held, Duration heldFor, @Nullable RuntimeException failure) {
		this.released.add(held);
		if (failure != null) {
			this.failures.add(failure);
		}
	}

}
