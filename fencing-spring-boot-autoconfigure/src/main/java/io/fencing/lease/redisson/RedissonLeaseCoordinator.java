package io.fencing.lease.redisson;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Set;

import io.fencing.CoordinatorUnavailableException;
import io.fencing.FencedResource;
import io.fencing.lease.Lease;
import io.fencing.lease.LeaseAnswer;
import io.fencing.lease.LeaseCoordinator;
import io.fencing.lease.LeaseRequest;
import org.redisson.client.codec.StringCodec;

/**
 * The coordinator on Redis 6.2 and later, standalone, replicated or cluster: Lua scripts
 * of our own, sent through Redisson to the master of a resource's slot. What is kept
 * there is said in {@link LeaseKeys}. Thread-safe.
 *
 * <p>
 * A token is the greater of the last one plus one and the clock of Redis in microseconds,
 * and is issued by the script that grants the lease. It keeps rising when Redis loses its
 * data, and needs no counter that lives for ever.
 *
 * <p>
 * Every call ends within its time-out, whatever Redisson's own time-outs and retries are;
 * what was not sent by then is not sent later. Waiting for a grant can be interrupted;
 * renewing, releasing and lifting go on for their time and keep the interrupt flag.
 */
public final class RedissonLeaseCoordinator implements LeaseCoordinator {

	private final RedissonClientHolder clients;

	private final LeaseKeys keys;

	private final LeaseScripts scripts;

	private final String tokenRetention;

	/**
	 * Create a coordinator.
	 * @param clients the client, connected on first use
	 * @param settings the settings
	 */
	public RedissonLeaseCoordinator(RedissonClientHolder clients, RedissonCoordinatorSettings settings) {
		this(clients, settings, LeaseScripts.read());
	}

	RedissonLeaseCoordinator(RedissonClientHolder clients, RedissonCoordinatorSettings settings, LeaseScripts scripts) {
		this.clients = clients;
		this.keys = new LeaseKeys(settings.keyPrefix());
		this.scripts = scripts;
		this.tokenRetention = millis(settings.tokenRetention());
	}

	@Override
	public LeaseAnswer tryAcquire(LeaseRequest request, Duration timeout) {
		FencedResource resource = request.resource();
		ScriptCall call = new ScriptCall(this.scripts.acquire(),
				List.of(this.keys.lease(resource), this.keys.token(resource)),
				List.of(request.owner(), millis(request.leaseTime()), this.tokenRetention));
		TimedAnswer answers = new TimedAnswer(request.operation(), resource, timeout, true);
		return answers.understood(ScriptReply.answer(answers.get(this.clients, call::run)));
	}

	@Override
	public Renewals renew(Collection<Lease> leases, Duration timeout) {
		if (leases.isEmpty()) {
			return new Renewals(Set.of(), Set.of());
		}
		RenewalRound round = new RenewalRound(leases.stream().map(this::renewal).toList(), timeout);
		CoordinatorUnavailableException failure = null;
		try {
			new TimedAnswer(null, null, timeout, false).get(this.clients, round::run);
		}
		catch (CoordinatorUnavailableException ex) {
			failure = ex;
		}
		Renewals answers = round.end();
		if (answers.renewed().isEmpty() && answers.refused().isEmpty()) {
			throw (failure != null) ? failure
					: new CoordinatorUnavailableException(null, null, "the answer of Redis was not understood", null);
		}
		return answers;
	}

	private RenewalRound.Renewal renewal(Lease lease) {
		ScriptCall call = new ScriptCall(this.scripts.renew(), List.of(this.keys.lease(lease.getResource())),
				List.of(lease.getToken().owner(), millis(lease.getLeaseTime())));
		return new RenewalRound.Renewal(lease, call);
	}

	@Override
	public boolean release(Lease lease, Duration keepFor, Duration timeout) {
		return release(lease.getOperation(), lease.getResource(), lease.getToken().owner(), keepFor, timeout);
	}

	@Override
	public void abandon(LeaseRequest request, Duration timeout) {
		release(request.operation(), request.resource(), request.owner(), Duration.ZERO, timeout);
	}

	private boolean release(String operation, FencedResource resource, String owner, Duration keepFor,
			Duration timeout) {
		TimedAnswer answers = new TimedAnswer(operation, resource, timeout, false);
		return answers.understood(ScriptReply.flag(answers.get(this.clients, (client) -> {
			// the name as subscribers use it, mapped by the client where it maps names
			String channel = client.getTopic(this.keys.released(resource), StringCodec.INSTANCE)
				.getChannelNames()
				.get(0);
			return new ScriptCall(this.scripts.release(), List.of(this.keys.lease(resource)),
					List.of(owner, millis(keepFor), channel))
				.run(client);
		})));
	}

	@Override
	public void lift(FencedResource resource, long token, Duration timeout) {
		ScriptCall call = new ScriptCall(this.scripts.lift(), List.of(this.keys.token(resource)),
				List.of(Long.toString(token), this.tokenRetention));
		TimedAnswer answers = new TimedAnswer(null, resource, timeout, false);
		answers.understood(ScriptReply.flag(answers.get(this.clients, call::run)));
	}

	@Override
	public ReleaseSubscription subscribe(FencedResource resource) {
		return new TopicSubscription(this.clients.get(), this.keys.released(resource));
	}

	private static String millis(Duration duration) {
		return Long.toString(duration.toMillis());
	}

}
