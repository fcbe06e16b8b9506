package io.fencing.fence;

/**
 * How far fencing goes ({@code fencing.mode}).
 */
public enum FencingMode {

	/**
	 * Refuse what the rules refuse.
	 */
	ENFORCE,

	/**
	 * For adoption: never wait and never fail, count what would have been refused.
	 */
	OBSERVE,

	/**
	 * Pass everything through; Redis is not contacted.
	 */
	OFF

}
