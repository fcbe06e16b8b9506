package io.fencing.testing;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

import io.fencing.FencedResource;
import io.fencing.FencingToken;
import io.fencing.HeldResource;
import io.fencing.Observation;
import io.fencing.RejectionReason;
import io.fencing.StaleTokenException;
import io.fencing.context.OperationContext;
import io.fencing.fence.Fence;
import org.jspecify.annotations.Nullable;

/**
 * A fence in memory: the comparison of (token, owner) and nothing else.
 */
public final class InMemoryFence implements Fence {

	private final Map<FencedResource, FencingToken> accepted = new ConcurrentHashMap<>();

	private final List<String> claims = new CopyOnWriteArrayList<>();

	private volatile @Nullable CallerTransaction callerTransaction;

	private volatile Runnable beforeClaim = () -> {
	};

	@Override
	public String getStorage() {
		return "memory";
	}

	@Override
	public @Nullable CallerTransaction inspect(String operation, boolean ownTransaction) {
		return ownTransaction ? null : this.callerTransaction;
	}

	@Override
	public void claim(OperationContext context) {
		this.beforeClaim.run();
		for (HeldResource held : context.getHeld()) {
			this.claims.add(held.getResource().getName());
			FencingToken now = this.accepted.merge(held.getResource(), held.getToken(),
					(before, offered) -> (offered.compareTo(before) > 0) ? offered : before);
			if (!now.equals(held.getToken())) {
				throw new StaleTokenException(context.getOperation(), held, getStorage(), RejectionReason.STALE,
						now.value());
			}
		}
	}

	@Override
	public Observation observe(OperationContext context) {
		try {
			claim(context);
			return Observation.ADMITTED;
		}
		catch (StaleTokenException ex) {
			return Observation.REFUSED;
		}
	}

	/**
	 * Let calls find a transaction of their caller.
	 */
	public void setCallerTransaction(@Nullable CallerTransaction callerTransaction) {
		this.callerTransaction = callerTransaction;
	}

	/**
	 * Do something between acquisition and claim.
	 */
	public void setBeforeClaim(Runnable beforeClaim) {
		this.beforeClaim = beforeClaim;
	}

	/**
	 * Raise the fence past everybody.
	 */
	public void raise(FencedResource resource, long token) {
		this.accepted.put(resource, new FencingToken(token, "somebody"));
	}

	/**
	 * The raw names in the order in which they were claimed.
	 */
	public List<String> claims() {
		return this.claims;
	}

}
