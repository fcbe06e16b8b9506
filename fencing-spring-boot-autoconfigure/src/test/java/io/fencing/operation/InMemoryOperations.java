package io.fencing.operation;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;

import io.fencing.FencedResourceFactory;
import io.fencing.FencingListener;
import io.fencing.FencingListeners;
import io.fencing.OnBusy;
import io.fencing.OperationOutcome;
import io.fencing.fence.FencingMode;
import io.fencing.lease.DefaultLeaseManager;
import io.fencing.lease.MonotonicClock;
import io.fencing.testing.InMemoryFence;
import io.fencing.testing.InMemoryLeaseCoordinator;

import org.springframework.core.task.SimpleAsyncTaskExecutor;

/**
 * An executor on a coordinator and a fence in memory. Operations named {@code observed}
 * are only observed, those named {@code off} are off.
 */
final class InMemoryOperations implements AutoCloseable {

	final InMemoryLeaseCoordinator coordinator = new InMemoryLeaseCoordinator(MonotonicClock.SYSTEM);

	final InMemoryFence fence = new InMemoryFence();

	final List<OperationOutcome> outcomes = new CopyOnWriteArrayList<>();

	final FencedOperationExecutor executor;

	private final FencedResourceFactory resources = new FencedResourceFactory("default", "test");

	private final DefaultLeaseManager leases;

	InMemoryOperations() {
		FencingListeners listeners = new FencingListeners(List.of(new FencingListener() {

			@Override
			public void onFinished(String operation, OperationOutcome outcome, Duration took) {
				InMemoryOperations.this.outcomes.add(outcome);
			}

		}));
		OperationSettings defaults = new OperationSettings(FencingMode.ENFORCE, Duration.ofSeconds(30), Duration.ZERO,
				Duration.ZERO, Duration.ofMinutes(15), Duration.ZERO, true, OnBusy.FAIL);
		this.leases = new DefaultLeaseManager(this.coordinator, listeners, MonotonicClock.SYSTEM,
				Duration.ofSeconds(2));
		this.executor = new FencedOperationExecutor(new OperationSettingsSource(defaults,
				Map.of("observed", mode(FencingMode.OBSERVE), "off", mode(FencingMode.OFF)), Duration.ofDays(7)),
				this.resources, new OperationEntry(this.leases, () -> List.of(this.fence), listeners),
				new OperationObserver(this.leases, () -> List.of(this.fence), listeners, MonotonicClock.SYSTEM),
				listeners, MonotonicClock.SYSTEM, new SimpleAsyncTaskExecutor("completion-"), () -> null);
	}

	private static OperationOverrides mode(FencingMode mode) {
		return new OperationOverrides(mode, null, null, null, null, null, null, true);
	}

	boolean isTaken(String resource) {
		return this.coordinator.isTaken(this.resources.create(resource));
	}

	@Override
	public void close() {
		this.leases.close();
	}

}
