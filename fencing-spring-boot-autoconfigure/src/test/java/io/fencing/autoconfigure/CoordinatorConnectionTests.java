package io.fencing.autoconfigure;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.fencing.CoordinatorUnavailableException;
import io.fencing.FencedOperationRequest;
import io.fencing.FencedOperations;
import io.fencing.FencingContext;
import io.fencing.testing.RedisClusterServers;
import io.fencing.testing.RedisConsole;
import io.fencing.testing.TestServers;
import io.fencing.testing.TlsProxy;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.Jedis;
import redis.embedded.Redis;
import redis.embedded.RedisSentinel;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * What {@code spring.data.redis.*} says is what really happens on the wire (cases 34 and
 * 73).
 */
@Timeout(60)
class CoordinatorConnectionTests {

	private final List<Redis> servers = new ArrayList<>();

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(SslAutoConfiguration.class, DataRedisAutoConfiguration.class,
				FencingCoordinatorAutoConfiguration.class, FencingAutoConfiguration.class));

	@TempDir
	private Path directory;

	@AfterEach
	void stopServers() throws IOException {
		for (Redis server : this.servers) {
			server.stop();
		}
	}

	// case 73: TLS, trusted by a bundle, and a password without a user
	@ParameterizedTest
	@ValueSource(strings = { "spring.data.redis.url=rediss://:secret@127.0.0.1:%d",
			"spring.data.redis.host=127.0.0.1,spring.data.redis.port=%d,spring.data.redis.password=secret",
			"spring.data.redis.url=rediss://127.0.0.1:%d,test.wrong=password" })
	void case73WhenServerSpeaksTlsThenLeasesAreGrantedOverTlsToWhoHasThePassword(String properties) {
		int port = start("requirepass secret");
		try (TlsProxy proxy = TlsProxy.start(this.directory, "ip:127.0.0.1", port)) {
			trusting(proxy).withPropertyValues(properties.formatted(proxy.getPort()).split(",")).run((context) -> {
				FencedOperations operations = context.getBean(FencedOperations.class);
				if (properties.contains("wrong")) {
					assertThatExceptionOfType(CoordinatorUnavailableException.class).isThrownBy(() -> token(operations))
						.withMessageContaining("(NOAUTH)");
				}
				else {
					assertThat(token(operations)).isPositive();
				}
				assertThat(proxy.getHandshakes()).isPositive();
			});
		}
	}

	// no trust, no name, no plain text
	@ParameterizedTest
	@CsvSource({ "ip:127.0.0.1, false", "dns:elsewhere.example, true", "ip:127.0.0.2, true" })
	void case34WhenCertificateIsNotTrustedOrAnothersThenRefusedAndNothingIsSent(String subject, boolean trusted) {
		int port = start();
		try (TlsProxy proxy = TlsProxy.start(this.directory, subject, port)) {
			ApplicationContextRunner node = trusted ? trusting(proxy) : this.runner;
			node.withPropertyValues("spring.data.redis.url=rediss://127.0.0.1:" + proxy.getPort()).run((context) -> {
				FencedOperations operations = context.getBean(FencedOperations.class);
				assertThatExceptionOfType(CoordinatorUnavailableException.class).isThrownBy(() -> token(operations))
					.withMessageContaining("TLS");
			});
		}
		assertThat(new RedisConsole(port).send("DBSIZE")).isEqualTo("0");
	}

	@Test
	void case34WhenDatabaseAndClientNameAreGivenThenConnectionsHaveThem() {
		int port = start();
		this.runner
			.withPropertyValues("spring.data.redis.port=" + port, "spring.data.redis.database=3",
					"spring.data.redis.client-name=ledger")
			.run((context) -> {
				token(context.getBean(FencedOperations.class));
				try (Jedis client = new Jedis("127.0.0.1", port)) {
					assertThat(client.clientList().lines().filter((line) -> line.contains("name=ledger"))).isNotEmpty()
						.allMatch((line) -> line.contains("db=3"));
					assertThat(client.dbSize()).isZero();
					client.select(3);
					assertThat(client.dbSize()).isPositive();
				}
			});
	}

	@ParameterizedTest
	@ValueSource(strings = { "watch", "wrong" })
	void case34WhenSentinelHasUsersOfItsOwnThenTheirPasswordIsUsed(String password) throws IOException {
		int master = start("requirepass secret");
		int port = TestServers.freePort();
		start(RedisSentinel.newRedisSentinel()
			.port(port)
			.setting("sentinel monitor main 127.0.0.1 " + master + " 1")
			.setting("sentinel auth-pass main secret")
			.setting("user default off")
			.setting("user guard on >watch ~* &* +@all")
			.build());
		this.runner
			.withPropertyValues("spring.data.redis.sentinel.master=main",
					"spring.data.redis.sentinel.nodes=127.0.0.1:" + port, "spring.data.redis.sentinel.username=guard",
					"spring.data.redis.sentinel.password=" + password, "spring.data.redis.password=secret")
			.run((context) -> {
				FencedOperations operations = context.getBean(FencedOperations.class);
				if (password.equals("watch")) {
					assertThat(token(operations)).isPositive();
				}
				else {
					assertThatExceptionOfType(CoordinatorUnavailableException.class)
						.isThrownBy(() -> token(operations));
				}
			});
	}

	@Test
	void case34WhenClusterHasAPasswordThenItIsUsed() {
		try (RedisClusterServers cluster = RedisClusterServers.start()) {
			for (String node : cluster.getNodes()) {
				RedisConsole console = new RedisConsole(Integer.parseInt(node.replaceFirst(".*:", "")));
				console.send("CONFIG SET masterauth secret");
				console.send("CONFIG SET requirepass secret");
			}
			ApplicationContextRunner node = this.runner
				.withPropertyValues("spring.data.redis.cluster.nodes=" + String.join(",", cluster.getNodes()));
			node.withPropertyValues("spring.data.redis.password=secret")
				.run((context) -> assertThat(token(context.getBean(FencedOperations.class))).isPositive());
			node.run((context) -> assertThatExceptionOfType(CoordinatorUnavailableException.class)
				.isThrownBy(() -> token(context.getBean(FencedOperations.class))));
		}
	}

	// scripts only ever go to the master, also when it is another one
	@Test
	void case34WhenRolesOfMasterAndReplicaAreSwappedThenScriptsGoToTheNewMaster() {
		int one = start();
		int other = start("replicaof 127.0.0.1 " + one);
		this.runner.withPropertyValues("spring.data.redis.masterreplica.nodes=127.0.0.1:" + other + ",127.0.0.1:" + one)
			.run((context) -> {
				FencedOperations operations = context.getBean(FencedOperations.class);
				await().untilAsserted(() -> assertThat(token(operations)).isPositive());
				long first = token(operations);
				await().until(() -> !new RedisConsole(other).send("DBSIZE").equals("0"));
				new RedisConsole(other).send("REPLICAOF NO ONE");
				new RedisConsole(one).send("REPLICAOF 127.0.0.1 " + other);
				await().ignoreExceptionsInstanceOf(CoordinatorUnavailableException.class)
					.atMost(Duration.ofSeconds(20))
					.untilAsserted(() -> assertThat(token(operations)).isGreaterThan(first));
			});
	}

	@Test
	void case34WhenOnlySentinelsHaveAPasswordThenStartFails() {
		this.runner
			.withPropertyValues("spring.data.redis.sentinel.master=main", "spring.data.redis.sentinel.nodes=there:1",
					"spring.data.redis.sentinel.password=watch")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("'spring.data.redis.sentinel.password'")
				.hasMessageNotContaining("watch"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "cluster", "masterreplica" })
	void case34WhenADatabaseIsGivenThatTheServersDoNotHaveThenStartFails(String kind) {
		this.runner.withPropertyValues("spring.data.redis." + kind + ".nodes=there:1", "spring.data.redis.database=3")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("'spring.data.redis.database' is 3"));
	}

	private ApplicationContextRunner trusting(TlsProxy proxy) {
		return this.runner.withPropertyValues("spring.data.redis.ssl.bundle=redis",
				"spring.ssl.bundle.pem.redis.truststore.certificate=" + proxy.getCertificate().toUri());
	}

	private int start(String... settings) {
		int port = TestServers.freePort();
		start(TestServers.newRedis(port, settings));
		return port;
	}

	private void start(Redis server) {
		try {
			server.start();
		}
		catch (IOException ex) {
			throw new IllegalStateException(ex);
		}
		this.servers.add(server);
	}

	private static long token(FencedOperations operations) {
		FencedOperationRequest request = FencedOperationRequest.builder("connection")
			.resource("one")
			.waitTime(Duration.ofSeconds(3))
			.build();
		Long token = operations.call(request, () -> FencingContext.required().getToken().value());
		return (token != null) ? token : 0;
	}

}
