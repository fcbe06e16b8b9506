package io.fencing.lease.redisson;

/**
 * The scripts of the coordinator; what each takes and answers is said in its file.
 * Immutable.
 *
 * @param acquire grants a lease and issues its token
 * @param renew renews a lease
 * @param release gives a lease back
 * @param lift lifts the last token
 * @param lineUp takes a place in the line of those who wait
 */
record LeaseScripts(LuaScript acquire, LuaScript renew, LuaScript release, LuaScript lift, LuaScript lineUp) {

	private static final String LINE = "line.lua";

	/**
	 * Read them from the class path.
	 * @return the scripts
	 */
	static LeaseScripts read() {
		return new LeaseScripts(LuaScript.read(LINE, "acquire.lua"), LuaScript.read("renew.lua"),
				LuaScript.read(LINE, "release.lua"), LuaScript.read("lift.lua"), LuaScript.read(LINE, "line-up.lua"));
	}

}
