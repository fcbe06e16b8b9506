package io.fencing.testing;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import redis.embedded.core.ExecutableProvider;

import static org.awaitility.Awaitility.await;

/**
 * A Redis server that is killed with SIGKILL and started again, with the data that it
 * saved last or without any, and stopped where it is with SIGSTOP. It ends with this JVM.
 */
public final class RedisProcess implements Freezable, AutoCloseable {

	private static final Duration LIMIT = Duration.ofSeconds(20);

	private final int port;

	private final Path directory;

	private final List<String> arguments;

	private final Thread killer = new Thread(this::kill);

	private volatile Process process;

	private volatile boolean frozen;

	/**
	 * Create a server, not started.
	 * @param port its port
	 * @param directory a directory of its own
	 * @param arguments its further arguments
	 */
	public RedisProcess(int port, Path directory, String... arguments) {
		this.port = port;
		this.directory = directory;
		this.arguments = List.of(arguments);
		Runtime.getRuntime().addShutdownHook(this.killer);
	}

	/**
	 * Start it, and wait until it answers.
	 * @param more arguments for this time only
	 */
	public void start(String... more) {
		List<String> command = new ArrayList<>(List.of(Executable.FILE.getPath()));
		command.addAll(this.arguments);
		command.addAll(List.of("--port", Integer.toString(this.port), "--bind", "127.0.0.1"));
		command.addAll(List.of(more));
		launch(command);
		await().atMost(LIMIT)
			.pollDelay(Duration.ZERO)
			.pollInterval(Duration.ofMillis(10))
			.ignoreExceptions()
			.until(() -> {
				if (!this.process.isAlive()) {
					// while it was away, its port may have served as that of a client
					launch(command);
				}
				return "PONG".equals(console().send("PING"));
			});
	}

	private void launch(List<String> command) {
		try {
			this.process = new ProcessBuilder(command).directory(this.directory.toFile())
				.redirectErrorStream(true)
				.redirectOutput(this.directory.resolve("log").toFile())
				.start();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * End it as a crash does. It has ended on return.
	 */
	public void kill() {
		Process running = this.process;
		if (running != null) {
			running.destroyForcibly().onExit().join();
		}
	}

	/**
	 * Save its data, to be there at the next start, unless it is just being saved for a
	 * replica.
	 */
	public void save() {
		try {
			console().send("SAVE");
		}
		catch (IllegalStateException ex) {
			if (!ex.getMessage().contains("already in progress")) {
				throw ex;
			}
		}
	}

	/**
	 * Lose what was saved.
	 */
	public void loseData() {
		try {
			Files.deleteIfExists(this.directory.resolve("dump.rdb"));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	@Override
	public void freeze() {
		this.frozen = true;
		signal("STOP");
	}

	@Override
	public void thaw() {
		signal("CONT");
		this.frozen = false;
	}

	/**
	 * Whether it is stopped, and would let whoever asks it wait.
	 */
	boolean isFrozen() {
		return this.frozen;
	}

	private void signal(String signal) {
		try {
			new ProcessBuilder("kill", "-" + signal, Long.toString(this.process.pid())).start().onExit().join();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	public int getPort() {
		return this.port;
	}

	/**
	 * A console for it.
	 * @return the console
	 */
	public RedisConsole console() {
		return new RedisConsole(this.port);
	}

	@Override
	public void close() {
		kill();
		Runtime.getRuntime().removeShutdownHook(this.killer);
	}

	private static final class Executable {

		static final File FILE = find();

		private static File find() {
			try {
				return ExecutableProvider.newJarResourceProvider().get();
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}

	}

}
