package io.fencing.access;

import org.springframework.orm.jpa.EntityManagerHolder;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * How an operation and its transactions lie in one another. Somewhere before the write
 * its worker is paused.
 */
enum AccessShape {

	TRANSACTIONAL("`@Transactional`", (work) -> {
		work.pauseBeforeBegin();
		work.operations().transactional(work.id(), work::readAndWrite);
	}),

	TEMPLATE("`TransactionTemplate`", (work) -> work.operate(() -> {
		work.readAndPause();
		work.transaction().executeWithoutResult((status) -> work.write());
	})),

	MANAGER("manager", (work) -> work.operate(() -> {
		work.readAndPause();
		PlatformTransactionManager manager = work.manager();
		TransactionStatus status = manager.getTransaction(new DefaultTransactionDefinition());
		try {
			work.write();
		}
		catch (RuntimeException ex) {
			manager.rollback(status);
			throw ex;
		}
		manager.commit(status);
	})),

	REQUIRES_NEW("`REQUIRES_NEW`", (work) -> work.transaction().executeWithoutResult((caller) -> Work.unchecked(() -> {
		work.pauseBeforeBegin();
		work.operations().requiresNew(work.id(), work::readAndWrite);
	}))),

	NESTED("`NESTED`", (work) -> work.operate(() -> {
		work.readAndPause();
		TransactionTemplate nested = work.transaction();
		nested.setPropagationBehavior(TransactionDefinition.PROPAGATION_NESTED);
		work.transaction().executeWithoutResult((outer) -> nested.executeWithoutResult((status) -> work.write()));
	})),

	RESUMED("resumed", (work) -> work.operate(() -> {
		work.readAndPause();
		TransactionTemplate suspending = work.transaction();
		suspending.setPropagationBehavior(TransactionDefinition.PROPAGATION_NOT_SUPPORTED);
		work.transaction().executeWithoutResult((outer) -> {
			suspending.executeWithoutResult((status) -> work.read());
			work.write();
		});
	})),

	REPEATABLE_READ("`REPEATABLE_READ`", (work) -> inIsolation(work, TransactionDefinition.ISOLATION_REPEATABLE_READ)),

	SERIALIZABLE("`SERIALIZABLE`", (work) -> inIsolation(work, TransactionDefinition.ISOLATION_SERIALIZABLE)),

	READ_ONLY("read-only", (work) -> work.operate(() -> {
		work.pause();
		TransactionTemplate readOnly = work.transaction();
		readOnly.setReadOnly(true);
		readOnly.executeWithoutResult((status) -> work.read());
	})),

	OPEN_IN_VIEW("open-in-view", (work) -> {
		EntityManagerHolder holder = new EntityManagerHolder(work.entityManagerFactory().createEntityManager());
		TransactionSynchronizationManager.bindResource(work.entityManagerFactory(), holder);
		try {
			TEMPLATE.body.run(work);
		}
		finally {
			TransactionSynchronizationManager.unbindResource(work.entityManagerFactory());
			holder.getEntityManager().close();
		}
	}),

	JOINED("joined", (work) -> {
		TransactionTemplate caller = work.transaction();
		caller.setIsolationLevel(TransactionDefinition.ISOLATION_READ_COMMITTED);
		caller.executeWithoutResult((status) -> work.operate(() -> {
			work.readAndPause();
			work.write();
		}));
	}),

	JOINED_LATE("joined after a read", (work) -> {
		TransactionTemplate caller = work.transaction();
		caller.setIsolationLevel(TransactionDefinition.ISOLATION_READ_COMMITTED);
		caller.executeWithoutResult((status) -> {
			work.readAndPause();
			work.operate(work::readAndWrite);
		});
	}),

	SCOPE("in `SUPPORTS`", (work) -> {
		TransactionTemplate caller = work.transaction();
		caller.setPropagationBehavior(TransactionDefinition.PROPAGATION_SUPPORTS);
		caller.executeWithoutResult((status) -> {
			work.read();
			work.operate(() -> {
				work.readAndPause();
				work.write();
			});
		});
	}),

	SUSPENDED("`NOT_SUPPORTED`", (work) -> work.transaction()
		.executeWithoutResult((caller) -> Work.unchecked(() -> work.operations().notSupported(work.id(), () -> {
			work.readAndPause();
			work.write();
			return true;
		})))),

	NONE("none", (work) -> work.operate(() -> {
		work.readAndPause();
		work.write();
	}));

	private final String title;

	private final Body body;

	AccessShape(String title, Body body) {
		this.title = title;
		this.body = body;
	}

	private static void inIsolation(Work work, int isolation) {
		work.operate(() -> {
			work.readAndPause();
			TransactionTemplate transaction = work.transaction();
			transaction.setIsolationLevel(isolation);
			transaction.executeWithoutResult((status) -> work.write());
		});
	}

	String getTitle() {
		return this.title;
	}

	boolean isReading() {
		return this == READ_ONLY;
	}

	/** The pause is inside of a transaction that holds: the next worker has to wait. */
	boolean isHeldDuringPause() {
		return this == JOINED;
	}

	/** The pause is before the operation, which has to see what was written in it. */
	boolean isPausedBefore() {
		return this == JOINED_LATE;
	}

	boolean needsPersistenceContext() {
		return this == OPEN_IN_VIEW;
	}

	void run(Work work) throws Exception {
		this.body.run(work);
	}

	/**
	 * What a worker does.
	 */
	@FunctionalInterface
	private interface Body {

		void run(Work work) throws Exception;

	}

}
