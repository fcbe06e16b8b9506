package io.fencing.operation;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;

import io.fencing.CoordinatorUnavailableException;
import io.fencing.FencedOperationRequest;
import io.fencing.FencedResource;
import io.fencing.FencedResourceFactory;
import io.fencing.FencingContext;
import io.fencing.FencingListener;
import io.fencing.FencingListeners;
import io.fencing.FencingToken;
import io.fencing.InvalidFencedOperationException;
import io.fencing.LeaseNotAcquiredException;
import io.fencing.Observation;
import io.fencing.OnBusy;
import io.fencing.OperationOutcome;
import io.fencing.RejectionReason;
import io.fencing.StaleTokenException;
import io.fencing.UnfencedWriteException;
import io.fencing.context.OperationContext;
import io.fencing.fence.Fence;
import io.fencing.fence.FencingMode;
import io.fencing.lease.DefaultLeaseManager;
import io.fencing.lease.MonotonicClock;
import io.fencing.testing.InMemoryFence;
import io.fencing.testing.InMemoryLeaseCoordinator;
import io.fencing.testing.ManualClock;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * The order of a call, with a coordinator and a fence in memory.
 */
class FencedOperationExecutorTests {

	private final InMemoryLeaseCoordinator coordinator = new InMemoryLeaseCoordinator(MonotonicClock.SYSTEM);

	private final ManualClock clock = new ManualClock();

	private final InMemoryFence fence = new InMemoryFence();

	private final List<String> events = new ArrayList<>();

	private final FencingListeners listeners = new FencingListeners(List.of(new RecordingListener()));

	private final DefaultLeaseManager leases = new DefaultLeaseManager(this.coordinator, this.listeners,
			MonotonicClock.SYSTEM, Duration.ofSeconds(2));

	private final FencedResourceFactory resources = new FencedResourceFactory("default", "test");

	@AfterEach
	void close() {
		this.leases.close();
		assertThat(FencingContext.current()).isNull();
	}

	@Test
	void whenBodyRunsThenItSeesItsTokenAndNothingIsLeftAfterwards() {
		FencedOperationExecutor executor = executor(FencingMode.ENFORCE);
		FencingToken token = executor.call(request("a"), () -> {
			assertThat(holder("a")).isTrue();
			return FencingContext.required().getToken();
		});
		assertThat(token.value()).isPositive();
		assertThat(holder("a")).isFalse();
		assertThat(this.fence.claims()).containsExactly("a");
		assertThat(this.events).contains("finished SUCCESS");
	}

	@Test
	void whenCalledAgainThenTokenIsHigherAndOwnerAnother() {
		FencedOperationExecutor executor = executor(FencingMode.ENFORCE);
		FencingToken first = executor.call(request("a"), () -> FencingContext.required().getToken());
		FencingToken second = executor.call(request("a"), () -> FencingContext.required().getToken());
		assertThat(second).isGreaterThan(first);
		assertThat(second.owner()).isNotEqualTo(first.owner());
	}

	// rule 1: claim before the first read
	@Test
	void rule1WhenBodyStartsThenFenceIsClaimed() {
		FencedOperationExecutor executor = executor(FencingMode.ENFORCE);
		executor.call(request("a"), () -> assertThat(this.fence.claims()).containsExactly("a"));
	}

	@Test
	void whenFenceIsNewerThenBodyDoesNotRunAndLeaseIsReleased() {
		this.fence.raise(resource("a"), Long.MAX_VALUE);
		this.fence.setBeforeClaim(() -> this.coordinator.forgetLease(resource("a")));
		FencedOperationExecutor executor = executor(FencingMode.ENFORCE);
		assertThatExceptionOfType(StaleTokenException.class)
			.isThrownBy(() -> executor.call(request("a"), this::mustNotRun))
			.satisfies((ex) -> assertThat(ex.getReason()).isEqualTo(RejectionReason.STALE));
		assertThat(holder("a")).isFalse();
		assertThat(this.events).contains("finished STALE");
	}

