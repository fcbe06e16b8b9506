package io.fencing;

import java.util.stream.Stream;

import net.jqwik.api.Assume;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.NotBlank;
import org.junit.jupiter.api.Test;

import org.springframework.util.StringUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Keys keep distinct resources distinct, and fingerprints show no personal data.
 */
class FencedResourceFactoryTests {

	private final FencedResourceFactory factory = new FencedResourceFactory("default", "secret");

	@Property(tries = 200)
	void whenNamesOrNamespacesDifferThenKeysDiffer(@ForAll @NotBlank String namespace, @ForAll @NotBlank String name,
			@ForAll @NotBlank String otherName) {
		Assume.that(!name.equals(otherName));
		// to the generator a line or paragraph separator is not blank
		Assume.that(Stream.of(namespace, name, otherName).allMatch(StringUtils::hasText));
		FencedResource resource = new FencedResourceFactory(namespace, "secret").create(name);
		assertThat(resource.getKey()).matches("[0-9a-f]{64}")
			.isEqualTo(new FencedResourceFactory(namespace, "other").create(name).getKey())
			.isNotEqualTo(new FencedResourceFactory(namespace, "secret").create(otherName).getKey());
	}

	@Test
	void whenNamespaceAndNameAreSplitElsewhereThenKeysDiffer() {
		assertThat(new FencedResourceFactory("a", null).create("b:c").getKey())
			.isNotEqualTo(new FencedResourceFactory("a:b", null).create("c").getKey());
	}

	@Test
	void whenFingerprintIsKeyedThenItShowsNeitherNameNorPlainHash() {
		FencedResource resource = this.factory.create("account:42");
		assertThat(resource.getFingerprint()).matches("#[0-9a-f]{10}").hasToString(resource.toString());
		assertThat(resource.getKey()).doesNotContain(resource.getFingerprint().substring(1));
		assertThat(new FencedResourceFactory("default", "other").create("account:42").getFingerprint())
			.isNotEqualTo(resource.getFingerprint());
	}

	@Test
	void whenNameIsBlankThenRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> this.factory.create(" "));
	}

}
