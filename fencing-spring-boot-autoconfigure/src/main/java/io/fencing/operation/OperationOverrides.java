package io.fencing.operation;

import java.time.Duration;

import io.fencing.OnBusy;
import io.fencing.fence.FencingMode;
import org.jspecify.annotations.Nullable;

/**
 * What application.yml says about one operation ({@code fencing.operations.<name>.*});
 * {@code null} leaves a value to the annotation and the defaults. Immutable.
 *
 * @param mode how far fencing goes
 * @param leaseTime how long one grant or renewal lasts
 * @param waitTime how long to wait for the lease
 * @param maxHold the longest time that the lease is kept
 * @param minHold the shortest time that the resource stays taken
 * @param renew whether the lease is renewed
 * @param onBusy what to do when the lease is not to be had
 * @param programmatic whether no annotated method has the name
 */
public record OperationOverrides(@Nullable FencingMode mode, @Nullable Duration leaseTime, @Nullable Duration waitTime,
		@Nullable Duration maxHold, @Nullable Duration minHold, @Nullable Boolean renew, @Nullable OnBusy onBusy,
		boolean programmatic) {

	/**
	 * Says nothing.
	 */
	static final OperationOverrides NONE = new OperationOverrides(null, null, null, null, null, null, null, false);

	/**
	 * The settings of a call that adds what goes best with it.
	 * @return settings that go together unless two of these values do not
	 */
	OperationSettings alone() {
		Duration lease = (this.leaseTime != null) ? this.leaseTime : OperationSettings.SHORTEST_LEASE;
		Duration min = (this.minHold != null) ? this.minHold : Duration.ZERO;
		Duration max = (lease.compareTo(min) > 0) ? lease : min;
		return new OperationSettings(FencingMode.ENFORCE, lease,
				(this.waitTime != null) ? this.waitTime : Duration.ZERO, Duration.ZERO,
				(this.maxHold != null) ? this.maxHold : max, min, true, OnBusy.FAIL);
	}

}
