package io.fencing.fence.redis;

import io.lettuce.core.cluster.SlotHash;

/**
 * A hash tag for each slot of a cluster: of the numbers from zero on, in base 36, the
 * first whose CRC16 falls into the slot. The table is part of the layout of keys and
 * never changes.
 */
final class SlotTags {

	private SlotTags() {
	}

	/**
	 * The tag of a slot.
	 * @param slot the slot, from 0 to 16383
	 * @return the tag
	 */
	static String of(int slot) {
		return Table.TAGS[slot];
	}

	/**
	 * Filled when the first cluster needs it.
	 */
	private static final class Table {

		static final String[] TAGS = fill();

		private static String[] fill() {
			String[] tags = new String[SlotHash.SLOT_COUNT];
			int missing = tags.length;
			for (int number = 0; missing > 0; number++) {
				String tag = Integer.toString(number, Character.MAX_RADIX);
				int slot = SlotHash.getSlot(tag);
				if (tags[slot] == null) {
					tags[slot] = tag;
					missing--;
				}
			}
			return tags;
		}

	}

}