	// rule 6: a coordinator that went back is told apart, lifted, and the next attempt
	// succeeds
	@Test
	void rule6WhenFenceIsNewerWhileLeaseIsOursThenRegressionAndNextAttemptSucceeds() {
		FencedOperationExecutor executor = executor(FencingMode.ENFORCE);
		long before = executor.call(request("a"), () -> FencingContext.required().getToken().value());
		long ahead = before + Duration.ofHours(1).toNanos() / 1_000;
		this.fence.raise(resource("a"), ahead);
		assertThatExceptionOfType(StaleTokenException.class)
			.isThrownBy(() -> executor.call(request("a"), this::mustNotRun))
			.satisfies((ex) -> assertThat(ex.getReason()).isEqualTo(RejectionReason.REGRESSION))
			.satisfies((ex) -> assertThat(ex.getAcceptedToken()).isEqualTo(ahead));
		assertThat(this.events).contains("regression");
		long next = executor.call(request("a"), () -> FencingContext.required().getToken().value());
		assertThat(next).isGreaterThan(ahead);
	}

	@ParameterizedTest
	@EnumSource(names = { "LAGGING", "MISSING", "REPLACED" })
	void rule6WhenRefusalSaysNothingAboutTheCoordinatorThenNoRegression(RejectionReason reason) {
		assertThatExceptionOfType(StaleTokenException.class)
			.isThrownBy(() -> executor(FencingMode.ENFORCE).call(request("a"), () -> {
				OperationContext context = OperationContext.get();
				throw context.refuse(new StaleTokenException("test", context.getHeld().get(0), "memory", reason, 1L));
			}))
			.satisfies((ex) -> assertThat(ex.getReason()).isEqualTo(reason));
		assertThat(this.events).doesNotContain("regression");
	}

	// rule 10: several resources in one sorted order, once each
	@Test
	void rule10WhenSeveralResourcesThenSortedOnceEachAndAllOrNothing() {
		FencedOperationExecutor executor = executor(FencingMode.ENFORCE);
		executor.call(request("a", "b", "a", "c"), () -> {
			assertThat(FencingContext.required().getHeld()).hasSize(3);
			return null;
		});
		List<String> order = this.fence.claims()
			.stream()
			.map((name) -> this.resources.create(name))
			.sorted()
			.map(FencedResource::getName)
			.toList();
		assertThat(this.fence.claims()).isEqualTo(order).hasSize(3);
		executor.call(request("b"), () -> {
			onOtherThread(() -> assertThatExceptionOfType(LeaseNotAcquiredException.class)
				.isThrownBy(() -> executor.call(request("a", "b", "c"), this::mustNotRun)));
			assertThat(holder("a")).isFalse();
			assertThat(holder("c")).isFalse();
			return null;
		});
	}

	// rule 10 and case 43: re-entry keeps the token; release only at the outermost
	@Test
	void rule10Case43WhenSameResourceIsNestedThenTokenIsKeptAndReleasedAtOutermost() {
		FencedOperationExecutor executor = executor(FencingMode.ENFORCE);
		executor.call(request("a"), () -> {
			FencingToken outer = FencingContext.required().getToken();
			FencingToken inner = executor.call(request("a"), () -> FencingContext.required().getToken());
			assertThat(inner).isEqualTo(outer);
			assertThat(holder("a")).isTrue();
			return null;
		});
		assertThat(this.fence.claims()).containsExactly("a");
	}

	// case 42: after the inner one, the outer one's context is back
	@Test
	void case42WhenOtherResourceIsNestedThenBothAreHeldAndOuterIsRestored() {
		FencedOperationExecutor executor = executor(FencingMode.ENFORCE);
		assertThatIllegalStateException().isThrownBy(() -> executor.call(request("a"), () -> {
			FencingToken outer = FencingContext.required().getToken();
			executor.call(request("b"), () -> {
				assertThat(OperationContext.get().getAllHeld()).hasSize(2);
				assertThat(FencingContext.required().getToken("a")).isEqualTo(outer);
				return null;
			});
			assertThat(FencingContext.required().getToken()).isEqualTo(outer);
			throw new IllegalStateException("from the body");
		})).withMessage("from the body");
		assertThat(holder("a")).isFalse();
		assertThat(holder("b")).isFalse();
	}

