package io.fencing;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import io.fencing.operation.OperationOverrides;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A request is the twin of the annotation.
 */
class FencedOperationRequestTests {

	// what makes a call repeatable is a part of its own, and no affair of application.yml
	private static final Set<String> IDENTITY = Set.of("operationId", "input", "external", "notRepeatableFor");

	@Test
	void whenAnnotationHasAnAttributeThenRequestAndPropertiesHaveItToo() {
		Set<String> annotation = names(FencedOperation.class);
		annotation.remove("value");
		Set<String> builder = names(FencedOperationRequest.Builder.class);
		builder.removeAll(Set.of("build", "resources"));
		builder.add("name");
		// the annotation's are those of the method
		assertThat(builder.removeAll(Set.of("ownTransaction", "transaction", "resultType"))).isTrue();
		assertThat(builder).isEqualTo(annotation);
		Set<String> identity = components(OperationIdentity.class);
		assertThat(identity.removeAll(Set.of("id", "transaction", "resultType"))).isTrue();
		identity.add("operationId");
		assertThat(identity).isEqualTo(IDENTITY);
		annotation.removeAll(IDENTITY);
		Set<String> request = components(FencedOperationRequest.class);
		assertThat(request.removeAll(Set.of("ownTransaction", "transactionManager", "identity"))).isTrue();
		assertThat(request.remove("resources")).isTrue();
		request.add("resource");
		assertThat(request).isEqualTo(annotation);
		Set<String> properties = components(OperationOverrides.class);
		assertThat(properties.removeAll(Set.of("mode", "programmatic"))).isTrue();
		annotation.removeAll(Set.of("name", "resource"));
		assertThat(properties).isEqualTo(annotation);
	}

	@ParameterizedTest
	@NullSource
	@ValueSource(strings = { "", " ", "\t\n" })
	void whenNameOrResourceIsBlankThenRefusedBeforeAnythingIsAsked(String blank) {
		assertInvalid(() -> FencedOperationRequest.of(blank, "a"));
		assertInvalid(() -> FencedOperationRequest.builder("test").resource("a").resource(blank).build());
		assertInvalid(() -> FencedOperationRequest.builder("test").resources(Collections.singleton(blank)).build());
		assertInvalid(() -> FencedOperationRequest.of("test"));
	}

	@Test
	void whenBuilderIsUsedAgainThenARequestDoesNotChange() {
		FencedOperationRequest.Builder builder = FencedOperationRequest.builder("test").resource("a");
		FencedOperationRequest first = builder.build();
		assertThat(builder.resources(List.of("b", "a")).build().resources()).containsExactly("a", "b", "a");
		assertThat(first.resources()).containsExactly("a");
	}

	private static void assertInvalid(Supplier<FencedOperationRequest> request) {
		assertThatExceptionOfType(InvalidFencedOperationException.class).isThrownBy(request::get);
	}

	private static Set<String> names(Class<?> type) {
		return Arrays.stream(type.getDeclaredMethods())
			.filter((method) -> Modifier.isPublic(method.getModifiers()) && !method.isSynthetic())
			.map(Method::getName)
			.collect(Collectors.toCollection(TreeSet::new));
	}

	private static Set<String> components(Class<?> type) {
		return Arrays.stream(type.getRecordComponents())
			.map(RecordComponent::getName)
			.collect(Collectors.toCollection(TreeSet::new));
	}

}
