package io.fencing.autoconfigure;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.fencing.FencedOperationRequest;
import io.fencing.FencedOperations;
import io.fencing.FencedOperations.FencedTask;
import io.fencing.FencedResource;
import io.fencing.FencedResourceFactory;
import io.fencing.FencingContext;
import io.fencing.FencingToken;
import io.fencing.LeaseNotAcquiredException;
import io.fencing.OnBusy;
import io.fencing.StaleTokenException;
import io.fencing.autoconfigure.LedgerApplication.Ledger;
import io.fencing.context.OperationContext;
import io.fencing.lease.DefaultLeaseManager;
import io.fencing.testing.TestServers;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Operations inside of operations, annotated and called, on two nodes with real Redis and
 * PostgreSQL.
 */
class OperationNestingTests {

	private static ConfigurableApplicationContext node;

	private static ConfigurableApplicationContext otherNode;

	private static String namespace;

	private String id;

	@BeforeAll
	static void start() {
		namespace = TestServers.newPostgresUrl();
		node = LedgerApplication.startOn(namespace, "fencing.operations.observed.mode=observe",
				"fencing.operations.observed.programmatic=true", "fencing.operations.off.mode=off",
				"fencing.operations.off.programmatic=true");
		otherNode = LedgerApplication.startOn(namespace);
		node.getBean(Ledger.class).createTable();
	}

	@AfterAll
	static void stop() {
		node.close();
		otherNode.close();
	}

	@BeforeEach
	void open(TestInfo test) {
		this.id = test.getTestMethod().orElseThrow().getName() + test.getDisplayName();
		ledger().open(this.id);
	}

	@AfterEach
	void nothingIsLeft() {
		assertThat(FencingContext.current()).isNull();
		for (ConfigurableApplicationContext each : List.of(node, otherNode)) {
			assertThat(each.getBean(DefaultLeaseManager.class).getHeldCount()).isZero();
		}
	}

	// rule 10, case 43: annotation in call in annotation, through other beans
	@Test
	void rule10Case43WhenSameResourceIsEnteredThroughOtherBeansThenItIsJoined() throws Exception {
		List<FencingToken> tokens = new ArrayList<>();
		ledger().addSlowly(this.id, 0, () -> {
			tokens.add(token());
			run(request(account()), () -> {
				tokens.add(token());
				ledger().addWithoutTransaction(this.id, 1, () -> tokens.add(token()));
			});
			assertThat(isFree(account())).isFalse();
			return null;
		});
		assertThat(tokens).hasSize(3).containsOnly(tokens.get(0));
		run(request(account()), () -> {
			FencingToken outer = token();
			assertThat(ledger().add(this.id, 1)).isEqualTo(outer);
			ledger().write(this.id, ledger().read(this.id) + 1);
			assertThat(isFree(account())).isFalse();
		});
		assertThat(isFree(account())).isTrue();
	}

	// rule 10: a write holds all on the stack
	@ParameterizedTest
	@CsvSource({ "true, false", "false, false", "true, true", "false, true" })
	void rule10WhenOneResourceOnTheStackIsTakenOverThenTheWriteIsRefused(boolean outer, boolean transaction) {
		assertThatExceptionOfType(StaleTokenException.class).isThrownBy(() -> run(request(account()), () -> {
			run(request(account() + "-inner"), () -> {
				takeOver(outer ? account() : account() + "-inner");
				write(99, transaction);
			});
		})).satisfies((ex) -> assertThat(ex.concerns(resource(outer ? account() : account() + "-inner"))).isTrue());
		assertThat(ledger().read(this.id)).isZero();
	}

	// opposite orders end within the wait; whoever is not let in tells so
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void whenNestedInOppositeOrdersThenTypedFailureWithinTheWaitAndNothingIsLeft(boolean otherToo) throws Exception {
		CyclicBarrier bothInside = new CyclicBarrier(2);
		List<CompletableFuture<Boolean>> calls = new ArrayList<>();
		for (boolean forth : new boolean[] { true, false }) {
			FencedOperations operations = operations((forth || !otherToo) ? node : otherNode);
			calls.add(CompletableFuture.supplyAsync(() -> {
				try {
					return operations.run(request(forth ? "A" + this.id : "B" + this.id), () -> {
						bothInside.await(10, TimeUnit.SECONDS);
						operations.run(FencedOperationRequest.builder("inner")
							.resource(forth ? "B" + this.id : "A" + this.id)
							.waitTime(Duration.ofMillis(forth ? 200 : 400))
							.build(), () -> {
							});
					});
				}
				catch (LeaseNotAcquiredException ex) {
					return false;
				}
				catch (Exception ex) {
					throw new IllegalStateException(ex);
				}
			}));
		}
		List<Boolean> ended = new ArrayList<>();
		for (CompletableFuture<Boolean> call : calls) {
			ended.add(call.get(20, TimeUnit.SECONDS));
		}
		assertThat(ended.get(0)).as("the one that waits shorter").isFalse();
		assertThat(isFree("A" + this.id)).isTrue();
		assertThat(isFree("B" + this.id)).isTrue();
	}

