package io.fencing.lease.redisson;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;

import io.fencing.lease.LeaseAnswer.Busy;
import io.fencing.lease.LeaseAnswer.Granted;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.LongRange;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Only exactly what a script answers is understood (case 12).
 */
class ScriptReplyTests {

	private static final long MAX_TOKEN = (1L << 53) - 1;

	@Property
	void whenReplyIsAGrantThenUnderstood(@ForAll @LongRange(min = 1, max = MAX_TOKEN) long token) {
		assertThat(ScriptReply.answer(List.of(1L, Long.toString(token)))).isEqualTo(new Granted(token));
	}

	@Property
	void whenReplyIsARefusalThenUnderstood(@ForAll @LongRange(min = 0) long remaining) {
		assertThat(ScriptReply.answer(List.of(0L, remaining))).isEqualTo(new Busy(Duration.ofMillis(remaining)));
	}

	@Property
	void whenTokenIsOutOfRangeThenNotUnderstood(
			@ForAll @LongRange(min = MAX_TOKEN + 1, max = Long.MAX_VALUE) long token) {
		assertThat(ScriptReply.answer(List.of(1L, Long.toString(token)))).isNull();
		assertThat(ScriptReply.answer(List.of(1L, Long.toString(-token)))).isNull();
	}

	@Property
	void whenReplyIsAnythingElseThenNeverAGrant(@ForAll("parts") Object first, @ForAll("parts") Object second) {
		boolean grant = Long.valueOf(1).equals(first) && second instanceof String text
				&& text.matches("[1-9][0-9]{0,14}");
		assertThat(ScriptReply.answer(Arrays.asList(first, second)) instanceof Granted).isEqualTo(grant);
		assertThat(ScriptReply.answer(List.of(List.of(1L, "5")))).isNull();
		assertThat(ScriptReply.answer(Arrays.asList(first, second, 1L))).isNull();
		assertThat(ScriptReply.flag(first)).isNull();
		assertThat(ScriptReply.flag(Arrays.asList(first, second))).isNull();
	}

	@Provide
	Arbitrary<Object> parts() {
		return Arbitraries
			.oneOf(Arbitraries.longs().between(-2, 2).map((value) -> (Object) value),
					Arbitraries.integers().between(-2, 2).map((value) -> (Object) value),
					Arbitraries.strings().ofMaxLength(5), Arbitraries.strings().numeric().ofMaxLength(15),
					Arbitraries.just(List.of(1L, "5")))
			.injectNull(0.1);
	}

}
