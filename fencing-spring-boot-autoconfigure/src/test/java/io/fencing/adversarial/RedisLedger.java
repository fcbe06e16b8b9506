package io.fencing.adversarial;

import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

/**
 * Accounts in Redis, each a list of its entries.
 */
final class RedisLedger implements Ledger {

	/**
	 * What the key of each account starts with.
	 */
	static final String PREFIX = "ledger:";

	private final CommandGate gate = new CommandGate();

	private final StringRedisTemplate template;

	RedisLedger(LettuceConnectionFactory factory) {
		factory.getRequiredNativeClient().addListener(this.gate);
		this.template = new StringRedisTemplate(factory);
	}

	/**
	 * By way of a factory that is no bean, so that nothing has decorated it.
	 * @param bean has the settings
	 * @return the ledger
	 */
	static RedisLedger undecorated(LettuceConnectionFactory bean) {
		RedisConfiguration configuration = (bean.getClusterConfiguration() != null) ? bean.getClusterConfiguration()
				: bean.getSentinelConfiguration();
		LettuceConnectionFactory factory = new LettuceConnectionFactory(configuration, bean.getClientConfiguration());
		factory.afterPropertiesSet();
		factory.start();
		return new RedisLedger(factory);
	}

	@Override
	public LedgerEntry last(String account) {
		String text = this.template.opsForList().index(PREFIX + account, -1);
		return (text != null) ? LedgerEntry.parse(text) : LedgerEntry.NONE;
	}

	@Override
	public void append(String account, LedgerEntry entry) {
		this.template.opsForList().rightPush(PREFIX + account, entry.toText());
	}

	@Override
	public void beforeNextAccess(Runnable action) {
		this.gate.beforeNextCommand(action);
	}

	@Override
	public void open() {
		this.gate.open();
	}

}
