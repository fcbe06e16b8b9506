package io.fencing.adversarial;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.fencing.FencedResourceFactory;
import io.fencing.OutcomeUnknownException;
import io.fencing.adversarial.Deposit.Kind;
import io.fencing.adversarial.DepositDatabase.Row;
import io.fencing.adversarial.Places.Place;
import io.fencing.testing.ForkedJvm;
import io.fencing.testing.RedisConsole;
import io.fencing.testing.TestDatabase;
import io.fencing.testing.TestServers;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.context.ConfigurableApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Two JVMs make the same deposits (check 2), of which one dies in the middle of it,
 * halted from within or killed from outside (check 4, case 61).
 *
 * <p>
 * With {@code -Dfencing.faults} deaths follow one another for
 * {@code fencing.faults.seconds}; {@code fencing.faults.seed} repeats the decisions of a
 * run.
 */
@Tag("faults")
@ParameterizedClass
@EnumSource
class DepositWorkerTests {

	private static final int THREADS = 16;

	private static final int MOST_RUNS = 5;

	private static final Map<TestDatabase, Fixture> FIXTURES = new EnumMap<>(TestDatabase.class);

	private final TestDatabase kind;

	private final Fixture fixture;

	private final long seed = FaultsProperties.seed();

	private final Map<String, AtomicInteger> bodies = new ConcurrentHashMap<>();

	private final Map<String, Set<String>> answers = new ConcurrentHashMap<>();

	private final Deposits here;

	DepositWorkerTests(TestDatabase kind) {
		this.kind = kind;
		this.fixture = FIXTURES.computeIfAbsent(kind, Fixture::new);
		this.here = new Deposits(this.fixture.node, (deposit) -> ran(deposit.id()));
	}

	@AfterAll
	static void stop() {
		FIXTURES.values().forEach(Fixture::stop);
		FIXTURES.clear();
	}

	@Test
	void whenIdentityComesFromManyThreadsOfTwoJvmsThenOneEffectAndEqualAnswers() throws Exception {
		// the other kinds where there is time, since 32 calls take their turn
		for (Kind end : (FaultsProperties.time(Duration.ZERO).isZero()) ? List.of(Kind.PLAIN)
				: List.of(Kind.PLAIN, Kind.REFUSED, Kind.COMMITTED)) {
			String prefix = "same" + end;
			Deposit deposit = new Deposit(prefix + "-0", end, prefix);
			this.fixture.database.open(List.of(deposit));
			List<Deposit> calls = Collections.nCopies(THREADS, deposit);
			List<String> all = Collections.synchronizedList(new ArrayList<>());
			send(calls);
			DepositLoad.run(calls, THREADS, this.seed, List.of(this.here), (one, answer) -> all.add(answer));
			this.fixture.worker().await("DONE");
			this.fixture.worker().take("ANSWER").forEach((line) -> all.add(line.split(" ", 2)[1]));
			assertThat(all).as(prefix).hasSize(2 * THREADS).containsOnly(all.get(0));
			assertThat(this.fixture.database.findWrongEnds(prefix, List.of(deposit))).isEmpty();
			assertThat(this.fixture.database.read(prefix).get(deposit.id()).attempts()).isOne();
		}
	}

	@Test
	void whenManyIdentitiesComeFromTwoJvmsThenOneEffectEach() throws Exception {
		Random random = new Random(this.seed);
		List<Deposit> drawn = draw("many", 60, random);
		List<Deposit> there = shuffled(drawn.subList(0, 50), random);
		send(there);
		DepositLoad.run(shuffled(drawn.subList(10, 60), random), THREADS, this.seed, List.of(this.here),
				this::answered);
		this.fixture.worker().await("DONE");
		collect();
		verify("many", drawn, 0);
	}

