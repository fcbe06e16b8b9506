package io.fencing.adversarial;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import io.fencing.OutcomeUnknownException;
import io.fencing.adversarial.CommitLosingProxy.Fate;
import io.fencing.adversarial.Deposits.RepeatableFailure;
import io.fencing.testing.TestDatabase;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.context.ConfigurableApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The answers to half of all commits are lost at random between the nodes and the
 * database, which gets the commit, never gets it, or gets it late (check 3, case 20).
 * Each lost answer is told as unknown, and each identity has one effect or none, as the
 * journal says.
 *
 * <p>
 * With {@code -Dfencing.faults} runs follow one another for
 * {@code fencing.faults.seconds}, and until 500 answers have been lost;
 * {@code fencing.faults.seed} repeats the decisions of a run.
 */
@Tag("faults")
@ParameterizedClass
@EnumSource
class LostCommitTests {

	private static final int THREADS = 8;

	private static final int DEPOSITS = 50;

	private static final int ACCOUNTS = 6;

	private static final int LEAST_LOSSES = (System.getProperty("fencing.faults") != null) ? 500 : 40;

	private final long seed = FaultsProperties.seed();

	private final DepositDatabase database;

	private final CommitLosingProxy proxy;

	private final List<ConfigurableApplicationContext> nodes;

	private final List<Deposits> deposits;

	private final Map<String, AtomicInteger> bodies = new ConcurrentHashMap<>();

	LostCommitTests(TestDatabase kind) {
		System.out.println("Lost commits on " + kind + " with seed " + this.seed);
		this.database = new DepositDatabase(kind);
		String url = this.database.getUrl();
		this.proxy = new CommitLosingProxy(url, this.seed);
		this.nodes = Stream.generate(() -> DepositNode.start(DepositNode.arguments(this.proxy.through(url), url)))
			.limit(2)
			.toList();
		this.deposits = this.nodes.stream()
			.map((node) -> new Deposits(node,
					(deposit) -> this.bodies.computeIfAbsent(deposit.id(), (id) -> new AtomicInteger())
						.incrementAndGet()))
			.toList();
		this.proxy.lose(0.5);
	}

	@AfterEach
	void stop() {
		this.nodes.forEach(ConfigurableApplicationContext::close);
		this.proxy.close();
	}

	@Test
	void whenCalledUntilAnsweredThenOneEffectAndOneAnswer() throws Exception {
		long end = System.nanoTime() + FaultsProperties.time(Duration.ZERO).toNanos();
		for (int run = 0; goOn(end); run++) {
			String prefix = "again" + run;
			List<Deposit> drawn = draw(prefix, run);
			Map<String, Set<String>> answers = new ConcurrentHashMap<>();
			// each one twice, so that others come while it is under way
			List<Deposit> calls = new ArrayList<>(drawn);
			calls.addAll(drawn);
			DepositLoad.run(calls, THREADS, this.seed + run, this.deposits,
					(deposit, answer) -> answers.computeIfAbsent(deposit.id(), (id) -> ConcurrentHashMap.newKeySet())
						.add(answer));
			assertThat(this.database.findWrongEnds(prefix, drawn)).as(prefix).isEmpty();
			assertThat(answers).as(prefix).hasSize(DEPOSITS).allSatisfy((id, given) -> assertThat(given).hasSize(1));
			assertThat(this.database.read(prefix)).as(prefix)
				.allSatisfy((id, row) -> assertThat(row.attempts()).isEqualTo(this.bodies.get(id).get()));
		}
		assertThatEachLossWasTold();
	}

	@Test
	void whenNeverCalledAgainThenJournalSaysWhatHappenedAndTheNextCallAgrees() throws Exception {
		long end = System.nanoTime() + FaultsProperties.time(Duration.ZERO).toNanos();
		Map<String, Integer> states = new TreeMap<>();
		for (int run = 0; goOn(end); run++) {
			String prefix = "once" + run;
			List<Deposit> drawn = draw(prefix, run);
			Random random = new Random(this.seed + run);
			List<Deposit> unknown = new ArrayList<>();
			drawn.parallelStream().forEach((deposit) -> {
				try {
					this.deposits.get(random.nextInt(2)).call(deposit, random);
				}
				catch (OutcomeUnknownException ex) {
					synchronized (unknown) {
						unknown.add(deposit);
					}
				}
				catch (RepeatableFailure ex) {
					// its row says so
				}
			});
			// at any moment, also while commits are still to come
			assertThat(this.database.findContradictions(prefix, drawn)).as(prefix).isEmpty();
			unknown.forEach(
					(deposit) -> states.merge(this.database.read(prefix).get(deposit.id()).state(), 1, Integer::sum));
			this.proxy.lose(0);
			for (Deposit deposit : drawn) {
				this.deposits.get(0).callUntilAnswered(deposit, random);
			}
			this.proxy.lose(0.5);
			assertThat(this.database.findWrongEnds(prefix, drawn)).as(prefix).isEmpty();
		}
		System.out.println("Of unknown outcome, and then: " + states);
		assertThat(states).containsKeys("RUNNING", "COMPLETED");
		assertThatEachLossWasTold();
	}

	private List<Deposit> draw(String prefix, int run) {
		List<Deposit> drawn = Deposit.draw(prefix, DEPOSITS, ACCOUNTS, new Random(this.seed + run));
		this.database.open(drawn);
		return drawn;
	}

	private boolean goOn(long end) {
		return this.proxy.getLosses() < LEAST_LOSSES || System.nanoTime() - end < 0;
	}

	private void assertThatEachLossWasTold() {
		int unknown = this.deposits.stream().mapToInt(Deposits::getUnknown).sum();
		Arrays.stream(Fate.values())
			.forEach((fate) -> System.out.println(fate + ": " + this.proxy.getLosses(fate) + " commits"));
		assertThat(unknown).isEqualTo(this.proxy.getLosses());
		assertThat(Fate.values()).allSatisfy((fate) -> assertThat(this.proxy.getLosses(fate)).isPositive());
	}

}
