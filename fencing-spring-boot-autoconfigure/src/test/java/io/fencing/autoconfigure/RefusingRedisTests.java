package io.fencing.autoconfigure;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;

import io.fencing.CoordinatorUnavailableException;
import io.fencing.FencedResourceFactory;
import io.fencing.lease.LeaseCoordinator;
import io.fencing.lease.LeaseRequest;
import io.fencing.testing.RedisConsole;
import io.fencing.testing.TestServers;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import redis.embedded.RedisServer;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Whoever configured the connection wrongly is told what is wrong with it, within the
 * time that a call waits (cases 34, 52, 73).
 */
@Timeout(60)
class RefusingRedisTests {

	// an alert: fatal, unexpected message
	private static final byte[] TLS_ALERT = { 0x15, 3, 3, 0, 2, 2, 10 };

	private static final int PORT = TestServers.freePort();

	private static RedisServer redis;

	private static ServerSocket tls;

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(SslAutoConfiguration.class, DataRedisAutoConfiguration.class,
				FencingCoordinatorAutoConfiguration.class, FencingAutoConfiguration.class));

	@BeforeAll
	static void startServers() throws IOException {
		redis = TestServers.newRedis(PORT);
		redis.start();
		RedisConsole console = new RedisConsole(PORT);
		console.send("ACL SETUSER limited on >secret ~* &* -@all +ping +get");
		console.send("ACL SETUSER default on >secret");
		tls = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
		Thread listener = new Thread(RefusingRedisTests::demandTls, "tls-server");
		listener.setDaemon(true);
		listener.start();
	}

	private static void demandTls() {
		while (!tls.isClosed()) {
			try (Socket socket = tls.accept()) {
				socket.getInputStream().read(new byte[1024]);
				socket.getOutputStream().write(TLS_ALERT);
			}
			catch (IOException ex) {
				// closed
			}
		}
	}

	@AfterAll
	static void stopServers() throws IOException {
		redis.stop();
		tls.close();
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			spring.data.redis.url   | redis://:wrong@127.0.0.1:{redis}         | WRONGPASS
			fencing.coordinator.url | redis://:wrong@127.0.0.1:{redis}         | WRONGPASS
			spring.data.redis.url   | redis://joe:secret@127.0.0.1:{redis}     | WRONGPASS
			spring.data.redis.url   | redis://127.0.0.1:{redis}                | NOAUTH
			spring.data.redis.url   | redis://limited:secret@127.0.0.1:{redis} | NOPERM
			spring.data.redis.url   | rediss://:secret@127.0.0.1:{redis}       | both sides must use TLS, or neither
			spring.data.redis.url   | redis://:secret@127.0.0.1:{tls}          | both sides must use TLS, or neither
			spring.data.redis.url   | redis://127.0.0.1:{closed}               | no connection
			""")
	void whenConnectionIsConfiguredWronglyThenToldWhatIsWrong(String property, String url, String reason) {
		String resolved = url.replace("{redis}", "" + PORT)
			.replace("{tls}", "" + tls.getLocalPort())
			.replace("{closed}", "" + TestServers.freePort());
		this.runner.withPropertyValues(property + "=" + resolved, "spring.data.redis.connect-timeout=500ms")
			.run((context) -> {
				LeaseCoordinator coordinator = context.getBean(LeaseCoordinator.class);
				LeaseRequest request = new LeaseRequest("test", new FencedResourceFactory("refused", null).create("r"),
						"me", Duration.ofSeconds(30));
				await().atMost(Duration.ofSeconds(20))
					.untilAsserted(() -> assertThatExceptionOfType(CoordinatorUnavailableException.class)
						.isThrownBy(() -> coordinator.tryAcquire(request, Duration.ofSeconds(2)))
						.withMessageContaining(reason)
						.withMessageNotContaining("secret")
						.withMessageNotContaining("wrong"));
			});
	}

}
