package io.fencing.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.stream.Stream;

import redis.embedded.RedisServer;
import redis.embedded.core.ExecutableProvider;

/**
 * A Redis server whose clock can be set back while it runs, by libfaketime (of Debian's
 * package {@code faketime}), which stands between it and the operating system.
 */
public final class ClockedRedis implements AutoCloseable {

	private static final Path LIBRARIES = Path.of("/usr/lib");

	private static final String LIBRARY = "faketime/libfaketimeMT.so.1";

	private final int port = TestServers.freePort();

	private final Path clock;

	private final RedisServer server;

	private ClockedRedis(Path library, Path directory) throws IOException {
		this.clock = directory.resolve("clock");
		setBack(Duration.ZERO);
		Path program = directory.resolve("redis-with-clock");
		Files.writeString(program,
				"""
						#!/bin/sh
						exec env LD_PRELOAD=%s FAKETIME_TIMESTAMP_FILE=%s FAKETIME_NO_CACHE=1 FAKETIME_DONT_FAKE_MONOTONIC=1 %s "$@"
						"""
					.formatted(library, this.clock, ExecutableProvider.newJarResourceProvider().get()));
		if (!program.toFile().setExecutable(true)) {
			throw new IOException("Cannot make '" + program + "' executable");
		}
		this.server = TestServers.newRedis(this.port, program::toFile, "dir " + directory);
		this.server.start();
	}

	/**
	 * Start one, or skip the test where the library is missing.
	 * @param directory where its files go
	 * @return the running server
	 */
	public static ClockedRedis start(Path directory) {
		try (Stream<Path> found = Files.find(LIBRARIES, 3, (path, attributes) -> path.endsWith(LIBRARY))) {
			Path library = found.findFirst()
				.orElseThrow(() -> TestServers.skip("the clock of a Redis server was not set back, since libfaketime "
						+ "is missing; install Debian's package 'faketime'"));
			return new ClockedRedis(library, directory);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	public int getPort() {
		return this.port;
	}

	/**
	 * Set the clock back.
	 * @param time how far behind the true time it is from now on
	 */
	public void setBack(Duration time) {
		try {
			Files.writeString(this.clock, "-" + time.toSeconds() + "\n");
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	@Override
	public void close() {
		try {
			this.server.stop();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
