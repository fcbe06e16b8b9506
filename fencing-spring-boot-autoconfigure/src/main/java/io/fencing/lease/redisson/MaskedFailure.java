package io.fencing.lease.redisson;

import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * Stands for a failure of the client whose message, or that of a cause, shows the key of
 * a resource: whoever knows how resources are named could find the name that belongs to
 * it. It prints as that failure does, without the key.
 */
final class MaskedFailure extends RuntimeException {

	// as LeaseKeys writes it
	private static final Pattern KEY = Pattern.compile("\\{[0-9a-f]{64}}");

	private static final int MAX_CAUSES = 20;

	private final String type;

	private MaskedFailure(Throwable failure, @Nullable Throwable cause) {
		super(mask(failure), cause, false, true);
		this.type = failure.getClass().getName();
		setStackTrace(failure.getStackTrace());
	}

	/**
	 * Mask a failure.
	 * @param failure what the client threw
	 * @return the same where no message shows a key
	 */
	static Throwable of(Throwable failure) {
		return isKeyShown(failure) ? copy(failure, 0) : failure;
	}

	private static boolean isKeyShown(Throwable failure) {
		Throwable next = failure;
		for (int i = 0; next != null && i < MAX_CAUSES; i++) {
			if (KEY.matcher(String.valueOf(next.getMessage())).find()) {
				return true;
			}
			next = next.getCause();
		}
		return false;
	}

	private static MaskedFailure copy(Throwable failure, int depth) {
		Throwable cause = failure.getCause();
		return new MaskedFailure(failure, (cause != null && depth < MAX_CAUSES) ? copy(cause, depth + 1) : null);
	}

	private static String mask(Throwable failure) {
		return KEY.matcher(String.valueOf(failure.getMessage())).replaceAll("{...}");
	}

	@Override
	public String toString() {
		return this.type + ": " + getMessage();
	}

}
