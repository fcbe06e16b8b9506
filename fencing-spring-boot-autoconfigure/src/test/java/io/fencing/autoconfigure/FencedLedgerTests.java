package io.fencing.autoconfigure;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;

import io.fencing.FencedOperationRequest;
import io.fencing.FencedOperations;
import io.fencing.FencedResourceFactory;
import io.fencing.FencingContext;
import io.fencing.FencingToken;
import io.fencing.InvalidFencedOperationException;
import io.fencing.LeaseLostException;
import io.fencing.LeaseNotAcquiredException;
import io.fencing.StaleTokenException;
import io.fencing.autoconfigure.LedgerApplication.Caller;
import io.fencing.autoconfigure.LedgerApplication.Ledger;
import io.fencing.testing.TestServers;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * The whole starter in an ordinary application, two nodes of it, on real Redis and
 * PostgreSQL.
 */
class FencedLedgerTests {

	private static ConfigurableApplicationContext node;

	private static ConfigurableApplicationContext otherNode;

	private static RedissonClient redis;

	private static String namespace;

	private final ExecutorService executor = Executors.newFixedThreadPool(8);

	private String id;

	@BeforeAll
	static void start() {
		namespace = TestServers.newPostgresUrl();
		node = LedgerApplication.startOn(namespace);
		otherNode = LedgerApplication.startOn(namespace);
		node.getBean(Ledger.class).createTable();
		Config config = new Config();
		config.useSingleServer().setAddress(TestServers.redisUrl());
		redis = Redisson.create(config);
	}

	@AfterAll
	static void stop() {
		node.close();
		otherNode.close();
		redis.shutdown();
	}

	@BeforeEach
	void open(TestInfo test) {
		this.id = test.getTestMethod().orElseThrow().getName();
		ledger().open(this.id);
	}

	@AfterEach
	void nothingIsLeft() {
		assertThat(FencingContext.current()).isNull();
		this.executor.shutdownNow();
	}

