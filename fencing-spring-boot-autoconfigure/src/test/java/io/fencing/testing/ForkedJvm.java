package io.fencing.testing;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A second JVM with the class path of this one. Both sides exchange messages of one line,
 * a word and what follows it; the child's side is {@link ParentJvm}. Whatever else the
 * child prints is kept and shown when something fails. Thread-safe.
 *
 * <p>
 * No wait is unbounded, and no child survives: it is killed on {@link #close()}, and ends
 * by itself when its parent does.
 */
public final class ForkedJvm implements Freezable, AutoCloseable {

	/**
	 * What a line of the child's output begins with when it is a message.
	 */
	static final String MESSAGE = "@parent ";

	private static final Duration LIMIT = Duration.ofSeconds(60);

	private final String name;

	private final Process process;

	private final PrintWriter input;

	private final Thread killer;

	private final List<String> messages = new ArrayList<>();

	private final List<String> output = new ArrayList<>();

	private boolean ended;

	private ForkedJvm(String name, Process process) {
		this.name = name;
		this.process = process;
		this.input = new PrintWriter(process.outputWriter(StandardCharsets.UTF_8), true);
		this.killer = new Thread(process::destroyForcibly);
		Runtime.getRuntime().addShutdownHook(this.killer);
		Thread reader = new Thread(this::read, "output-of-" + name);
		reader.setDaemon(true);
		reader.start();
	}

	/**
	 * Start one.
	 * @param name what to call it in messages
	 * @param main the class with the main method
	 * @param arguments its arguments
	 * @return the running JVM
	 */
	public static ForkedJvm start(String name, Class<?> main, String... arguments) {
		return start(name, List.of("-cp", System.getProperty("java.class.path")), main, arguments);
	}

	/**
	 * Start one.
	 * @param name what to call it in messages
	 * @param options its own options, with its class path
	 * @param main the class with the main method
	 * @param arguments its arguments
	 * @return the running JVM
	 */
	public static ForkedJvm start(String name, List<String> options, Class<?> main, String... arguments) {
		List<String> command = new ArrayList<>();
		command.add(System.getProperty("java.home") + File.separator + "bin" + File.separator + "java");
		command.addAll(List.of("-XX:TieredStopAtLevel=1", "-Xshare:auto"));
		command.addAll(options);
		command.add(main.getName());
		command.addAll(List.of(arguments));
		try {
			return new ForkedJvm(name, new ProcessBuilder(command).redirectErrorStream(true).start());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private void read() {
		try (BufferedReader reader = new BufferedReader(
				new InputStreamReader(this.process.getInputStream(), StandardCharsets.UTF_8))) {
			for (String line = reader.readLine(); line != null; line = reader.readLine()) {
				accept(line);
			}
		}
		catch (IOException ex) {
			accept(ex.toString());
		}
		finally {
			end();
		}
	}

	private synchronized void accept(String line) {
		if (line.startsWith(MESSAGE)) {
			this.messages.add(line.substring(MESSAGE.length()));
			notifyAll();
		}
		this.output.add(line);
	}

	private synchronized void end() {
		this.ended = true;
		notifyAll();
	}

	/**
	 * Send a message.
	 * @param message the message, one line
	 */
	public void send(String message) {
		this.input.println(message);
	}

	/**
	 * Wait for a message. Those of other kinds stay for whoever waits for them.
	 * @param word what it begins with
	 * @return what follows the word
	 */
	public String await(String word) {
		return await(word, LIMIT);
	}

	/**
	 * Wait for a message. Those of other kinds stay for whoever waits for them.
	 * @param word what it begins with
	 * @param limit how long to wait at most
	 * @return what follows the word
	 */
	public synchronized String await(String word, Duration limit) {
		long deadline = System.nanoTime() + limit.toNanos();
		while (true) {
			String message = poll(word);
			if (message != null) {
				return message;
			}
			long remaining = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
			if (this.ended || remaining <= 0) {
				throw new AssertionError("No '" + word + "' from " + this.name
						+ (this.ended ? ", which has ended:\n" : " within " + limit + ":\n") + getOutput());
			}
			try {
				wait(remaining);
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
				throw new IllegalStateException(ex);
			}
		}
	}

	private String poll(String word) {
		for (Iterator<String> iterator = this.messages.iterator(); iterator.hasNext();) {
			String message = iterator.next();
			if (message.equals(word) || message.startsWith(word + " ")) {
				iterator.remove();
				return message.substring(word.length()).strip();
			}
		}
		return null;
	}

	/**
	 * Take all messages of a kind that have come so far.
	 * @param word what they begin with
	 * @return what follows the word in each
	 */
	public synchronized List<String> take(String word) {
		List<String> taken = new ArrayList<>();
		for (String message = poll(word); message != null; message = poll(word)) {
			taken.add(message);
		}
		return taken;
	}

	/**
	 * Everything that it has printed, each line with its name in front.
	 * @return the lines
	 */
	public synchronized String getOutput() {
		StringBuilder text = new StringBuilder();
		this.output.forEach((line) -> text.append(this.name).append(" | ").append(line).append('\n'));
		return text.toString();
	}

	public String getName() {
		return this.name;
	}

	public boolean isAlive() {
		return this.process.isAlive();
	}

	/**
	 * Stop all of its threads where they are, with SIGSTOP. It has stopped on return.
	 */
	@Override
	public void freeze() {
		signal("STOP");
		long deadline = System.nanoTime() + LIMIT.toNanos();
		while (!isFrozen()) {
			if (System.nanoTime() - deadline > 0) {
				throw new AssertionError(this.name + " cannot be frozen:\n" + getOutput());
			}
			LockSupport.parkNanos(1_000_000);
		}
	}

	/**
	 * Let it go on, with SIGCONT.
	 */
	@Override
	public void thaw() {
		signal("CONT");
	}

	private boolean isFrozen() {
		return run("ps", "-o", "stat=", "-p", Long.toString(this.process.pid())).startsWith("T");
	}

	private void signal(String signal) {
		run("kill", "-" + signal, Long.toString(this.process.pid()));
	}

	private static String run(String... command) {
		try {
			Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
			return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Wait until it has ended by itself.
	 * @return its exit code
	 */
	public int awaitEnd() {
		try {
			if (!this.process.waitFor(LIMIT.toMillis(), TimeUnit.MILLISECONDS)) {
				throw new AssertionError(this.name + " has not ended within " + LIMIT + ":\n" + getOutput());
			}
			return this.process.exitValue();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * Ask it to end in order, with SIGTERM.
	 */
	public void terminate() {
		signal("TERM");
	}

	/**
	 * Let it end as a crash would end it, with SIGKILL.
	 */
	public void kill() {
		this.process.destroyForcibly();
		awaitEnd();
	}

	@Override
	public void close() {
		kill();
		Runtime.getRuntime().removeShutdownHook(this.killer);
	}

}
