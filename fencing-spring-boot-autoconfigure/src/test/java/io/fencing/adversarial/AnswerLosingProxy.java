package io.fencing.adversarial;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * A loopback proxy in front of a database that reads what is sent to it, and now and then
 * ends the connection instead of answering a COMMIT, or a statement of choice.
 * Thread-safe.
 *
 * <p>
 * Statements have to be sent as text and unencrypted, each when those before have been
 * answered.
 */
final class AnswerLosingProxy implements AutoCloseable {

	// PostgreSQL ends texts with NUL, MySQL's protocol ends the packet; no 'autocommit'
	private static final Pattern COMMIT = Pattern.compile("(?<![a-z])commit(\0|\\z)", Pattern.CASE_INSENSITIVE);

	private static final List<Fate> DRAWN = List.of(Fate.PASSED_ON, Fate.NOT_PASSED_ON, Fate.PASSED_ON_LATE);

	private static final int LONGEST_DELAY_MILLIS = 50;

	private final InetSocketAddress target;

	private final ServerSocket serverSocket;

	private final Random random;

	private final AtomicIntegerArray losses = new AtomicIntegerArray(Fate.values().length);

	private final Set<Link> kept = ConcurrentHashMap.newKeySet();

	private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();

	private final CountDownLatch closed = new CountDownLatch(1);

	private final AtomicReference<Next> next = new AtomicReference<>();

	private volatile double share;

