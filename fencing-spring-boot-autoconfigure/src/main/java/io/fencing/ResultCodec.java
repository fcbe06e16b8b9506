package io.fencing;

import java.lang.reflect.Type;

import org.jspecify.annotations.Nullable;

/**
 * Writes results for the journal and reads them again. A bean of this type takes the
 * place of the one that writes JSON, to encrypt for instance. Thread-safe; failures are
 * told by any {@link RuntimeException}, whose message shows no value.
 */
public interface ResultCodec {

	/**
	 * Write a value.
	 * @param value the value
	 * @param type the declared type
	 * @return what is kept
	 */
	byte[] write(@Nullable Object value, Type type);

	/**
	 * Read a value.
	 * @param bytes what was written
	 * @param type the declared type
	 * @return the value
	 */
	@Nullable Object read(byte[] bytes, Type type);

}
