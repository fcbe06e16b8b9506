package io.fencing.adversarial;

import java.util.List;

import io.fencing.autoconfigure.LedgerApplication;
import io.fencing.testing.TestServers;

import org.springframework.boot.Banner;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.logging.LoggingSystem;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * An application that makes deposits.
 */
final class DepositNode {

	private DepositNode() {
	}

	/**
	 * Start one.
	 * @param arguments its properties
	 * @return the running context
	 */
	static ConfigurableApplicationContext start(String... arguments) {
		return new SpringApplicationBuilder(LedgerApplication.class, Places.class).web(WebApplicationType.NONE)
			.bannerMode(Banner.Mode.OFF)
			.properties("spring.flyway.enabled=false", "fencing.jdbc.initialize-schema=always")
			.run(arguments);
	}

	/**
	 * The properties of a node.
	 * @param url where its database can be reached
	 * @param namespace the namespace that all nodes share
	 * @return its arguments
	 */
	static String[] arguments(String url, String namespace) {
		return new String[] { "--spring.datasource.url=" + url, "--spring.data.redis.url=" + TestServers.redisUrl(),
				"--fencing.namespace=" + namespace, "--spring.datasource.hikari.maximum-pool-size=24",
				"--fencing.lease.time=2s", "--fencing.lease.wait=20s", "--logging.level.io.fencing=ERROR",
				"--logging.level.com.zaxxer.hikari=ERROR", "--logging.level.org.mariadb=OFF",
				"--logging.level.org.springframework.jdbc.support=OFF" };
	}

	/**
	 * Stop one.
	 * @param node its context
	 */
	static void stop(ConfigurableApplicationContext node) {
		node.close();
		// levels outlive the application that has set them
		LoggingSystem logging = LoggingSystem.get(DepositNode.class.getClassLoader());
		List.of("io.fencing", "com.zaxxer.hikari", "org.mariadb", "org.springframework.jdbc.support")
			.forEach((logger) -> logging.setLogLevel(logger, null));
	}

}
