package io.fencing.context;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

import io.fencing.FencedResource;
import io.fencing.FencingContext;
import io.fencing.FencingException;
import io.fencing.HeldResource;
import io.fencing.LeaseLostException;
import io.fencing.LossReason;
import io.fencing.RejectionReason;
import io.fencing.StaleTokenException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The context of one entry into an operation: what it leased, what its fences remember
 * about it, and the refusal that it must end with. Thread-safe, since carried tasks share
 * it.
 */
public final class OperationContext extends FencingContext {

	private static final Logger logger = LoggerFactory.getLogger(OperationContext.class);

	private final String operation;

	private final List<? extends HeldResource> held;

	private final @Nullable OperationContext parent;

	private final boolean enforced;

	private final List<HeldResource> allHeld;

	private final Map<Object, Object> attributes = new ConcurrentHashMap<>();

	private final AtomicReference<@Nullable FencingException> refusal = new AtomicReference<>();

	private final OperationLife life = new OperationLife();

	private volatile boolean fenceMet;

	private volatile boolean failed;

	private volatile @Nullable AtomicBoolean onlyTransaction;

	/**
	 * Create a context, without making it the current one.
	 * @param operation the name of the operation
	 * @param held what it leased itself, sorted
	 * @param parent the context around it
	 * @param enforced whether fences refuse work of this operation, or only look
	 */
	public OperationContext(String operation, List<? extends HeldResource> held, @Nullable OperationContext parent,
			boolean enforced) {
		this.operation = operation;
		this.held = List.copyOf(held);
		this.parent = parent;
		this.enforced = enforced;
		this.allHeld = allHeld();
	}

	/**
	 * Create the context of an enforced operation, without making it the current one.
	 * @param operation the name of the operation
	 * @param held what it leased itself, sorted
	 * @param parent the context around it
	 */
	public OperationContext(String operation, List<? extends HeldResource> held, @Nullable OperationContext parent) {
		this(operation, held, parent, true);
	}

	/**
	 * The innermost context of this thread.
	 * @return the context, or {@code null} outside of any operation
	 */
	public static @Nullable OperationContext get() {
		return (OperationContext) FencingContext.current();
	}

	/**
	 * The innermost context of this thread, if fences have anything to refuse in it.
	 * @return the context, or {@code null} outside of any operation that is enforced
	 */
	public static @Nullable OperationContext getEnforced() {
		OperationContext context = get();
		return (context != null && context.isEnforced()) ? context : null;
	}

	/**
	 * Whether fences refuse work of this operation, or of one around it.
	 * @return whether they do, or only look
	 */
	public boolean isEnforced() {
		return this.enforced || (this.parent != null && this.parent.isEnforced());
	}

	@Override
	public String getOperation() {
		return this.operation;
	}

	@Override
	public List<? extends HeldResource> getHeld() {
		return this.held;
	}

	@Override
	public @Nullable OperationContext getParent() {
		return this.parent;
	}

	/**
	 * Everything that a write must hold now: the resources of this operation and of all
	 * around it, as far as they are enforced.
	 * @return sorted by resource; empty if nothing of it is enforced
	 */
	public List<HeldResource> getAllHeld() {
		return this.allHeld;
	}

	private List<HeldResource> allHeld() {
		if (this.parent == null) {
			return this.enforced ? List.copyOf(this.held) : List.of();
		}
		SortedMap<FencedResource, HeldResource> all = new TreeMap<>();
		for (OperationContext context = this; context != null; context = context.parent) {
			if (context.enforced) {
				context.held.forEach((one) -> all.put(one.getResource(), one));
			}
		}
		return List.copyOf(all.values());
	}

	/**
	 * Whether this operation, or one around it, holds the resource.
	 * @param resource the resource
	 * @return whether it is held
	 */
	public boolean holds(FencedResource resource) {
		return find(resource) != null;
	}

	/**
	 * Whether this operation, or one around it, holds the resource and is enforced.
	 * @param resource the resource
	 * @return whether fences refuse what is not done under that hold
	 */
	public boolean holdsEnforced(FencedResource resource) {
		return getAllHeld().stream().anyMatch((one) -> one.getResource().equals(resource));
	}

