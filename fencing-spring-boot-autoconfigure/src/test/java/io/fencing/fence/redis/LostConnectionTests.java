package io.fencing.fence.redis;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

import io.fencing.context.OperationContext;
import io.fencing.fence.UnfencedWrites;
import io.fencing.testing.RedisConsole;
import io.fencing.testing.TcpProxy;
import io.fencing.testing.TestServers;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.event.command.CommandListener;
import io.lettuce.core.event.command.CommandStartedEvent;
import io.lettuce.core.output.IntegerOutput;
import io.lettuce.core.protocol.ProtocolVersion;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnection;
import org.springframework.data.redis.core.RedisCallback;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Functions, whose transaction the server forgets when the connection is lost, while the
 * driver connects again by itself.
 */
class LostConnectionTests {

	private static final String LIBRARY = """
			#!lua name=fencing_lost
			redis.register_function('fencing_set', function(keys, args)
				return redis.call('SET', keys[1], args[1])
			end)
			""";

	private final String url = TestServers.redis7Url();

	private final FencedRedis redis = new FencedRedis(this.url, ProtocolVersion.RESP3, UnfencedWrites.ALLOW);

	private final String key = this.redis.key("a");

	private final AtomicLong client = new AtomicLong();

	@BeforeEach
	void load() {
		this.redis.factory().setShareNativeConnection(false);
		this.redis.plain()
			.execute((RedisCallback<?>) (connection) -> call(connection, "FUNCTION", "LOAD", "REPLACE", LIBRARY));
	}

	@AfterEach
	void close() {
		this.redis.close();
	}

	private static Object call(RedisConnection connection, String... command) {
		return connection.execute(command[0],
				Arrays.stream(command)
					.skip(1)
					.map((word) -> word.getBytes(StandardCharsets.UTF_8))
					.toArray(byte[][]::new));
	}

	// not through a template, which gives a proxy
	private Object connected(RedisCallback<?> callback) {
		try (RedisConnection connection = this.redis.factory().getConnection()) {
			return callback.doInRedis(connection);
		}
	}

	private void takeOver() {
		FencedRedis.elsewhere(() -> FencedRedis.in(FencedRedis.operation(FencedRedis.next(this.key)), () -> {
			this.redis.template().opsForValue().set(this.key, "newer");
			return null;
		}));
	}

	// nothing of what it has sent before is known to the server afterwards
	private void takeOverAndDisconnect() {
		takeOver();
		new RedisConsole(RedisURI.create(this.url).getPort()).send("CLIENT KILL ID " + this.client.get());
	}

	private Object callFunction(RedisConnection connection) {
		Long id = (Long) ((LettuceConnection) connection).execute("CLIENT",
				new IntegerOutput<>(ByteArrayCodec.INSTANCE), "ID".getBytes(StandardCharsets.UTF_8));
		this.client.set(id);
		return call(connection, "FCALL", "fencing_set", "1", this.key, "older");
	}

	// rule 4
	@ParameterizedTest
	@ValueSource(strings = { "MULTI", "FCALL", "EXEC" })
	void rule4WhenConnectionIsLostAfterTheCheckThenFunctionIsNotCalled(String before) {
		AtomicBoolean lost = new AtomicBoolean();
		((RedisClient) this.redis.factory().getRequiredNativeClient()).addListener(new CommandListener() {

			@Override
			public void commandStarted(CommandStartedEvent event) {
				if (event.getCommand().getType().toString().equals(before) && lost.compareAndSet(false, true)) {
					takeOverAndDisconnect();
				}
			}

		});
		OperationContext older = FencedRedis.operation(FencedRedis.next(this.key));
		Throwable failure = Assertions.catchThrowable(() -> FencedRedis.in(older, () -> connected(this::callFunction)));
		assertThat(lost).isTrue();
		assertThat(this.redis.plain().opsForValue().get(this.key)).isEqualTo("newer");
		assertThat(failure).isNotNull();
	}

	// rule 4: the driver sends both again, and the server knows of no transaction
	@Test
	void rule4WhenConnectionIsLostBeforeFunctionAndEndArriveThenFunctionIsNotCalled() {
		RedisURI server = RedisURI.create(this.url);
		TcpProxy proxy = TcpProxy.start(server.getHost(), server.getPort());
		FencedRedis behind = new FencedRedis("redis://" + proxy.getHost() + ":" + proxy.getPort(),
				ProtocolVersion.RESP3, UnfencedWrites.ALLOW);
		try (proxy; behind) {
			behind.factory().setShareNativeConnection(false);
			((RedisClient) behind.factory().getRequiredNativeClient()).addListener(new CommandListener() {

				@Override
				public void commandStarted(CommandStartedEvent event) {
					String name = event.getCommand().getType().toString();
					if (name.equals("FCALL")) {
						proxy.swallow();
					}
					else if (name.equals("EXEC")) {
						takeOver();
						proxy.pass();
					}
				}

			});
			OperationContext older = FencedRedis.operation(FencedRedis.next(this.key));
			Throwable failure = Assertions.catchThrowable(() -> FencedRedis.in(older, () -> {
				try (RedisConnection connection = behind.factory().getConnection()) {
					return call(connection, "FCALL", "fencing_set", "1", this.key, "older");
				}
			}));
			assertThat(this.redis.plain().opsForValue().get(this.key)).isEqualTo("newer");
			assertThat(failure).isNotNull();
		}
	}

	@Test
	void whenConnectionWasLostBeforeThenFunctionIsCalled() throws Exception {
		FencedRedis.in(FencedRedis.operation(FencedRedis.next(this.key)), () -> connected((connection) -> {
			callFunction(connection);
			new RedisConsole(RedisURI.create(this.url).getPort()).send("CLIENT KILL ID " + this.client.get());
			connection.ping();
			return callFunction(connection);
		}));
		assertThat(this.redis.plain().opsForValue().get(this.key)).isEqualTo("older");
	}

	@Test
	void whenFunctionIsCalledInAnotherDatabaseThenThatOneIsClaimed() throws Exception {
		FencedRedis.in(FencedRedis.operation(FencedRedis.next(this.key)), () -> connected((connection) -> {
			connection.stringCommands().set(this.key.getBytes(), "0".getBytes());
			connection.select(1);
			callFunction(connection);
			connection.keyCommands().del(this.key.getBytes());
			return true;
		}));
		assertThat(this.redis.plain().opsForValue().get(this.key)).isEqualTo("0");
	}

}
