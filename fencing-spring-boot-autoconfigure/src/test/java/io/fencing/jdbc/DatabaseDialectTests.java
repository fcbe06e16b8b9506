package io.fencing.jdbc;

import io.fencing.InvalidFencedOperationException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.core.io.ClassPathResource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Dialects and names.
 */
class DatabaseDialectTests {

	@ParameterizedTest
	@ValueSource(strings = { "MySQL", "MariaDB", "Oracle" })
	void whenProductIsNotSupportedThenOneClearFailure(String product) {
		assertThatExceptionOfType(InvalidFencedOperationException.class)
			.isThrownBy(() -> DatabaseDialect.of("ledger", product))
			.withMessageContaining(product)
			.withMessageContaining("PostgreSQL or H2");
	}

	@ParameterizedTest
	@EnumSource
	void whenDialectHasAScriptThenItIsThere(DatabaseDialect dialect) {
		assertThat(new ClassPathResource(dialect.getSchemaScript()).exists()).isTrue();
	}

	@Test
	void whenNameIsNoPlainIdentifierThenRefused() {
		assertThat(new TableName("ledger", "fences")).hasToString("ledger.fences");
		assertThatExceptionOfType(InvalidFencedOperationException.class)
			.isThrownBy(() -> new TableName(null, "fence; DROP TABLE account"));
		assertThatExceptionOfType(InvalidFencedOperationException.class)
			.isThrownBy(() -> new TableName("a.b", "fence"));
	}

}
