package io.fencing;

import java.util.List;
import java.util.concurrent.Callable;

import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;

/**
 * What the current thread holds: the operation it runs, the resources leased to it and
 * their tokens. Bound to the thread from the claim to the end of the operation, linked to
 * the context of the operation around it, never inherited by other threads;
 * {@link #wrap(Runnable)} carries it.
 *
 * <p>
 * An application needs it to send the token along to a service of its own that compares
 * tokens, and to stop long work early ({@link #checkHeld()}).
 *
 * <p>
 * This class owns the one {@link ThreadLocal} that holds contexts. Instances are
 * thread-safe.
 */
public abstract class FencingContext {

	private static final ThreadLocal<@Nullable FencingContext> CURRENT = new ThreadLocal<>();

	/**
	 * The innermost context of this thread.
	 * @return the context, or {@code null} outside of any operation
	 */
	public static @Nullable FencingContext current() {
		return CURRENT.get();
	}

	/**
	 * The innermost context of this thread, which must have one.
	 * @return the context
	 * @throws IllegalStateException outside of any operation
	 */
	public static FencingContext required() {
		FencingContext context = CURRENT.get();
		Assert.state(context != null,
				"No fenced operation runs on this thread; call this inside a @FencedOperation method");
		return context;
	}

	/**
	 * Make a context the current one of this thread.
	 * @param context the context, or {@code null} to leave none behind
	 */
	protected static void bind(@Nullable FencingContext context) {
		CURRENT.set(context);
	}

	/**
	 * The name of the operation.
	 * @return the name
	 */
	public abstract String getOperation();

	/**
	 * What this operation has leased itself, sorted; what it shares with the operation
	 * around it is found there.
	 * @return at least one
	 */
	public abstract List<? extends HeldResource> getHeld();

	/**
	 * The context of the operation around this one.
	 * @return the context, or {@code null}
	 */
	public abstract @Nullable FencingContext getParent();

	/**
	 * Take this context along to another thread. A task that starts after the operation
	 * has ended is refused.
	 * @param task the task
	 * @return the task with this context around it
	 */
	public abstract Runnable wrap(Runnable task);

	/**
	 * Take this context along to another thread. A task that starts after the operation
	 * has ended is refused.
	 * @param <T> the type of the result
	 * @param task the task
	 * @return the task with this context around it
	 */
	public abstract <T> Callable<T> wrap(Callable<T> task);

	/**
	 * The token of the operation's only resource.
	 * @return the token
	 * @throws IllegalStateException if the operation has several resources
	 */
	public FencingToken getToken() {
		Assert.state(getHeld().size() == 1,
				() -> "Operation '" + getOperation() + "' holds several resources; name the one whose token you want");
		return getHeld().get(0).getToken();
	}

	/**
	 * The token of a resource held by this operation or one around it.
	 * @param resource the raw name of the resource
	 * @return the token
	 * @throws IllegalStateException if it is not held
	 */
	public FencingToken getToken(String resource) {
		return getHeld(resource).getToken();
	}

	/**
	 * What this operation, or one around it, holds.
	 * @param resource the raw name of the resource
	 * @return what is held
	 * @throws IllegalStateException if it is not held
	 */
	protected final HeldResource getHeld(String resource) {
		for (FencingContext context = this; context != null; context = context.getParent()) {
			for (HeldResource held : context.getHeld()) {
				if (held.getResource().getName().equals(resource)) {
					return held;
				}
			}
		}
		throw new IllegalStateException("Operation '" + getOperation() + "' does not hold the named resource");
	}

	/**
	 * Record that a storage which the application itself has asked, such as a remote
	 * service that compares tokens, has refused the token of a resource. The operation
	 * ends with this, whatever its body returns or throws.
	 * @param storage a low-cardinality name of the storage
	 * @param resource the raw name of the resource
	 * @param acceptedToken the token that the storage has accepted, {@code null} if it
	 * does not tell
	 * @return the exception, to be thrown
	 * @throws IllegalStateException if the resource is not held
	 */
	public abstract StaleTokenException refusedBy(String storage, String resource, @Nullable Long acceptedToken);

	/**
	 * Whether a lease of this operation, or of one around it, is known to be lost. One
	 * that is only observed never is.
	 * @return whether one is lost
	 */
	public abstract boolean isLost();

	/**
	 * Stop here if a lease of this operation, or of one around it, is known to be lost.
	 * @throws LeaseLostException if one is lost
	 */
	public abstract void checkHeld();

}