	/**
	 * What this operation, or the innermost one around it, has leased for a resource and
	 * not given back.
	 * @param resource the resource
	 * @return the lease, {@code null} if there is none
	 */
	public @Nullable HeldResource find(FencedResource resource) {
		for (OperationContext context = this; context != null; context = context.parent) {
			for (HeldResource one : context.held) {
				if (one.getResource().equals(resource) && !context.life.isEnded()) {
					return one;
				}
			}
		}
		return null;
	}

	/**
	 * Put a context in the place of the current one of this thread.
	 * @param context the context, {@code null} for none
	 */
	static void replace(@Nullable OperationContext context) {
		bind(context);
	}

	/**
	 * Make this the current context of this thread.
	 * @return what to close, on the same thread, to restore the one before
	 */
	public Scope open() {
		FencingContext previous = FencingContext.current();
		bind(this);
		return () -> restore(previous);
	}

	// several operations that have joined one transaction end with it, outermost first:
	// an inner one that is still open then goes with it, and has nothing to restore later
	private void restore(@Nullable FencingContext previous) {
		for (FencingContext open = FencingContext.current(); open != null; open = open.getParent()) {
			if (open == this) {
				bind(previous);
				return;
			}
		}
	}

	/**
	 * Set what gives back the leases of the operation when it ends.
	 * @param release answers with what went wrong; called once, on the thread of the last
	 * one to need them
	 */
	public void onEnd(Supplier<@Nullable RuntimeException> release) {
		this.life.onEnd(release);
	}

	/**
	 * Let this operation and those around it last, though the thread that runs them
	 * leaves.
	 * @return what to call when they are needed no longer; answers with what went wrong
	 * while leases were given back, {@code null} if nothing did
	 */
	public Supplier<@Nullable RuntimeException> keep() {
		List<OperationLife> kept = new ArrayList<>();
		for (OperationContext context = this; context != null; context = context.parent) {
			if (context.life.keep()) {
				kept.add(context.life);
			}
		}
		AtomicBoolean left = new AtomicBoolean();
		return () -> left.getAndSet(true) ? null : leave(kept);
	}

	private static @Nullable RuntimeException leave(List<OperationLife> kept) {
		RuntimeException first = null;
		for (OperationLife life : kept) {
			RuntimeException failure = life.leave();
			first = (first != null) ? first : failure;
		}
		return first;
	}

	/**
	 * The thread that has entered the operation leaves it. Unless something
	 * {@linkplain #keep() keeps} it, it has ended, and tasks that carry this context are
	 * refused from now on.
	 * @return what went wrong while leases were given back, {@code null} if nothing did
	 */
	public @Nullable RuntimeException end() {
		return this.life.leave();
	}

	/**
	 * Record a refusal. It belongs to the operation from now on, whatever the body does
	 * with the exception; the first one counts, and is logged if the operation has ended.
	 * An operation around this one that holds the refused resource has been refused as
	 * well.
	 * @param exception the refusal
	 * @param <E> its type
	 * @return the same exception, to be thrown
	 */
	public <E extends FencingException> E refuse(E exception) {
		if (this.refusal.compareAndSet(null, exception) && this.life.isEnded()) {
			logger.warn("After the end of its call, which hears nothing of it: {}", exception.getMessage());
		}
		for (OperationContext outer = this.parent; outer != null; outer = outer.parent) {
			if (outer.held.stream().anyMatch((one) -> exception.concerns(one.getResource()))) {
				outer.refusal.compareAndSet(null, exception);
			}
		}
		return exception;
	}

	@Override
	public StaleTokenException refusedBy(String storage, String resource, @Nullable Long acceptedToken) {
		return refuse(new StaleTokenException(this.operation, getHeld(resource), storage, RejectionReason.STALE,
				acceptedToken));
	}

	/**
	 * The refusal that this operation must end with.
	 * @return the first one recorded, or {@code null}
	 */
	public @Nullable FencingException getRefusal() {
		return this.refusal.get();
	}

