package io.fencing.autoconfigure;

import java.io.File;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.Arrays;
import java.util.concurrent.Callable;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Optional libraries that are truly absent: a class loader that only hides them from
 * conditions still has what is loaded by itself.
 */
class AbsentLibrariesTests {

	// case 33: optional libraries may be absent
	@ParameterizedTest
	@ValueSource(strings = { "spring-boot-jdbc", "spring-jdbc",
			"spring-jdbc|spring-tx|spring-boot-jdbc|spring-boot-transaction",
			"spring-data|spring-boot-data|lettuce|jedis", "micrometer|context-propagation", "aspectjweaver" })
	void case33WhenLibrariesAreAbsentThenAnApplicationStarts(String absent) throws Exception {
		URL[] classPath = Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
			.filter((entry) -> Arrays.stream(absent.split("\\|"))
				.noneMatch((prefix) -> new File(entry).getName().startsWith(prefix)))
			.map(AbsentLibrariesTests::url)
			.toArray(URL[]::new);
		try (URLClassLoader loader = new URLClassLoader(classPath, ClassLoader.getPlatformClassLoader())) {
			ClassLoader own = Thread.currentThread().getContextClassLoader();
			Thread.currentThread().setContextClassLoader(loader);
			try {
				Callable<?> run = (Callable<?>) loader.loadClass(BareApplication.class.getName())
					.getConstructor()
					.newInstance();
				assertThat((Long) run.call()).isPositive();
			}
			finally {
				Thread.currentThread().setContextClassLoader(own);
			}
		}
	}

	private static URL url(String entry) {
		try {
			return new File(entry).toURI().toURL();
		}
		catch (MalformedURLException ex) {
			throw new IllegalArgumentException(ex);
		}
	}

}
