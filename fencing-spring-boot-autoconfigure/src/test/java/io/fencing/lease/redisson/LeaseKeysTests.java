package io.fencing.lease.redisson;

import java.time.Duration;

import io.fencing.FencedResource;
import io.fencing.FencedResourceFactory;
import io.fencing.InvalidFencedOperationException;
import net.jqwik.api.Assume;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.NotBlank;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.util.StringUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Keys are plain, and all of one resource share a cluster slot, whatever its name is.
 */
class LeaseKeysTests {

	private final LeaseKeys keys = new LeaseKeys("fencing");

	@Property(tries = 300)
	void case70WhenNameIsAnyTextThenKeysArePlainAndShareOneTag(@ForAll @NotBlank String name) {
		// to the generator a line or paragraph separator is not blank
		Assume.that(StringUtils.hasText(name));
		FencedResource resource = new FencedResourceFactory("default", null).create(name);
		for (String key : new String[] { this.keys.lease(resource), this.keys.token(resource),
				this.keys.released(resource) }) {
			assertThat(key).matches("fencing:1:\\{[0-9a-f]{64}}:(lease|token|released)")
				.contains("{" + resource.getKey() + "}");
		}
		assertThat(this.keys.lease(resource)).isNotEqualTo(this.keys.token(resource));
	}

	@Example
	void whenNameIsVeryLongOrHasBracesThenKeyHasFixedLength() {
		for (String name : new String[] { "x".repeat(10_000), "a}b", "{}x", "x{}y{z}", "\u0000\n {" }) {
			assertThat(this.keys.lease(new FencedResourceFactory("default", null).create(name))).hasSize(82);
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "", " ", "a b", "{x}", "a{", "}", "ü", "a\n" })
	void whenPrefixWouldMoveKeysThenRefused(String prefix) {
		assertThatExceptionOfType(InvalidFencedOperationException.class)
			.isThrownBy(() -> new RedissonCoordinatorSettings(prefix, Duration.ofDays(7), false));
	}

	@ParameterizedTest
	@ValueSource(strings = { "PT0S", "PT23H59M", "P367D", "P-7D" })
	void rule12WhenRetentionIsOutOfBoundsThenRefused(Duration retention) {
		assertThatExceptionOfType(InvalidFencedOperationException.class)
			.isThrownBy(() -> new RedissonCoordinatorSettings("fencing", retention, false));
	}

}
