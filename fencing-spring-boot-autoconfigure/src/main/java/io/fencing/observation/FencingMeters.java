package io.fencing.observation;

import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicInteger;

import io.fencing.AttemptEvent;
import io.fencing.FencingListener;
import io.fencing.HeldResource;
import io.fencing.Observation;
import io.fencing.OperationOutcome;
import io.fencing.RejectionReason;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter.MeterProvider;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import org.jspecify.annotations.Nullable;

/**
 * Counts and times what happens to leases and fences. Tags are names of operations, names
 * of storages and constants, never a resource or a token, so the number of meters stays
 * as small as the number of operations. Thread-safe.
 *
 * <table>
 * <caption>Meters; times in the unit of the registry</caption>
 * <tr>
 * <th>name</th>
 * <th>type</th>
 * <th>tags</th>
 * </tr>
 * <tr>
 * <td>{@code fencing.operation}</td>
 * <td>timer, waiting included</td>
 * <td>operation, outcome</td>
 * </tr>
 * <tr>
 * <td>{@code fencing.lease.wait}</td>
 * <td>timer, of the leases obtained</td>
 * <td>operation</td>
 * </tr>
 * <tr>
 * <td>{@code fencing.lease.hold}</td>
 * <td>timer</td>
 * <td>operation</td>
 * </tr>
 * <tr>
 * <td>{@code fencing.lease.active}</td>
 * <td>gauge, leases held now</td>
 * <td></td>
 * </tr>
 * <tr>
 * <td>{@code fencing.lease.lost}</td>
 * <td>counter</td>
 * <td>operation, reason</td>
 * </tr>
 * <tr>
 * <td>{@code fencing.lease.release.failures}</td>
 * <td>counter</td>
 * <td>operation</td>
 * </tr>
 * <tr>
 * <td>{@code fencing.fence.admission}</td>
 * <td>timer</td>
 * <td>storage</td>
 * </tr>
 * <tr>
 * <td>{@code fencing.fence.rejections}</td>
 * <td>counter</td>
 * <td>storage, reason</td>
 * </tr>
 * <tr>
 * <td>{@code fencing.unfenced}</td>
 * <td>counter</td>
 * <td>operation and storage, {@code none} where there is none</td>
 * </tr>
 * <tr>
 * <td>{@code fencing.token.regressions}</td>
 * <td>counter</td>
 * <td>storage</td>
 * </tr>
 * <tr>
 * <td>{@code fencing.observed}</td>
 * <td>counter</td>
 * <td>operation, storage ({@code coordinator} for the lease), observation</td>
 * </tr>
 * <tr>
 * <td>{@code fencing.journal.attempts}</td>
 * <td>counter</td>
 * <td>operation, event</td>
 * </tr>
 * </table>
 */
public final class FencingMeters implements FencingListener {

	private static final String OPERATION = "operation";

	private static final String STORAGE = "storage";

	private static final String REASON = "reason";

	private static final String NONE = "none";

	private final AtomicInteger active = new AtomicInteger();

	private final MeterProvider<Timer> operations;

	private final MeterProvider<Timer> waits;

	private final MeterProvider<Timer> holds;

	private final MeterProvider<Counter> losses;

	private final MeterProvider<Counter> releaseFailures;

	private final MeterProvider<Timer> admissions;

	private final MeterProvider<Counter> rejections;

	private final MeterProvider<Counter> unfenced;

	private final MeterProvider<Counter> regressions;

	private final MeterProvider<Counter> observations;

	private final MeterProvider<Counter> attempts;

	/**
	 * Create the meters.
	 * @param registry where they are kept
	 */
	public FencingMeters(MeterRegistry registry) {
		this.operations = Timer.builder("fencing.operation")
			.description("Calls of fenced operations, waiting included")
			.withRegistry(registry);
		this.waits = Timer.builder("fencing.lease.wait")
			.description("Time until a lease was obtained")
			.withRegistry(registry);
		this.holds = Timer.builder("fencing.lease.hold")
			.description("Time that a lease was held")
			.withRegistry(registry);
		this.losses = Counter.builder("fencing.lease.lost")
			.description("Leases lost while their operation ran")
			.withRegistry(registry);
		this.releaseFailures = Counter.builder("fencing.lease.release.failures")
			.description("Leases that could not be given back and end by expiry")
			.withRegistry(registry);
		this.admissions = Timer.builder("fencing.fence.admission")
			.description("Time until a storage admitted an operation")
			.withRegistry(registry);
		this.rejections = Counter.builder("fencing.fence.rejections")
			.description("Work refused by a storage or by a check in front of it")
			.withRegistry(registry);
		this.unfenced = Counter.builder("fencing.unfenced")
			.description("Writes that went by no fence, and operations that met none")
			.withRegistry(registry);
		this.regressions = Counter.builder("fencing.token.regressions")
			.description("Tokens issued below what a storage had accepted")
			.withRegistry(registry);
		this.observations = Counter.builder("fencing.observed")
			.description("What would have become of operations that are only observed")
			.withRegistry(registry);
		this.attempts = Counter.builder("fencing.journal.attempts")
			.description("What became of attempts at operations with an identity")
			.withRegistry(registry);
		Gauge.builder("fencing.lease.active", this.active, AtomicInteger::get)
			.description("Leases held now")
			.strongReference(true)
			.register(registry);
	}

	@Override
	public void onAcquired(String operation, HeldResource held, Duration waited) {
		this.active.incrementAndGet();
		this.waits.withTag(OPERATION, operation).record(waited);
	}

	@Override
	public void onLost(String operation, HeldResource held) {
		this.losses.withTags(Tags.of(OPERATION, operation, REASON, text(held.getLossReason()))).increment();
	}

	@Override
	public void onReleased(String operation, HeldResource held, Duration heldFor, @Nullable RuntimeException failure) {
		this.active.decrementAndGet();
		this.holds.withTag(OPERATION, operation).record(heldFor);
		if (failure != null) {
			this.releaseFailures.withTag(OPERATION, operation).increment();
		}
	}

	@Override
	public void onAdmitted(String operation, String storage, Duration took) {
		this.admissions.withTag(STORAGE, storage).record(took);
	}

	@Override
	public void onRejected(String operation, String storage, RejectionReason reason) {
		this.rejections.withTags(Tags.of(STORAGE, storage, REASON, text(reason))).increment();
	}

	@Override
	public void onRegression(String operation, String storage, long issued, long accepted) {
		this.regressions.withTag(STORAGE, storage).increment();
	}

	@Override
	public void onUnfenced(@Nullable String operation, @Nullable String storage) {
		this.unfenced
			.withTags(Tags.of(OPERATION, (operation != null) ? operation : NONE, STORAGE,
					(storage != null) ? storage : NONE))
			.increment();
	}

	@Override
	public void onObserved(String operation, String storage, Observation observation) {
		this.observations.withTags(Tags.of(OPERATION, operation, STORAGE, storage, "observation", text(observation)))
			.increment();
	}

	@Override
	public void onAttempt(String operation, String identity, int attempt, AttemptEvent event) {
		this.attempts.withTags(Tags.of(OPERATION, operation, "event", text(event))).increment();
	}

	@Override
	public void onFinished(String operation, OperationOutcome outcome, Duration took) {
		this.operations.withTags(Tags.of(OPERATION, operation, "outcome", text(outcome))).record(took);
	}

	private static String text(Enum<?> constant) {
		return constant.name().toLowerCase(Locale.ROOT);
	}

}
