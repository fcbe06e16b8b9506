package io.fencing.fence.jdbc;

import java.util.Collection;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

import io.fencing.FencedResource;
import io.fencing.FencingException;
import io.fencing.HeldResource;
import io.fencing.InvalidFencedOperationException;
import io.fencing.RejectionReason;
import io.fencing.context.OperationContext;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * What one transaction holds, or the refusal that it must not get past. Bound to the
 * thread under the transaction's {@link ConnectionHolder}, so that it is found again when
 * a suspended transaction is resumed. Not thread-safe, like the transaction.
 */
final class TransactionHold implements TransactionSynchronization {

	private final JdbcFence fence;

	private final ConnectionHolder holder;

	private final boolean readOnly;

	// nothing in the transaction came before the hold, so no savepoint lies before it
	private boolean first;

	private final SortedMap<FencedResource, HeldResource> held = new TreeMap<>();

	private OperationContext context;

	private @Nullable FencingException refusal;

	private @Nullable String transactionId;

	// where a savepoint tells whether the server has replaced the transaction
	private boolean marked;

	private boolean undone;

	private boolean completing;

	private boolean committed;

	// the lock is that of an outer transaction
	private boolean resting;

	private TransactionHold(JdbcFence fence, ConnectionHolder holder, OperationContext context, boolean readOnly,
			boolean first) {
		this.fence = fence;
		this.holder = holder;
		this.context = context;
		this.readOnly = readOnly;
		this.first = first;
	}

	/**
	 * Hold everything that the operation must hold in a transaction that has just begun.
	 * Never throws a refusal: the transaction manager would lose the connection. The
	 * refusal is recorded and stops the next statement and the commit.
	 * @param fence the fence
	 * @param holder the transaction's connection
	 * @param context the operation
	 * @param readOnly whether the transaction was declared read-only
	 */
	static void begin(JdbcFence fence, ConnectionHolder holder, OperationContext context, boolean readOnly) {
		TransactionHold hold = new TransactionHold(fence, holder, context, readOnly, true);
		hold.bind();
		try {
			checkSynchronization(fence, context);
			hold.take(context, context.getAllHeld());
		}
		catch (FencingException ex) {
			hold.refusal = context.refuse(ex);
		}
	}

	private static void checkSynchronization(JdbcFence fence, OperationContext context) {
		if (!TransactionSynchronizationManager.isSynchronizationActive()) {
			fence.rejected(context, RejectionReason.UNFENCED);
			throw new InvalidFencedOperationException(context.getOperation(), null,
					"a transaction on storage '" + fence.getStorage()
							+ "' cannot be fenced, since its transaction manager has synchronization switched off",
					"leave 'transactionSynchronization' at its default");
		}
	}

	/**
	 * Hold what the operation itself has claimed in a transaction that was there before.
	 * @param fence the fence
	 * @param holder the transaction's connection
	 * @param context the operation
	 */
	static void join(JdbcFence fence, ConnectionHolder holder, OperationContext context) {
		TransactionHold hold = find(holder);
		if (hold == null) {
			hold = new TransactionHold(fence, holder, context,
					TransactionSynchronizationManager.isCurrentTransactionReadOnly(), false);
			hold.bind();
		}
		hold.throwRefusal(context);
		hold.first = false;
		try {
			hold.take(context, context.getAllHeld());
		}
		catch (FencingException ex) {
			throw context.refuse(ex);
		}
	}

	/**
	 * The hold of a transaction.
	 * @param holder the transaction's connection
	 * @return the hold, or {@code null} if it was begun outside of any operation
	 */
	static @Nullable TransactionHold find(ConnectionHolder holder) {
		return (TransactionSynchronizationManager.getResource(holder) instanceof TransactionHold hold) ? hold : null;
	}

	private void bind() {
		release();
		TransactionSynchronizationManager.bindResource(this.holder, this);
		if (TransactionSynchronizationManager.isSynchronizationActive()) {
			TransactionSynchronizationManager.registerSynchronization(this);
		}
	}

	private void take(OperationContext context, Collection<HeldResource> resources) {
		if (resources.isEmpty()) {
			return;
		}
		context.meetFence();
		String current = this.fence.hold().take(context, resources, this.holder, this.readOnly, this::restsOnOuter);
		if (this.transactionId != null && !this.transactionId.equals(current)) {
			throw replaced();
		}
		this.transactionId = current;
		resources.forEach((one) -> this.held.put(one.getResource(), one));
		this.context = context;
		if (!this.marked && this.fence.isMarking()) {
			this.fence.hold().mark(context, this.held.values(), this.holder);
			this.marked = true;
		}
	}

	// for databases without shared locks; the outer transaction is asked again, since it
	// may have lost its lock while its owner goes on
	private boolean restsOnOuter(HeldResource resource) {
		for (Object bound : TransactionSynchronizationManager.getResourceMap().values()) {
			if (bound instanceof TransactionHold outer && outer != this && outer.locks(this.fence, resource)) {
				this.fence.hold().take(outer.context, List.of(resource), outer.holder, false, (other) -> false);
				this.resting = true;
				return true;
			}
		}
		return false;
	}

