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
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.regex.Pattern;

/**
 * A loopback proxy in front of a database that reads what is sent to it, and now and then
 * ends the connection instead of answering a COMMIT. Thread-safe.
 *
 * <p>
 * The statement has to be sent as text and unencrypted. It comes in a piece of its own,
 * since whoever commits has had all answers before.
 */
final class CommitLosingProxy implements AutoCloseable {

	// PostgreSQL ends texts with NUL, MySQL's protocol ends the packet; no 'autocommit'
	private static final Pattern COMMIT = Pattern.compile("(?<![a-z])commit(\0|\\z)", Pattern.CASE_INSENSITIVE);

	private static final int LONGEST_DELAY_MILLIS = 50;

	private final InetSocketAddress target;

	private final ServerSocket serverSocket;

	private final Random random;

	private final AtomicIntegerArray losses = new AtomicIntegerArray(Fate.values().length);

	private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();

	private final CountDownLatch closed = new CountDownLatch(1);

	private volatile double share;

	/**
	 * Start one on a free loopback port.
	 * @param url a JDBC URL of the server
	 * @param seed what its decisions follow from
	 */
	CommitLosingProxy(String url, long seed) {
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
	 * Set how many answers are lost from now on.
	 * @param share 0 for none, 1 for all
	 */
	void lose(double share) {
		this.share = share;
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
		this.sockets.forEach(CommitLosingProxy::close);
	}

	/**
	 * What becomes of a COMMIT whose answer is lost.
	 */
	enum Fate {

		/** The server commits. */
		PASSED_ON,

		/** The server sees the connection end. */
		NOT_PASSED_ON,

		/** The server commits when the client has long had its exception. */
		PASSED_ON_LATE

	}

	/**
	 * One client's connection to the server.
	 */
	private final class Link {

		private final Socket client;

		private final Socket server;

		private volatile boolean lost;

		Link(Socket client, Socket server) {
			this.client = client;
			this.server = server;
		}

		void open() {
			CommitLosingProxy.this.sockets.add(this.client);
			CommitLosingProxy.this.sockets.add(this.server);
			try {
				this.server.connect(CommitLosingProxy.this.target);
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
				for (int length = input.read(buffer); length >= 0 && !this.lost; length = input.read(buffer)) {
					output.write(buffer, 0, length);
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
				if (isLost(buffer, length)) {
					lose(Arrays.copyOf(buffer, length), output);
					return;
				}
				output.write(buffer, 0, length);
			}
			close();
		}

		private boolean isLost(byte[] buffer, int length) {
			return COMMIT.matcher(new String(buffer, 0, length, StandardCharsets.ISO_8859_1)).find()
					&& CommitLosingProxy.this.random.nextDouble() < CommitLosingProxy.this.share;
		}

		// whoever reads the replies closes the rest
		private void lose(byte[] commit, OutputStream output) throws IOException {
			this.lost = true;
			Fate fate = Fate.values()[CommitLosingProxy.this.random.nextInt(Fate.values().length)];
			CommitLosingProxy.this.losses.incrementAndGet(fate.ordinal());
			switch (fate) {
				case PASSED_ON -> output.write(commit);
				case NOT_PASSED_ON -> close();
				case PASSED_ON_LATE -> {
					CommitLosingProxy.close(this.client);
					pause();
					output.write(commit);
				}
			}
		}

		private void pause() {
			try {
				CommitLosingProxy.this.closed.await(CommitLosingProxy.this.random.nextInt(LONGEST_DELAY_MILLIS),
						TimeUnit.MILLISECONDS);
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
		}

		private void close() {
			CommitLosingProxy.close(this.client);
			CommitLosingProxy.close(this.server);
			CommitLosingProxy.this.sockets.remove(this.client);
			CommitLosingProxy.this.sockets.remove(this.server);
		}

	}

}
