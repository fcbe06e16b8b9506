package io.fencing.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import org.springframework.util.FileSystemUtils;

/**
 * Servers whose masters may be killed at any time: replicas take over within two seconds
 * or so. They are on free loopback ports and in a directory of their own.
 */
public abstract class MortalRedis implements AutoCloseable {

	private final List<RedisProcess> servers = new ArrayList<>();

	private final Path directory;

	/**
	 * Create it, without any server.
	 */
	MortalRedis() {
		try {
			this.directory = Files.createTempDirectory("mortal-redis");
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * A server and its replica, watched by a Sentinel.
	 * @return the running servers
	 */
	public static MortalRedis sentinel() {
		return new MortalSentinelRedis();
	}

	/**
	 * Three masters with a replica each.
	 * @return the running servers
	 */
	public static MortalRedis cluster() {
		return new MortalRedisCluster();
	}

	/**
	 * The properties that tell an application of these servers.
	 */
	public abstract List<String> getProperties();

	/**
	 * The master that a key is on now.
	 * @param key the key
	 * @return the running server, {@code null} if there is none at the moment
	 */
	public abstract RedisProcess findMaster(String key);

	/**
	 * Start a server again after another has taken its place.
	 * @param server the server, which is killed
	 * @param master the other server
	 */
	public abstract void startAsReplica(RedisProcess server, RedisProcess master);

	/**
	 * Let a server that takes itself for a master know that another has taken its place.
	 * @param server the server, which runs
	 * @param master the other server
	 */
	public abstract void demote(RedisProcess server, RedisProcess master);

	/**
	 * Whether every master and every replica works.
	 */
	public abstract boolean isWhole();

	final RedisProcess add(int port, String... arguments) {
		RedisProcess server = new RedisProcess(port, directoryOf(port), arguments);
		this.servers.add(server);
		return server;
	}

	final Path directoryOf(int port) {
		try {
			return Files.createDirectories(this.directory.resolve(Integer.toString(port)));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	final List<RedisProcess> getServers() {
		return this.servers;
	}

	/**
	 * Whether a server answers a command without an error.
	 * @param server the server
	 * @param command the command
	 * @return whether it does
	 */
	public static boolean accepts(RedisProcess server, String command) {
		if (server.isFrozen()) {
			return false;
		}
		try {
			server.console().send(command);
			return true;
		}
		catch (UncheckedIOException | IllegalStateException ex) {
			return false;
		}
	}

	@Override
	public void close() {
		this.servers.forEach(RedisProcess::close);
		try {
			FileSystemUtils.deleteRecursively(this.directory);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
