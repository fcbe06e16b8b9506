package io.fencing.fence.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

import io.fencing.FencedResource;
import io.fencing.FencedResourceFactory;
import io.fencing.FencingException;
import io.fencing.FencingListener;
import io.fencing.FencingListeners;
import io.fencing.FencingToken;
import io.fencing.HeldResource;
import io.fencing.LossReason;
import io.fencing.Observation;
import io.fencing.RejectionReason;
import io.fencing.context.OperationContext;
import io.fencing.fence.UnfencedWrites;
import io.fencing.testing.TestServers;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisURI;
import io.lettuce.core.protocol.ProtocolVersion;

import org.springframework.beans.factory.InitializingBean;
import org.springframework.context.SmartLifecycle;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

/**
 * A fenced connection factory and a plain one on the same server, and operations whose
 * tokens a test chooses.
 */
final class FencedRedis implements AutoCloseable {

	private static final FencedResourceFactory RESOURCES = new FencedResourceFactory("default", "secret");

	private static final AtomicLong NEXT = new AtomicLong(System.currentTimeMillis() * 1000);

	private final List<String> events = new CopyOnWriteArrayList<>();

	private final LettuceConnectionFactory plainFactory;

	private final LettuceConnectionFactory factory;

	private final StringRedisTemplate plain;

	private final StringRedisTemplate template;

	private final String keys = "test:" + NEXT.incrementAndGet() + ":";

	FencedRedis() {
		this(TestServers.redisUrl(), ProtocolVersion.RESP3, UnfencedWrites.ALLOW);
	}

	FencedRedis(String url, ProtocolVersion protocol, UnfencedWrites unfencedWrites) {
		this(() -> newFactory(url, protocol), unfencedWrites);
	}

	FencedRedis(Supplier<LettuceConnectionFactory> newFactory) {
		this(newFactory, UnfencedWrites.ALLOW);
	}

	private FencedRedis(Supplier<LettuceConnectionFactory> newFactory, UnfencedWrites unfencedWrites) {
		this.plainFactory = start(newFactory.get());
		this.factory = start(fence(newFactory.get(), unfencedWrites));
		this.plain = new StringRedisTemplate(this.plainFactory);
		this.template = new StringRedisTemplate(this.factory);
	}

	static LettuceConnectionFactory newFactory(String url, ProtocolVersion protocol) {
		return newFactory(url, protocol, 0);
	}

	static LettuceConnectionFactory newFactory(String url, ProtocolVersion protocol, int database) {
		RedisURI uri = RedisURI.create(url);
		RedisStandaloneConfiguration configuration = new RedisStandaloneConfiguration(uri.getHost(), uri.getPort());
		configuration.setDatabase(database);
		return new LettuceConnectionFactory(configuration,
				LettuceClientConfiguration.builder()
					.commandTimeout(Duration.ofSeconds(10))
					.clientOptions(ClientOptions.builder().protocolVersion(protocol).build())
					.build());
	}

	RedisFencePostProcessor postProcessor(UnfencedWrites unfencedWrites) {
		RedisFenceSettings settings = new RedisFenceSettings("fencing", Duration.ofDays(7), unfencedWrites);
		FencingListeners listeners = new FencingListeners(List.of(new Recorder()));
		return new RedisFencePostProcessor((name) -> true, (name) -> new RedisFence("redis", settings, listeners));
	}

	LettuceConnectionFactory fence(LettuceConnectionFactory original, UnfencedWrites unfencedWrites) {
		return (LettuceConnectionFactory) postProcessor(unfencedWrites).postProcessBeforeInitialization(original,
				"redisConnectionFactory");
	}

	/** Fence a factory of any driver and start it, as the container does. */
	RedisConnectionFactory fenceAny(RedisConnectionFactory original) throws Exception {
		RedisFencePostProcessor postProcessor = postProcessor(UnfencedWrites.ALLOW);
		RedisConnectionFactory factory = (RedisConnectionFactory) postProcessor
			.postProcessBeforeInitialization(original, "redisConnectionFactory");
		return (RedisConnectionFactory) postProcessor.postProcessAfterInitialization(startAny(factory),
				"redisConnectionFactory");
	}

