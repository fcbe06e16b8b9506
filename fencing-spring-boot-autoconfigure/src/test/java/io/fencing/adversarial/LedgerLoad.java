package io.fencing.adversarial;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

import io.fencing.AdmissionTimeoutException;
import io.fencing.CoordinatorUnavailableException;
import io.fencing.FencingException;
import io.fencing.LeaseLostException;
import io.fencing.LeaseNotAcquiredException;
import io.fencing.StaleTokenException;
import io.fencing.testing.ParentJvm;

import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.dao.DataAccessException;
import org.springframework.transaction.TransactionException;

/**
 * Many threads that add to accounts until they are told to stop, some of them held up for
 * longer than their lease lasts. Tells what became of each call.
 */
public final class LedgerLoad {

	/**
	 * The account that no fence protects.
	 */
	static final String NAIVE = "naive";

	private static final int THREADS = 8;

	private static final int ONE_IN_EXCEEDS_LEASE = 5;

	private static final Duration PROGRESS_LIMIT = Duration.ofSeconds(30);

	private final ParentJvm parent;

	private final Accounts accounts;

	private final Ledger fenced;

	private final Ledger undecorated;

	private final LossCounter losses;

	private final AtomicLong ids = new AtomicLong(ProcessHandle.current().pid() * 1_000_000);

	private final Map<Outcome, AtomicInteger> counts = new ConcurrentHashMap<>();

	private volatile boolean stopped;

	private LedgerLoad(ParentJvm parent, ConfigurableApplicationContext context) {
		this.parent = parent;
		this.accounts = context.getBean(Accounts.class);
		this.fenced = context.getBean("fencedLedger", Ledger.class);
		this.undecorated = context.getBean("undecoratedLedger", Ledger.class);
		this.losses = context.getBean(LossCounter.class);
	}

	private void run(long seed, List<String> names) throws Exception {
		ExecutorService threads = Executors.newFixedThreadPool(THREADS);
		try {
			List<Future<?>> workers = new ArrayList<>();
			for (int i = 0; i < THREADS; i++) {
				Random random = new Random(seed + i);
				workers.add(threads.submit(() -> {
					while (!this.stopped) {
						call(names.get(random.nextInt(names.size())), Delay.draw(random));
					}
				}));
			}
			while (!this.parent.receive().equals("STOP")) {
				// GO
			}
			this.stopped = true;
			for (Future<?> worker : workers) {
				worker.get();
			}
		}
		finally {
			threads.shutdownNow();
		}
		for (Outcome outcome : Outcome.values()) {
			this.parent.send("COUNT " + outcome + " " + this.counts.getOrDefault(outcome, new AtomicInteger()));
		}
		this.parent.send("DONE " + this.losses.take());
	}

	private Outcome call(String account, Delay delay) {
		String id = Long.toString(this.ids.incrementAndGet());
		Ledger ledger = account.equals(NAIVE) ? this.undecorated : this.fenced;
		Outcome outcome = outcome(account, id, ledger, delay);
		this.counts.computeIfAbsent(outcome, (key) -> new AtomicInteger()).incrementAndGet();
		this.parent.send(outcome.kind + " " + account + " " + id);
		return outcome;
	}

	private Outcome outcome(String account, String id, Ledger ledger, Delay delay) {
		try {
			if (delay.exceedsLease()) {
				this.accounts.addUnrenewed(account, id, ledger, () -> delay.inject(ledger));
			}
			else {
				this.accounts.add(account, id, ledger, () -> delay.inject(ledger));
			}
			return Outcome.GRANTED;
		}
		catch (StaleTokenException ex) {
			return Outcome.STALE;
		}
		catch (LeaseLostException ex) {
			return Outcome.LOST;
		}
		catch (LeaseNotAcquiredException ex) {
			return Outcome.BUSY;
		}
		catch (CoordinatorUnavailableException ex) {
			return Outcome.UNAVAILABLE;
		}
		catch (AdmissionTimeoutException ex) {
			return Outcome.NOT_ADMITTED;
		}
		catch (FencingException | DataAccessException | TransactionException ex) {
			return Outcome.UNKNOWN;
		}
		finally {
			ledger.open();
		}
	}

	private void progress(List<String> names) {
		long start = System.nanoTime();
		for (String name : names) {
			while (call(name, new Delay(Duration.ZERO, false, false)) != Outcome.GRANTED) {
				if (System.nanoTime() - start > PROGRESS_LIMIT.toNanos()) {
					throw new IllegalStateException("No call on " + name + " succeeds after the end of the faults");
				}
			}
		}
		this.parent.send("PROGRESS " + Duration.ofNanos(System.nanoTime() - start).toMillis());
	}

	/**
	 * Run it: {@code RUN seed accounts}, {@code GO} as often as one likes, {@code STOP},
	 * {@code PROGRESS accounts}.
	 * @param args the properties of {@link CounterApplication}
	 */
	public static void main(String[] args) {
		ParentJvm parent = ParentJvm.connect();
		try {
			LedgerLoad load = new LedgerLoad(parent, CounterApplication.run(args));
			parent.send("READY");
			while (true) {
				String[] command = parent.receive().split(" ");
				List<String> names = List.of(command[command.length - 1].split(","));
				if (command[0].equals("RUN")) {
					load.run(Long.parseLong(command[1]), names);
				}
				else {
					load.progress(names);
				}
			}
		}
		catch (Throwable ex) {
			ex.printStackTrace(System.out);
			Runtime.getRuntime().halt(1);
		}
	}

	/**
	 * What became of a call.
	 */
	enum Outcome {

		GRANTED("ACKNOWLEDGED"), STALE("REFUSED"), LOST("REFUSED"), BUSY("REFUSED"), UNAVAILABLE("REFUSED"),
		NOT_ADMITTED("REFUSED"), UNKNOWN("UNKNOWN");

		private final String kind;

		Outcome(String kind) {
			this.kind = kind;
		}

	}

	/**
	 * How a call is held up between its steps.
	 *
	 * @param time for how long
	 * @param exceedsLease whether that is longer than its lease lasts
	 * @param behindChecks whether this JVM has checked all that it checks by then
	 */
	private record Delay(Duration time, boolean exceedsLease, boolean behindChecks) {

		static Delay draw(Random random) {
			boolean exceedsLease = random.nextInt(ONE_IN_EXCEEDS_LEASE) == 0;
			return new Delay(Duration.ofMillis(exceedsLease ? 450 + random.nextInt(300) : random.nextInt(20)),
					exceedsLease, random.nextInt(3) > 0);
		}

		void inject(Ledger ledger) {
			if (this.behindChecks) {
				ledger.beforeNextAccess(this::pause);
			}
			else {
				pause();
			}
		}

		private void pause() {
			long end = System.nanoTime() + this.time.toNanos();
			for (long left = this.time.toNanos(); left > 0; left = end - System.nanoTime()) {
				LockSupport.parkNanos(left);
			}
		}

	}

}
