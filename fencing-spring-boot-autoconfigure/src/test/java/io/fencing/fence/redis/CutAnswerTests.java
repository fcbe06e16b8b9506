package io.fencing.fence.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import io.fencing.fence.UnfencedWrites;
import io.fencing.testing.TestServers;
import io.lettuce.core.RedisURI;
import io.lettuce.core.protocol.ProtocolVersion;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.data.redis.connection.RedisPipelineException;
import org.springframework.data.redis.core.RedisCallback;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Pipelines whose connection is lost in the middle of their answers. The driver connects
 * again and sends again what it knows no whole answer to.
 */
class CutAnswerTests {

	private final RedisURI server = RedisURI.create(TestServers.redisUrl());

	private final ServerSocket proxy = listen();

	private final FencedRedis redis = new FencedRedis("redis://127.0.0.1:" + this.proxy.getLocalPort(),
			ProtocolVersion.RESP3, UnfencedWrites.ALLOW);

	private final String key = this.redis.key("a");

	/** How much of the next long answer is kept back, zero for nothing. */
	private final AtomicInteger cut = new AtomicInteger();

	@AfterEach
	void close() throws IOException {
		this.redis.close();
		this.proxy.close();
	}

	private ServerSocket listen() {
		try {
			ServerSocket socket = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
			run(() -> {
				while (true) {
					Socket client = socket.accept();
					Socket target = new Socket(this.server.getHost(), this.server.getPort());
					run(() -> pump(client, target, new AtomicInteger()));
					run(() -> pump(target, client, this.cut));
				}
			});
			return socket;
		}
		catch (IOException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static void run(Work work) {
		Thread thread = new Thread(() -> {
			try {
				work.run();
			}
			catch (IOException ex) {
				// closed
			}
		}, "proxy");
		thread.setDaemon(true);
		thread.start();
	}

	private static void pump(Socket from, Socket to, AtomicInteger cut) throws IOException {
		try (from; to) {
			InputStream in = from.getInputStream();
			OutputStream out = to.getOutputStream();
			byte[] buffer = new byte[65536];
			for (int n = in.read(buffer); n > 0; n = in.read(buffer)) {
				int keep = (n > 1000) ? cut.getAndSet(0) : 0;
				out.write(buffer, 0, n - keep);
				if (keep > 0) {
					return;
				}
			}
		}
	}

	@ParameterizedTest
	@ValueSource(ints = { 2, 6, 10, 1000 })
	void whenConnectionIsLostInTheMiddleOfAnswersThenNoCommandRunsTwice(int bytes) {
		List<String> values = Collections.nCopies(100, "0123456789");
		this.redis.plain().opsForList().rightPushAll(this.key, values);
		String counter = this.redis.key("b");
		Throwable failure = catchThrowable(
				() -> FencedRedis.in(FencedRedis.operation(FencedRedis.next(this.key)), () -> {
					this.cut.set(bytes);
					return this.redis.template().executePipelined((RedisCallback<?>) (connection) -> {
						connection.listCommands().lRange(this.key.getBytes(StandardCharsets.UTF_8), 0, -1);
						connection.stringCommands().incr(counter.getBytes(StandardCharsets.UTF_8));
						connection.stringCommands().incr(counter.getBytes(StandardCharsets.UTF_8));
						return null;
					});
				}));
		assertThat(this.cut).hasValue(0);
		assertThat(failure).isInstanceOf(RedisPipelineException.class);
		assertThat(this.redis.plain().opsForValue().get(counter)).isEqualTo("2");
	}

	private interface Work {

		void run() throws IOException;

	}

}
