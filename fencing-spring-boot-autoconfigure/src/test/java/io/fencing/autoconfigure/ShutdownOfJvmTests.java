package io.fencing.autoconfigure;

import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

import io.fencing.FencedResourceFactory;
import io.fencing.testing.ForkedJvm;
import io.fencing.testing.TcpProxy;
import io.fencing.testing.TestServers;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.Jedis;
import redis.embedded.RedisServer;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A JVM that gets SIGTERM while it works ends in order, also without Redis (case 64).
 */
@Timeout(120)
class ShutdownOfJvmTests {

	private static final int TERMINATED = 143;

	private final String database = TestServers.newPostgresUrl();

	private final int port = TestServers.freePort();

	private final RedisServer redis = TestServers.newRedis(this.port);

	@BeforeEach
	void startRedis() throws Exception {
		this.redis.start();
	}

	@AfterEach
	void stopRedis() throws Exception {
		this.redis.stop();
	}

	@ParameterizedTest
	@CsvSource({ "1500, 10s, done, 1", "60000, 300ms, '', 0" })
	void case64WhenTerminatedThenTheJobEndsInTheGraceOrWritesNothing(String works, String grace, String end, int rows) {
		try (ForkedJvm node = start(works, "fencing.shutdown.grace=" + grace,
				"spring.lifecycle.timeout-per-shutdown-phase=1s", "spring.data.redis.port=" + this.port)) {
			node.await("working");
			assertThat(leases()).hasSize(1);
			node.terminate();
			assertThat(node.awaitEnd()).isEqualTo(TERMINATED);
			assertThat(node.take("done")).hasSize(end.isEmpty() ? 0 : 1);
			assertThat(rows()).isEqualTo(rows);
			assertQuiet(node);
			if (rows > 0) {
				assertThat(leases()).isEmpty();
			}
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void case64WhenRedisIsGoneThenTerminatedAllTheSame(boolean frozen) {
		try (TcpProxy network = TcpProxy.start("127.0.0.1", this.port);
				ForkedJvm node = start("500", "spring.data.redis.port=" + network.getPort())) {
			node.await("working");
			if (frozen) {
				network.swallow();
			}
			else {
				network.drop();
			}
			node.terminate();
			assertThat(node.awaitEnd()).isEqualTo(TERMINATED);
			assertThat(rows()).isEqualTo(1);
		}
	}

	@Test
	void whenTerminatedWhileItStartsThenItEnds() {
		try (ForkedJvm node = start("500", "spring.data.redis.port=" + this.port)) {
			node.await("starting");
			node.terminate();
			assertThat(node.awaitEnd()).isEqualTo(TERMINATED);
			assertThat(leases()).isEmpty();
		}
	}

	private ForkedJvm start(String works, String... properties) {
		Stream<String> defaults = Stream.of(works, "spring.datasource.url=" + this.database);
		return ForkedJvm.start("stopping", StoppingApplication.class,
				Stream.concat(defaults, Stream.of(properties)).toArray(String[]::new));
	}

	private int rows() {
		JdbcTemplate other = new JdbcTemplate(new DriverManagerDataSource(this.database));
		Integer rows = other.queryForObject("SELECT COUNT(*) FROM done", Integer.class);
		return (rows != null) ? rows : 0;
	}

	private Set<String> leases() {
		try (Jedis client = new Jedis("127.0.0.1", this.port)) {
			return client.keys("*" + new FencedResourceFactory("default", null).create("job:job").getKey() + "}:lease");
		}
	}

	private static void assertQuiet(ForkedJvm node) {
		for (String sign : List.of("ERROR", "\tat ", "Caused by")) {
			assertThat(node.getOutput()).doesNotContain(sign);
		}
	}

}