	@Test
	void whenOneOfTwoJvmsIsKilledAtRandomThenOneEffectEach() throws Exception {
		long end = System.nanoTime() + FaultsProperties.time(Duration.ZERO).toNanos();
		int runs = 0;
		int died = 0;
		do {
			String prefix = "killed" + runs;
			Random random = new Random(this.seed + runs);
			List<Deposit> drawn = draw(prefix, 60, random);
			send(shuffled(drawn, random));
			for (int bodiesBefore = random.nextInt(20); bodiesBefore >= 0; bodiesBefore--) {
				ran(this.fixture.worker().await("BODY"));
			}
			LockSupport.parkNanos(random.nextInt(10_000_000));
			this.fixture.kill();
			collect();
			int open = (int) this.fixture.database.read(prefix)
				.values()
				.stream()
				.filter((row) -> row.state().equals("RUNNING"))
				.count();
			died += open;
			assertThat(this.fixture.database.findContradictions(prefix, drawn)).as(prefix).isEmpty();
			// a restarted one goes on as well, where there is time
			boolean restarted = System.nanoTime() - end < 0;
			if (restarted) {
				send(shuffled(drawn, random));
			}
			DepositLoad.run(drawn, THREADS, this.seed, List.of(this.here), this::answered);
			if (restarted) {
				this.fixture.worker().await("DONE");
				collect();
			}
			verify(prefix, drawn, 1);
			System.out.println(prefix + " on " + this.kind + " with seed " + (this.seed + runs) + ": " + open
					+ " attempts were under way");
			runs++;
		}
		while (System.nanoTime() - end < 0 || (died == 0 && runs < MOST_RUNS));
		assertThat(died).as("attempts under way").isPositive();
	}

	@Test
	void whenJvmDiesBetweenAnyTwoStatesThenOneEffectOrUndecided() {
		long end = System.nanoTime() + FaultsProperties.time(Duration.ZERO).toNanos();
		// a listener, the body, the commit, a person
		String[] triggers = { "CLAIMED", "WORKED", "COMMITTING", "RELEASED", "nobody" };
		int run = this.kind.ordinal();
		do {
			dieAt("halted" + run, triggers[run % triggers.length]);
			run++;
		}
		while (System.nanoTime() - end < 0);
	}

	private void dieAt(String prefix, String trigger) {
		Map<Place, Deposit> plain = new EnumMap<>(Place.class);
		Map<Place, Deposit> external = new EnumMap<>(Place.class);
		for (Place place : Place.values()) {
			plain.put(place, DepositWorker.deposit(prefix, place, false));
			external.put(place, DepositWorker.deposit(prefix, place, true));
		}
		this.fixture.database.open(plain.values());
		this.fixture.database.open(external.values());
		ForkedJvm dying = this.fixture.worker();
		dying.send("DIE " + prefix + " " + trigger);
		Stream.generate(() -> dying.await("AT")).limit(2L * Place.values().length).forEach((place) -> {
		});
		if (trigger.equals("nobody")) {
			dying.kill();
		}
		assertThat(dying.awaitEnd()).as("%s, which halts at %s", prefix, trigger).isEqualTo(DepositWorker.KILLED);
		dying.take("BODY");
		plain.values().forEach(this.fixture::endLease);
		external.values().forEach(this.fixture::endLease);
		Map<String, Row> seen = this.fixture.database.read(prefix);
		plain.forEach((place, deposit) -> assertThat(state(seen, deposit)).isEqualTo(place.getState()));
		external.forEach((place, deposit) -> assertThat(state(seen, deposit)).isEqualTo(place.getState()));
		assertThat(this.fixture.database.findContradictions(prefix, plain.values())).isEmpty();

		plain.forEach((place, deposit) -> {
			callAgain(deposit, false);
			assertThatIsDone(prefix, place, deposit);
		});
		external.forEach((place, deposit) -> {
			if (place.getState().equals("RUNNING")) {
				assertThatIsUndecided(prefix, deposit);
			}
			else {
				callAgain(deposit, true);
				assertThatIsDone(prefix, place, deposit);
			}
		});
	}

	private static String state(Map<String, Row> rows, Deposit deposit) {
		Row row = rows.get(deposit.id());
		return (row != null) ? row.state() : "ABSENT";
	}

	private void callAgain(Deposit deposit, boolean external) {
		String first = this.here.call(deposit, external, null, () -> {
		});
		assertThat(this.here.call(deposit, external, null, () -> {
		})).as(deposit.id()).isEqualTo(first);
	}

	private void assertThatIsDone(String prefix, Place place, Deposit deposit) {
		boolean wasRecorded = !place.getState().equals("ABSENT");
		boolean ranHere = !place.getState().equals("COMPLETED");
		assertThat(this.fixture.database.read(prefix).get(deposit.id()))
			.isEqualTo(new Row(deposit.id(), "COMPLETED", (wasRecorded && ranHere) ? 2 : 1, 1));
		assertThat(this.fixture.database.findWrongEnds(prefix, List.of(deposit))).isEmpty();
		assertThat(this.bodies.containsKey(deposit.id())).as(deposit.id()).isEqualTo(ranHere);
	}

