package io.fencing.adversarial;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import io.fencing.JournalUnavailableException;
import io.fencing.OutcomeUnknownException;
import io.fencing.adversarial.AnswerLosingProxy.Fate;
import io.fencing.adversarial.Deposit.Kind;
import io.fencing.adversarial.DepositDatabase.Row;
import io.fencing.adversarial.Deposits.RepeatableFailure;
import io.fencing.operation.Reconciliation;
import io.fencing.testing.TestDatabase;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.context.ConfigurableApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * The answers to half of all commits are lost at random between the nodes and the
 * database, which gets the commit, never gets it, or gets it late (check 3, case 20).
 * Each lost answer is told as unknown, and each identity has one effect or none, as the
 * journal says.
 *
 * <p>
 * With {@code -Dfencing.faults} runs follow one another for
 * {@code fencing.faults.seconds}, and until 500 answers have been lost in the two of
 * them; {@code fencing.faults.seed} repeats the decisions of a run.
 */
@Tag("faults")
@ParameterizedClass
@EnumSource
class LostCommitTests {

	private static final int THREADS = 8;

	private static final int DEPOSITS = 50;

	private static final int ACCOUNTS = 6;

	private static final int LEAST_LOSSES = (System.getProperty("fencing.faults") != null) ? 250 : 30;

	private static final List<Fate> FATES = List.of(Fate.PASSED_ON, Fate.NOT_PASSED_ON, Fate.PASSED_ON_LATE);

	private static final Map<TestDatabase, Fixture> FIXTURES = new EnumMap<>(TestDatabase.class);

	private final long seed = FaultsProperties.seed();

	private final DepositDatabase database;

	private final AnswerLosingProxy proxy;

	private final List<Deposits> deposits;

	private final Reconciliation reconciliation;

	private final Map<String, AtomicInteger> bodies = new ConcurrentHashMap<>();

	LostCommitTests(TestDatabase kind) {
		Fixture fixture = FIXTURES.computeIfAbsent(kind, (one) -> new Fixture(one, this.seed));
		System.out.println("Lost commits on " + kind + " with seed " + this.seed);
		this.database = fixture.database;
		this.proxy = fixture.proxy;
		this.deposits = fixture.nodes.stream()
			.map((node) -> new Deposits(node, (deposit) -> ran(deposit.id())))
			.toList();
		this.reconciliation = fixture.nodes.get(0).getBean(Reconciliation.class);
	}

	@AfterAll
	static void stop() {
		FIXTURES.values().forEach(Fixture::stop);
		FIXTURES.clear();
	}

	@Test
	void whenCalledUntilAnsweredThenOneEffectAndOneAnswer() throws Exception {
		Losses losses = new Losses();
		for (int run = 0; losses.goOn(); run++) {
			String prefix = "again" + run;
			List<Deposit> drawn = draw(prefix, run);
			Map<String, Set<String>> answers = new ConcurrentHashMap<>();
			// each one twice, so that others come while it is under way
			List<Deposit> calls = new ArrayList<>(drawn);
			calls.addAll(drawn);
			this.proxy.lose(0.5);
			DepositLoad.run(calls, THREADS, this.seed + run, this.deposits,
					(deposit, answer) -> answers.computeIfAbsent(deposit.id(), (id) -> ConcurrentHashMap.newKeySet())
						.add(answer));
			this.proxy.lose(0);
			assertThat(this.database.findWrongEnds(prefix, drawn)).as(prefix).isEmpty();
			assertThat(answers).as(prefix).hasSize(DEPOSITS).allSatisfy((id, given) -> assertThat(given).hasSize(1));
			assertThat(this.database.read(prefix)).as(prefix)
				.allSatisfy((id, row) -> assertThat(row.attempts()).isGreaterThanOrEqualTo(this.bodies.get(id).get()));
		}
		losses.assertThatEachWasTold();
	}

	@Test
	void whenNeverCalledAgainThenJournalSaysWhatHappenedAndIsReconciledAndTheNextCallAgrees() {
		Losses losses = new Losses();
		Map<String, Integer> states = new TreeMap<>();
		for (int run = 0; losses.goOn(); run++) {
			String prefix = "once" + run;
			List<Deposit> drawn = draw(prefix, run);
			Random random = new Random(this.seed + run);
			Set<String> unknown = ConcurrentHashMap.newKeySet();
			this.proxy.lose(0.5);
			drawn.parallelStream().forEach((deposit) -> {
				try {
					this.deposits.get(random.nextInt(this.deposits.size())).call(deposit, random);
				}
				catch (OutcomeUnknownException ex) {
					unknown.add(deposit.id());
				}
				catch (RepeatableFailure ex) {
					// its row says so
				}
			});
			this.proxy.lose(0);
			// at any moment, also while commits are still to come
			assertThat(this.database.findContradictions(prefix, drawn)).as(prefix).isEmpty();
			Map<String, Row> rows = this.database.read(prefix);
			assertThat(unknown).as(prefix)
				.allSatisfy((id) -> assertThat(rows.get(id).state()).isIn("RUNNING", "COMPLETED", "REJECTED"));
			unknown.forEach((id) -> states.merge(rows.get(id).state(), 1, Integer::sum));
			reconcile(prefix);
			assertThat(this.database.findContradictions(prefix, drawn)).as(prefix).isEmpty();
			drawn.forEach((deposit) -> this.deposits.get(0).callUntilAnswered(deposit, random));
			assertThat(this.database.findWrongEnds(prefix, drawn)).as(prefix).isEmpty();
		}
		System.out.println("What was unknown is then seen as " + states);
		assertThat(states).containsKeys("RUNNING", "COMPLETED");
		losses.assertThatEachWasTold();
	}

