package io.fencing.fence.redis;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;

import io.fencing.StaleTokenException;
import io.fencing.context.OperationContext;
import io.fencing.testing.RedisConsole;
import io.fencing.testing.TcpProxy;
import io.fencing.testing.TestServers;
import io.lettuce.core.ClientOptions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import redis.embedded.RedisServer;

import org.springframework.dao.QueryTimeoutException;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Errors of a server reach the caller of a fenced command as they reach that of a plain
 * one, whether it is the first of its operation or not; and the operation can go on when
 * the server can.
 */
class ServerErrorTests {

	private final int port = TestServers.freePort();

	private final RedisServer server = TestServers.newRedis(this.port);

	private final RedisConsole console = new RedisConsole(this.port);

	private final TcpProxy proxy = TcpProxy.start("127.0.0.1", this.port);

	@TempDir
	private Path directory;

	@BeforeEach
	void start() throws IOException {
		this.server.start();
	}

	@AfterEach
	void stop() throws IOException {
		this.proxy.close();
		this.server.stop();
	}

	private FencedRedis connect(Duration timeout, boolean reconnect) {
		return new FencedRedis(() -> new LettuceConnectionFactory(
				new RedisStandaloneConfiguration(this.proxy.getHost(), this.proxy.getPort()),
				LettuceClientConfiguration.builder()
					.commandTimeout(timeout)
					.clientOptions(ClientOptions.builder().autoReconnect(reconnect).build())
					.build()));
	}

	@ParameterizedTest
	@EnumSource
	void whenServerRefusesThenCallerIsToldAsWithoutFence(Failure failure) throws Exception {
		try (FencedRedis redis = connect(Duration.ofSeconds(10), true)) {
			String key = redis.key("a");
			redis.plain().opsForValue().set(key, "1");
			redis.plain().opsForList().rightPush(redis.key("list"), "1");
			OperationContext first = FencedRedis.operation(FencedRedis.next("first"));
			OperationContext later = FencedRedis.operation(FencedRedis.next("later"));
			FencedRedis.in(later, () -> redis.template().opsForValue().get(key));
			String written = redis.key((failure == Failure.WRONGTYPE) ? "list" : "a");
			CompletableFuture<?> ended = failure.provoke(this.console, this.directory);
			String plain = failure(() -> redis.plain().opsForValue().increment(written));
			assertThat(plain).contains(":" + failure.name());
			assertThat(failure(() -> FencedRedis.in(first, () -> redis.template().opsForValue().increment(written))))
				.isEqualTo(plain);
			assertThat(failure(() -> FencedRedis.in(later, () -> redis.template().opsForValue().increment(written))))
				.isEqualTo(plain);
			failure.end(this.console);
			ended.join();
			assertThat(FencedRedis.in(first, () -> redis.template().opsForValue().increment(key))).isEqualTo(2);
			assertThat(FencedRedis.in(later, () -> redis.template().opsForValue().increment(key))).isEqualTo(3);
		}
	}

	/** The type, that of its root, and the first word of the server's error. */
	static String failure(Callable<?> work) {
		try {
			return "no failure: " + work.call();
		}
		catch (Exception ex) {
			Throwable root = ex;
			while (root.getCause() != null) {
				root = root.getCause();
			}
			return ex.getClass().getName() + "/" + root.getClass().getName() + ":"
					+ String.valueOf(root.getMessage()).split(" ", 2)[0];
		}
	}

	// the outcome is unknown: it is told as a time-out, and the command has run once
	@Test
	void whenAnswerIsLostThenCallerIsToldAsWithoutFenceAndNothingRunsTwice() throws Exception {
		try (FencedRedis redis = connect(Duration.ofMillis(700), true)) {
			String key = redis.key("a");
			OperationContext first = FencedRedis.operation(FencedRedis.next("first"));
			OperationContext later = FencedRedis.operation(FencedRedis.next("later"));
			FencedRedis.in(later, () -> redis.template().opsForValue().increment(key));
			redis.plain().opsForValue().increment(key);
			this.proxy.swallowReplies();
			String plain = failure(() -> redis.plain().opsForValue().increment(key));
			assertThat(plain).startsWith(QueryTimeoutException.class.getName());
			assertThat(failure(() -> FencedRedis.in(first, () -> redis.template().opsForValue().increment(key))))
				.isEqualTo(plain);
			assertThat(failure(() -> FencedRedis.in(later, () -> redis.template().opsForValue().increment(key))))
				.isEqualTo(plain);
			assertThat(this.console.send("GET " + key)).isEqualTo("5");
			this.proxy.pass();
			await().ignoreExceptionsInstanceOf(QueryTimeoutException.class)
				.until(() -> "5".equals(FencedRedis.in(later, () -> redis.template().opsForValue().get(key))));
			assertThat(FencedRedis.in(first, () -> redis.template().opsForValue().increment(key))).isEqualTo(6);
		}
	}

