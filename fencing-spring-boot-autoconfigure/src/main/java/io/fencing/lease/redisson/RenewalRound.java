package io.fencing.lease.redisson;

import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

import io.fencing.lease.Lease;
import io.fencing.lease.LeaseCoordinator.Renewals;
import org.jspecify.annotations.Nullable;
import org.redisson.api.BatchOptions;
import org.redisson.api.RBatch;
import org.redisson.api.RScriptAsync;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;

/**
 * Renews many leases in one go: one pipeline for each master. Those that have no answer
 * when the pipelines end, or after half of the time, are sent once more on their own, so
 * that one master or one connection that fails does not end the leases of others: in
 * Redisson a pipeline that fails for one master fails for all, and errors in a reply that
 * comes in parts leave it without an end. For one use.
 */
final class RenewalRound {

	private final List<Renewal> renewals;

	private final Duration timeout;

	/**
	 * Create a round.
	 * @param renewals what to send
	 * @param timeout the time until it will be ended
	 */
	RenewalRound(List<Renewal> renewals, Duration timeout) {
		this.renewals = renewals;
		this.timeout = timeout;
	}

	/**
	 * Send the round.
	 * @param client the client
	 * @return done when every lease has an answer or has failed
	 */
	CompletableFuture<@Nullable Void> run(RedissonClient client) {
		if (this.renewals.size() > 1) {
			sendTogether(client);
		}
		else {
			sendUnanswered(client);
		}
		return CompletableFuture.allOf(this.renewals.stream().map(Renewal::reply).toArray(CompletableFuture[]::new))
			.thenApply((ignored) -> null);
	}

	private void sendTogether(RedissonClient client) {
		// no retries of Redisson's own: what fails goes alone at once
		RBatch batch = client.createBatch(BatchOptions.defaults().retryAttempts(0));
		RScriptAsync redis = batch.getScript(StringCodec.INSTANCE);
		for (Renewal renewal : this.renewals) {
			renewal.call().addTo(redis, renewal.reply());
		}
		CompletionStage<?> ended = batch.executeAsync()
			.toCompletableFuture()
			.orTimeout(this.timeout.dividedBy(2).toNanos(), TimeUnit.NANOSECONDS);
		ended.whenComplete((result, failure) -> sendUnanswered(client));
	}

	private void sendUnanswered(RedissonClient client) {
		for (Renewal renewal : this.renewals) {
			if (!renewal.reply().isDone()) {
				renewal.call().run(client, renewal.reply());
			}
		}
	}

	/**
	 * End the round: what is answered by now counts, the rest is not sent any more.
	 * @return the answers
	 */
	Renewals end() {
		Set<Lease> renewed = new HashSet<>();
		Set<Lease> refused = new HashSet<>();
		for (Renewal renewal : this.renewals) {
			renewal.reply().cancel(false);
			Boolean ours = renewal.answer();
			if (ours != null) {
				(ours ? renewed : refused).add(renewal.lease());
			}
		}
		return new Renewals(renewed, refused);
	}

	/**
	 * The renewal of one lease.
	 *
	 * @param lease the lease
	 * @param call what to send
	 * @param reply its reply to come
	 */
	record Renewal(Lease lease, ScriptCall call, CompletableFuture<@Nullable Object> reply) {

		/**
		 * Create a renewal.
		 * @param lease the lease
		 * @param call what to send
		 */
		Renewal(Lease lease, ScriptCall call) {
			this(lease, call, new CompletableFuture<>());
		}

		private @Nullable Boolean answer() {
			return this.reply.isCompletedExceptionally() ? null : ScriptReply.flag(this.reply.getNow(null));
		}

	}

}
