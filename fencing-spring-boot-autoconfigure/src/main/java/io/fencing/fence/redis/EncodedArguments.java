package io.fencing.fence.redis;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;

import io.lettuce.core.protocol.CommandArgs;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import org.jspecify.annotations.Nullable;

/**
 * The arguments of a command as they would be sent. Lettuce's are encoded when they are
 * asked for, since it shows them in no other way. Not thread-safe.
 */
final class EncodedArguments {

	private final int count;

	private final Supplier<List<byte[]>> source;

	private @Nullable List<byte[]> encoded;

	private EncodedArguments(int count, Supplier<List<byte[]>> source) {
		this.count = count;
		this.source = source;
	}

	/**
	 * A view of what is bytes already.
	 * @param args the arguments
	 * @return the view
	 */
	static EncodedArguments of(List<byte[]> args) {
		return new EncodedArguments(args.size(), () -> args);
	}

	/**
	 * A view of Lettuce's arguments.
	 * @param args the arguments, {@code null} for none
	 * @return the view
	 */
	static EncodedArguments of(@Nullable CommandArgs<?, ?> args) {
		return (args != null) ? new EncodedArguments(args.count(), () -> encode(args)) : of(List.of());
	}

	/**
	 * How many there are.
	 * @return the number
	 */
	int count() {
		return this.count;
	}

	/**
	 * The arguments as bytes.
	 * @return each argument
	 */
	List<byte[]> toBytes() {
		List<byte[]> encoded = this.encoded;
		if (encoded == null) {
			encoded = this.source.get();
			this.encoded = encoded;
		}
		return encoded;
	}

	/**
	 * The arguments as words in upper case.
	 * @return each argument
	 */
	List<String> toUpperCase() {
		return toBytes().stream()
			.map((bytes) -> new String(bytes, StandardCharsets.ISO_8859_1).toUpperCase(Locale.ROOT))
			.toList();
	}

	private static List<byte[]> encode(CommandArgs<?, ?> args) {
		ByteBuf buffer = Unpooled.buffer();
		try {
			args.encode(buffer);
			List<byte[]> encoded = new ArrayList<>(args.count());
			while (buffer.isReadable()) {
				// each is $length, line end, bytes, line end
				byte[] bytes = new byte[readLength(buffer)];
				buffer.readBytes(bytes);
				buffer.skipBytes(2);
				encoded.add(bytes);
			}
			return encoded;
		}
		finally {
			buffer.release();
		}
	}

	private static int readLength(ByteBuf buffer) {
		buffer.skipBytes(1);
		int length = 0;
		for (byte digit = buffer.readByte(); digit != '\r'; digit = buffer.readByte()) {
			length = 10 * length + digit - '0';
		}
		buffer.skipBytes(1);
		return length;
	}

}
