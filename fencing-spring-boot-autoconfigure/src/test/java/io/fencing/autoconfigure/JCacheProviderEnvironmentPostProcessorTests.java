package io.fencing.autoconfigure;

import java.io.IOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.boot.SpringApplication;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.io.DefaultResourceLoader;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Case 72: the JCache provider of Redisson does not change which one the application has.
 */
class JCacheProviderEnvironmentPostProcessorTests {

	private static final String PROPERTY = "spring.cache.jcache.provider";

	@TempDir
	private Path directory;

	private final StandardEnvironment environment = new StandardEnvironment();

	@Test
	void case72WhenApplicationHasOneProviderOfItsOwnThenThatOneIsUsed() throws Exception {
		process("org.example.Provider # the only one");
		assertThat(this.environment.getProperty(PROPERTY)).isEqualTo("org.example.Provider");
	}

	@Test
	void case72WhenApplicationHasSeveralOrNoneThenNothingIsSet() throws Exception {
		process("org.example.Provider", "org.example.OtherProvider");
		assertThat(this.environment.containsProperty(PROPERTY)).isFalse();
		process();
		assertThat(this.environment.containsProperty(PROPERTY)).isFalse();
	}

	@Test
	void case72WhenApplicationHasChosenThenItsChoiceStays() throws Exception {
		this.environment.getPropertySources()
			.addFirst(new MapPropertySource("application", Map.of(PROPERTY, "org.example.Chosen")));
		process("org.example.Provider");
		assertThat(this.environment.getProperty(PROPERTY)).isEqualTo("org.example.Chosen");
	}

	private void process(String... providers) throws IOException {
		List<URL> urls = new ArrayList<>();
		for (String provider : providers) {
			urls.add(jar("provider" + urls.size(), provider));
		}
		try (URLClassLoader classLoader = new URLClassLoader(urls.toArray(URL[]::new), getClass().getClassLoader())) {
			SpringApplication application = new SpringApplication(new DefaultResourceLoader(classLoader), Object.class);
			new JCacheProviderEnvironmentPostProcessor().postProcessEnvironment(this.environment, application);
		}
	}

	private URL jar(String name, String provider) throws IOException, MalformedURLException {
		Path file = this.directory.resolve(name).resolve("META-INF/services/javax.cache.spi.CachingProvider");
		Files.createDirectories(file.getParent());
		Files.writeString(file, provider);
		return this.directory.resolve(name).toUri().toURL();
	}

}
