package io.fencing.access;

import io.fencing.FencingException;
import io.fencing.access.AccessApplication.Operations;
import io.fencing.access.AccessApplication.PauseBeforeBegin;
import jakarta.persistence.EntityManagerFactory;

import org.springframework.context.ApplicationContext;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * What one worker does with one account, in one way and one shape.
 */
final class Work {

	private final ApplicationContext context;

	private final Access access;

	private final String id;

	private final Runnable pause;

	private int seen;

	private boolean wrapsRefusal;

	Work(ApplicationContext context, Access access, String id, Runnable pause) {
		this.context = context;
		this.access = access;
		this.id = id;
		this.pause = pause;
	}

	String id() {
		return this.id;
	}

	Operations operations() {
		return this.context.getBean(Operations.class);
	}

	PlatformTransactionManager manager() {
		return this.context.getBean(PlatformTransactionManager.class);
	}

	EntityManagerFactory entityManagerFactory() {
		return this.context.getBean(EntityManagerFactory.class);
	}

	TransactionTemplate transaction() {
		return new TransactionTemplate(manager());
	}

	void operate(Step step) {
		unchecked(() -> operations().plain(this.id, () -> {
			step.run();
			return true;
		}));
	}

	void pauseBeforeBegin() {
		this.context.getBean(PauseBeforeBegin.class).set(this.pause);
	}

	void pause() {
		this.pause.run();
	}

	void read() {
		this.seen = this.access.read().apply(this.id);
	}

	void readAndPause() {
		read();
		pause();
	}

	void write() {
		try {
			unchecked(() -> this.access.write().write(this.id, this.seen + 1));
		}
		catch (RuntimeException ex) {
			this.wrapsRefusal = !(ex instanceof FencingException)
					&& NestedExceptionUtils.getMostSpecificCause(ex) instanceof FencingException;
			throw ex;
		}
	}

	/** The body could not catch one of our exceptions as what it is. */
	boolean wrapsRefusal() {
		return this.wrapsRefusal;
	}

	boolean readAndWrite() {
		read();
		write();
		return true;
	}

	static void unchecked(Step step) {
		try {
			step.run();
		}
		catch (RuntimeException ex) {
			throw ex;
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * A part of it.
	 */
	@FunctionalInterface
	interface Step {

		void run() throws Exception;

	}

}
