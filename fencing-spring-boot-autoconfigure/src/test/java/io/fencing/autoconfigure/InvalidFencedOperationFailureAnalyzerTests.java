package io.fencing.autoconfigure;

import java.util.Map;

import io.fencing.InvalidFencedOperationException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

/**
 * A wrong operation is reported at the start with what is wrong and what to change.
 */
@ExtendWith(OutputCaptureExtension.class)
class InvalidFencedOperationFailureAnalyzerTests {

	@Test
	void whenOperationIsInvalidThenReportHasFactAndRemedy(CapturedOutput output) {
		start("Bean 'accounts', @FencedOperation method 'a.B.c()': it is final; make it open");
		assertThat(output).containsSubsequence("APPLICATION FAILED TO START", "Description:",
				"Bean 'accounts', @FencedOperation method 'a.B.c()': it is final.", "Action:", "Make it open.");
	}

	@Test
	void whenMessageHasNoRemedyThenReportStillNamesAnAction(CapturedOutput output) {
		start("An operation needs a name");
		assertThat(output).containsSubsequence("Description:", "An operation needs a name", "Action:", "Correct");
	}

	private static void start(String message) {
		assertThatException().isThrownBy(() -> new SpringApplicationBuilder(Failing.class).web(WebApplicationType.NONE)
			.properties(Map.of("test.message", message))
			.run()
			.close());
	}

	@Configuration(proxyBeanMethods = false)
	static class Failing {

		@Bean
		Object failing(@Value("${test.message}") String message) {
			throw new InvalidFencedOperationException(message);
		}

	}

}
