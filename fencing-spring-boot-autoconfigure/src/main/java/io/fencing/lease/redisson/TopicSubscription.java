package io.fencing.lease.redisson;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

import io.fencing.lease.LeaseCoordinator.ReleaseSubscription;
import org.redisson.api.RTopic;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Listens on the channel of one resource. Where that cannot be done (no connection left,
 * no permission) it hears nothing. Thread-safe.
 */
final class TopicSubscription implements ReleaseSubscription {

	private static final Logger logger = LoggerFactory.getLogger(TopicSubscription.class);

	private final Semaphore heard = new Semaphore(0);

	private final String node;

	private final CompletionStage<Runnable> listening;

	/**
	 * Start to listen, without waiting for it.
	 * @param client the client to come
	 * @param channel the channel
	 * @param node the instance that listens; it hears of what is its or anybody's turn
	 */
	TopicSubscription(CompletableFuture<RedissonClient> client, String channel, String node) {
		this.node = node;
		this.listening = client.thenCompose((redisson) -> listen(redisson.getTopic(channel, StringCodec.INSTANCE)));
		this.listening.whenComplete((stop, failure) -> {
			if (failure != null) {
				logger.debug("Releases cannot be listened for, so they are polled for", MaskedFailure.of(failure));
			}
			else {
				// a release before this moment was not heard: look once more
				this.heard.release();
			}
		});
	}

	private CompletionStage<Runnable> listen(RTopic topic) {
		return topic.addListenerAsync(String.class, (channel, message) -> hear(message))
			.thenApply((id) -> () -> stop(topic, id));
	}

	private void hear(String message) {
		if (message.isEmpty() || message.equals(this.node)) {
			this.heard.release();
		}
	}

	private static void stop(RTopic topic, Integer listener) {
		topic.removeListenerAsync(listener).whenComplete((ignored, failure) -> {
			if (failure != null) {
				logger.debug("A subscription could not be ended", MaskedFailure.of(failure));
			}
		});
	}

	@Override
	public boolean await(Duration timeout) throws InterruptedException {
		boolean released = this.heard.tryAcquire(timeout.toNanos(), TimeUnit.NANOSECONDS);
		// one look at the lease answers all messages before it
		this.heard.drainPermits();
		return released;
	}

	@Override
	public void close() {
		this.listening.thenAccept(Runnable::run);
	}

}