	/**
	 * Start one on a free loopback port.
	 * @param url a JDBC URL of the server
	 * @param seed what its decisions follow from
	 */
	AnswerLosingProxy(String url, long seed) {
		String[] server = url.replaceFirst(".*://([^/]+)/.*", "$1").split(":");
		this.target = new InetSocketAddress(server[0], Integer.parseInt(server[1]));
		this.random = new Random(seed);
		try {
			this.serverSocket = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		run("proxy-accept", this::accept);
	}

	/**
	 * The URL of the same database by way of this proxy.
	 * @param url its JDBC URL
	 * @return the URL
	 */
	String through(String url) {
		String separator = url.contains("?") ? "&" : "?";
		String options = url.startsWith("jdbc:postgresql:") ? "prepareThreshold=0" : "sslMode=disable";
		return url
			.replaceFirst("://[^/]+/", "://" + this.serverSocket.getInetAddress().getHostAddress() + ":"
					+ this.serverSocket.getLocalPort() + "/")
				+ separator + (url.startsWith("jdbc:mysql:") ? "sslMode=DISABLED" : options);
	}

	/**
	 * Set how many answers to COMMIT are lost from now on.
	 * @param share 0 for none, 1 for all
	 */
	void lose(double share) {
		this.share = share;
	}

	/**
	 * Lose the answer to one statement.
	 * @param statement what it begins with
	 * @param fate what becomes of it
	 */
	void loseNext(String statement, Fate fate) {
		this.next.set(new Next(statement, fate));
	}

	/**
	 * How many answers have been lost in a way.
	 */
	int getLosses(Fate fate) {
		return this.losses.get(fate.ordinal());
	}

	/**
	 * How many answers have been lost.
	 */
	int getLosses() {
		return Arrays.stream(Fate.values()).mapToInt(this::getLosses).sum();
	}

	/**
	 * Let the server see the ends of connections that have been kept.
	 */
	void endKept() {
		this.kept.forEach(Link::close);
	}

	private void accept() {
		while (!this.serverSocket.isClosed()) {
			try {
				Link link = new Link(this.serverSocket.accept(), new Socket());
				run("proxy-link", link::open);
			}
			catch (IOException ex) {
				// closed, or the client went away at once
			}
		}
	}

	private static void run(String name, Runnable task) {
		Thread thread = new Thread(task, name);
		thread.setDaemon(true);
		thread.start();
	}

	private @Nullable Fate decide(String text) {
		Next asked = this.next.get();
		if (asked != null && text.contains(asked.statement) && this.next.compareAndSet(asked, null)) {
			return asked.fate;
		}
		return (COMMIT.matcher(text).find() && this.random.nextDouble() < this.share)
				? DRAWN.get(this.random.nextInt(DRAWN.size())) : null;
	}

	private static void close(Closeable closeable) {
		try {
			closeable.close();
		}
		catch (IOException ex) {
			// it is gone either way
		}
	}

	@Override
	public void close() {
		this.closed.countDown();
		close(this.serverSocket);
		this.sockets.forEach(AnswerLosingProxy::close);
	}

	/**
	 * What becomes of a statement whose answer is lost.
	 */
	enum Fate {

		/** The server executes it. */
		PASSED_ON,

		/** The server sees the connection end. */
		NOT_PASSED_ON,

		/** The server executes it when the client has long had its exception. */
		PASSED_ON_LATE,

		/** The server executes it, and does not see the connection end. */
		PASSED_ON_AND_KEPT

	}

	/**
	 * A statement whose answer is to be lost.
	 *
	 * @param statement what it begins with
	 * @param fate what becomes of it
	 */
	private record Next(String statement, Fate fate) {

	}

	/**
	 * One client's connection to the server.
	 */
	private final class Link {

		private final Socket client;

		private final Socket server;

		private volatile boolean lost;

		private volatile boolean kept;

		Link(Socket client, Socket server) {
			this.client = client;
			this.server = server;
		}

		void open() {
			AnswerLosingProxy.this.sockets.add(this.client);
			AnswerLosingProxy.this.sockets.add(this.server);
			try {
				this.server.connect(AnswerLosingProxy.this.target);
				this.client.setTcpNoDelay(true);
				this.server.setTcpNoDelay(true);
				run("proxy-replies", this::passReplies);
				passRequests();
			}
			catch (IOException ex) {
				close();
			}
		}

		private void passReplies() {
			byte[] buffer = new byte[8192];
			try {
				InputStream input = this.server.getInputStream();
				OutputStream output = this.client.getOutputStream();
				for (int length = input.read(buffer); length >= 0
						&& (!this.lost || this.kept); length = input.read(buffer)) {
					if (!this.kept) {
						output.write(buffer, 0, length);
					}
				}
			}
			catch (IOException ex) {
				// one of the sides went away
			}
			finally {
				close();
			}
		}

		private void passRequests() throws IOException {
			byte[] buffer = new byte[8192];
			InputStream input = this.client.getInputStream();
			OutputStream output = this.server.getOutputStream();
			for (int length = input.read(buffer); length >= 0; length = input.read(buffer)) {
				Fate fate = decide(new String(buffer, 0, length, StandardCharsets.ISO_8859_1));
				if (fate != null) {
					lose(Arrays.copyOf(buffer, length), output, fate);
					return;
				}
				output.write(buffer, 0, length);
			}
			close();
		}

		// whoever reads the replies closes the rest
		private void lose(byte[] statement, OutputStream output, Fate fate) throws IOException {
			this.lost = true;
			AnswerLosingProxy.this.losses.incrementAndGet(fate.ordinal());
			switch (fate) {
				case PASSED_ON -> output.write(statement);
				case NOT_PASSED_ON -> close();
				case PASSED_ON_LATE -> {
					AnswerLosingProxy.close(this.client);
					pause();
					output.write(statement);
				}
				case PASSED_ON_AND_KEPT -> {
					this.kept = true;
					AnswerLosingProxy.this.kept.add(this);
					AnswerLosingProxy.close(this.client);
					output.write(statement);
				}
			}
		}

		private void pause() {
			try {
				AnswerLosingProxy.this.closed.await(AnswerLosingProxy.this.random.nextInt(LONGEST_DELAY_MILLIS),
						TimeUnit.MILLISECONDS);
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
		}

		private void close() {
			AnswerLosingProxy.close(this.client);
			AnswerLosingProxy.close(this.server);
			AnswerLosingProxy.this.sockets.remove(this.client);
			AnswerLosingProxy.this.sockets.remove(this.server);
		}

	}

}