	// rule 11 and case 92: no refusal is silent
	@Test
	void rule11Case92WhenRefusalIsSwallowedThenOperationStillEndsWithIt() {
		FencedOperationExecutor executor = executor(FencingMode.ENFORCE);
		AtomicReference<@Nullable UnfencedWriteException> refusal = new AtomicReference<>();
		assertThatExceptionOfType(UnfencedWriteException.class).isThrownBy(() -> executor.call(request("a"), () -> {
			refusal.set(OperationContext.get().refuse(new UnfencedWriteException("test", "a write", "a remedy")));
			return "success";
		})).satisfies((ex) -> assertThat(ex).isSameAs(refusal.get()));
		assertThat(this.events).contains("finished REFUSED");
	}

	// rule 11: one failure never hides another
	@Test
	void rule11WhenBodyThrowsAfterRefusalThenRefusalIsThrownAndTheOtherSuppressed() {
		FencedOperationExecutor executor = executor(FencingMode.ENFORCE);
		assertThatExceptionOfType(UnfencedWriteException.class).isThrownBy(() -> executor.call(request("a"), () -> {
			OperationContext.get().refuse(new UnfencedWriteException("test", "a write", "a remedy"));
			throw new IOException("later");
		})).satisfies((ex) -> assertThat(ex.getSuppressed()).singleElement().isInstanceOf(IOException.class));
	}

	@Test
	void whenInnerRefusalConcernsOuterResourceThenOuterEndsWithItToo() {
		FencedOperationExecutor executor = executor(FencingMode.ENFORCE);
		assertThatExceptionOfType(StaleTokenException.class).isThrownBy(() -> executor.call(request("a"), () -> {
			OperationContext outer = OperationContext.get();
			try {
				executor.call(request("b"), () -> {
					throw OperationContext.get()
						.refuse(new StaleTokenException("test", outer.getHeld().get(0), "memory", RejectionReason.STALE,
								null));
				});
			}
			catch (StaleTokenException ex) {
				return "swallowed";
			}
			return "not reached";
		}));
	}

	@Test
	void whenBodyThrowsCheckedExceptionThenItArrivesUnchanged() {
		FencedOperationExecutor executor = executor(FencingMode.ENFORCE);
		assertThatIOException().isThrownBy(() -> executor.call(request("a"), () -> {
			throw new IOException("checked");
		})).withMessage("checked").withNoCause();
		assertThat(holder("a")).isFalse();
	}

	// case 07: every exit gives the lease back
	@Test
	void case07WhenBodyThrowsErrorThenLeaseIsReleased() {
		FencedOperationExecutor executor = executor(FencingMode.ENFORCE);
		assertThatExceptionOfType(StackOverflowError.class).isThrownBy(() -> executor.call(request("a"), () -> {
			throw new StackOverflowError();
		}));
		assertThat(holder("a")).isFalse();
	}

	@Test
	void whenBusyAndSkipThenBodyDoesNotRunAndResultIsNull() {
		FencedOperationExecutor executor = executor(FencingMode.ENFORCE);
		executor.call(request("a"), () -> {
			onOtherThread(
					() -> assertThat(executor.<Object, RuntimeException>call(FencedOperationRequest.builder("test")
						.resource("a")
						.waitTime(Duration.ZERO)
						.onBusy(OnBusy.SKIP)
						.build(), this::mustNotRun)).isNull());
			return null;
		});
		assertThat(this.events).contains("finished SKIPPED");
	}

	@Test
	void whenBusyInsideBodyOfSkippingOperationThenItIsNotSkipped() {
		FencedOperationExecutor executor = executor(FencingMode.ENFORCE);
		FencedOperationRequest skipping = FencedOperationRequest.builder("test")
			.resource("b")
			.onBusy(OnBusy.SKIP)
			.build();
		assertThatExceptionOfType(LeaseNotAcquiredException.class).isThrownBy(() -> executor.call(skipping, () -> {
			throw new LeaseNotAcquiredException("other", resource("a"), Duration.ZERO, Duration.ZERO);
		}));
	}

	@Test
	void whenOffThenNothingIsContacted() {
		FencedOperationExecutor executor = executor(FencingMode.OFF);
		assertThat(executor.<String, RuntimeException>call(request("a"), () -> "result")).isEqualTo("result");
		assertThat(this.coordinator.getRequests()).isZero();
		assertThat(this.fence.claims()).isEmpty();
	}

