package io.fencing.autoconfigure;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.fencing.autoconfigure.CoordinatorClients.RedissonConfigSource;
import io.fencing.testing.TestServers;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.client.RedisException;
import org.redisson.config.Config;
import org.redisson.config.ReadMode;
import redis.embedded.RedisServer;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Leases reach the same Redis in the same way as the application does.
 */
class RedissonConfigFactoryTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(SslAutoConfiguration.class, DataRedisAutoConfiguration.class,
				FencingCoordinatorAutoConfiguration.class, FencingAutoConfiguration.class));

	@ParameterizedTest
	@CsvSource(delimiter = '|', nullValues = "-", textBlock = """
			redis://example.org:6380/3           | redis://example.org:6380  | 3 | -   | -
			redis://:secret@example.org:6380     | redis://example.org:6380  | 0 | -   | secret
			redis://joe:secret@example.org:6380  | redis://example.org:6380  | 0 | joe | secret
			rediss://joe:secret@example.org:6380 | rediss://example.org:6380 | 0 | joe | secret
			""")
	void case34And73WhenUrlIsGivenThenAddressAndLoginAreThose(String url, String address, int database, String username,
			String password) {
		this.runner.withPropertyValues("spring.data.redis.url=" + url).run((context) -> {
			Config config = context.getBean(RedissonConfigSource.class).create();
			assertThat(config.useSingleServer().getAddress()).isEqualTo(address);
			assertThat(config.useSingleServer().getDatabase()).isEqualTo(database);
			assertThat(config.getUsername()).isEqualTo(username);
			assertThat(config.getPassword()).isEqualTo(password);
		});
	}

	@Test
	void case34WhenHostAndSslAreGivenThenTlsIsUsed() {
		this.runner
			.withPropertyValues("spring.data.redis.host=example.org", "spring.data.redis.port=6390",
					"spring.data.redis.ssl.enabled=true", "spring.data.redis.timeout=700ms",
					"spring.data.redis.client-name=ledger")
			.run((context) -> {
				Config config = context.getBean(RedissonConfigSource.class).create();
				assertThat(config.useSingleServer().getAddress()).isEqualTo("rediss://example.org:6390");
				assertThat(config.useSingleServer().getTimeout()).isEqualTo(700);
				assertThat(config.useSingleServer().getClientName()).isEqualTo("ledger");
			});
	}

	@Test
	void whenTimesAreVeryLongThenTheyAreBounded() {
		this.runner.withPropertyValues("spring.data.redis.timeout=60d", "spring.data.redis.connect-timeout=60d")
			.run((context) -> {
				Config config = context.getBean(RedissonConfigSource.class).create();
				assertThat(config.useSingleServer().getTimeout()).isEqualTo(Integer.MAX_VALUE);
				assertThat(config.useSingleServer().getConnectTimeout()).isEqualTo(Integer.MAX_VALUE);
			});
	}

	@Test
	void case34WhenSentinelIsGivenThenItsOwnLoginIsKept() {
		this.runner
			.withPropertyValues("spring.data.redis.sentinel.master=main", "spring.data.redis.sentinel.nodes=a:1,b:2",
					"spring.data.redis.sentinel.username=guard", "spring.data.redis.sentinel.password=watch",
					"spring.data.redis.password=secret", "spring.data.redis.database=2")
			.run((context) -> {
				Config config = context.getBean(RedissonConfigSource.class).create();
				assertThat(config.useSentinelServers().getSentinelAddresses()).containsExactly("redis://a:1",
						"redis://b:2");
				assertThat(config.useSentinelServers().getMasterName()).isEqualTo("main");
				assertThat(config.useSentinelServers().getSentinelUsername()).isEqualTo("guard");
				assertThat(config.useSentinelServers().getSentinelPassword()).isEqualTo("watch");
				assertThat(config.useSentinelServers().getDatabase()).isEqualTo(2);
				assertThat(config.getPassword()).isEqualTo("secret");
			});
	}

	@Test
	void case34WhenClusterIsGivenThenItsNodesAreUsed() {
		this.runner.withPropertyValues("spring.data.redis.cluster.nodes=a:1,b:2").run((context) -> {
			Config config = context.getBean(RedissonConfigSource.class).create();
			assertThat(config.useClusterServers().getNodeAddresses()).containsExactly("redis://a:1", "redis://b:2");
		});
	}

	@Test
	void case34WhenMasterAndReplicasAreGivenThenTheirRolesAreAskedForAndMasterIsUsed() {
		this.runner.withPropertyValues("spring.data.redis.masterreplica.nodes=a:1,b:2").run((context) -> {
			Config config = context.getBean(RedissonConfigSource.class).create();
			assertThat(config.useReplicatedServers().getNodeAddresses()).containsExactly("redis://a:1", "redis://b:2");
			assertThat(config.useReplicatedServers().getReadMode()).isEqualTo(ReadMode.MASTER);
		});
	}

	// case 73: the password of a URL without a user logs in
	@Test
	void case73WhenServerDemandsPasswordThenUrlWithPasswordOnlyLogsIn() throws IOException {
		int port = TestServers.freePort();
		RedisServer server = RedisServer.newRedisServer()
			.port(port)
			.bind("127.0.0.1")
			.setting("requirepass secret")
			.build();
		server.start();
		try {
			this.runner.withPropertyValues("spring.data.redis.url=redis://:secret@127.0.0.1:" + port).run((context) -> {
				RedissonClient client = Redisson.create(context.getBean(RedissonConfigSource.class).create());
				try {
					assertThat(client.getKeys().count()).isZero();
				}
				finally {
					client.shutdown();
				}
			});
		}
		finally {
			server.stop();
		}
	}

	// case 73: what reaches a rediss address is a TLS handshake, never plain text
	@Test
	void case73WhenUrlSaysRedissThenNothingGoesInPlainText() throws Exception {
		try (ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
			CompletableFuture<Integer> firstByte = new CompletableFuture<>();
			Thread server = new Thread(() -> {
				try (Socket socket = listener.accept()) {
					firstByte.complete(socket.getInputStream().read());
				}
				catch (IOException ex) {
					firstByte.completeExceptionally(ex);
				}
			});
			server.setDaemon(true);
			server.start();
			this.runner
				.withPropertyValues("spring.data.redis.url=rediss://:secret@127.0.0.1:" + listener.getLocalPort(),
						"spring.data.redis.timeout=500ms", "spring.data.redis.connect-timeout=500ms")
				.run((context) -> {
					Config config = context.getBean(RedissonConfigSource.class).create();
					config.useSingleServer().setRetryAttempts(0);
					assertThatExceptionOfType(RedisException.class).isThrownBy(() -> Redisson.create(config));
				});
			int handshake = 0x16;
			assertThat(firstByte.get(10, TimeUnit.SECONDS)).isEqualTo(handshake);
		}
	}

}
