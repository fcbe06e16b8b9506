package io.fencing.lease.redisson;

/**
 * The scripts of the coordinator; what each takes and answers is said in its file.
 * Immutable.
 *
 * @param acquire grants a lease and issues its token
 * @param renew renews a lease
 * @param release gives a lease back
 * @param lift lifts the last token
 */
record LeaseScripts(LuaScript acquire, LuaScript renew, LuaScript release, LuaScript lift) {

	/**
	 * Read them from the class path.
	 * @return the scripts
	 */
	static LeaseScripts read() {
		return new LeaseScripts(LuaScript.read("acquire.lua"), LuaScript.read("renew.lua"),
				LuaScript.read("release.lua"), LuaScript.read("lift.lua"));
	}

}
