package io.fencing.adversarial;

import io.fencing.adversarial.PausedWorker.Place;
import io.fencing.testing.ForkedJvm;
import io.fencing.testing.TestServers;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.datasource.DriverManagerDataSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two JVMs, of which one is stopped with SIGSTOP in the middle of an operation and goes
 * on with SIGCONT after the other has taken over (case 13).
 */
class PausedWorkerTests {

	private static JdbcCounterStorage database;

	@AutoClose
	private static ForkedJvm a;

	@AutoClose
	private static ForkedJvm b;

	@BeforeAll
	static void start() {
		String url = TestServers.newPostgresUrl();
		database = JdbcCounterStorage.undecorated(new DriverManagerDataSource(url));
		database.createTable();
		String[] properties = { "--spring.datasource.url=" + url, "--spring.data.redis.url=" + TestServers.redisUrl(),
				"--fencing.lease.time=1s", "--fencing.lease.wait=20s", "--fencing.jdbc.admission-timeout=500ms" };
		a = ForkedJvm.start("A", PausedWorker.class, properties);
		b = ForkedJvm.start("B", PausedWorker.class, properties);
		a.await("READY");
		b.await("READY");
	}

	@Test
	void whenStoppedBetweenTransactionsThenRefusedLocallyAndNothingIsSent() {
		freezeA("a", Place.BETWEEN_TRANSACTIONS);
		assertThat(addByB("a")).startsWith("added 0 -> 1");
		assertThat(thawA("a")).startsWith("LeaseLostException").endsWith("sent 0");
		assertThat(database.read("a")).isOne();
	}

	@Test
	void whenStoppedAfterLocalCheckThenRefusedByDatabase() {
		freezeA("b", Place.BEFORE_DATABASE);
		assertThat(addByB("b")).startsWith("added 0 -> 1");
		assertThat(thawA("b")).startsWith("StaleTokenException of postgresql STALE").doesNotEndWith("sent 0");
		assertThat(database.read("b")).isOne();
	}

	@Test
	void whenStoppedInsideTransactionThenNextIsNotAdmittedUntilItHasCommitted() {
		freezeA("c", Place.INSIDE_TRANSACTION);
		assertThat(addByB("c")).startsWith("AdmissionTimeoutException of postgresql");
		assertThat(database.read("c")).isZero();
		assertThat(thawA("c")).startsWith("added 0 -> 1");
		assertThat(addByB("c")).startsWith("added 1 -> 2");
		assertThat(database.read("c")).isEqualTo(2);
	}

	private static void freezeA(String id, Place place) {
		database.create(id);
		a.send(id + " " + place);
		assertThat(a.await("AT")).isEqualTo(place.name());
		a.freeze();
		report(id, "A is stopped with SIGSTOP at " + place);
	}

	private static String addByB(String id) {
		b.send(id + " " + Place.NOWHERE);
		String outcome = b.await("OUTCOME");
		report(id, "B: " + outcome);
		return outcome;
	}

	private static String thawA(String id) {
		a.thaw();
		report(id, "A goes on with SIGCONT");
		a.send("GO");
		String outcome = a.await("OUTCOME");
		report(id, "A: " + outcome);
		return outcome;
	}

	private static void report(String id, String event) {
		System.out.println("(" + id + ") " + event);
	}

}
