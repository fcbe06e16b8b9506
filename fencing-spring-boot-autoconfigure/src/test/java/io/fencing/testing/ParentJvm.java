package io.fencing.testing;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * The child's side of a {@link ForkedJvm}. Thread-safe. When the parent ends, this JVM
 * ends at once.
 */
public final class ParentJvm {

	private static final long LIMIT_SECONDS = 120;

	private static final int PARENT_IS_GONE = 99;

	private final PrintStream output = System.out;

	private final BlockingQueue<String> messages = new LinkedBlockingQueue<>();

	private ParentJvm() {
	}

	/**
	 * Start to listen to the parent; once for each JVM.
	 * @return the parent
	 */
	public static ParentJvm connect() {
		ParentJvm parent = new ParentJvm();
		Thread reader = new Thread(parent::read, "messages-of-parent");
		reader.setDaemon(true);
		reader.start();
		return parent;
	}

	private void read() {
		try {
			BufferedReader reader = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
			for (String line = reader.readLine(); line != null; line = reader.readLine()) {
				this.messages.add(line);
			}
		}
		catch (IOException ex) {
			ex.printStackTrace(this.output);
		}
		finally {
			Runtime.getRuntime().halt(PARENT_IS_GONE);
		}
	}

	/**
	 * Send a message.
	 * @param message a word and what follows it, one line
	 */
	public void send(String message) {
		this.output.println(ForkedJvm.MESSAGE + message.replaceAll("\\R", " "));
		this.output.flush();
	}

	/**
	 * Wait for the next message.
	 * @return the message
	 */
	public String receive() {
		try {
			String message = this.messages.poll(LIMIT_SECONDS, TimeUnit.SECONDS);
			if (message == null) {
				throw new IllegalStateException("The parent said nothing for " + LIMIT_SECONDS + " s");
			}
			return message;
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * Wait for the next message, which must be the given one.
	 * @param message the message
	 */
	public void await(String message) {
		String received = receive();
		if (!received.equals(message)) {
			throw new IllegalStateException("Expected '" + message + "' but the parent said '" + received + "'");
		}
	}

}