	@Test
	void whenObservedThenNothingIsRefusedAndAllIsCounted() {
		FencedOperationExecutor executor = executor(FencingMode.OBSERVE);
		this.fence.raise(resource("a"), Long.MAX_VALUE);
		assertThat(executor.<String, RuntimeException>call(request("a"), () -> {
			assertThat(OperationContext.get().getAllHeld()).isEmpty();
			return "result";
		})).isEqualTo("result");
		assertThat(this.events).contains("observed memory REFUSED", "finished SUCCESS");
	}

	@Test
	void whenObservedAndBusyThenBodyRunsWithTokenZero() {
		FencedOperationExecutor executor = executor(FencingMode.OBSERVE);
		FencedOperationExecutor enforcing = executor(FencingMode.ENFORCE);
		enforcing.call(request("a"), () -> {
			onOtherThread(() -> assertThat(executor.<Long, RuntimeException>call(request("a"),
					() -> FencingContext.required().getToken().value()))
				.isZero());
			return null;
		});
		assertThat(this.events).contains("observed coordinator REFUSED");
	}

	@Test
	void whenObservedAndCoordinatorIsDownThenBodyRunsAndOutcomeIsUnknown() {
		FencedOperationExecutor executor = executor(FencingMode.OBSERVE);
		this.coordinator.setUnavailable(true);
		assertThat(executor.<String, RuntimeException>call(request("a"), () -> "result")).isEqualTo("result");
		assertThat(this.events).contains("observed coordinator UNKNOWN");
	}

	@Test
	void whenObservedAndCoordinatorIsDownThenItIsLeftAloneForAWhile() {
		FencedOperationExecutor executor = executor(FencingMode.OBSERVE);
		this.coordinator.setUnavailable(true);
		executor.call(request("a"), () -> null);
		this.coordinator.setUnavailable(false);
		assertThat(
				executor.<Long, RuntimeException>call(request("a"), () -> FencingContext.required().getToken().value()))
			.isZero();
		assertThat(this.events).filteredOn("observed coordinator UNKNOWN"::equals).hasSize(2);
		this.clock.advance(Duration.ofSeconds(10));
		for (int i = 0; i < 2; i++) {
			assertThat(executor.<Long, RuntimeException>call(request("a"),
					() -> FencingContext.required().getToken().value()))
				.isPositive();
		}
	}

	// rule 11: a release that fails hides nothing
	@Test
	void rule11WhenReleaseFailsThenResultWinsOrFailureIsSuppressed() {
		FencedOperationExecutor executor = executor(FencingMode.ENFORCE);
		assertThat(executor.<String, RuntimeException>call(request("a"), () -> {
			this.coordinator.setUnavailable(true);
			return "result";
		})).isEqualTo("result");
		this.coordinator.setUnavailable(false);
		assertThatIllegalStateException().isThrownBy(() -> executor.call(request("b"), () -> {
			this.coordinator.setUnavailable(true);
			throw new IllegalStateException("from the body");
		}))
			.satisfies((ex) -> assertThat(ex.getSuppressed()).singleElement()
				.isInstanceOf(CoordinatorUnavailableException.class));
		this.coordinator.setUnavailable(false);
	}

	@Test
	void whenOperationMeetsNoFenceThenItIsReported() {
		FencedOperationExecutor executor = executor(FencingMode.ENFORCE);
		executor.call(request("a"), () -> null);
		assertThat(this.events).contains("unfenced test");
		this.events.clear();
		assertThatExceptionOfType(IllegalStateException.class).as("fails before it writes")
			.isThrownBy(() -> executor.call(request("a"), () -> {
				throw new IllegalStateException("from the body");
			}));
		executor.call(request("a"), () -> {
			OperationContext.get().meetFence();
			return null;
		});
		assertThat(this.events).doesNotContain("unfenced test");
	}

	@Test
	void whenObservedStorageFailsThenBodyRunsAndOutcomeIsUnknown() {
		FencedOperationExecutor executor = executor(FencingMode.OBSERVE);
		this.fence.setBeforeClaim(() -> {
			throw new IllegalStateException("the storage is broken");
		});
		assertThat(executor.<String, RuntimeException>call(request("a"), () -> "result")).isEqualTo("result");
		assertThat(this.events).contains("observed memory UNKNOWN", "finished SUCCESS");
	}

