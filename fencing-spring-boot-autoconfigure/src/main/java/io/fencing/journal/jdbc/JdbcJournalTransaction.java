package io.fencing.journal.jdbc;

import java.sql.SQLException;
import java.util.Set;

import io.fencing.FencingException;
import io.fencing.OperationTransaction;
import io.fencing.journal.CommitUnknownException;
import io.fencing.journal.JournalEntry;
import io.fencing.journal.JournalMove;
import io.fencing.journal.JournalTransaction;
import org.jspecify.annotations.Nullable;

import org.springframework.core.Ordered;
import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.dao.OptimisticLockingFailureException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * The transaction of an attempt. It tells apart what went wrong before the commit was
 * sent, what the server answered, and no answer. Bound to its thread.
 */
final class JdbcJournalTransaction implements JournalTransaction, TransactionSynchronization, Ordered {

	// the server has answered, and says that nothing was committed: data exceptions,
	// constraints, rollbacks, access rules, states of transactions, exceptions of
	// triggers
	private static final Set<String> ANSWERS = Set.of("22", "23", "25", "2D", "40", "42", "44", "P0");

	private static final String COMPLETION_UNKNOWN = "40003";

	private final JdbcOperationJournal journal;

	private final JournalEntry attempt;

	private final PlatformTransactionManager manager;

	private final TransactionStatus status;

	private boolean committing;

	private boolean committed;

	private JdbcJournalTransaction(JdbcOperationJournal journal, JournalEntry attempt,
			PlatformTransactionManager manager, TransactionStatus status) {
		this.journal = journal;
		this.attempt = attempt;
		this.manager = manager;
		this.status = status;
	}

	static JdbcJournalTransaction begin(JdbcOperationJournal journal, JournalEntry attempt,
			PlatformTransactionManager manager, OperationTransaction terms) {
		DefaultTransactionDefinition definition = new DefaultTransactionDefinition();
		definition.setName(attempt.key().name());
		definition.setIsolationLevel(terms.isolation());
		definition.setTimeout(terms.timeoutSeconds());
		return new JdbcJournalTransaction(journal, attempt, manager, manager.getTransaction(definition));
	}

	@Override
	public boolean isRollbackOnly() {
		return this.status.isRollbackOnly();
	}

	@Override
	public void writePending() {
		this.status.flush();
	}

	@Override
	public void commit(JournalMove move, byte @Nullable [] result) {
		try {
			if (!this.journal.moveInTransaction(this.attempt, move, result)) {
				throw new ConcurrencyFailureException("Another attempt of the same operation has begun meanwhile");
			}
			// the last one of the last order
			TransactionSynchronizationManager.registerSynchronization(this);
		}
		catch (RuntimeException | Error ex) {
			rollback(ex);
			throw ex;
		}
		try {
			this.manager.commit(this.status);
		}
		catch (RuntimeException ex) {
			if (this.committing && !this.committed && !isAnswer(ex)) {
				throw new CommitUnknownException(ex);
			}
			throw ex;
		}
	}

	private static boolean isAnswer(RuntimeException failure) {
		if (failure instanceof FencingException || failure instanceof UnexpectedRollbackException
				|| failure instanceof OptimisticLockingFailureException) {
			return true;
		}
		for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
			if (cause instanceof SQLException ex && ex.getSQLState() != null && ex.getSQLState().length() == 5) {
				return ANSWERS.contains(ex.getSQLState().substring(0, 2))
						&& !COMPLETION_UNKNOWN.equals(ex.getSQLState());
			}
		}
		return false;
	}

	private void rollback(Throwable cause) {
		try {
			rollback();
		}
		catch (RuntimeException ex) {
			cause.addSuppressed(ex);
		}
	}

	@Override
	public void rollback() {
		if (!this.status.isCompleted()) {
			this.manager.rollback(this.status);
		}
	}

	@Override
	public boolean isCommitted() {
		return this.committed;
	}

	// what others throw before the commit rolls it back, and is no unknown outcome
	@Override
	public int getOrder() {
		return Ordered.LOWEST_PRECEDENCE;
	}

	@Override
	public void beforeCommit(boolean readOnly) {
		// what a persistence context still has to write may fail as well, with an answer
		writePending();
		this.committing = true;
	}

	@Override
	public void afterCompletion(int completion) {
		this.committed = completion == STATUS_COMMITTED;
	}

}
