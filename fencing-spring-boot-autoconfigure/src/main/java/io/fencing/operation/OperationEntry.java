package io.fencing.operation;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

import io.fencing.FencedOperationRequest;
import io.fencing.FencedResource;
import io.fencing.FencingException;
import io.fencing.FencingListeners;
import io.fencing.InvalidFencedOperationException;
import io.fencing.StaleTokenException;
import io.fencing.context.OperationContext;
import io.fencing.context.OperationContext.Scope;
import io.fencing.fence.Fence;
import io.fencing.fence.Fence.CallerTransaction;
import io.fencing.lease.Lease;
import io.fencing.lease.LeaseManager;
import io.fencing.lease.LeaseManager.LeaseTerms;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Enters an enforced operation: inspect, acquire, claim, open, hold. Thread-safe.
 *
 * <p>
 * The claim comes before the body's first read, since comparing tokens on writes alone
 * loses updates: 41 reads, 42 is granted and reads the same value, 41 writes (nothing
 * newer has been seen), 42 writes over it.
 */
public final class OperationEntry {

	private static final Logger logger = LoggerFactory.getLogger(OperationEntry.class);

	private final LeaseManager leases;

	private final Supplier<List<Fence>> fences;

	private final Regressions regressions;

	private final FencingListeners listeners;

	private final Set<String> reported = ConcurrentHashMap.newKeySet();

	/**
	 * Create an entry.
	 * @param leases acquires and releases leases
	 * @param fences the fences of all storages; asked at each call, so that beans are
	 * found late
	 * @param listeners told what happens
	 */
	public OperationEntry(LeaseManager leases, Supplier<List<Fence>> fences, FencingListeners listeners) {
		this.leases = leases;
		this.fences = fences;
		this.regressions = new Regressions(leases, listeners);
		this.listeners = listeners;
	}

	RunningOperation enter(FencedOperationRequest request, OperationSettings settings, List<FencedResource> resources,
			@Nullable OperationContext parent) {
		List<Fence> fences = this.fences.get();
		List<CallerTransaction> callers = inspect(fences, request);
		if (request.identity() != null && !callers.isEmpty()) {
			throw new InvalidFencedOperationException(request.name(), null,
					"a transaction of its caller is open, so that its work would not commit with its record",
					"call it outside of transactions");
		}
		Duration wait = callers.isEmpty() ? settings.waitTime()
				: shorter(settings.waitTime(), settings.waitInTransaction());
		List<Lease> lent = lent(resources, parent);
		List<Lease> acquired = acquire(new LeaseTerms(request.name(), settings.leaseTime(), wait, settings.maxHold(),
				settings.minHold(), settings.renew()), resources, lent);
		OperationContext context = new OperationContext(request.name(),
				Stream.concat(lent.stream(), acquired.stream())
					.sorted(Comparator.comparing(Lease::getResource))
					.toList(),
				parent);
		try {
			fences.forEach((fence) -> claim(fence, context));
		}
		catch (RuntimeException | Error ex) {
			RuntimeException failure = this.leases.release(acquired);
			if (failure != null) {
				ex.addSuppressed(failure);
			}
			throw ex;
		}
		return open(context, acquired, callers);
	}

	// what an observed operation around this one has leased, but does not enforce
	private static List<Lease> lent(List<FencedResource> resources, @Nullable OperationContext parent) {
		if (parent == null) {
			return List.of();
		}
		return resources.stream().map(parent::find).filter(Lease.class::isInstance).map(Lease.class::cast).toList();
	}

	private List<Lease> acquire(LeaseTerms terms, List<FencedResource> resources, List<Lease> lent) {
		List<FencedResource> missing = resources.stream()
			.filter((resource) -> lent.stream().noneMatch((lease) -> lease.getResource().equals(resource)))
			.toList();
		return missing.isEmpty() ? List.of() : this.leases.acquire(terms, missing);
	}

	private List<CallerTransaction> inspect(List<Fence> fences, FencedOperationRequest request) {
		List<CallerTransaction> callers = new ArrayList<>();
		for (Fence fence : fences) {
			CallerTransaction caller = fence.inspect(request.name(), request.runsOutside(fence::isManagedBy));
			if (caller != null) {
				callers.add(caller);
			}
		}
		return callers;
	}

	private void claim(Fence fence, OperationContext context) {
		try {
			fence.claim(context);
		}
		catch (StaleTokenException ex) {
			throw this.regressions.examine(ex, context);
		}
	}

	private RunningOperation open(OperationContext context, List<Lease> acquired, List<CallerTransaction> callers) {
		Scope scope = context.open();
		context.onEnd(() -> release(context, acquired));
		UnaryOperator<FencingException> examiner = (refusal) -> examine(refusal, context);
		if (callers.isEmpty()) {
			return RunningOperation.entered(context, scope, examiner);
		}
		RunningOperation running = RunningOperation.joined(context, scope, examiner);
		try {
			callers.forEach((caller) -> caller.hold(context));
		}
		catch (RuntimeException | Error ex) {
			running.leaveThread();
			throw ex;
		}
		// the lease outlives the transaction: it ends with the last one that was joined
		AtomicInteger open = new AtomicInteger(callers.size());
		callers.forEach((caller) -> caller.afterCompletion(() -> {
			if (open.decrementAndGet() == 0) {
				running.leaveThread();
			}
		}));
		return running;
	}

	// a storage that is claimed by the first command refuses only in the body
	private FencingException examine(FencingException refusal, OperationContext context) {
		return (refusal instanceof StaleTokenException stale) ? this.regressions.examine(stale, context) : refusal;
	}

	private @Nullable RuntimeException release(OperationContext context, List<Lease> acquired) {
		// one that failed may not have come to its first statement
		if (!context.hasMetFence() && !context.hasFailed()) {
			reportUnfenced(context.getOperation());
		}
		return this.leases.release(acquired);
	}

	private void reportUnfenced(String operation) {
		this.listeners.onUnfenced(operation, null);
		if (this.reported.add(operation)) {
			logger.warn(
					"Operation '{}' met no fence: what it wrote, if it wrote anything, is not protected from a holder that "
							+ "was paused; write through a fenced storage, or send the token along (told once for each "
							+ "operation)",
					operation);
		}
	}

	private static Duration shorter(Duration one, Duration other) {
		return (one.compareTo(other) <= 0) ? one : other;
	}

}
