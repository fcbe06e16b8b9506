package io.fencing.adversarial;

/**
 * Counters in some storage.
 */
interface CounterStorage {

	void create(String id);

	long read(String id);

	void write(String id, long value, Runnable insideTransaction);

	/**
	 * Run an action, once, at the last moment before the calling thread sends something
	 * to the storage. Whatever this JVM checks has been checked by then.
	 * @param action the action
	 */
	void beforeNextAccess(Runnable action);

	/**
	 * Run nothing before the next access of the calling thread.
	 */
	void open();

}
