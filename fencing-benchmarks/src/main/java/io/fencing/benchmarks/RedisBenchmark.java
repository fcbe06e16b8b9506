package io.fencing.benchmarks;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

import io.fencing.FencedResourceFactory;
import io.fencing.FencingListeners;
import io.fencing.FencingToken;
import io.fencing.context.OperationContext;
import io.fencing.fence.UnfencedWrites;
import io.fencing.fence.redis.RedisFence;
import io.fencing.fence.redis.RedisFencePostProcessor;
import io.fencing.fence.redis.RedisFenceSettings;
import io.lettuce.core.RedisURI;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnection.PipeliningFlushPolicy;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettucePoolingClientConfiguration;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.StringRedisTemplate;

/**
 * Commands through a {@code StringRedisTemplate} on one shared connection, pipelines on
 * pooled ones, as Spring Boot sets it up; plain and fenced in turn, the fenced ones
 * inside an operation of each thread that has claimed its guard.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Fork(1)
@Warmup(iterations = 10 * RedisBenchmark.SIDES, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = RedisBenchmark.ROUNDS * RedisBenchmark.SIDES, time = 300, timeUnit = TimeUnit.MILLISECONDS)
public class RedisBenchmark {

	/** Plain and fenced. */
	static final int SIDES = 2;

	/** Of each side. */
	static final int ROUNDS = 25;

	/** The commands of one pipeline. */
	private static final int PIPELINE = 100;

	private static final String VALUE = "x".repeat(64);

	@Param({ "redis://127.0.0.1:6379" })
	private String url = "";

	@Param({ "false" })
	private boolean flushOnClose;

	private final List<LettuceConnectionFactory> factories = new ArrayList<>();

	private final List<StringRedisTemplate> templates = new ArrayList<>();

	private int iteration;

	private StringRedisTemplate template = new StringRedisTemplate();

	/**
	 * Connect both sides.
	 */
	@Setup
	public void connect() {
		RedisFenceSettings settings = new RedisFenceSettings("fencing", Duration.ofDays(7), UnfencedWrites.ALLOW);
		RedisFence fence = new RedisFence("redis", settings, new FencingListeners(List.of()));
		RedisFencePostProcessor fencing = new RedisFencePostProcessor((name) -> true, (name) -> fence);
		this.factories.add(factory());
		this.factories.add((LettuceConnectionFactory) fencing.postProcessBeforeInitialization(factory(),
				"redisConnectionFactory"));
		for (LettuceConnectionFactory factory : this.factories) {
			factory.afterPropertiesSet();
			factory.start();
			this.templates.add(new StringRedisTemplate(factory));
		}
	}

	private LettuceConnectionFactory factory() {
		RedisURI uri = RedisURI.create(this.url);
		LettuceConnectionFactory factory = new LettuceConnectionFactory(
				new RedisStandaloneConfiguration(uri.getHost(), uri.getPort()),
				LettucePoolingClientConfiguration.defaultConfiguration());
		factory.setPipeliningFlushPolicy(
				this.flushOnClose ? PipeliningFlushPolicy.flushOnClose() : PipeliningFlushPolicy.flushEachCommand());
		return factory;
	}

	/**
	 * Take the other side: plain in even iterations, fenced in odd ones.
	 */
	@Setup(Level.Iteration)
	public void alternate() {
		this.template = this.templates.get(Rounds.side(this.iteration, SIDES));
		this.iteration++;
	}

	/**
	 * Disconnect.
	 */
	@TearDown
	public void disconnect() {
		this.factories.forEach(LettuceConnectionFactory::destroy);
	}

	/**
	 * One SET, answered.
	 * @param worker the thread's own
	 */
	@Benchmark
	public void set(Worker worker) {
		this.template.opsForValue().set(worker.key(), VALUE);
	}

	/**
	 * One HSET, answered.
	 * @param worker the thread's own
	 */
	@Benchmark
	public void hset(Worker worker) {
		this.template.opsForHash().put(worker.hash, worker.key(), VALUE);
	}

	/**
	 * A pipeline of SETs, all answered. The score counts commands.
	 * @param worker the thread's own
	 * @return the answers
	 */
	@Benchmark
	@OperationsPerInvocation(PIPELINE)
	public List<Object> pipeline(Worker worker) {
		byte[] value = VALUE.getBytes(StandardCharsets.UTF_8);
		return this.template.executePipelined((RedisCallback<?>) (connection) -> {
			for (int i = 0; i < PIPELINE; i++) {
				connection.stringCommands().set(worker.key().getBytes(StandardCharsets.UTF_8), value);
			}
			return null;
		});
	}

	/**
	 * What each thread has of its own: keys and an operation.
	 */
	@State(Scope.Thread)
	public static class Worker {

		private static final int KEYS = 1000;

		private final String hash = "bench:" + Thread.currentThread().getId();

		private final OperationContext operation = operation(this.hash);

		private final OperationContext.Scope scope = this.operation.open();

		/**
		 * Claim the guard.
		 * @param benchmark has the connections
		 */
		@Setup
		public void claim(RedisBenchmark benchmark) {
			benchmark.templates.forEach((template) -> template.opsForValue().get(this.hash + ":0"));
			if (!this.operation.hasMetFence()) {
				throw new IllegalStateException("Nothing is fenced");
			}
		}

		/**
		 * End the operation.
		 */
		@TearDown
		public void end() {
			this.scope.close();
		}

		private String key() {
			return this.hash + ":" + ThreadLocalRandom.current().nextInt(KEYS);
		}

		private static OperationContext operation(String resource) {
			FencingToken token = new FencingToken(System.currentTimeMillis() * 1000, "benchmark-" + resource);
			return new OperationContext("benchmark",
					List.of(new BenchmarkLease(new FencedResourceFactory("default", "secret").create(resource), token)),
					null);
		}

	}

}