	static RedisConnectionFactory startAny(RedisConnectionFactory factory) throws Exception {
		((InitializingBean) factory).afterPropertiesSet();
		if (factory instanceof SmartLifecycle lifecycle) {
			lifecycle.start();
		}
		return factory;
	}

	static LettuceConnectionFactory start(LettuceConnectionFactory factory) {
		factory.afterPropertiesSet();
		factory.start();
		return factory;
	}

	/** A key of this test's own. */
	String key(String name) {
		return this.keys + name;
	}

	LettuceConnectionFactory factory() {
		return this.factory;
	}

	LettuceConnectionFactory plainFactory() {
		return this.plainFactory;
	}

	/** Goes by the fence. */
	StringRedisTemplate template() {
		return this.template;
	}

	/** Goes by no fence. */
	StringRedisTemplate plain() {
		return this.plain;
	}

	List<String> events() {
		return this.events;
	}

	String guard(Held held) {
		return new String(new GuardKeys("fencing").guard(held.resource()));
	}

	static Held next(String resource) {
		return of(resource, NEXT.incrementAndGet());
	}

	static Held of(String resource, long token) {
		return new Held(RESOURCES.create(resource), new FencingToken(token, "owner-" + NEXT.incrementAndGet()),
				new AtomicLong());
	}

	/** One that no fence refuses anything. */
	static OperationContext observed(Held... held) {
		return new OperationContext("withdraw", List.of(held), null, false);
	}

	static OperationContext operation(Held... held) {
		return new OperationContext("withdraw", List.of(held), OperationContext.get());
	}

	/** Run a part of an operation, as the executor does: a recorded refusal wins. */
	static <T> T in(OperationContext context, Callable<T> part) throws Exception {
		try (OperationContext.Scope scope = context.open()) {
			T result;
			try {
				result = part.call();
			}
			catch (Exception ex) {
				throwRefusal(context);
				throw ex;
			}
			throwRefusal(context);
			return result;
		}
	}

	/** Run on another thread, to its end: as another worker. */
	static <T> T elsewhere(Callable<T> work) {
		CompletableFuture<T> result = new CompletableFuture<>();
		Thread thread = new Thread(() -> {
			try {
				result.complete(work.call());
			}
			catch (Throwable ex) {
				result.completeExceptionally(ex);
			}
		}, "elsewhere");
		thread.setDaemon(true);
		thread.start();
		return result.join();
	}

	private static void throwRefusal(OperationContext context) {
		FencingException refusal = context.getRefusal();
		if (refusal != null) {
			throw refusal;
		}
	}

	@Override
	public void close() {
		this.plain.delete(this.plain.keys(this.keys + "*"));
		this.factory.destroy();
		this.plainFactory.destroy();
	}

	/** A lease that a test gives and takes away. */
	record Held(FencedResource resource, FencingToken token, AtomicLong lost) implements HeldResource {

		void lose() {
			this.lost.set(1);
		}

		@Override
		public FencedResource getResource() {
			return this.resource;
		}

		@Override
		public FencingToken getToken() {
			return this.token;
		}

		@Override
		public boolean isLost() {
			return this.lost.get() != 0;
		}

		@Override
		public LossReason getLossReason() {
			return isLost() ? LossReason.REFUSED : LossReason.NONE;
		}

		@Override
		public Duration getRemaining() {
			return isLost() ? Duration.ZERO : Duration.ofSeconds(30);
		}

	}

	private final class Recorder implements FencingListener {

		@Override
		public void onAdmitted(String operation, String storage, Duration took) {
			FencedRedis.this.events.add("admitted " + storage);
		}

		@Override
		public void onRejected(String operation, String storage, RejectionReason reason) {
			FencedRedis.this.events.add("rejected " + storage + " " + reason);
		}

		@Override
		public void onObserved(String operation, String storage, Observation observation) {
			FencedRedis.this.events.add("observed " + storage + " " + observation);
		}

		@Override
		public void onUnfenced(String operation, String storage) {
			FencedRedis.this.events.add("unfenced " + storage);
		}

	}

}
