package io.fencing.autoconfigure;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.Enumeration;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

import org.springframework.boot.EnvironmentPostProcessor;
import org.springframework.boot.SpringApplication;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.io.UrlResource;

/**
 * Keeps the JCache provider that arrives with Redisson from being counted: an application
 * with one provider of its own would have two now, and its CacheManager would become
 * another. The application's own setting wins.
 */
final class JCacheProviderEnvironmentPostProcessor implements EnvironmentPostProcessor {

	private static final String PROVIDER_PROPERTY = "spring.cache.jcache.provider";

	private static final String SERVICES = "META-INF/services/javax.cache.spi.CachingProvider";

	private static final String REDISSON_PROVIDER = "org.redisson.jcache.JCachingProvider";

	@Override
	public void postProcessEnvironment(ConfigurableEnvironment environment, SpringApplication application) {
		if (environment.containsProperty(PROVIDER_PROPERTY)) {
			return;
		}
		Set<String> providers = providers(application.getClassLoader());
		if (providers.remove(REDISSON_PROVIDER) && providers.size() == 1) {
			environment.getPropertySources()
				.addLast(new MapPropertySource("fencingJCacheProvider",
						Map.of(PROVIDER_PROPERTY, providers.iterator().next())));
		}
	}

	private static Set<String> providers(ClassLoader classLoader) {
		Set<String> providers = new LinkedHashSet<>();
		try {
			Enumeration<URL> files = classLoader.getResources(SERVICES);
			while (files.hasMoreElements()) {
				new UrlResource(files.nextElement()).getContentAsString(StandardCharsets.UTF_8)
					.lines()
					.map((line) -> line.replaceFirst("#.*", "").trim())
					.filter((line) -> !line.isEmpty())
					.forEach(providers::add);
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		return providers;
	}

}