	@Test
	void whenOneResourceHasTwoNamesInOneEntryThenItIsLeasedOnce() {
		run(request(account(), account()), () -> {
			assertThat(FencingContext.required().getHeld()).hasSize(1);
			// the placeholder of the annotation and the literal are one
			assertThat(ledger().add(this.id, 1)).isEqualTo(token());
		});
	}

	// names are compared as they are written: these are five resources
	@Test
	void whenNamesDifferInCaseSpaceOrUnicodeFormThenTheyAreDifferentResources() {
		List<String> names = List.of("caf\u00e9", "cafe\u0301", "Caf\u00e9", "caf\u00e9 ", "caf\u00e9\n");
		run(request(names.toArray(String[]::new)), () -> {
			assertThat(FencingContext.required().getHeld()).hasSize(5);
			Stream<FencingToken> tokens = names.stream().map(FencingContext.required()::getToken);
			assertThat(tokens.map(FencingToken::value)).hasSize(5).allMatch((value) -> value > 0);
		});
	}

	// what is joined keeps the terms it was leased on; what is not has its own
	@Test
	void whenNestedWithOtherTermsThenTheyCountForWhatItLeasesItself() {
		run(request(account()),
				() -> run(FencedOperationRequest.builder("inner")
					.resource(account())
					.resource(account() + "-inner")
					.leaseTime(Duration.ofSeconds(3))
					.maxHold(Duration.ofSeconds(3))
					.renew(false)
					.build(), () -> {
						OperationContext inner = OperationContext.get();
						assertThat(inner.getHeld()).singleElement()
							.satisfies((held) -> assertThat(held.getRemaining()).isLessThan(Duration.ofSeconds(3)));
						assertThat(inner.find(resource(account())).getRemaining()).isGreaterThan(Duration.ofSeconds(3));
					}));
	}

	@Test
	void whenNestedCallIsSkippedThenOuterGoesOn() {
		FencedOperationRequest skipping = FencedOperationRequest.builder("skip")
			.resource(account() + "-busy")
			.onBusy(OnBusy.SKIP)
			.waitTime(Duration.ZERO)
			.build();
		run(request(account()), () -> {
			whileBusy(account() + "-busy",
					() -> assertThat(operations(node).run(skipping, OperationNestingTests::mustNotRun)).isFalse());
			write(1, true);
			// what is held already is not busy
			assertThat(operations(node).run(FencedOperationRequest.builder("skip")
				.resource(account())
				.onBusy(OnBusy.SKIP)
				.waitTime(Duration.ZERO)
				.build(), () -> write(ledger().read(this.id) + 1, false))).isTrue();
		});
		assertThat(ledger().read(this.id)).isEqualTo(2);
	}

	@ParameterizedTest
	@ValueSource(strings = { "observed", "off" })
	void whenNestedOperationIsNotEnforcedThenItsWritesStillHoldTheOuterOne(String mode) {
		FencedOperationRequest nested = FencedOperationRequest.of(mode, account() + "-nested");
		assertThatExceptionOfType(StaleTokenException.class)
			.isThrownBy(() -> run(request(account()), () -> run(nested, () -> {
				takeOver(account());
				write(99, true);
			})));
		assertThat(ledger().read(this.id)).isZero();
		// and the other way round: what is enforced inside is refused for itself
		run(nested, () -> {
			takeOver(account() + "-nested");
			write(1, true);
			assertThatExceptionOfType(StaleTokenException.class).isThrownBy(() -> run(request(account()), () -> {
				takeOver(account());
				write(99, false);
			}));
		});
		assertThat(ledger().read(this.id)).isOne();
	}

