package io.fencing.fence.redis;

import java.util.AbstractMap;
import java.util.Map;
import java.util.Set;

/**
 * One key and value; something happens when the driver reads them, which it does when the
 * command is queued.
 */
final class TakingOver extends AbstractMap<byte[], byte[]> {

	private final String key;

	private final String value;

	private final Runnable event;

	private boolean happened;

	TakingOver(String key, String value, Runnable event) {
		this.key = key;
		this.value = value;
		this.event = event;
	}

	@Override
	public Set<Map.Entry<byte[], byte[]>> entrySet() {
		if (!this.happened) {
			this.happened = true;
			this.event.run();
		}
		return Set.of(Map.entry(this.key.getBytes(), this.value.getBytes()));
	}

}
