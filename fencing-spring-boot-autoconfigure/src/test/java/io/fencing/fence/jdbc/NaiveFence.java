package io.fencing.fence.jdbc;

import java.util.Collection;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

import javax.sql.DataSource;

import io.fencing.FencingException;
import io.fencing.HeldResource;
import io.fencing.Observation;
import io.fencing.RejectionReason;
import io.fencing.StaleTokenException;
import io.fencing.context.OperationContext;
import io.fencing.fence.Fence;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * A fence as it is often written, and it keeps every rule but one: each rule's test shows
 * with it that an update is lost without the rule.
 */
final class NaiveFence implements Fence, TransactionExecutionListener {

	private final JdbcTemplate jdbc;

	private final @Nullable TransactionTemplate ownTransactions;

	private final Rule off;

	NaiveFence(DataSource dataSource, TransactionTemplate ownTransactions, Rule off) {
		this.jdbc = new JdbcTemplate(dataSource);
		this.ownTransactions = (off != Rule.CLAIM_IN_OWN_TRANSACTION) ? ownTransactions : null;
		this.off = off;
	}

	@Override
	public String getStorage() {
		return "naive";
	}

	@Override
	public @Nullable CallerTransaction inspect(String operation, boolean ownTransaction) {
		return null;
	}

	@Override
	public Observation observe(OperationContext context) {
		return Observation.UNKNOWN;
	}

	@Override
	public void claim(OperationContext context) {
		if (this.off == Rule.CLAIM_AT_ENTRY) {
			return;
		}
		if (this.ownTransactions != null) {
			this.ownTransactions.executeWithoutResult((status) -> raise(context, context.getHeld()));
		}
		else {
			raise(context, context.getHeld());
		}
	}

	private void raise(OperationContext context, Collection<? extends HeldResource> held) {
		for (HeldResource one : held) {
			String owners = (this.off == Rule.COMPARE_OWNERS) ? "" : " AND (token < ? OR owner = ?)";
			String key = one.getResource().getKey();
			long token = one.getToken().value();
			String owner = one.getToken().owner();
			int raised = owners.isEmpty()
					? this.jdbc.update(
							"UPDATE fencing_fence SET token = ?, owner = ? WHERE resource_key = ? AND token <= ?",
							token, owner, key, token)
					: this.jdbc
						.update("UPDATE fencing_fence SET token = ?, owner = ? WHERE resource_key = ? AND token <= ?"
								+ owners, token, owner, key, token, token, owner);
			if (raised == 0) {
				if (!this.jdbc.queryForList("SELECT token FROM fencing_fence WHERE resource_key = ?", key).isEmpty()) {
					throw new StaleTokenException(context.getOperation(), one, getStorage(), RejectionReason.STALE,
							null);
				}
				this.jdbc.update("INSERT INTO fencing_fence VALUES (?, 'default', ?, ?, CURRENT_TIMESTAMP)", key, token,
						owner);
			}
		}
	}

	@Override
	public void beforeBegin(TransactionExecution transaction) {
		OperationContext context = OperationContext.get();
		if (context != null && this.off != Rule.STOP_WHEN_LOST) {
			context.checkHeld();
		}
	}

	@Override
	public void afterBegin(TransactionExecution transaction, @Nullable Throwable beginFailure) {
		OperationContext context = OperationContext.get();
		if (context == null) {
			return;
		}
		AtomicBoolean first = context.attribute(this, () -> new AtomicBoolean(true));
		if (this.off == Rule.HOLD_IN_EACH_TRANSACTION && !first.getAndSet(false)) {
			return;
		}
		try {
			hold(context, (this.off == Rule.HOLD_ALL_ON_STACK) ? List.copyOf(context.getHeld()) : context.getAllHeld());
		}
		catch (FencingException ex) {
			if (this.off != Rule.RECORD_REFUSALS) {
				context.refuse(ex);
			}
			((org.springframework.transaction.TransactionStatus) transaction).setRollbackOnly();
		}
	}

	private void hold(OperationContext context, Collection<? extends HeldResource> held) {
		if (this.off == Rule.CLAIM_AT_ENTRY || this.off == Rule.NEVER_RAISE_AGAIN) {
			raise(context, held);
			return;
		}
		for (HeldResource one : held) {
			String lock = (this.off == Rule.LOCK_TO_COMMIT) ? "" : " FOR UPDATE";
			List<String> owners = this.jdbc.queryForList(
					"SELECT owner FROM fencing_fence WHERE resource_key = ? AND token = ?" + lock, String.class,
					one.getResource().getKey(), one.getToken().value());
			if (owners.isEmpty()
					|| (this.off != Rule.COMPARE_OWNERS && !owners.get(0).equals(one.getToken().owner()))) {
				throw new StaleTokenException(context.getOperation(), one, getStorage(), RejectionReason.STALE, null);
			}
		}
	}

}