	// case 01: the lease outlives the transaction
	@Test
	void case01WhenTransactionIsAboutToCommitThenLeaseIsStillThereAndAfterwardsGone() throws Exception {
		AtomicBoolean leasedBeforeCommit = new AtomicBoolean();
		ledger().addSlowly(this.id, 1, () -> {
			TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

				@Override
				public void beforeCommit(boolean readOnly) {
					leasedBeforeCommit.set(isLeased());
				}

			});
			return null;
		});
		assertThat(leasedBeforeCommit).isTrue();
		assertThat(isLeased()).isFalse();
	}

	// case 01: a hundred parallel read-add-one calls on two nodes
	@Test
	void case01WhenCalledInParallelOnTwoNodesThenNoUpdateIsLost() throws Exception {
		List<Future<?>> calls = new ArrayList<>();
		for (int i = 0; i < 100; i++) {
			Ledger ledger = (i % 2 == 0) ? ledger() : otherLedger();
			calls.add(this.executor.submit(() -> ledger.add(this.id, 1)));
		}
		for (Future<?> call : calls) {
			call.get(60, TimeUnit.SECONDS);
		}
		assertThat(ledger().read(this.id)).isEqualTo(100);
	}

	@Test
	void whenCalledOnTwoNodesThenTokensRise() {
		FencingToken first = ledger().add(this.id, 1);
		FencingToken second = otherLedger().add(this.id, 1);
		assertThat(second).isGreaterThan(first);
	}

	// case 02: joined; the lease stays to the end of the caller's transaction
	@Test
	void case02WhenCallerTransactionIsJoinedThenOthersWaitForItsCommit() throws Exception {
		CountDownLatch inside = new CountDownLatch(1);
		CountDownLatch goOn = new CountDownLatch(1);
		Future<?> outer = this.executor.submit(() -> {
			node.getBean(Caller.class).addOften(this.id, 2, () -> {
				inside.countDown();
				return goOn.await(10, TimeUnit.SECONDS);
			});
			return null;
		});
		assertThat(inside.await(10, TimeUnit.SECONDS)).isTrue();
		assertThat(isLeased()).isTrue();
		Future<?> other = this.executor.submit(() -> otherLedger().add(this.id, 1));
		goOn.countDown();
		outer.get(10, TimeUnit.SECONDS);
		other.get(10, TimeUnit.SECONDS);
		assertThat(ledger().read(this.id)).isEqualTo(3);
		assertThat(isLeased()).isFalse();
	}

	@Test
	void whenOperationsOnSeveralResourcesJoinOneTransactionThenNoContextIsLeft() {
		String second = this.id + "-2";
		ledger().open(second);
		node.getBean(Caller.class).addToEach(this.id, second);
		assertThat(FencingContext.current()).isNull();
		assertThat(ledger().read(this.id)).isOne();
		assertThat(ledger().read(second)).isOne();
	}

	// case 76: a loop over one resource in an outer transaction, and REQUIRES_NEW
	@Test
	void case76WhenCalledInLoopOrInNewTransactionThenAllWork() throws Exception {
		Caller caller = node.getBean(Caller.class);
		caller.addOften(this.id, 5, () -> null);
		caller.addInNewTransaction(this.id);
		assertThat(ledger().read(this.id)).isEqualTo(6);
	}

	// case 68: a fresh token on an old snapshot
	@Test
	void case68WhenCallerHasAnOlderSnapshotThenRefusedAtEntryWithTheRemedy() {
		assertThatExceptionOfType(InvalidFencedOperationException.class)
			.isThrownBy(() -> node.getBean(Caller.class).addInOldSnapshot(this.id))
			.withMessageContaining("REQUIRES_NEW");
		assertThat(ledger().read(this.id)).isZero();
	}

	// case 11: the lease expired; somebody took over
	@Test
	void case11WhenLeaseIsGoneAndAnotherTookOverThenWriteIsRefused() {
		assertThatExceptionOfType(StaleTokenException.class)
			.isThrownBy(() -> ledger().addWithoutTransaction(this.id, 1, () -> {
				dropLease();
				this.executor.submit(() -> otherLedger().add(this.id, 10)).get(10, TimeUnit.SECONDS);
				return null;
			}))
			.satisfies((ex) -> assertThat(ex.getStorage()).isEqualTo("postgresql"));
		assertThat(ledger().read(this.id)).isEqualTo(10);
	}

	// case 11: the lease expired; nobody took over
	@Test
	void case11WhenLeaseIsGoneAndNobodyTookOverThenHoldingTransactionCommits() throws Exception {
		ledger().addSlowly(this.id, 1, () -> {
			dropLease();
			return null;
		});
		assertThat(ledger().read(this.id)).isEqualTo(1);
	}

	// case 10: LOST stops what was not sent yet
	@Test
	void case10WhenLeaseIsPastItsDeadlineThenStatementIsNotSent() {
		assertThatExceptionOfType(LeaseLostException.class).isThrownBy(() -> ledger().withShortLease(this.id, () -> {
			await().until(FencingContext.required()::isLost);
			ledger().write(this.id, 99);
			return null;
		}));
		assertThat(ledger().read(this.id)).isZero();
	}

	// case 15: the coordinator forgets everything
	@Test
	void case15WhenRedisForgetsThenTokensStillRiseAndOldHolderIsRefused() {
		FencingToken before = ledger().add(this.id, 1);
		AtomicReference<FencingToken> after = new AtomicReference<>();
		assertThatExceptionOfType(StaleTokenException.class)
			.isThrownBy(() -> ledger().addWithoutTransaction(this.id, 100, () -> {
				redis.getKeys().delete(keys());
				after.set(this.executor.submit(() -> otherLedger().add(this.id, 1)).get(10, TimeUnit.SECONDS));
				return null;
			}));
		assertThat(after.get()).isGreaterThan(before);
		assertThat(ledger().read(this.id)).isEqualTo(2);
	}

	// case 92: nothing swallows a refusal
	@Test
	void case92WhenBodySwallowsTheRefusalThenOperationEndsWithItAnyway() {
		assertThatExceptionOfType(StaleTokenException.class).isThrownBy(() -> ledger().swallow(this.id, () -> {
			dropLease();
			this.executor.submit(() -> otherLedger().add(this.id, 10)).get(10, TimeUnit.SECONDS);
			ledger().write(this.id, 1);
			return null;
		}));
		assertThat(ledger().read(this.id)).isEqualTo(10);
	}

	// case 75: a read-only transaction inside an operation
	@Test
	void case75WhenTransactionIsReadOnlyThenItReads() {
		ledger().add(this.id, 7);
		assertThat(ledger().readOnly(this.id)).isEqualTo(7);
	}

	@Test
	void whenTwoResourcesAreMovedInOppositeOrdersThenNoneIsLost() throws Exception {
		ledger().open(this.id + "-2");
		List<Future<?>> calls = new ArrayList<>();
		for (int i = 0; i < 40; i++) {
			boolean forth = i % 2 == 0;
			Ledger ledger = forth ? ledger() : otherLedger();
			calls.add(this.executor
				.submit(() -> ledger.transfer(forth ? this.id : this.id + "-2", forth ? this.id + "-2" : this.id, 1)));
		}
		for (Future<?> call : calls) {
			call.get(60, TimeUnit.SECONDS);
		}
		assertThat(ledger().read(this.id)).isZero();
		assertThat(ledger().read(this.id + "-2")).isZero();
	}

	@Test
	void whenBusyThenTypedFailureTellsWhenToComeAgain() throws Exception {
		ledger().withShortLease(this.id, () -> {
			this.executor
				.submit(() -> assertThatExceptionOfType(LeaseNotAcquiredException.class)
					.isThrownBy(() -> otherNode.getBean(FencedOperations.class)
						.call(FencedOperationRequest.builder("other")
							.resource("account:" + this.id)
							.waitTime(Duration.ZERO)
							.build(), () -> null))
					.satisfies((ex) -> assertThat(ex.getRetryAfter()).isLessThanOrEqualTo(Duration.ofMillis(300))))
				.get(10, TimeUnit.SECONDS);
			return null;
		});
	}

	private Ledger ledger() {
		return node.getBean(Ledger.class);
	}

	private Ledger otherLedger() {
		return otherNode.getBean(Ledger.class);
	}

	private String[] keys() {
		String key = new FencedResourceFactory(namespace, null).create("account:" + this.id).getKey();
		List<String> keys = new ArrayList<>();
		redis.getKeys().getKeys().forEach((one) -> {
			if (one.contains(key)) {
				keys.add(one);
			}
		});
		return keys.toArray(String[]::new);
	}

	private boolean isLeased() {
		for (String key : keys()) {
			if (key.endsWith(":lease")) {
				return redis.getBucket(key, StringCodec.INSTANCE).isExists();
			}
		}
		return false;
	}

	private void dropLease() {
		for (String key : keys()) {
			if (key.endsWith(":lease")) {
				redis.getKeys().delete(key);
			}
		}
	}

}
