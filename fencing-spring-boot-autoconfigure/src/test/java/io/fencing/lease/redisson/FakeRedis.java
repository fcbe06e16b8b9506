package io.fencing.lease.redisson;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.UnaryOperator;

/**
 * Speaks the protocol of Redis and answers the scripts of the coordinator as if every
 * resource were free, unless it is told to answer otherwise. All other commands are
 * answered well.
 */
final class FakeRedis implements AutoCloseable {

	/**
	 * At the end of a reply: the connection is closed after it.
	 */
	static final String HANG_UP = "\u0004";

	private static final LeaseScripts SCRIPTS = LeaseScripts.read();

	private static final Map<String, String> NAMES = Map.of(SCRIPTS.acquire().sha(), "acquire", SCRIPTS.renew().sha(),
			"renew", SCRIPTS.release().sha(), "release", SCRIPTS.lift().sha(), "lift");

	private final ServerSocket listener;

	private final Set<Socket> connections = ConcurrentHashMap.newKeySet();

	private final Map<Socket, String> heldBack = new ConcurrentHashMap<>();

	private final AtomicLong lastToken = new AtomicLong(1_000_000);

	private final List<String> scripts = new CopyOnWriteArrayList<>();

	private volatile UnaryOperator<String> answer = UnaryOperator.identity();

	FakeRedis() {
		try {
			this.listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		run(this::accept);
	}

	private static void run(Runnable task) {
		Thread thread = new Thread(task, "fake-redis");
		thread.setDaemon(true);
		thread.start();
	}

	private void accept() {
		while (!this.listener.isClosed()) {
			try {
				Socket socket = this.listener.accept();
				this.connections.add(socket);
				run(() -> serve(socket));
			}
			catch (IOException ex) {
				// closed
			}
		}
	}

	private void serve(Socket socket) {
		try (socket) {
			DataInputStream input = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
			while (true) {
				String reply = reply(socket, read(input));
				boolean hangUp = reply.endsWith(HANG_UP);
				String text = hangUp ? reply.substring(0, reply.length() - 1) : reply;
				socket.getOutputStream().write(text.getBytes(StandardCharsets.UTF_8));
				if (hangUp) {
					return;
				}
			}
		}
		catch (IOException ex) {
			// the client went away
		}
		finally {
			this.connections.remove(socket);
		}
	}

	private static List<String> read(DataInputStream input) throws IOException {
		int words = (int) number(input);
		List<String> command = new ArrayList<>();
		for (int i = 0; i < words; i++) {
			byte[] word = new byte[(int) number(input)];
			input.readFully(word);
			input.skipBytes(2);
			command.add(new String(word, StandardCharsets.UTF_8));
		}
		return command;
	}

	private static long number(DataInputStream input) throws IOException {
		input.readByte();
		StringBuilder digits = new StringBuilder();
		for (char next = (char) input.readByte(); next != '\r'; next = (char) input.readByte()) {
			digits.append(next);
		}
		input.readByte();
		return Long.parseLong(digits.toString());
	}

	private String reply(Socket socket, List<String> command) {
		return switch (command.get(0).toUpperCase(Locale.ROOT)) {
			case "EVALSHA" -> script(socket, command, command.get(1));
			case "EVAL" -> script(socket, command, LuaScript.of(command.get(1)).sha());
			case "SCRIPT" -> bulk(LuaScript.of(command.get(2)).sha());
			case "PING" -> "+PONG\r\n";
			case "SUBSCRIBE", "UNSUBSCRIBE" ->
				"*3\r\n" + bulk(command.get(0).toLowerCase(Locale.ROOT)) + bulk(command.get(1)) + ":1\r\n";
			default -> "+OK\r\n";
		};
	}

	private String script(Socket socket, List<String> command, String sha) {
		// Redisson asks in this way whether it talks to a cluster
		String script = NAMES.get(sha);
		if (script == null) {
			return "$-1\r\n";
		}
		this.scripts.add(script);
		String own = this.answer.apply(wellAnswered(script, command));
		String before = this.heldBack.replace(socket, own);
		return (before != null) ? before : own;
	}

	private String wellAnswered(String script, List<String> command) {
		String token = script.equals("acquire") ? bulk(Long.toString(this.lastToken.incrementAndGet())) : "";
		return "*" + (token.isEmpty() ? 2 : 3) + "\r\n:1\r\n" + token + bulk(command.get(command.size() - 1));
	}

	static String bulk(String text) {
		return "$" + text.length() + "\r\n" + text + "\r\n";
	}

	int getPort() {
		return this.listener.getLocalPort();
	}

	/**
	 * Answer scripts otherwise from now on.
	 * @param answer makes the reply out of the right one; it may wait
	 */
	void answer(UnaryOperator<String> answer) {
		this.answer = answer;
	}

	/**
	 * On each connection that is open now, answer every script with what is the answer to
	 * the one before it, for as long as the connection lasts.
	 * @param first the first answer
	 */
	void shift(String first) {
		this.connections.forEach((socket) -> this.heldBack.put(socket, first));
	}

	/**
	 * Answer everything well from now on.
	 */
	void beWell() {
		answer(UnaryOperator.identity());
	}

	/**
	 * The names of the scripts that were asked for, in order.
	 */
	List<String> getScripts() {
		return this.scripts;
	}

	@Override
	public void close() {
		try {
			this.listener.close();
			for (Socket socket : this.connections) {
				socket.close();
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
