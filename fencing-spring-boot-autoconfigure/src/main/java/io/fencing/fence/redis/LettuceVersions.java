package io.fencing.fence.redis;

import io.lettuce.core.codec.RedisCodec;

/**
 * What a connection has in some versions of Lettuce only, so that the same class is a
 * connection in all of them.
 *
 * @param <K> the type of keys
 * @param <V> the type of values
 */
interface LettuceVersions<K, V> {

	/**
	 * What encodes keys and values; in Lettuce 7.
	 * @return the codec
	 */
	RedisCodec<K, V> getCodec();

	/**
	 * Forget what was sent; in Lettuce 6, where it is deprecated as unsafe.
	 */
	void reset();

}