	@Test
	void whenConnectionIsDroppedThenCallerIsToldAsWithoutFence() throws Exception {
		try (FencedRedis redis = connect(Duration.ofSeconds(10), false)) {
			String key = redis.key("a");
			OperationContext context = FencedRedis.operation(FencedRedis.next("first"));
			redis.plain().opsForValue().increment(key);
			FencedRedis.in(context, () -> redis.template().opsForValue().increment(key));
			this.proxy.swallowReplies();
			CompletableFuture<String> plain = CompletableFuture
				.supplyAsync(() -> failure(() -> redis.plain().opsForValue().increment(key)));
			CompletableFuture<String> fenced = CompletableFuture.supplyAsync(
					() -> failure(() -> FencedRedis.in(context, () -> redis.template().opsForValue().increment(key))));
			await().until(() -> "4".equals(this.console.send("GET " + key)));
			this.proxy.drop();
			assertThat(fenced.join()).isEqualTo(plain.join());
			this.proxy.pass();
			redis.factory().resetConnection();
			redis.plainFactory().resetConnection();
			assertThat(FencedRedis.in(context, () -> redis.template().opsForValue().increment(key))).isEqualTo(5);
		}
	}

	// rule 3
	@Test
	void rule3WhenDatabaseIsFlushedOrSwappedThenStaleAndNeverRaisedAgain() throws Exception {
		for (String erasing : new String[] { "FLUSHDB", "SWAPDB 0 1" }) {
			try (FencedRedis redis = connect(Duration.ofSeconds(10), true)) {
				String key = redis.key("a");
				OperationContext context = FencedRedis.operation(FencedRedis.next("erased"));
				FencedRedis.in(context, () -> redis.template().opsForValue().increment(key));
				this.console.send(erasing);
				for (int i = 0; i < 2; i++) {
					assertThatExceptionOfType(StaleTokenException.class)
						.isThrownBy(() -> FencedRedis.in(context, () -> redis.template().opsForValue().increment(key)));
				}
				assertThat(this.console.send("DBSIZE")).isEqualTo("0");
			}
		}
	}

	/** What a server can answer to any command, or to a write. */
	enum Failure {

		LOADING {
			@Override
			CompletableFuture<?> provoke(RedisConsole console, Path directory) {
				console.send("CONFIG SET dir " + directory);
				console.send("CONFIG SET rdbcompression no");
				console.send("CONFIG SET key-load-delay 60000");
				// it answers again after every two megabytes
				console.send("DEBUG POPULATE 40 big 1000000");
				CompletableFuture<?> reloaded = CompletableFuture.runAsync(() -> console.send("DEBUG RELOAD"));
				await().until(() -> isLoading(console));
				return reloaded;
			}

			private boolean isLoading(RedisConsole console) {
				try {
					console.send("EXISTS big:1");
					return false;
				}
				catch (IllegalStateException ex) {
					return ex.getMessage().startsWith("-LOADING");
				}
			}

		},

		READONLY {
			@Override
			CompletableFuture<?> provoke(RedisConsole console, Path directory) {
				console.send("REPLICAOF 127.0.0.1 " + TestServers.freePort());
				return CompletableFuture.completedFuture(null);
			}

			@Override
			void end(RedisConsole console) {
				console.send("REPLICAOF NO ONE");
			}
		},

		OOM {
			@Override
			CompletableFuture<?> provoke(RedisConsole console, Path directory) {
				console.send("CONFIG SET maxmemory 1");
				return CompletableFuture.completedFuture(null);
			}

			@Override
			void end(RedisConsole console) {
				console.send("CONFIG SET maxmemory 0");
			}
		},

		WRONGTYPE {
			@Override
			CompletableFuture<?> provoke(RedisConsole console, Path directory) {
				return CompletableFuture.completedFuture(null);
			}
		},

		NOPERM {
			@Override
			CompletableFuture<?> provoke(RedisConsole console, Path directory) {
				console.send("ACL SETUSER default -incr");
				return CompletableFuture.completedFuture(null);
			}

			@Override
			void end(RedisConsole console) {
				console.send("ACL SETUSER default +@all");
			}
		},

		BUSY {
			@Override
			CompletableFuture<?> provoke(RedisConsole console, Path directory) {
				console.send("CONFIG SET lua-time-limit 10");
				CompletableFuture<?> script = CompletableFuture
					.runAsync(() -> console.send("EVAL \"while true do end\" 0"))
					.exceptionally((ex) -> null);
				await().until(() -> isBusy(console));
				return script;
			}

			private boolean isBusy(RedisConsole console) {
				try {
					console.send("PING");
					return false;
				}
				catch (IllegalStateException ex) {
					return ex.getMessage().startsWith("-BUSY");
				}
			}

			@Override
			void end(RedisConsole console) {
				console.send("SCRIPT KILL");
			}
		};

		abstract CompletableFuture<?> provoke(RedisConsole console, Path directory);

		void end(RedisConsole console) {
		}

	}

}
