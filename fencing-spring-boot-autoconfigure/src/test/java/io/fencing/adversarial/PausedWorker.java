package io.fencing.adversarial;

import java.util.List;

import io.fencing.AdmissionTimeoutException;
import io.fencing.FencingException;
import io.fencing.LeaseLostException;
import io.fencing.StaleTokenException;
import io.fencing.adversarial.Counter.Added;
import io.fencing.testing.GateDataSource;
import io.fencing.testing.ParentJvm;

import org.springframework.context.ConfigurableApplicationContext;

/**
 * A worker that adds one on command and stops at a given place, with a message, until it
 * is told to go on.
 */
public final class PausedWorker {

	private final ParentJvm parent;

	private final Counter counter;

	private final JdbcCounterStorage storage;

	private PausedWorker(ParentJvm parent, ConfigurableApplicationContext context) {
		this.parent = parent;
		this.counter = context.getBean(Counter.class);
		this.storage = context.getBean("fencedStorage", JdbcCounterStorage.class);
	}

	private void add(String id, Place place) {
		GateDataSource dataSource = this.storage.getDataSource();
		String outcome;
		try {
			Added added = this.counter.addOne(id, this.storage, new Counter.Steps() {

				@Override
				public void betweenTransactions() {
					if (place == Place.BEFORE_DATABASE) {
						dataSource.beforeNextStatement((sql) -> true, () -> stop(place));
					}
					if (place == Place.BETWEEN_TRANSACTIONS) {
						stop(place);
					}
					dataSource.takeStatements();
				}

				@Override
				public void insideTransaction() {
					if (place == Place.INSIDE_TRANSACTION) {
						stop(place);
					}
				}

			});
			outcome = "added " + added.read() + " -> " + added.written();
		}
		catch (FencingException ex) {
			outcome = describe(ex);
		}
		List<String> sent = dataSource.takeStatements();
		this.parent.send("OUTCOME " + outcome + ", sent " + sent.size());
	}

	private void stop(Place place) {
		this.parent.send("AT " + place);
		this.parent.await("GO");
	}

	private static String describe(FencingException ex) {
		String name = ex.getClass().getSimpleName();
		if (ex instanceof StaleTokenException stale) {
			return name + " of " + stale.getStorage() + " " + stale.getReason();
		}
		if (ex instanceof LeaseLostException lost) {
			return name + " " + lost.getReason();
		}
		return (ex instanceof AdmissionTimeoutException timeout) ? name + " of " + timeout.getStorage()
				: name + " " + ex.getMessage();
	}

	/**
	 * Run it.
	 * @param args the properties of {@link CounterApplication}
	 */
	public static void main(String[] args) {
		ParentJvm parent = ParentJvm.connect();
		PausedWorker worker = new PausedWorker(parent, CounterApplication.run(args));
		parent.send("READY");
		while (true) {
			String[] command = parent.receive().split(" ");
			worker.add(command[0], Place.valueOf(command[1]));
		}
	}

	/**
	 * Where it stops.
	 */
	enum Place {

		NOWHERE, BETWEEN_TRANSACTIONS, BEFORE_DATABASE, INSIDE_TRANSACTION

	}

}