	private void assertThatIsUndecided(String prefix, Deposit deposit) {
		for (int i = 0; i < 2; i++) {
			assertThatExceptionOfType(OutcomeUnknownException.class).isThrownBy(() -> callAgain(deposit, true));
		}
		assertThat(this.fixture.database.read(prefix).get(deposit.id()))
			.isEqualTo(new Row(deposit.id(), "UNDECIDED", 1, 0));
		assertThat(this.bodies).doesNotContainKey(deposit.id());
	}

	private List<Deposit> draw(String prefix, int count, Random random) {
		System.out.println("Run '" + prefix + "' on " + this.kind + " with seed " + this.seed);
		List<Deposit> drawn = Deposit.draw(prefix, count, 4, random);
		this.fixture.database.open(drawn);
		return drawn;
	}

	private static List<Deposit> shuffled(List<Deposit> deposits, Random random) {
		List<Deposit> shuffled = new ArrayList<>(deposits);
		Collections.shuffle(shuffled, random);
		return shuffled;
	}

	private void send(List<Deposit> deposits) {
		this.fixture.worker()
			.send("MAKE " + THREADS + " " + this.seed + " "
					+ deposits.stream().map(Deposit::toString).collect(Collectors.joining(";")));
	}

	private void ran(String id) {
		this.bodies.computeIfAbsent(id, (absent) -> new AtomicInteger()).incrementAndGet();
	}

	private void answered(Deposit deposit, String answer) {
		this.answers.computeIfAbsent(deposit.id(), (id) -> ConcurrentHashMap.newKeySet()).add(answer);
	}

	private void collect() {
		this.fixture.last.take("BODY").forEach(this::ran);
		this.fixture.last.take("ANSWER").forEach((line) -> {
			String[] parts = line.split(" ", 2);
			this.answers.computeIfAbsent(parts[0], (id) -> ConcurrentHashMap.newKeySet()).add(parts[1]);
		});
	}

	private void verify(String prefix, List<Deposit> drawn, int deaths) {
		assertThat(this.fixture.database.findWrongEnds(prefix, drawn)).as(prefix).isEmpty();
		Map<String, Row> rows = this.fixture.database.read(prefix);
		for (Deposit deposit : drawn) {
			assertThat(this.answers.get(deposit.id())).as(deposit.id()).hasSize(1);
			// an attempt may have ended, or its JVM, before its body
			int ran = this.bodies.get(deposit.id()).get();
			assertThat(rows.get(deposit.id()).attempts()).as(deposit.id()).isBetween(ran, ran + deaths);
		}
	}

	/**
	 * The nodes on one database.
	 */
	private static final class Fixture {

		private static final RedisConsole REDIS = new RedisConsole(
				Integer.parseInt(TestServers.redisUrl().replaceFirst(".*:(\\d+).*", "$1")));

		private static final Deposit WARM_UP = new Deposit("warm", Kind.PLAIN, "warm");

		private final DepositDatabase database;

		private final ConfigurableApplicationContext node;

		private ForkedJvm last;

		Fixture(TestDatabase kind) {
			this.database = new DepositDatabase(kind);
			this.database.open(List.of(WARM_UP));
			this.last = fork();
			this.node = DepositNode.start(DepositNode.arguments(this.database.getUrl(), this.database.getUrl()));
			warmUp();
		}

		private ForkedJvm fork() {
			return ForkedJvm.start("worker", DepositWorker.class,
					DepositNode.arguments(this.database.getUrl(), this.database.getUrl()));
		}

		/**
		 * The other JVM, a new one if it has died.
		 */
		ForkedJvm worker() {
			if (!this.last.isAlive()) {
				this.last.close();
				this.last = fork();
				warmUp();
			}
			return this.last;
		}

		// the first call may take longer than a lease
		private void warmUp() {
			this.last.await("READY");
			Deposit deposit = new Deposit("warm-" + this.last.hashCode(), Kind.PLAIN, WARM_UP.account());
			this.last.send("MAKE 1 0 " + deposit);
			this.last.await("DONE");
			this.last.take("BODY");
			this.last.take("ANSWER");
		}

		void kill() {
			this.last.kill();
		}

		// as if its time were over
		void endLease(Deposit deposit) {
			String key = this.node.getBean(FencedResourceFactory.class).create("account:" + deposit.account()).getKey();
			REDIS.send("DEL fencing:1:{" + key + "}:lease");
		}

		void stop() {
			this.last.close();
			DepositNode.stop(this.node);
		}

	}

}
