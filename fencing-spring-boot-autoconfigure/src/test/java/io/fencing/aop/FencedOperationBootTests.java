package io.fencing.aop;

import io.fencing.FencedOperation;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Under Spring Boot with all that an application may have.
 */
@ExtendWith(OutputCaptureExtension.class)
class FencedOperationBootTests {

	@ParameterizedTest
	@ValueSource(strings = { "false", "true" })
	void whenApplicationHasEverythingThenFencedAroundItsTransactionAndNoWarningCases01And38(String lazy,
			CapturedOutput output) {
		try (ConfigurableApplicationContext context = new SpringApplicationBuilder(Everything.class)
			.web(WebApplicationType.NONE)
			.properties("spring.main.lazy-initialization=" + lazy, "spring.flyway.enabled=false",
					"spring.datasource.generate-unique-name=true", "spring.cache.type=simple", "fencing.enabled=false")
			.run()) {
			Accounts accounts = context.getBean(Accounts.class);
			assertThat(accounts.read("1")).isTrue();
			RecordingOperations operations = context.getBean(RecordingOperations.class);
			assertThat(operations.transactionActive).isFalse();
			assertThat(accounts.read("1")).isTrue();
			assertThat(operations.requests()).as("the cache is inside").hasSize(2);
		}
		assertThat(output).doesNotContain("not eligible for getting processed");
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@EnableCaching
	@Import({ AspectConfiguration.class, Accounts.class })
	static class Everything {

	}

	static class Accounts {

		@FencedOperation("account:#{#id}")
		@Transactional
		@Cacheable("accounts")
		boolean read(String id) {
			return TransactionSynchronizationManager.isActualTransactionActive();
		}

	}

}
