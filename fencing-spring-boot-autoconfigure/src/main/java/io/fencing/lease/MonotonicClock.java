package io.fencing.lease;

/**
 * The clock that local deadlines are measured with. Never the wall clock: that one may be
 * set.
 */
@FunctionalInterface
public interface MonotonicClock {

	/**
	 * The clock of this JVM.
	 */
	MonotonicClock SYSTEM = System::nanoTime;

	/**
	 * The time.
	 * @return nanoseconds since an arbitrary moment; only differences mean anything
	 */
	long nanoTime();

}
