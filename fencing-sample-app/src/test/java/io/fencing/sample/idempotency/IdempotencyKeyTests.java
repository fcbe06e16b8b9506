package io.fencing.sample.idempotency;

import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What is a key, and which.
 */
class IdempotencyKeyTests {

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
			"key"                | key
			"a"                  | a
			" ~ !,;=#{1 + 1}${}" | ` ~ !,;=#{1 + 1}${}`
			"a \\"b\\" \\\\ c"   | a "b" \\ c
			"\\\\\\""            | \\"
			""")
	void whenStringOfStructuredFieldThenItsCharactersAreTheIdentity(String header, String identity) {
		assertThat(IdempotencyKey.identity(header)).isEqualTo(identity);
	}

	@Test
	void whenAsLongAsItMayBeThenTaken() {
		assertThat(IdempotencyKey.identity("\"" + "\\\\".repeat(255) + "\"")).isEqualTo("\\".repeat(255));
	}

	@Test
	void whenThereIsNoHeaderThenNoTwoAreEqual() {
		assertThat(IdempotencyKey.identity(null)).isNotBlank().isNotEqualTo(IdempotencyKey.identity(null));
	}

	@ParameterizedTest
	@MethodSource
	void whenMalformedThenRefusedWithoutShowingIt(String header) {
		assertThatExceptionOfType(InvalidIdempotencyKeyException.class)
			.isThrownBy(() -> IdempotencyKey.identity(header))
			.withMessageNotContaining("secret");
	}

	static List<String> whenMalformedThenRefusedWithoutShowingIt() {
		return List.of("", "\"\"", "\"   \"", "secret", "8e03978e-40d5-43e8-bc93-6894a57f9324", "\"secret", "secret\"",
				"'secret'", "\"sec\"ret\"", "\"sec\\ret\"", "\"secret\\\"", "\"sec\tret\"", "\"sec\nret\"",
				"\"sec\u007fret\"", "\"secr\u00e9t\"", "\"secret\"\n", "\"secret\" ", "\"secret\", \"secret\"",
				"\"secret\";a=1", "?1", "42", ":c2VjcmV0:", "(\"secret\")", "\"" + "x".repeat(256) + "\"",
				"\"" + "\\\\".repeat(256) + "\"", "\"" + "\\\\".repeat(100_000) + "\"");
	}

}
