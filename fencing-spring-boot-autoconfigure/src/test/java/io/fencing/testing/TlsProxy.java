package io.fencing.testing;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLServerSocket;
import javax.net.ssl.SSLSocket;

/**
 * Speaks TLS on a loopback port, with a certificate of its own, and passes what it hears
 * on to a server that does not. Thread-safe.
 */
public final class TlsProxy implements AutoCloseable {

	private static final String PASSWORD = "changeit";

	private final int target;

	private final SSLServerSocket listener;

	private final Path certificate;

	private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();

	private final AtomicInteger handshakes = new AtomicInteger();

	private TlsProxy(Path directory, String subject, int target) throws IOException, GeneralSecurityException {
		this.target = target;
		Path store = directory.resolve("server" + System.nanoTime() + ".p12");
		this.certificate = directory.resolve("server" + System.nanoTime() + ".pem");
		keytool("-genkeypair", "-alias", "server", "-keyalg", "EC", "-dname", "CN=test", "-ext", "san=" + subject,
				"-validity", "2", "-storetype", "PKCS12", "-keystore", store.toString(), "-storepass", PASSWORD);
		keytool("-exportcert", "-rfc", "-alias", "server", "-file", this.certificate.toString(), "-keystore",
				store.toString(), "-storepass", PASSWORD);
		KeyStore keys = KeyStore.getInstance(store.toFile(), PASSWORD.toCharArray());
		KeyManagerFactory managers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
		managers.init(keys, PASSWORD.toCharArray());
		SSLContext context = SSLContext.getInstance("TLS");
		context.init(managers.getKeyManagers(), null, null);
		this.listener = (SSLServerSocket) context.getServerSocketFactory()
			.createServerSocket(0, 50, InetAddress.getLoopbackAddress());
	}

	/**
	 * Start one.
	 * @param directory where to keep its certificate
	 * @param subject whom the certificate is for, such as {@code ip:127.0.0.1}
	 * @param target the port of the server
	 * @return the proxy
	 */
	public static TlsProxy start(Path directory, String subject, int target) {
		try {
			TlsProxy proxy = new TlsProxy(directory, subject, target);
			run(proxy::accept);
			return proxy;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		catch (GeneralSecurityException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static void keytool(String... arguments) throws IOException {
		String[] command = new String[arguments.length + 1];
		command[0] = Path.of(System.getProperty("java.home"), "bin", "keytool").toString();
		System.arraycopy(arguments, 0, command, 1, arguments.length);
		Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
		String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
		try {
			if (process.waitFor() != 0) {
				throw new IllegalStateException(output);
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException(ex);
		}
	}

	private static void run(Action action) {
		Thread thread = new Thread(() -> {
			try {
				action.run();
			}
			catch (IOException ex) {
				// one of the sides went away, or they do not agree about TLS
			}
		}, "tls-proxy");
		thread.setDaemon(true);
		thread.start();
	}

	private void accept() throws IOException {
		while (!this.listener.isClosed()) {
			SSLSocket client = (SSLSocket) this.listener.accept();
			this.sockets.add(client);
			run(() -> connect(client));
		}
	}

	private void connect(SSLSocket client) throws IOException {
		try (client) {
			client.startHandshake();
			this.handshakes.incrementAndGet();
			try (Socket server = new Socket(InetAddress.getLoopbackAddress(), this.target)) {
				this.sockets.add(server);
				run(() -> pump(server, client));
				pump(client, server);
			}
		}
	}

	private static void pump(Socket from, Socket to) throws IOException {
		byte[] buffer = new byte[8192];
		InputStream input = from.getInputStream();
		for (int length = input.read(buffer); length >= 0; length = input.read(buffer)) {
			to.getOutputStream().write(buffer, 0, length);
			to.getOutputStream().flush();
		}
	}

	public int getPort() {
		return this.listener.getLocalPort();
	}

	/**
	 * The certificate that a client has to trust, as PEM.
	 * @return the file
	 */
	public Path getCertificate() {
		return this.certificate;
	}

	/**
	 * How many clients have trusted it.
	 * @return the number of connections
	 */
	public int getHandshakes() {
		return this.handshakes.get();
	}

	@Override
	public void close() {
		try {
			this.listener.close();
			for (Socket socket : this.sockets) {
				socket.close();
			}
			Files.deleteIfExists(this.certificate);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * What ends when a side goes away.
	 */
	private interface Action {

		void run() throws IOException;

	}

}