	@Test
	void whenStackIsDeepThenAWriteHoldsAllOfIt() {
		deep(50, () -> {
			assertThat(OperationContext.get().getAllHeld()).hasSize(50);
			write(50, true);
			write(ledger().read(this.id) + 1, false);
		});
		assertThat(ledger().read(this.id)).isEqualTo(51);
		assertThatExceptionOfType(StaleTokenException.class).isThrownBy(() -> deep(50, () -> {
			takeOver("deep-50" + this.id);
			write(99, true);
		}));
		assertThat(ledger().read(this.id)).isEqualTo(51);
		assertThat(IntStream.rangeClosed(1, 50).mapToObj((i) -> "deep-" + i + this.id)).allMatch(this::isFree);
	}

	private void deep(int depth, FencedTask<RuntimeException> task) {
		run(request("deep-" + depth + this.id), () -> {
			if (depth > 1) {
				deep(depth - 1, task);
			}
			else {
				task.run();
			}
		});
	}

	@Test
	void whenNestedCallFailsThenOuterIsStillUsable() {
		run(request(account()), () -> {
			assertThatIllegalStateException().isThrownBy(() -> run(request(account() + "-inner"), () -> {
				throw new IllegalStateException("from the body");
			}));
			assertThatExceptionOfType(StaleTokenException.class)
				.isThrownBy(() -> run(request(account() + "-inner"), () -> {
					takeOver(account() + "-inner");
					write(99, true);
				}));
			whileBusy(account() + "-busy",
					() -> assertThatExceptionOfType(LeaseNotAcquiredException.class)
						.isThrownBy(() -> operations(node).run(FencedOperationRequest.builder("busy")
							.resource(account() + "-busy")
							.waitTime(Duration.ZERO)
							.build(), OperationNestingTests::mustNotRun)));
			write(1, true);
			write(ledger().read(this.id) + 1, false);
		});
		assertThat(ledger().read(this.id)).isEqualTo(2);
	}

	private String account() {
		return "account:" + this.id;
	}

	private static Ledger ledger() {
		return node.getBean(Ledger.class);
	}

	private static FencingToken token() {
		return FencingContext.required().getToken();
	}

	private static FencedOperations operations(ConfigurableApplicationContext node) {
		return node.getBean(FencedOperations.class);
	}

	private static FencedOperationRequest request(String... resources) {
		return FencedOperationRequest.of("work", resources);
	}

	private static FencedResource resource(String name) {
		return new FencedResourceFactory(namespace, null).create(name);
	}

	private static <E extends Exception> void run(FencedOperationRequest request, FencedTask<E> task) throws E {
		operations(node).run(request, task);
	}

	private void write(long balance, boolean transaction) {
		if (transaction) {
			new TransactionTemplate(node.getBean(PlatformTransactionManager.class))
				.executeWithoutResult((status) -> write(balance, false));
		}
		else {
			node.getBean(JdbcTemplate.class).update("UPDATE account SET balance = ? WHERE id = ?", balance, this.id);
		}
	}

	// the lease is gone, and another node works on the resource, to the end of its call
	private void takeOver(String resource) {
		StringRedisTemplate redis = otherNode.getBean(StringRedisTemplate.class);
		redis.delete(redis.keys("*" + resource(resource).getKey() + "*:lease"));
		runElsewhere(() -> operations(otherNode).run(request(resource), () -> {
		}));
	}

	private static void whileBusy(String resource, Runnable task) {
		CompletableFuture<Boolean> work = new CompletableFuture<>();
		CompletableFuture<CompletableFuture<Boolean>> busy = new CompletableFuture<>();
		runElsewhere(() -> busy.complete(operations(otherNode).call(request(resource), () -> work)));
		task.run();
		work.complete(true);
		busy.join().join();
	}

	private boolean isFree(String resource) {
		return runElsewhere(() -> operations(otherNode).run(FencedOperationRequest.builder("look")
			.resource(resource)
			.waitTime(Duration.ZERO)
			.onBusy(OnBusy.SKIP)
			.build(), () -> {
			}));
	}

	private static boolean runElsewhere(BooleanSupplier task) {
		CompletableFuture<Boolean> result = new CompletableFuture<>();
		Thread thread = new Thread(() -> {
			try {
				result.complete(task.getAsBoolean());
			}
			catch (Throwable ex) {
				result.completeExceptionally(ex);
			}
		}, "elsewhere");
		thread.start();
		try {
			return result.join();
		}
		catch (CompletionException ex) {
			if (ex.getCause() instanceof RuntimeException failure) {
				throw failure;
			}
			throw ex;
		}
	}

	private static void mustNotRun() {
		throw new AssertionError("The body must not run");
	}

}
