package io.fencing.testing;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * A loopback proxy in front of a real server, whose network can be made to misbehave at
 * run time. Thread-safe.
 */
public final class TcpProxy implements AutoCloseable {

	private static final int CONNECT_TIMEOUT_MILLIS = 5_000;

	private final InetSocketAddress target;

	private final ServerSocket serverSocket;

	private final Set<Link> links = ConcurrentHashMap.newKeySet();

	private final CountDownLatch closed = new CountDownLatch(1);

	private volatile Mode mode = Mode.PASS;

	private volatile Duration delay = Duration.ZERO;

	private TcpProxy(InetSocketAddress target) throws IOException {
		this.target = target;
		this.serverSocket = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
	}

	/**
	 * Start one on a free loopback port.
	 * @param host the host of the server
	 * @param port the port of the server
	 * @return the proxy, passing everything
	 */
	public static TcpProxy start(String host, int port) {
		try {
			TcpProxy proxy = new TcpProxy(new InetSocketAddress(host, port));
			proxy.run("proxy-accept", proxy::accept);
			return proxy;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private void run(String name, Runnable task) {
		Thread thread = new Thread(task, name);
		thread.setDaemon(true);
		thread.start();
	}

	private void accept() {
		while (!this.serverSocket.isClosed()) {
			try {
				Socket client = this.serverSocket.accept();
				if (this.mode == Mode.DROP) {
					client.close();
				}
				else {
					run("proxy-connect", () -> connect(client));
				}
			}
			catch (IOException ex) {
				// closed, or the client went away at once
			}
		}
	}

	private void connect(Socket client) {
		Link link = new Link(client, new Socket());
		this.links.add(link);
		try {
			link.server.connect(this.target, CONNECT_TIMEOUT_MILLIS);
			client.setTcpNoDelay(true);
			link.server.setTcpNoDelay(true);
			if (link.isUseless() || this.serverSocket.isClosed()) {
				link.close();
				return;
			}
			run("proxy-replies", () -> link.pump(link.server, client, Mode.SWALLOW, Mode.SWALLOW_REPLIES));
			link.pump(client, link.server, Mode.SWALLOW, Mode.SWALLOW);
		}
		catch (IOException ex) {
			link.close();
		}
	}

	public String getHost() {
		return this.serverSocket.getInetAddress().getHostAddress();
	}

	public int getPort() {
		return this.serverSocket.getLocalPort();
	}

	public int getConnections() {
		return this.links.size();
	}

	/**
	 * Pass everything again. Connections that have swallowed something are closed: the
	 * rest of their bytes would make no sense.
	 */
	public void pass() {
		set(Mode.PASS);
	}

	/**
	 * Pass everything late.
	 * @param time how long each piece is kept
	 */
	public void delay(Duration time) {
		this.delay = time;
		set(Mode.DELAY);
	}

	/**
	 * Close all connections, and each new one at once.
	 */
	public void drop() {
		set(Mode.DROP);
	}

	/**
	 * Accept connections and read what comes, but forward and answer nothing.
	 */
	public void swallow() {
		set(Mode.SWALLOW);
	}

	/**
	 * Forward what clients send but no answer: commands are executed, and nobody knows.
	 */
	public void swallowReplies() {
		set(Mode.SWALLOW_REPLIES);
	}

	private void set(Mode newMode) {
		this.mode = newMode;
		this.links.stream().filter(Link::isUseless).forEach(Link::close);
	}

	@Override
	public void close() {
		this.closed.countDown();
		close(this.serverSocket);
		this.links.forEach(Link::close);
	}

	private static void close(Closeable closeable) {
		try {
			closeable.close();
		}
		catch (IOException ex) {
			// it is gone either way
		}
	}

	private enum Mode {

		PASS, DELAY, DROP, SWALLOW, SWALLOW_REPLIES

	}

	/**
	 * One client's connection to the server.
	 */
	private final class Link {

		private final Socket client;

		private final Socket server;

		private volatile boolean broken;

		Link(Socket client, Socket server) {
			this.client = client;
			this.server = server;
		}

		boolean isUseless() {
			Mode current = TcpProxy.this.mode;
			return current == Mode.DROP || (this.broken && current != Mode.SWALLOW && current != Mode.SWALLOW_REPLIES);
		}

		void pump(Socket from, Socket to, Mode swallow, Mode alsoSwallow) {
			byte[] buffer = new byte[8192];
			try {
				InputStream input = from.getInputStream();
				OutputStream output = to.getOutputStream();
				for (int length = input.read(buffer); length >= 0; length = input.read(buffer)) {
					Mode current = TcpProxy.this.mode;
					boolean swallowed = current == swallow || current == alsoSwallow;
					if (swallowed) {
						this.broken = true;
					}
					if (isUseless()) {
						break;
					}
					if (swallowed) {
						continue;
					}
					if (current == Mode.DELAY
							&& TcpProxy.this.closed.await(TcpProxy.this.delay.toMillis(), TimeUnit.MILLISECONDS)) {
						break;
					}
					output.write(buffer, 0, length);
				}
			}
			catch (IOException ex) {
				// one of the sides went away
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
			finally {
				close();
			}
		}

		void close() {
			TcpProxy.close(this.client);
			TcpProxy.close(this.server);
			TcpProxy.this.links.remove(this);
		}

	}

}
