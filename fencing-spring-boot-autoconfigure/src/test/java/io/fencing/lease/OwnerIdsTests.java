package io.fencing.lease;

import java.util.HashSet;
import java.util.Set;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * No owner is ever used twice.
 */
class OwnerIdsTests {

	@Test
	void whenManyAreMadeThenAllDifferAndAreShortPlainText() {
		Set<String> owners = new HashSet<>();
		for (int instance = 0; instance < 10; instance++) {
			OwnerIds ids = new OwnerIds();
			for (int i = 0; i < 1_000; i++) {
				assertThat(owners.add(ids.next())).isTrue();
			}
		}
		assertThat(owners).allMatch((owner) -> owner.matches("[0-9a-f]{24}-[0-9a-z]{1,13}"));
	}

}