	/**
	 * What a fence remembers about this operation.
	 * @param <T> the type of the value
	 * @param key the fence's own key
	 * @param initial makes the value when there is none yet
	 * @return the value
	 */
	@SuppressWarnings("unchecked")
	public <T> T attribute(Object key, Supplier<T> initial) {
		return (T) this.attributes.computeIfAbsent(key, (absent) -> initial.get());
	}

	/**
	 * Let the work of this operation have no transaction but one at a time, which its
	 * record commits with.
	 * @return what to close when that is over
	 */
	public Scope allowOneTransaction() {
		this.onlyTransaction = new AtomicBoolean();
		return () -> this.onlyTransaction = null;
	}

	/**
	 * Note that a transaction begins.
	 * @return whether it may; otherwise this operation, or one around it, has its only
	 * one open
	 */
	public boolean beginTransaction() {
		AtomicBoolean open = findOnlyTransaction();
		return open == null || open.compareAndSet(false, true);
	}

	/**
	 * Note that a transaction is about to be committed, or has been rolled back.
	 */
	public void endTransaction() {
		AtomicBoolean open = findOnlyTransaction();
		if (open != null) {
			open.set(false);
		}
	}

	private @Nullable AtomicBoolean findOnlyTransaction() {
		for (OperationContext context = this; context != null; context = context.parent) {
			AtomicBoolean open = context.onlyTransaction;
			if (open != null) {
				return open;
			}
		}
		return null;
	}

	/**
	 * Note that work of this operation went by a fence.
	 */
	public void meetFence() {
		for (OperationContext context = this; context != null && !context.fenceMet; context = context.parent) {
			context.fenceMet = true;
		}
	}

	/**
	 * Whether any work of this operation went by a fence.
	 * @return whether it did
	 */
	public boolean hasMetFence() {
		return this.fenceMet;
	}

	/**
	 * Note that this operation ends with a failure.
	 */
	public void fail() {
		this.failed = true;
	}

	/**
	 * Whether this operation ends with a failure.
	 * @return whether it does
	 */
	public boolean hasFailed() {
		return this.failed;
	}

	@Override
	public Runnable wrap(Runnable task) {
		return () -> {
			checkNotEnded();
			try (Scope scope = open()) {
				task.run();
			}
		};
	}

	@Override
	public <T> Callable<T> wrap(Callable<T> task) {
		return () -> {
			checkNotEnded();
			try (Scope scope = open()) {
				return task.call();
			}
		};
	}

	@Override
	public boolean isLost() {
		return findEnded() != null || getAllHeld().stream().anyMatch(HeldResource::isLost);
	}

	@Override
	public void checkHeld() {
		checkNotEnded();
		checkLeases();
	}

	/**
	 * Stop here if this operation, or one around it, has ended, so that a task which
	 * carries its context outlives it. One that is only observed stops nothing.
	 * @throws LeaseLostException if one has ended
	 */
	public void checkNotEnded() {
		OperationContext over = findEnded();
		if (over != null) {
			throw new LeaseLostException(over.operation, over.held.get(0), LossReason.ENDED);
		}
	}

	/**
	 * Stop here if a lease of this operation, or of one around it, is known to be lost.
	 * One that was given back, since the operation has ended, is not: work that was
	 * started in the operation and nobody waits for may go on until a newer holder
	 * starts.
	 * @throws LeaseLostException if one is lost
	 */
	public void checkLeases() {
		for (HeldResource one : getAllHeld()) {
			if (one.isLost()) {
				throw new LeaseLostException(this.operation, one);
			}
		}
	}

	// this operation or one around it: work of it that goes on has no leases any more
	private @Nullable OperationContext findEnded() {
		for (OperationContext context = this; context != null; context = context.parent) {
			if (context.enforced && context.life.isEnded()) {
				return context;
			}
		}
		return null;
	}

	/**
	 * Restores the context before, on the thread that opened the scope. Closing it closes
	 * what is still open inside of it.
	 */
	@FunctionalInterface
	public interface Scope extends AutoCloseable {

		@Override
		void close();

	}

}
