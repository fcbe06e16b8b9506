package io.fencing.fence.redis;

import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

import io.fencing.context.OperationContext;
import io.fencing.fence.UnfencedWrites;
import io.fencing.fence.redis.FencedRedis.Held;
import io.fencing.fence.redis.ParityTests.Driver;
import io.fencing.fence.redis.ParityTests.Subject;
import io.fencing.testing.TestServers;
import io.lettuce.core.protocol.ProtocolVersion;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import redis.embedded.RedisServer;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.StringRedisTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Every public operation of Spring Data Redis's interfaces is called by a worker that is
 * stale: none of them changes anything, whether it has seen the guard before or not.
 */
class StaleParityTests {

	/** Touch no data, or end the test's server or its connections. */
	private static final Set<String> OUT_OF_SCOPE = Set.of("shutdown", "replicaOf", "replicaOfNoOne", "killClient",
			"setConfig", "rewriteConfig", "resetConfigStats", "bgSave", "bgReWriteAof", "save", "opsForCluster",
			"getConnectionFactory", "getSubscription");

	private static final int DATABASE = 4;

	@ParameterizedTest
	@EnumSource
	void rules1And3WhenWorkerIsStaleThenNoOperationChangesAnything(Driver driver) throws Exception {
		int port = TestServers.freePort();
		RedisServer server = TestServers.newRedis(port);
		server.start();
		String url = "redis://127.0.0.1:" + port;
		try (FencedRedis redis = new FencedRedis(url, ProtocolVersion.RESP2, UnfencedWrites.ALLOW)) {
			RedisConnectionFactory fenced = redis.fenceAny(driver.create(url, DATABASE));
			LettuceConnectionFactory data = FencedRedis
				.start(FencedRedis.newFactory(url, ProtocolVersion.RESP2, DATABASE));
			List<String> changed = new ArrayList<>();
			Held newer = FencedRedis.next("parity");
			StringRedisTemplate template = new StringRedisTemplate(data);
			ParityTests.seed(data);
			for (Subject subject : ParityTests.SUBJECTS) {
				for (Method method : subject.methods()) {
					if (OUT_OF_SCOPE.contains(method.getName())) {
						continue;
					}
					for (boolean claimed : new boolean[] { false, true }) {
						Held older = FencedRedis.of("parity", newer.token().value() - 1);
						OperationContext context = FencedRedis.operation(older);
						if (claimed) {
							guard(template, redis, older);
							FencedRedis.in(context, () -> new StringRedisTemplate(fenced).hasKey("str"));
						}
						guard(template, redis, newer);
						String before = digest(template);
						String answer;
						try (OperationContext.Scope scope = context.open()) {
							answer = ParityTests.call(subject, method, fenced);
						}
						String name = subject.type().getSimpleName() + " " + method.getName() + (claimed ? " =" : "");
						if (!digest(template).equals(before)) {
							changed.add(name + ": " + answer);
							ParityTests.seed(data);
						}
					}
				}
			}
			assertThat(changed).isEmpty();
			((DisposableBean) fenced).destroy();
			data.destroy();
		}
		finally {
			server.stop();
		}
	}

	private static void guard(StringRedisTemplate template, FencedRedis redis, Held held) {
		template.opsForValue().set(redis.guard(held), held.token().value() + ":" + held.token().owner());
	}

	private static String digest(StringRedisTemplate template) {
		return ParityTests.describe(template.execute((RedisCallback<?>) (connection) -> connection.execute("DEBUG",
				"DIGEST".getBytes(StandardCharsets.UTF_8))));
	}

}
