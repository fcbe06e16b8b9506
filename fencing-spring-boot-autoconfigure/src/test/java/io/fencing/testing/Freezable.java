package io.fencing.testing;

/**
 * A worker that can be stopped where it is, and go on later as if nothing had happened.
 */
public interface Freezable {

	/**
	 * Stop it.
	 */
	void freeze();

	/**
	 * Let it go on.
	 */
	void thaw();

}
