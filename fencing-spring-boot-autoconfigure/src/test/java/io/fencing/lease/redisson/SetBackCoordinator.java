package io.fencing.lease.redisson;

import java.time.Duration;

import io.fencing.lease.DelegatingCoordinator;
import io.fencing.lease.LeaseAnswer;
import io.fencing.lease.LeaseCoordinator;
import io.fencing.lease.LeaseRequest;
import org.redisson.Redisson;
import org.redisson.config.Config;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The real coordinator, whose script reads the clock of Redis as if that had been set
 * back. So a clock that is behind can be had on every machine.
 */
public final class SetBackCoordinator extends DelegatingCoordinator implements AutoCloseable {

	private static final String SECONDS = "now[1] * 1000000";

	private final RedissonClientHolder clients;

	private volatile LeaseCoordinator behind;

	private SetBackCoordinator(RedissonClientHolder clients) {
		super(coordinator(clients, LeaseScripts.read()));
		this.clients = clients;
		setBack(Duration.ZERO);
	}

	/**
	 * Create one for a server on the loopback interface.
	 */
	public static SetBackCoordinator of(int port) {
		return new SetBackCoordinator(RedissonClientHolder.owning(() -> {
			Config config = new Config();
			RedissonPatience.limit(config.useSingleServer()).setAddress("redis://127.0.0.1:" + port);
			return Redisson.create(config);
		}));
	}

	private static LeaseCoordinator coordinator(RedissonClientHolder clients, LeaseScripts scripts) {
		return new RedissonLeaseCoordinator(clients, RedissonCoordinatorSettings.defaults(), scripts);
	}

	/**
	 * Set the clock back.
	 * @param time how far behind the true time it is from now on
	 */
	public void setBack(Duration time) {
		LeaseScripts real = LeaseScripts.read();
		assertThat(real.acquire().text()).containsOnlyOnce(SECONDS);
		LuaScript acquire = LuaScript
			.of(real.acquire().text().replace(SECONDS, SECONDS + " - " + time.toSeconds() + " * 1000000"));
		this.behind = coordinator(this.clients,
				new LeaseScripts(acquire, real.renew(), real.release(), real.lift(), real.lineUp()));
	}

	@Override
	public LeaseAnswer tryAcquire(LeaseRequest request, Duration timeout) {
		return this.behind.tryAcquire(request, timeout);
	}

	@Override
	public void close() {
		this.clients.close();
	}

}