	private boolean locks(JdbcFence fence, HeldResource resource) {
		return this.fence == fence && this.refusal == null && !this.resting && covers(resource);
	}

	private boolean coversAll(OperationContext context) {
		for (HeldResource resource : context.getAllHeld()) {
			if (!covers(resource)) {
				return false;
			}
		}
		return true;
	}

	private boolean covers(HeldResource resource) {
		HeldResource own = this.held.get(resource.getResource());
		return own != null && (own == resource || own.getToken().equals(resource.getToken()));
	}

	private FencingException replaced() {
		return this.fence.refusal(this.context, this.held.values().iterator().next(), RejectionReason.REPLACED, null);
	}

	/**
	 * Check before a statement that the transaction may still be used.
	 * @param context the operation that sends the statement
	 * @throws FencingException if it was refused, or does not hold all that the operation
	 * must hold
	 */
	void check(OperationContext context) {
		throwRefusal(context);
		if (context != this.context && !coversAll(context)) {
			throw context
				.refuse(new InvalidFencedOperationException(context.getOperation(), null,
						"it runs in a transaction on storage '" + this.fence.getStorage()
								+ "' that was begun before it and that it has not joined",
						"run it in a new transaction"));
		}
		if (this.undone) {
			takeAgain();
		}
	}

	private void throwRefusal(OperationContext context) {
		if (this.refusal != null) {
			throw context.refuse(this.refusal);
		}
	}

	private void checkNotFailed() {
		try {
			this.fence.hold().checkNotFailed(this.context, this.held.values(), this.holder);
		}
		catch (FencingException ex) {
			this.refusal = this.context.refuse(ex);
			throw ex;
		}
	}

	private void takeAgain() {
		try {
			take(this.context, List.copyOf(this.held.values()));
			this.undone = false;
		}
		catch (FencingException ex) {
			this.refusal = this.context.refuse(ex);
			throw ex;
		}
	}

	/**
	 * Check before the commit that the fences are held, by equality and never by a claim.
	 * Nothing is asked where the server cannot have let go of the hold. An operation that
	 * was refused ends with that, so nothing more of it may be applied.
	 * @param last whether nothing of the application runs between this and the commit
	 * @throws FencingException if the transaction must not commit
	 */
	void verify(boolean last) {
		throwRefusal(this.context);
		FencingException recorded = this.context.getRefusal();
		if (recorded != null) {
			throw recorded;
		}
		boolean again = this.undone || !this.first || !this.fence.sharesLocks();
		if (last || again) {
			checkNotFailed();
		}
		if (again) {
			takeAgain();
		}
		// of a transaction that was there before, the listener may not know
		if (this.marked && (last || !this.first)) {
			checkMark(!last);
		}
	}

	private void checkMark(boolean again) {
		this.marked = false;
		try {
			if (!this.fence.hold().releaseMark(this.context, this.held.values(), this.holder)) {
				throw replaced();
			}
			if (again) {
				this.fence.hold().mark(this.context, this.held.values(), this.holder);
				this.marked = true;
			}
		}
		catch (FencingException ex) {
			this.refusal = this.context.refuse(ex);
			throw ex;
		}
	}

	/**
	 * Note that the hold may have been undone, as by a roll back to a savepoint.
	 */
	void undone() {
		this.undone = true;
	}

	/**
	 * Note that the server has rolled the transaction back, whatever the application
	 * does.
	 */
	void replace() {
		this.refusal = replaced();
	}

	/**
	 * Forget the hold, since the transaction has ended.
	 */
	void release() {
		CompletingTransactions.remove(this.holder);
	}

	@Override
	public void savepointRollback(Object savepoint) {
		// comes before the roll back, which takes a mark away that is younger than the
		// savepoint
		if (this.marked && !this.first) {
			checkMark(false);
		}
		undone();
	}

	@Override
	public void beforeCommit(boolean readOnly) {
		// repeated by the listener, where the transaction manager has one
		verify(false);
	}

	@Override
	public void afterCommit() {
		this.committed = true;
	}

	/**
	 * Whether what an operation sends in this transaction is held, or cannot be
	 * committed.
	 * @param context the operation
	 * @return whether it is; not after the commit, although the connection is still bound
	 */
	boolean protects(OperationContext context) {
		return !this.committed && (this.refusal != null || coversAll(context));
	}

	JdbcFence getFence() {
		return this.fence;
	}

	/**
	 * Whether the transaction is past the point where an operation could still join it.
	 * @return whether it is
	 */
	boolean isCompleting() {
		return this.completing || !TransactionSynchronizationManager.isSynchronizationActive();
	}

	/**
	 * Note that it is.
	 */
	void complete() {
		this.completing = true;
	}

	@Override
	public void beforeCompletion() {
		complete();
	}

	@Override
	public void afterCompletion(int status) {
		release();
	}

}