	private void reconcile(String prefix) {
		Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> {
			this.database.makeDue();
			this.reconciliation.run();
			return this.database.read(prefix).values().stream().noneMatch((row) -> row.state().equals("RUNNING"));
		});
	}

	// nothing has run, so there is no doubt about effects elsewhere
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void whenAnswerToAttemptIsLostThenBodyDidNotRunAndTheNextCallRuns(boolean external) {
		Deposit deposit = new Deposit("attempt-" + external, Kind.PLAIN, "attempt" + external);
		this.database.open(List.of(deposit));
		this.proxy.loseNext("INSERT INTO fencing_operation", Fate.PASSED_ON);
		assertThatExceptionOfType(JournalUnavailableException.class).isThrownBy(() -> call(deposit, external));
		assertThat(this.bodies).isEmpty();
		assertThat(call(deposit, external)).startsWith("receipt");
		assertThat(this.database.read("attempt").get(deposit.id())).isEqualTo(new Row(deposit.id(), "COMPLETED", 2, 1));
	}

	// rule 12: the transaction of the attempt still has the lock on its row
	@Test
	void whenSessionOutlivesItsConnectionThenNoWaitForItsLockIsWithoutABound() throws Exception {
		Deposit deposit = new Deposit("kept-0", Kind.PLAIN, "kept");
		this.database.open(List.of(deposit));
		this.proxy.loseNext("UPDATE fencing_operation SET state = ", Fate.PASSED_ON_AND_KEPT);
		CompletableFuture<String> call = CompletableFuture.supplyAsync(() -> call(deposit, false));
		assertThatThrownBy(() -> call.get(20, TimeUnit.SECONDS)).isNotInstanceOf(TimeoutException.class);
		this.proxy.endKept();
		assertThat(this.deposits.get(1).callUntilAnswered(deposit, new Random())).startsWith("receipt");
		assertThat(this.database.findWrongEnds("kept", List.of(deposit))).isEmpty();
	}

	private String call(Deposit deposit, boolean external) {
		return this.deposits.get(0).call(deposit, external, null, () -> {
		});
	}

	private void ran(String id) {
		this.bodies.computeIfAbsent(id, (absent) -> new AtomicInteger()).incrementAndGet();
	}

	private List<Deposit> draw(String prefix, int run) {
		List<Deposit> drawn = Deposit.draw(prefix, DEPOSITS, ACCOUNTS, new Random(this.seed + run));
		this.database.open(drawn);
		return drawn;
	}

	/**
	 * What has been lost since it was created.
	 */
	private final class Losses {

		private final long end = System.nanoTime() + FaultsProperties.time(Duration.ZERO).toNanos();

		private final int[] before = count();

		private int[] count() {
			return FATES.stream().mapToInt(LostCommitTests.this.proxy::getLosses).toArray();
		}

		private int[] since() {
			int[] now = count();
			Arrays.setAll(now, (i) -> now[i] - this.before[i]);
			return now;
		}

		boolean goOn() {
			return Arrays.stream(since()).sum() < LEAST_LOSSES || System.nanoTime() - this.end < 0;
		}

		void assertThatEachWasTold() {
			int[] lost = since();
			System.out.println("Commits lost: " + FATES + " " + Arrays.toString(lost));
			assertThat(LostCommitTests.this.deposits.stream().mapToInt(Deposits::getUnknown).sum())
				.isEqualTo(Arrays.stream(lost).sum());
			assertThat(lost).doesNotContain(0);
		}

	}

	/**
	 * Two nodes on one database, behind a proxy.
	 */
	private static final class Fixture {

		private final DepositDatabase database;

		private final AnswerLosingProxy proxy;

		private final List<ConfigurableApplicationContext> nodes;

		Fixture(TestDatabase kind, long seed) {
			this.database = new DepositDatabase(kind);
			String url = this.database.getUrl();
			this.proxy = new AnswerLosingProxy(url, seed);
			this.nodes = Stream.generate(() -> DepositNode.start(DepositNode.arguments(this.proxy.through(url), url)))
				.limit(2)
				.toList();
		}

		void stop() {
			this.nodes.forEach(DepositNode::stop);
			this.proxy.close();
		}

	}

}
