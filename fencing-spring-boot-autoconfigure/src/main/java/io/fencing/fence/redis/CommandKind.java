package io.fencing.fence.redis;

import java.util.HashMap;
import java.util.Map;

import org.springframework.util.StringUtils;

/**
 * What a command does to data, by its name. One that is not known here is a write.
 */
enum CommandKind {

	/**
	 * Touches no data: passes.
	 */
	CONNECTION(
			"PING ECHO AUTH HELLO CLIENT QUIT RESET TIME INFO COMMAND CONFIG CLUSTER ROLE LASTSAVE SLOWLOG LATENCY ACL "
					+ "READONLY READWRITE ASKING SELECT SCRIPT SAVE BGSAVE BGREWRITEAOF UNWATCH"),

	/**
	 * Only reads.
	 */
	READ("BITCOUNT BITFIELD_RO BITPOS DBSIZE DUMP EXISTS EXPIRETIME GEODIST GEOHASH GEOPOS GEORADIUS_RO "
			+ "GEORADIUSBYMEMBER_RO GEOSEARCH GET GETBIT GETRANGE HEXISTS HEXPIRETIME HGET HGETALL HKEYS HLEN HMGET "
			+ "HPEXPIRETIME HPTTL HRANDFIELD HSCAN HSTRLEN HTTL HVALS KEYS LCS LINDEX LLEN LOLWUT LPOS LRANGE MEMORY "
			+ "MGET OBJECT PEXPIRETIME PTTL RANDOMKEY SCAN SCARD SDIFF SINTER SINTERCARD SISMEMBER SMEMBERS "
			+ "SMISMEMBER SORT_RO SRANDMEMBER SSCAN STRALGO STRLEN SUBSTR SUNION TTL TYPE XINFO XLEN XPENDING XRANGE "
			+ "XREVRANGE ZCARD ZCOUNT ZDIFF ZINTER ZINTERCARD ZLEXCOUNT ZMSCORE ZRANDMEMBER ZRANGE ZRANGEBYLEX "
			+ "ZRANGEBYSCORE ZRANK ZREVRANGE ZREVRANGEBYLEX ZREVRANGEBYSCORE ZREVRANK ZSCAN ZSCORE ZUNION"),

	/**
	 * May write.
	 */
	WRITE(""),

	/**
	 * Begins a transaction, or what it depends on.
	 */
	BEGIN("MULTI WATCH"),

	/**
	 * Ends a transaction. What is in it was checked where it was queued, or is checked
	 * when it runs.
	 */
	END("EXEC DISCARD"),

	/**
	 * A user's script.
	 */
	SCRIPT("EVAL EVAL_RO EVALSHA EVALSHA_RO"),

	/**
	 * Cannot be fenced.
	 */
	REFUSED(String.join(" ", Refusals.REMEDIES.keySet()));

	private static final Map<String, CommandKind> KINDS = new HashMap<>();

	static {
		for (CommandKind kind : values()) {
			for (String name : StringUtils.delimitedListToStringArray(kind.names, " ")) {
				KINDS.put(name, kind);
			}
		}
	}

	private final String names;

	CommandKind(String names) {
		this.names = names;
	}

	/**
	 * The kind of a command.
	 * @param name its name in upper case
	 * @return its kind
	 */
	static CommandKind of(String name) {
		return KINDS.getOrDefault(name, WRITE);
	}

}
