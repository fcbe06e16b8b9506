package io.fencing.journal.jackson;

import java.lang.reflect.Type;
import java.nio.charset.StandardCharsets;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.core.JacksonException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What is written as JSON is read as it was, and equal inputs are written equally.
 */
class JacksonResultCodecTests {

	private final JacksonResultCodec codec = new JacksonResultCodec();

	static Stream<Object> values() {
		return Stream.of(OffsetDateTime.of(2026, 1, 2, 3, 4, 5, 6, ZoneOffset.ofHours(2)),
				OffsetDateTime.of(2026, 1, 2, 3, 4, 5, 6, ZoneOffset.UTC),
				ZonedDateTime.of(2026, 1, 2, 3, 4, 5, 6, ZoneId.of("Europe/Berlin")),
				ZonedDateTime.of(2026, 1, 2, 3, 4, 5, 6, ZoneId.of("Z")),
				ZonedDateTime.of(2026, 1, 2, 3, 4, 5, 6, ZoneId.of("UTC")), Color.RED, Color.CRIMSON, new byte[] { 1 },
				Optional.of("a"));
	}

	@ParameterizedTest
	@MethodSource("values")
	void whenValueIsReadThenAsItWasWritten(Object value) {
		Type type = (value instanceof Color) ? Color.class : value.getClass();
		assertThat(this.codec.read(this.codec.write(value, type), type)).isEqualTo(value);
	}

	// the order of a set's elements differs from one JVM to the next
	@Test
	void whenSetsAreEqualThenTheyAreTheSameInput() {
		long seed = System.nanoTime();
		List<Object> elements = new ArrayList<>();
		for (int i = 0; i < 20; i++) {
			elements.add(Map.of("id", i, "colors", Set.of(Color.values())));
		}
		String first = input(elements);
		Collections.shuffle(elements, new Random(seed));
		assertThat(input(elements)).as("seed %d", seed).isEqualTo(first);
		assertThat(input(elements.subList(1, 20))).isNotEqualTo(first);
		assertThat(this.codec.writeInput(List.of(2, 1))).asString().isEqualTo("[2,1]");
	}

	@Test
	void whenInputRefersToItselfThroughASetThenRefusedAsAnythingThatCannotBeWritten() {
		Set<Object> children = new HashSet<>();
		Request parent = new Request(children);
		children.add(new Child(parent));
		assertThatExceptionOfType(JacksonException.class).isThrownBy(() -> this.codec.writeInput(List.of(parent)));
	}

	private String input(List<Object> elements) {
		return new String(this.codec.writeInput(List.of(new Request(new LinkedHashSet<>(elements)))),
				StandardCharsets.UTF_8);
	}

	/**
	 * An argument.
	 */
	record Request(Set<Object> elements) {
	}

	/**
	 * What refers back.
	 */
	record Child(Request parent) {
	}

	/**
	 * Colors of which two look alike.
	 */
	enum Color {

		RED, CRIMSON {
			@Override
			public String toString() {
				return "RED";
			}
		}

	}

}
