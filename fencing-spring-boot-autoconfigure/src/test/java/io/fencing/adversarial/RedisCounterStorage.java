package io.fencing.adversarial;

import java.util.Objects;

import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

/**
 * Counters in Redis by way of a given connection factory.
 */
final class RedisCounterStorage implements CounterStorage, AutoCloseable {

	private final CommandGate gate = new CommandGate();

	private final LettuceConnectionFactory factory;

	private final StringRedisTemplate template;

	RedisCounterStorage(LettuceConnectionFactory factory) {
		factory.getRequiredNativeClient().addListener(this.gate);
		this.factory = factory;
		this.template = new StringRedisTemplate(factory);
	}

	/**
	 * By way of a factory that is no bean, so that nothing has decorated it.
	 * @param configuration where Redis is
	 * @return the storage
	 */
	static RedisCounterStorage undecorated(RedisConfiguration configuration) {
		LettuceConnectionFactory factory = new LettuceConnectionFactory(configuration);
		factory.afterPropertiesSet();
		factory.start();
		return new RedisCounterStorage(factory);
	}

	@Override
	public void create(String id) {
		this.template.opsForValue().set(id, "0");
	}

	@Override
	public long read(String id) {
		return Long.parseLong(Objects.requireNonNull(this.template.opsForValue().get(id)));
	}

	@Override
	public void write(String id, long value, Runnable insideTransaction) {
		insideTransaction.run();
		this.template.opsForValue().set(id, Long.toString(value));
	}

	@Override
	public void beforeNextAccess(Runnable action) {
		this.gate.beforeNextCommand(action);
	}

	@Override
	public void open() {
		this.gate.open();
	}

	/**
	 * Delete all guards.
	 * @return how many there were
	 */
	long deleteGuards() {
		return this.template.delete(this.template.keys("fencing:1:*:guard"));
	}

	@Override
	public void close() {
		this.factory.destroy();
	}

}
