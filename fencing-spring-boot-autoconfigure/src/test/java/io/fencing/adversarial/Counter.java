package io.fencing.adversarial;

import io.fencing.FencedOperation;
import io.fencing.FencingContext;

/**
 * Adds one in the way that needs protection: reads in one transaction and writes an
 * absolute value in another.
 */
public class Counter {

	@FencedOperation(resource = "counter:#{#id}", name = "add-one")
	public Added addOne(String id, CounterStorage storage, Steps steps) {
		return add(id, storage, steps);
	}

	@FencedOperation(resource = "counter:#{#id}", name = "add-one-unrenewed", renew = false)
	public Added addOneUnrenewed(String id, CounterStorage storage, Steps steps) {
		return add(id, storage, steps);
	}

	private static Added add(String id, CounterStorage storage, Steps steps) {
		long token = FencingContext.required().getToken().value();
		long value = storage.read(id);
		steps.betweenTransactions();
		storage.write(id, value + 1, steps::insideTransaction);
		return new Added(token, value, value + 1);
	}

	/**
	 * What one call did.
	 *
	 * @param token its token
	 * @param read what it read
	 * @param written what it wrote
	 */
	public record Added(long token, long read, long written) {
	}

	/**
	 * What happens to a call on its way.
	 */
	public interface Steps {

		void betweenTransactions();

		default void insideTransaction() {
		}

	}

}
