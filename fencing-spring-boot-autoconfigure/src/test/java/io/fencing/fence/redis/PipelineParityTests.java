package io.fencing.fence.redis;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

import io.fencing.UnfencedWriteException;
import io.fencing.context.OperationContext;
import io.fencing.fence.UnfencedWrites;
import io.fencing.fence.redis.ParityTests.Subject;
import io.fencing.testing.TestServers;
import io.lettuce.core.protocol.ProtocolVersion;
import org.junit.jupiter.api.Test;
import redis.embedded.RedisServer;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisPipelineException;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Every public method of Spring Data Redis's command interfaces is called in a pipeline,
 * between two other commands, plain in one database and fenced in another: answers,
 * exceptions and stored bytes are the same, unless it is refused.
 */
class PipelineParityTests {

	// takes its time, so with one protocol; PipelineTests has both
	@Test
	void whenPipelineIsFencedThenItIsEqual() throws Exception {
		int port = TestServers.freePort();
		RedisServer server = TestServers.newRedis(port);
		server.start();
		String url = "redis://127.0.0.1:" + port;
		try (FencedRedis redis = new FencedRedis(url, ProtocolVersion.RESP3, UnfencedWrites.ALLOW)) {
			LettuceConnectionFactory plain = FencedRedis.start(FencedRedis.newFactory(url, ProtocolVersion.RESP3, 3));
			LettuceConnectionFactory fenced = FencedRedis
				.start(redis.fence(FencedRedis.newFactory(url, ProtocolVersion.RESP3, 4), UnfencedWrites.ALLOW));
			List<String> different = new ArrayList<>();
			int equal = 0;
			for (Subject subject : ParityTests.SUBJECTS) {
				for (Method method : methods(subject)) {
					// anew for each would take long
					if (equal % 4 == 0) {
						ParityTests.seed(plain);
						ParityTests.seed(fenced);
					}
					OperationContext context = FencedRedis.operation(FencedRedis.next("parity"));
					String fencedAnswer;
					try (OperationContext.Scope scope = context.open()) {
						fencedAnswer = call(subject, method, fenced);
					}
					if (context.getRefusal() instanceof UnfencedWriteException) {
						continue;
					}
					String plainAnswer = call(subject, method, plain);
					if (plainAnswer.equals(fencedAnswer) && ParityTests.dump(plain).equals(ParityTests.dump(fenced))) {
						equal++;
					}
					else {
						different.add(method + ": " + plainAnswer + " <> " + fencedAnswer);
					}
				}
			}
			assertThat(different).isEmpty();
			assertThat(equal).isGreaterThan(250);
			plain.destroy();
			fenced.destroy();
		}
		finally {
			server.stop();
		}
	}

	private static List<Method> methods(Subject subject) {
		return subject.bytes() ? subject.methods()
			.stream()
			.filter((method) -> !ParityTests.NOT_APPLICABLE.containsKey(method.getName()))
			.filter((method) -> !(method.getName().equals("xAdd")
					&& Arrays.asList(method.getParameterTypes()).contains(Map.class)))
			.toList() : List.of();
	}

	private static String call(Subject subject, Method method, LettuceConnectionFactory factory) {
		byte[] before = "pipeline".getBytes(StandardCharsets.UTF_8);
		List<Object> answers = new ArrayList<>();
		try (RedisConnection connection = factory.getConnection()) {
			connection.openPipeline();
			connection.stringCommands().set(before, before);
			try {
				method.setAccessible(true);
				answers.add(method.invoke(subject.target(connection, factory),
						new ParitySamples(subject.key(), true).of(method)));
			}
			catch (InvocationTargetException ex) {
				answers.add(ex.getTargetException());
			}
			catch (IllegalAccessException ex) {
				throw new IllegalStateException(ex);
			}
			connection.stringCommands().get(before);
			answers.addAll(connection.closePipeline());
		}
		catch (RedisPipelineException ex) {
			answers.add(ex);
			answers.addAll(ex.getPipelineResult());
		}
		catch (RuntimeException ex) {
			answers.add(ex);
		}
		return ParityTests.describe(answers);
	}

}
