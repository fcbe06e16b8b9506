package io.fencing.adversarial;

import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

/**
 * Ends sessions of a database at random, as an administrator, a failover or a time-out of
 * the server does. Its own session stays, nobody else's is safe.
 */
final class SessionKiller implements CounterRun.Trouble {

	private static final long LONGEST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

	private final SingleConnectionDataSource session;

	private final JdbcTemplate jdbc;

	private final boolean postgres;

	private final Random random;

	private final ExecutorService thread = Executors.newSingleThreadExecutor();

	private final CompletableFuture<?> end;

	private volatile boolean closed;

	private volatile long killed;

	private SessionKiller(String url, long seed) {
		this.session = new SingleConnectionDataSource(url, true);
		this.jdbc = new JdbcTemplate(this.session);
		this.postgres = url.startsWith("jdbc:postgresql:");
		this.random = new Random(seed);
		this.end = CompletableFuture.runAsync(this::run, this.thread);
	}

	/**
	 * Start to kill.
	 * @param url the database, of PostgreSQL, MySQL or MariaDB
	 * @param seed what its decisions follow from
	 * @return what ends it
	 */
	static SessionKiller start(String url, long seed) {
		return new SessionKiller(url, seed);
	}

	private void run() {
		while (!this.closed) {
			LockSupport.parkNanos((long) (this.random.nextDouble() * LONGEST_PAUSE_NANOS));
			List<Long> others = this.jdbc.queryForList(this.postgres
					? "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
					: "SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID()",
					Long.class);
			if (!others.isEmpty()) {
				kill(others.get(this.random.nextInt(others.size())));
			}
		}
	}

	private void kill(long other) {
		try {
			this.jdbc.execute(this.postgres ? "SELECT pg_terminate_backend(" + other + ")" : "KILL " + other);
			this.killed++;
		}
		catch (DataAccessException ex) {
			// it has ended by itself
		}
	}

	/**
	 * How many sessions have been ended by now.
	 */
	long getKilled() {
		return this.killed;
	}

	@Override
	public void close() {
		this.closed = true;
		this.end.join();
		this.thread.shutdown();
		this.session.destroy();
	}

}
