package io.fencing.fence.redis;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.fencing.StaleTokenException;
import io.fencing.UnfencedWriteException;
import io.fencing.fence.UnfencedWrites;
import io.fencing.testing.TestServers;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.ProtocolKeyword;
import io.lettuce.core.protocol.ProtocolVersion;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.ReturnType;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.script.RedisScript;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Commands that the application makes of bytes itself.
 */
class OwnCommandsTests {

	private final FencedRedis redis = new FencedRedis(TestServers.redisUrl(), ProtocolVersion.RESP3,
			UnfencedWrites.ALLOW);

	private final String key = this.redis.key("a");

	@AfterEach
	void close() {
		this.redis.close();
	}

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

	private void in(RedisCallback<?> callback) throws Exception {
		FencedRedis.in(FencedRedis.operation(FencedRedis.next(this.key)),
				() -> this.redis.template().execute(callback));
	}

	@Test
	void whenScriptMovesToAnotherDatabaseThenItIsRefused() throws Exception {
		String source = "redis.call('SELECT', 1) return redis.call('SET', KEYS[1], 'A')";
		for (RedisScript<String> script : List.of(RedisScript.of(source, String.class),
				RedisScript.of(source.replace("'SELECT'", "\"select\""), String.class))) {
			assertThatExceptionOfType(UnfencedWriteException.class)
				.isThrownBy(() -> FencedRedis.in(FencedRedis.operation(FencedRedis.next(this.key)),
						() -> this.redis.template().execute(script, List.of(this.key))))
				.withMessageContaining("database");
		}
		String sha = this.redis.template()
			.execute((RedisCallback<String>) (connection) -> connection.scriptingCommands().scriptLoad(bytes(source)));
		assertThatExceptionOfType(UnfencedWriteException.class).isThrownBy(() -> in(
				(connection) -> connection.scriptingCommands().evalSha(sha, ReturnType.STATUS, 1, bytes(this.key))));
	}

	@Test
	void whenScriptAnswersWithAWordOfOursThenItIsItsOwnError() throws Exception {
		for (String text : List.of("FENCED", "FENCED OTHER", "FENCED x 1", "FENCED OTHER 9 x")) {
			RedisScript<Long> script = RedisScript.of("return redis.error_reply(ARGV[1])", Long.class);
			assertThatExceptionOfType(DataAccessException.class)
				.isThrownBy(() -> FencedRedis.in(FencedRedis.operation(FencedRedis.next(this.key)),
						() -> this.redis.template().execute(script, List.of(this.key), text)))
				.satisfies((ex) -> assertThat(ex.getMostSpecificCause()).hasMessage(text));
		}
	}

	@SuppressWarnings("unchecked")
	private String send(RedisConnection connection, Keyword keyword) {
		RedisAsyncCommands<byte[], byte[]> commands = (RedisAsyncCommands<byte[], byte[]>) connection
			.getNativeConnection();
		try {
			return commands
				.dispatch(keyword, new StatusOutput<>(ByteArrayCodec.INSTANCE),
						new CommandArgs<>(ByteArrayCodec.INSTANCE).addKey(bytes(this.key)).addValue(bytes("1")))
				.get(10, TimeUnit.SECONDS);
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Test
	void whenKeywordHasAnotherTextThenItsBytesAreSent() throws Exception {
		in((connection) -> {
			assertThat(send(connection, Keyword.STORE)).isEqualTo("OK");
			assertThat(send(connection, Keyword.STORE)).isEqualTo("OK");
			return null;
		});
		assertThat(this.redis.plain().opsForValue().get(this.key)).isEqualTo("1");
	}

	// rule 4: what is sent counts, not what it is called
	@Test
	void rule4WhenKeywordOfAWriteIsCalledLikeAReadThenItIsFenced() {
		assertThatExceptionOfType(StaleTokenException.class).isThrownBy(() -> in((older) -> {
			older.stringCommands().get(bytes(this.key));
			FencedRedis.elsewhere(() -> {
				in((newer) -> newer.stringCommands().get(bytes(this.key)));
				return null;
			});
			return send(older, Keyword.GET);
		}));
		assertThat(this.redis.plain().opsForValue().get(this.key)).isNull();
	}

	@Test
	void whenDatabaseIsSelectedByBytesThenItsOwnGuardsAreClaimed() throws Exception {
		this.redis.factory().setShareNativeConnection(false);
		in((connection) -> {
			connection.stringCommands().set(bytes(this.key), bytes("0"));
			connection.execute("SELECT", bytes("1"));
			connection.stringCommands().set(bytes(this.key), bytes("1"));
			connection.keyCommands().del(bytes(this.key));
			connection.execute("SELECT", bytes("0"));
			return null;
		});
		assertThat(this.redis.plain().opsForValue().get(this.key)).isEqualTo("0");
	}

	// case 74: nothing of a transaction runs after it
	@Test
	void whenTransactionForgetsItsScriptsThenNothingRunsOutsideOfIt() throws Exception {
		in((connection) -> {
			connection.multi();
			connection.stringCommands().set(bytes(this.key), bytes("0"));
			connection.stringCommands().set(bytes(this.key), bytes("1"));
			connection.scriptingCommands().scriptFlush();
			connection.stringCommands().set(bytes(this.key), bytes("2"));
			assertThat(catchThrowable(connection::exec)).isNotNull();
			assertThat(connection.stringCommands().get(bytes(this.key))).isEqualTo(bytes("1"));
			return null;
		});
		assertThat(this.redis.plain().opsForValue().get(this.key)).isEqualTo("1");
	}

	@ParameterizedTest
	@ValueSource(strings = { "2", "-1", "x" })
	void whenScriptHasNotAsManyKeysAsItSaysThenItIsNotRun(String number) throws Exception {
		RedisCallback<?> script = (connection) -> connection.execute("EVAL",
				bytes("return redis.call('SET', KEYS[1], '1')"), bytes(number), bytes(this.key));
		Throwable plain = catchThrowable(() -> this.redis.plain().execute(script));
		in((connection) -> {
			assertThat(catchThrowable(() -> connection.execute("EVAL", bytes("return redis.call('SET', KEYS[1], '1')"),
					bytes(number), bytes(this.key))))
				.hasSameClassAs(plain)
				.hasMessage(plain.getMessage());
			return null;
		});
		assertThat(this.redis.plain().opsForValue().get(this.key)).isNull();
	}

	@Test
	void whenWideIntegerIsReadThenItIsRefused() {
		assertThatExceptionOfType(UnfencedWriteException.class).isThrownBy(() -> in((connection) -> connection
			.execute("BITFIELD_RO", bytes(this.key), bytes("GET"), bytes("i64"), bytes("0"))));
	}

	/** Sends {@code SET}, whatever it is called. */
	enum Keyword implements ProtocolKeyword {

		STORE, GET;

		@Override
		public byte[] getBytes() {
			return bytes("SET");
		}

	}

}
