package io.fencing.fence;

import java.util.Collection;

/**
 * Knows the fences of one kind of storage, once every bean is there. Thread-safe.
 */
@FunctionalInterface
public interface FenceSource {

	/**
	 * All of them.
	 * @return the fences, always the same
	 */
	Collection<? extends Fence> getFences();

}