	@Test
	void whenEnforcedOperationRunsInsideAnObservedOneThenItClaimsWithTheSameLease() {
		FencedOperationExecutor observing = executor(FencingMode.OBSERVE);
		FencedOperationExecutor enforcing = executor(FencingMode.ENFORCE);
		observing.call(request("a"), () -> {
			FencingToken token = FencingContext.required().getToken();
			enforcing.call(request("a", "b"), () -> {
				assertThat(OperationContext.get().getAllHeld()).hasSize(2);
				assertThat(FencingContext.required().getToken("a")).isEqualTo(token);
				return null;
			});
			assertThat(holder("a")).isTrue();
			assertThat(holder("b")).isFalse();
			this.coordinator.forgetLease(resource("a"));
			this.fence.raise(resource("a"), Long.MAX_VALUE);
			assertThatExceptionOfType(StaleTokenException.class)
				.isThrownBy(() -> enforcing.call(request("a"), this::mustNotRun));
			return null;
		});
	}

	@Test
	void whenObservedOperationHasNoLeaseThenAnEnforcedOneInsideIsNotLetIn() {
		FencedOperationExecutor observing = executor(FencingMode.OBSERVE);
		FencedOperationExecutor enforcing = executor(FencingMode.ENFORCE);
		this.coordinator.setUnavailable(true);
		observing.call(request("a"), () -> {
			assertThatExceptionOfType(CoordinatorUnavailableException.class)
				.isThrownBy(() -> enforcing.call(request("a"), this::mustNotRun));
			return null;
		});
	}

	// rule 10: context, watchdog and lease live to the end of a joined transaction
	@Test
	void whenCallerTransactionIsJoinedThenLeaseStaysToItsCompletion() {
		FencedOperationExecutor executor = executor(FencingMode.ENFORCE);
		List<Runnable> completions = new ArrayList<>();
		List<String> holds = new ArrayList<>();
		this.fence.setCallerTransaction(new Fence.CallerTransaction() {

			@Override
			public void hold(OperationContext context) {
				holds.add(context.getOperation());
			}

			@Override
			public void afterCompletion(Runnable callback) {
				completions.add(callback);
			}

		});
		executor.call(request("a"), () -> assertThat(holds).containsExactly("test"));
		assertThat(holder("a")).isTrue();
		assertThat(FencingContext.current()).isNotNull();
		// case 76: a second call in it joins
		executor.call(request("a"), () -> null);
		assertThat(completions).hasSize(1);
		completions.get(0).run();
		assertThat(holder("a")).isFalse();
	}

	// case 12: fail closed
	@Test
	void case12WhenNoLeaseThenTargetIsNotCalled() {
		FencedOperationExecutor executor = executor(FencingMode.ENFORCE);
		executor.call(request("a"), () -> {
			onOtherThread(() -> assertThatExceptionOfType(LeaseNotAcquiredException.class)
				.isThrownBy(() -> executor.call(request("a"), this::mustNotRun))
				.satisfies((ex) -> assertThat(ex.getRetryAfter()).isPositive()));
			return null;
		});
		assertThat(this.events).contains("finished BUSY");
	}

	@Test
	void whenYmlNamesOperationThenItWinsOverRequestAndDefaults() {
		OperationOverrides yml = new OperationOverrides(FencingMode.OFF, Duration.ofSeconds(7), null, null, null, false,
				null, true);
		OperationSettings settings = new OperationSettingsSource(defaults(FencingMode.ENFORCE), Map.of("test", yml),
				Duration.ofDays(7))
			.resolve(FencedOperationRequest.builder("test")
				.resource("a")
				.leaseTime(Duration.ofSeconds(3))
				.waitTime(Duration.ofSeconds(2))
				.build());
		assertThat(settings.mode()).isEqualTo(FencingMode.OFF);
		assertThat(settings.leaseTime()).hasSeconds(7);
		assertThat(settings.waitTime()).hasSeconds(2);
		assertThat(settings.renew()).isFalse();
		assertThat(settings.maxHold()).hasMinutes(15);
	}

