package io.fencing.journal;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

import io.fencing.FencingToken;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The moves are those of docs/state-table.md, and no others.
 */
class OperationStateTests {

	private static final Pattern ROW = Pattern.compile("^\\| `(\\w+)` \\| `(\\w+)`.*? \\| `(\\w+)` \\| .+ \\|$",
			Pattern.MULTILINE);

	@ParameterizedTest
	@EnumSource
	void whenMoveIsInTheDocumentThenItLeadsThereElseItIsRefused(OperationState state) throws IOException {
		Map<JournalMove, OperationState> documented = new EnumMap<>(JournalMove.class);
		for (MatchResult row : ROW.matcher(Files.readString(Path.of("..", "docs", "state-table.md")))
			.results()
			.toList()) {
			if (row.group(1).equals(state.name())) {
				assertThat(documented.put(JournalMove.valueOf(row.group(2)), OperationState.valueOf(row.group(3))))
					.isNull();
			}
		}
		for (JournalMove move : JournalMove.values()) {
			assertThat(state.after(move)).as(state + " " + move).isEqualTo(Optional.ofNullable(documented.get(move)));
		}
		assertThat(documented).isNotEmpty();
	}

	@Test
	void whenNamesOrIdentitiesRunTogetherThenKeysDiffer() {
		assertThat(OperationKey.of("a", "b", "cd").hash()).hasSize(64)
			.isNotEqualTo(OperationKey.of("a", "bc", "d").hash())
			.isNotEqualTo(OperationKey.of("ab", "", "cd").hash())
			.isEqualTo(OperationKey.of("a", "b", "cd").hash());
	}

	@Test
	void whenFurtherAttemptStartsThenItHasItsTokenAndNoResult() {
		JournalEntry failed = new JournalEntry(OperationKey.of("a", "b", "c"), OperationState.FAILED, "r", "i",
				new FencingToken(1, "one"), false, 1, new byte[1]);
		JournalEntry next = failed.attempt(new FencingToken(2, "two"), false);
		assertThat(next.state()).isEqualTo(OperationState.RUNNING);
		assertThat(next.attempts()).isEqualTo(2);
		assertThat(next.token()).isEqualTo(new FencingToken(2, "two"));
		assertThat(next.result()).isNull();
	}

}
