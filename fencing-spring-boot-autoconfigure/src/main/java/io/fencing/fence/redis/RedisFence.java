package io.fencing.fence.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import io.fencing.FencingListeners;
import io.fencing.HeldResource;
import io.fencing.LeaseLostException;
import io.fencing.Observation;
import io.fencing.RejectionReason;
import io.fencing.UnfencedWriteException;
import io.fencing.context.OperationContext;
import io.fencing.fence.UnfencedWrites;
import io.fencing.fence.redis.Admitted.Guard;
import io.fencing.fence.redis.Admitted.Place;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The fence of the Redis behind one connection factory: a guard for each resource next to
 * the protected data, which every command of an operation checks in the same script. The
 * first command of an operation raises the guard, all later ones demand that it shows
 * exactly the operation's token. Thread-safe.
 *
 * <p>
 * A stale write, step by step: 41 reads the balance through a script that raises the
 * guard to 41, and is paused. Its lease ends, 42 is granted, reads (guard: 42) and
 * writes. 41 wakes up and writes: the script sees 42 and refuses before the command runs.
 * If the guard alone was deleted in between, 41 is refused as well, since it has claimed
 * before and may never raise the guard again.
 */
public final class RedisFence {

	private static final Logger logger = LoggerFactory.getLogger(RedisFence.class);

	private final String storage;

	private final RedisFenceSettings settings;

	private final FencingListeners listeners;

	private final GuardKeys keys;

	private final UserScripts scripts = new UserScripts();

	private final Set<String> toldOf = ConcurrentHashMap.newKeySet();

	/**
	 * Create a fence. The server is not contacted.
	 * @param storage the low-cardinality name of the storage
	 * @param settings the settings
	 * @param listeners told of admissions and rejections
	 */
	public RedisFence(String storage, RedisFenceSettings settings, FencingListeners listeners) {
		this.storage = storage;
		this.settings = settings;
		this.listeners = listeners;
		this.keys = new GuardKeys(settings.keyPrefix());
	}

	String getStorage() {
		return this.storage;
	}

	GuardKeys getKeys() {
		return this.keys;
	}

	Duration getRetention() {
		return this.settings.retention();
	}

	UserScripts getScripts() {
		return this.scripts;
	}

	/**
	 * What one command must show to be admitted.
	 * @param context the operation
	 * @param database the database of the data
	 * @param slot the slot of the data, {@link Admission#NO_SLOT} where there are none
	 * @return its admission, not yet asked for
	 */
	Admission admission(OperationContext context, int database, int slot) {
		Admitted admitted = outermost(context).attribute(this, Admitted::new);
		return admitted.admission(new Place(context, database, slot),
				() -> new Admission(this, context, context.getAllHeld(), admitted, database, slot));
	}

	/**
	 * What the first command at a guard must show in an operation that is only observed.
	 * @param context the operation
	 * @param database the database of the data
	 * @param slot the slot of the data, {@link Admission#NO_SLOT} where there are none
	 * @return its admission; {@code null} if nothing is leased, or it was asked for
	 * before
	 */
	@Nullable Admission observation(OperationContext context, int database, int slot) {
		List<HeldResource> held = new ArrayList<>();
		for (OperationContext next = context; next != null; next = next.getParent()) {
			next.getHeld().stream().filter((one) -> one.getToken().value() > 0).forEach(held::add);
		}
		Admitted asked = outermost(context).attribute(new Observed(this), Admitted::new);
		Admission admission = new Admission(this, context, held, new Admitted(), database, slot);
		boolean news = false;
		for (Guard guard : admission.getGuards()) {
			news |= asked.add(guard);
		}
		return news ? admission : null;
	}

	/**
	 * Look at a command of an operation that is only observed, on a driver that does not
	 * claim without being waited for: what cannot be fenced would be refused, of the rest
	 * nothing is known.
	 * @param context the operation
	 * @param database the database of the data
	 * @param remedy why the command cannot be fenced, {@code null} if it can
	 */
	void observe(OperationContext context, int database, @Nullable String remedy) {
		if (remedy != null) {
			observed(context, Observation.REFUSED);
		}
		else if (observation(context, database, Admission.NO_SLOT) != null) {
			observed(context, Observation.UNKNOWN);
		}
	}

	void observed(OperationContext context, Observation observation) {
		this.listeners.onObserved(context.getOperation(), this.storage, observation);
	}

	private static OperationContext outermost(OperationContext context) {
		OperationContext outermost = context;
		for (OperationContext next = context; next != null; next = next.getParent()) {
			outermost = next;
		}
		return outermost;
	}

	/**
	 * Stop what is known to be refused before it is sent.
	 * @param context the operation
	 * @throws io.fencing.FencingException the refusal recorded before, or that the lease
	 * is lost
	 */
	void checkBeforeSending(OperationContext context) {
		checkBeforeSending(context, context::checkHeld);
	}

	/**
	 * Stop what is known to be refused before it is sent, where commands of an operation
	 * may come after its end, since nobody waits for them.
	 * @param context the operation
	 * @throws io.fencing.FencingException the refusal recorded before, or that the lease
	 * is lost
	 */
	void checkBeforeSendingLate(OperationContext context) {
		checkBeforeSending(context, context::checkLeases);
	}

	private void checkBeforeSending(OperationContext context, Runnable check) {
		if (context.getRefusal() != null) {
			throw context.getRefusal();
		}
		try {
			check.run();
		}
		catch (LeaseLostException ex) {
			rejected(context, RejectionReason.LOST);
			throw context.refuse(ex);
		}
	}

	/**
	 * A command cannot be fenced.
	 * @param context the operation
	 * @param name the name of the command
	 * @param remedy why, and what to do instead
	 * @return the exception to throw
	 */
	UnfencedWriteException unfenced(OperationContext context, String name, String remedy) {
		rejected(context, RejectionReason.UNFENCED);
		return context.refuse(new UnfencedWriteException(context.getOperation(),
				"command '" + name + "' was not sent to storage '" + this.storage + "'", remedy));
	}

	/**
	 * A command that may write is about to be sent outside of any operation.
	 * @param name the name of the command
	 * @throws UnfencedWriteException if writes are refused
	 */
	void checkOutside(String name) {
		UnfencedWrites policy = this.settings.unfencedWrites();
		if (policy == UnfencedWrites.ALLOW) {
			return;
		}
		this.listeners.onUnfenced(null, this.storage);
		if (policy == UnfencedWrites.REJECT) {
			throw new UnfencedWriteException(null,
					"command '" + name + "' to storage '" + this.storage
							+ "' has no token, and 'fencing.unfenced-writes' is 'reject'",
					"send it in a fenced operation");
		}
		if (this.toldOf.add(name)) {
			logger.warn("Command '{}' to storage '{}' goes by no fence; send it in a fenced operation (told once for "
					+ "each command)", name, this.storage);
		}
	}

	void admitted(OperationContext context, Duration took) {
		this.listeners.onAdmitted(context.getOperation(), this.storage, took);
	}

	void rejected(OperationContext context, RejectionReason reason) {
		this.listeners.onRejected(context.getOperation(), this.storage, reason);
	}

	/**
	 * Under which an operation remembers the guards that were observed; they bind no
	 * operation inside of it.
	 *
	 * @param fence the fence
	 */
	private record Observed(RedisFence fence) {
	}

}