	@Test
	void whenYmlNamesAnUnknownOperationThenRefusedAndTheKnownAreListed() {
		OperationOverrides annotated = new OperationOverrides(null, null, null, null, null, null, null, false);
		OperationOverrides programmatic = new OperationOverrides(null, null, null, null, null, null, null, true);
		OperationSettingsSource settings = new OperationSettingsSource(defaults(FencingMode.ENFORCE),
				Map.of("withdraw", annotated, "close-day", programmatic), Duration.ofDays(7));
		settings.checkNames(List.of("deposit", "withdraw"));
		assertThatExceptionOfType(InvalidFencedOperationException.class)
			.isThrownBy(() -> settings.checkNames(List.of("transfer", "deposit")))
			.withMessageContaining("'fencing.operations.withdraw'")
			.withMessageContaining("[deposit, transfer]")
			.withMessageContaining("programmatic");
	}

	@Test
	void whenSettingsDoNotGoTogetherThenRefusedWithTheRemedy() {
		FencedOperationExecutor executor = executor(FencingMode.ENFORCE);
		FencedOperationRequest request = FencedOperationRequest.builder("test")
			.resource("a")
			.leaseTime(Duration.ofMinutes(20))
			.build();
		assertThatExceptionOfType(InvalidFencedOperationException.class)
			.isThrownBy(() -> executor.call(request, this::mustNotRun))
			.withMessageContaining("'max-hold'");
		assertThat(executor(FencingMode.OFF).<String, RuntimeException>call(request, () -> "result"))
			.isEqualTo("result");
	}

	@Test
	void whenWaitIsLongerThanCanBeCountedThenRefusedWithTheRemedy() {
		FencedOperationExecutor executor = executor(FencingMode.ENFORCE);
		FencedOperationRequest request = FencedOperationRequest.builder("test")
			.resource("a")
			.waitTime(Duration.ofSeconds(Long.MAX_VALUE))
			.build();
		assertThatExceptionOfType(InvalidFencedOperationException.class)
			.isThrownBy(() -> executor.call(request, this::mustNotRun))
			.withMessageContaining("366 days");
	}

	private @Nullable Object mustNotRun() {
		throw new AssertionError("The body must not run");
	}

	private static void onOtherThread(Runnable task) {
		AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
		Thread thread = new Thread(task);
		thread.setUncaughtExceptionHandler((failed, ex) -> failure.set(ex));
		thread.start();
		try {
			thread.join();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
		assertThat(failure.get()).isNull();
	}

	private boolean holder(String name) {
		return this.coordinator.isTaken(resource(name));
	}

	private FencedResource resource(String name) {
		return this.resources.create(name);
	}

	private static FencedOperationRequest request(String... names) {
		return FencedOperationRequest.of("test", names);
	}

	private static OperationSettings defaults(FencingMode mode) {
		return new OperationSettings(mode, Duration.ofSeconds(30), Duration.ZERO, Duration.ZERO, Duration.ofMinutes(15),
				Duration.ZERO, true, OnBusy.FAIL);
	}

	private FencedOperationExecutor executor(FencingMode mode) {
		return new FencedOperationExecutor(new OperationSettingsSource(defaults(mode), Map.of(), Duration.ofDays(7)),
				this.resources, new OperationEntry(this.leases, () -> List.of(this.fence), this.listeners),
				new OperationObserver(this.leases, () -> List.of(this.fence), this.listeners, this.clock),
				this.listeners, MonotonicClock.SYSTEM, Runnable::run, () -> null);
	}

	private final class RecordingListener implements FencingListener {

		@Override
		public void onRegression(String operation, String storage, long issued, long accepted) {
			FencedOperationExecutorTests.this.events.add("regression");
		}

		@Override
		public void onUnfenced(@Nullable String operation, @Nullable String storage) {
			FencedOperationExecutorTests.this.events.add("unfenced " + operation);
		}

		@Override
		public void onObserved(String operation, String storage, Observation observation) {
			FencedOperationExecutorTests.this.events.add("observed " + storage + " " + observation);
		}

		@Override
		public void onFinished(String operation, OperationOutcome outcome, Duration took) {
			FencedOperationExecutorTests.this.events.add("finished " + outcome);
		}

	}

}
