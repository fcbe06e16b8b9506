package io.fencing.autoconfigure;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;

import io.fencing.testing.TestServers;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * The client is there before the first call, whose wait may be short, and the start does
 * not depend on it (case 35).
 */
@Timeout(60)
@ExtendWith(OutputCaptureExtension.class)
class CoordinatorWarmUpTests {

	private static final String CREATION = "fencing-redisson-start";

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(SslAutoConfiguration.class, DataRedisAutoConfiguration.class,
				FencingCoordinatorAutoConfiguration.class, FencingAutoConfiguration.class));

	@Test
	void whenApplicationHasStartedThenConnectedWithoutACall() throws IOException {
		try (ServerSocket redis = listener()) {
			redis.setSoTimeout(10_000);
			this.runner.withPropertyValues("spring.data.redis.port=" + redis.getLocalPort()).run((context) -> {
				try (Socket connection = redis.accept()) {
					assertThat(connection.isConnected()).isTrue();
				}
			});
		}
	}

	@Test
	void whenFencingIsOffThenNotConnected() throws IOException {
		try (ServerSocket redis = listener()) {
			redis.setSoTimeout(500);
			this.runner.withPropertyValues("fencing.mode=off", "spring.data.redis.port=" + redis.getLocalPort())
				.run((context) -> assertThatExceptionOfType(SocketTimeoutException.class).isThrownBy(redis::accept));
		}
	}

	@Test
	void case35WhenRedisIsDownThenApplicationStartsAndOneLineSaysSo(CapturedOutput output) {
		this.runner.withPropertyValues("spring.data.redis.port=" + TestServers.freePort()).run((context) -> {
			assertThat(context).hasNotFailed();
			await().until(() -> Thread.getAllStackTraces()
				.keySet()
				.stream()
				.noneMatch((thread) -> thread.getName().equals(CREATION)));
		});
		await().untilAsserted(() -> assertThat(output.getAll()).containsOnlyOnce("WARN")
			.contains("Leases cannot be granted yet, since there is no connection to Redis"));
		assertThat(output.getAll()).doesNotContain("ERROR").doesNotContain("Exception");
	}

	private static ServerSocket listener() throws IOException {
		return new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
	}

}
