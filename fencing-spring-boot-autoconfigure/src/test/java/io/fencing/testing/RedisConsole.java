package io.fencing.testing;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/**
 * Talks to a Redis server as a person at a console does, past every client library. A
 * connection for each command.
 */
public final class RedisConsole {

	private final int port;

	/**
	 * Create a console for a server on the loopback interface.
	 */
	public RedisConsole(int port) {
		this.port = port;
	}

	/**
	 * Send a command whose words have no spaces.
	 * @return the first value of the reply as text, {@code null} for nil
	 */
	public String send(String command) {
		try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), this.port);
				BufferedReader reader = new BufferedReader(
						new InputStreamReader(socket.getInputStream(), StandardCharsets.ISO_8859_1))) {
			socket.getOutputStream().write((command + "\r\n").getBytes(StandardCharsets.ISO_8859_1));
			String line = reader.readLine();
			if (line.startsWith("-")) {
				throw new IllegalStateException(line);
			}
			if (line.startsWith("$")) {
				return line.equals("$-1") ? null : reader.readLine();
			}
			return line.substring(1);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Send a command that is answered with many lines.
	 * @return the lines as they come
	 */
	public String sendForText(String command) {
		try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), this.port)) {
			socket.getOutputStream().write((command + "\r\nQUIT\r\n").getBytes(StandardCharsets.ISO_8859_1));
			return new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * The milliseconds until a key expires, negative as {@code PTTL} answers.
	 */
	public long remainingMillis(String key) {
		return Long.parseLong(send("PTTL " + key));
	}

}
