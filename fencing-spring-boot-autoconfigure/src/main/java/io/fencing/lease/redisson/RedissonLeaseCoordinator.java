package io.fencing.lease.redisson;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

import io.fencing.CoordinatorUnavailableException;
import io.fencing.FencedResource;
import io.fencing.lease.Lease;
import io.fencing.lease.LeaseAnswer;
import io.fencing.lease.LeaseCoordinator;
import io.fencing.lease.LeaseRequest;
import org.jspecify.annotations.Nullable;
import org.redisson.client.codec.StringCodec;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

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
 *
 * <p>
 * In order of arrival, where that is wanted: those who wait stand in a line kept in
 * Redis. A place belongs to the instance of its owner, which gives its places to its own
 * threads in their order. An instance that is not heard of for five seconds loses its
 * places.
 */
public final class RedissonLeaseCoordinator implements LeaseCoordinator {

	private static final Logger logger = LoggerFactory.getLogger(RedissonLeaseCoordinator.class);

	// some seconds without Redis cost nobody a place; those who wait look every second
	private static final String SILENCE = millis(Duration.ofSeconds(5));

	private final RedissonClientHolder clients;

	private final LeaseKeys keys;

	private final LeaseScripts scripts;

	private final String tokenRetention;

	private final boolean fair;

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
		this.fair = settings.fair();
	}

	@Override
	public LeaseAnswer tryAcquire(LeaseRequest request, Duration timeout) {
		FencedResource resource = request.resource();
		ScriptCall call = new ScriptCall(this.scripts.acquire(),
				withLine(resource, this.keys.lease(resource), this.keys.token(resource)),
				withSilence(request.owner(), millis(request.leaseTime()), this.tokenRetention));
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
			return new ScriptCall(this.scripts.release(), withLine(resource, this.keys.lease(resource)),
					withSilence(owner, millis(keepFor), channel))
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
	public @Nullable CompletableFuture<?> lineUp(LeaseRequest request) {
		if (!this.fair) {
			return null;
		}
		ScriptCall call = new ScriptCall(this.scripts.lineUp(), withLine(request.resource()),
				withSilence(request.owner()));
		return this.clients.get().thenCompose(call::run).whenComplete((ignored, failure) -> {
			if (failure != null) {
				logger.debug("A place in the line could not be kept", MaskedFailure.of(failure));
			}
		});
	}

	@Override
	public ReleaseSubscription subscribe(LeaseRequest request) {
		return new TopicSubscription(this.clients.get(), this.keys.released(request.resource()),
				request.owner().split("-", 2)[0]);
	}

	private List<String> withLine(FencedResource resource, String... keys) {
		List<String> all = new ArrayList<>(List.of(keys));
		if (this.fair) {
			all.add(this.keys.line(resource));
			all.add(this.keys.heard(resource));
		}
		return all;
	}

	private List<String> withSilence(String... arguments) {
		List<String> all = new ArrayList<>(List.of(arguments));
		if (this.fair) {
			all.add(SILENCE);
		}
		return all;
	}

	private static String millis(Duration duration) {
		return Long.toString(duration.toMillis());
	}

}
