package io.fencing.lease.redisson;

import java.time.Duration;

import org.redisson.config.BaseConfig;
import org.redisson.config.ConstantDelay;

/**
 * How long Redisson tries by itself where the client is ours: one time more and not for
 * long, so that whoever waits is told why Redis refuses (it loads its data, say) and not
 * only that no answer came in time. By default Redisson would go on for eight seconds,
 * and for fifty where it connects; those who acquire, renew and release try again anyway.
 */
public final class RedissonPatience {

	private static final int RETRIES = 1;

	private static final Duration DELAY = Duration.ofMillis(200);

	private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(2);

	private RedissonPatience() {
	}

	/**
	 * Limit it.
	 * @param <T> the type of the configuration
	 * @param servers the configuration of the servers
	 * @return the same configuration
	 */
	public static <T extends BaseConfig<T>> T limit(T servers) {
		return servers.setRetryAttempts(RETRIES)
			.setRetryDelay(new ConstantDelay(DELAY))
			.setConnectTimeout(Math.toIntExact(CONNECT_TIMEOUT.toMillis()));
	}

}
