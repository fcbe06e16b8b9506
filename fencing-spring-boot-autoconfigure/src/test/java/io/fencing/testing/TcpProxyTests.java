package io.fencing.testing;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * The network behaves as it is told to, in front of a real Redis.
 */
class TcpProxyTests {

	private final String key = "proxy-test-" + System.nanoTime();

	private TcpProxy proxy;

	@BeforeEach
	void start() {
		URI redis = URI.create(TestServers.redisUrl());
		this.proxy = TcpProxy.start(redis.getHost(), redis.getPort());
	}

	@AfterEach
	void stop() {
		this.proxy.close();
	}

	@Test
	void whenPassingThenServerAnswers() throws Exception {
		try (Client client = new Client()) {
			assertThat(client.call("INCR " + this.key)).isEqualTo(":1");
		}
		await().until(() -> this.proxy.getConnections() == 0);
	}

	@Test
	void whenDelayedThenAnswerComesLate() throws Exception {
		try (Client client = new Client()) {
			this.proxy.delay(Duration.ofMillis(300));
			client.socket.setSoTimeout(100);
			assertThatExceptionOfType(SocketTimeoutException.class).isThrownBy(() -> client.call("INCR " + this.key));
			client.socket.setSoTimeout(10_000);
			assertThat(client.input.readLine()).isEqualTo(":1");
		}
	}

	@Test
	void whenDroppedThenOldAndNewConnectionsEndUntilPassingAgain() throws Exception {
		try (Client client = new Client()) {
			client.call("PING");
			this.proxy.drop();
			assertGone(client);
		}
		try (Client client = new Client()) {
			assertGone(client);
		}
		this.proxy.pass();
		try (Client client = new Client()) {
			assertThat(client.call("PING")).isEqualTo("+PONG");
		}
	}

	@Test
	void whenSwallowedThenServerSeesNothingAndNobodyAnswers() throws Exception {
		try (Client client = new Client()) {
			this.proxy.swallow();
			client.socket.setSoTimeout(200);
			assertThatExceptionOfType(SocketTimeoutException.class).isThrownBy(() -> client.call("INCR " + this.key));
			this.proxy.pass();
			assertGone(client);
		}
		try (Client client = new Client()) {
			assertThat(client.call("GET " + this.key)).isEqualTo("$-1");
		}
	}

	@Test
	void whenRepliesAreSwallowedThenCommandIsExecuted() throws Exception {
		try (Client client = new Client()) {
			this.proxy.swallowReplies();
			client.socket.setSoTimeout(200);
			assertThatExceptionOfType(SocketTimeoutException.class).isThrownBy(() -> client.call("INCR " + this.key));
			this.proxy.pass();
			assertGone(client);
		}
		try (Client client = new Client()) {
			assertThat(client.call("INCR " + this.key)).isEqualTo(":2");
		}
	}

	private static void assertGone(Client client) {
		await().until(() -> {
			try {
				return client.call("PING") == null;
			}
			catch (SocketTimeoutException ex) {
				return false;
			}
			catch (IOException ex) {
				return true;
			}
		});
	}

	private final class Client implements AutoCloseable {

		private final Socket socket;

		private final BufferedReader input;

		Client() throws IOException {
			this.socket = new Socket(TcpProxyTests.this.proxy.getHost(), TcpProxyTests.this.proxy.getPort());
			this.socket.setSoTimeout(10_000);
			this.input = new BufferedReader(
					new InputStreamReader(this.socket.getInputStream(), StandardCharsets.UTF_8));
		}

		String call(String command) throws IOException {
			this.socket.getOutputStream().write((command + "\r\n").getBytes(StandardCharsets.UTF_8));
			return this.input.readLine();
		}

		@Override
		public void close() throws IOException {
			this.socket.close();
		}

	}

}
