package io.fencing.adversarial;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

import io.fencing.FencingException;
import io.fencing.LeaseLostException;
import io.fencing.RejectionReason;
import io.fencing.StaleTokenException;
import io.fencing.adversarial.Counter.Added;
import io.fencing.testing.History.Operation;
import io.fencing.testing.ParentJvm;

import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.PessimisticLockingFailureException;
import org.springframework.transaction.TransactionException;

/**
 * Many threads that add one to the same counter, each call repeated until it is
 * acknowledged, some of them held up for longer than their lease lasts.
 */
public final class CounterLoad {

	static final Duration LEASE = Duration.ofMillis(300);

	private static final int THREADS = 8;

	private final ParentJvm parent;

	private final Counter counter;

	private final CounterStorage storage;

	private final String id;

	private final AtomicInteger stale = new AtomicInteger();

	private final AtomicInteger lost = new AtomicInteger();

	private final AtomicInteger repeated = new AtomicInteger();

	private final AtomicInteger unknown = new AtomicInteger();

	private CounterLoad(ParentJvm parent, ConfigurableApplicationContext context, String storage, String id) {
		this.parent = parent;
		this.counter = context.getBean(Counter.class);
		this.storage = context.getBean(storage, CounterStorage.class);
		this.id = id;
	}

	private void run(long seed, int operations) throws Exception {
		ExecutorService workers = Executors.newFixedThreadPool(THREADS);
		try {
			List<Future<?>> calls = new ArrayList<>();
			for (Delay delay : delays(new Random(seed), operations)) {
				calls.add(workers.submit(() -> untilAcknowledged(delay)));
			}
			for (Future<?> call : calls) {
				call.get();
			}
		}
		finally {
			workers.shutdownNow();
		}
	}

	/**
	 * Enough of those that exceed the lease for a run not to miss them, in an order that
	 * the seed decides. The last ones are short: nobody would be left to take over.
	 */
	private static List<Delay> delays(Random random, int operations) {
		List<Delay> delays = new ArrayList<>();
		for (int i = 0; i < operations - 2 * THREADS; i++) {
			Place place = (i % 24 == 16) ? Place.BEFORE_LOCAL_CHECK : Place.BEFORE_STORAGE;
			delays.add((i % 8 == 0) ? new Delay(place, true, random) : Delay.ofUsualLength(random));
		}
		Collections.shuffle(delays, random);
		while (delays.size() < operations) {
			delays.add(Delay.ofUsualLength(random));
		}
		return delays;
	}

	private void untilAcknowledged(Delay delay) {
		while (true) {
			try {
				call(delay);
				return;
			}
			catch (StaleTokenException ex) {
				this.stale.addAndGet((ex.getReason() == RejectionReason.STALE) ? 1 : 0);
			}
			catch (LeaseLostException ex) {
				this.lost.incrementAndGet();
			}
			catch (FencingException ex) {
				if (!ex.isRetryable()) {
					throw ex;
				}
			}
			catch (PessimisticLockingFailureException ex) {
				// rolled back by the database: nothing of it counts
			}
			catch (DataAccessException | TransactionException ex) {
				// its session has ended, perhaps at the commit
				this.unknown.incrementAndGet();
			}
			finally {
				this.storage.open();
			}
			this.repeated.incrementAndGet();
		}
	}

	private void call(Delay delay) {
		long started = System.nanoTime();
		// renewed, a lease would outlive the delay of a single thread
		Added added = delay.exceedsLease() ? this.counter.addOneUnrenewed(this.id, this.storage, () -> inject(delay))
				: this.counter.addOne(this.id, this.storage, () -> inject(delay));
		Operation operation = new Operation(Thread.currentThread().getName(), added.token(), added.read(),
				added.written(), started, System.nanoTime());
		this.parent.send("ACKNOWLEDGED " + operation.toLine());
	}

	private void inject(Delay delay) {
		Duration time = delay.take();
		if (delay.getPlace() == Place.BEFORE_LOCAL_CHECK) {
			pause(time);
		}
		else {
			this.storage.beforeNextAccess(() -> pause(time));
		}
	}

	private static void pause(Duration time) {
		long end = System.nanoTime() + time.toNanos();
		for (long left = time.toNanos(); left > 0; left = end - System.nanoTime()) {
			LockSupport.parkNanos(left);
		}
	}

	/**
	 * Run it.
	 * @param args the properties of {@link CounterApplication}
	 * @throws Exception if an operation fails in a way that is not to be repeated
	 */
	public static void main(String[] args) throws Exception {
		ParentJvm parent = ParentJvm.connect();
		ConfigurableApplicationContext context = CounterApplication.run(args);
		parent.send("READY");
		try {
			while (true) {
				String[] command = parent.receive().split(" ");
				context.getBean(LossCounter.class).take();
				CounterLoad load = new CounterLoad(parent, context, command[0], command[1]);
				load.run(Long.parseLong(command[2]), Integer.parseInt(command[3]));
				parent.send("DONE " + context.getBean(LossCounter.class).take() + " " + load.stale + " " + load.lost
						+ " " + load.repeated + " " + load.unknown);
			}
		}
		catch (Throwable ex) {
			ex.printStackTrace(System.out);
			Runtime.getRuntime().halt(1);
		}
	}

	private enum Place {

		BEFORE_LOCAL_CHECK, BEFORE_STORAGE

	}

	/**
	 * How one operation is delayed: the first time perhaps for longer than its lease
	 * lasts, later shortly.
	 */
	private static final class Delay {

		private static final int LONGEST_USUAL_MILLIS = 50;

		private final Place place;

		private final Duration usual;

		private final Duration excessive;

		private volatile boolean exceedsLease;

		Delay(Place place, boolean exceedsLease, Random random) {
			this.place = place;
			this.exceedsLease = exceedsLease;
			this.usual = Duration.ofMillis(random.nextInt(LONGEST_USUAL_MILLIS));
			this.excessive = LEASE.plus(LEASE.dividedBy(2)).plusMillis(random.nextInt((int) LEASE.toMillis()));
		}

		static Delay ofUsualLength(Random random) {
			return new Delay(Place.values()[random.nextInt(Place.values().length)], false, random);
		}

		Place getPlace() {
			return this.place;
		}

		boolean exceedsLease() {
			return this.exceedsLease;
		}

		Duration take() {
			Duration time = this.exceedsLease ? this.excessive : this.usual;
			this.exceedsLease = false;
			return time;
		}

	}

}
