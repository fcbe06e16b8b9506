package io.fencing.aop;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

import io.fencing.FencedOperation;
import io.fencing.InvalidFencedOperationException;
import io.fencing.OperationTransaction;
import org.assertj.core.api.ThrowableAssertAlternative;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.env.MapPropertySource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Which resources a call names, and which it must not.
 */
class ResourceTemplateTests {

	private final GenericApplicationContext context = new GenericApplicationContext();

	private FencedOperationSource source;

	@BeforeEach
	void start() {
		this.context.getEnvironment()
			.getPropertySources()
			.addFirst(new MapPropertySource("test", Map.of("region", "eu", "secret", "password")));
		this.context.registerBean("regions", Regions.class);
		this.context.refresh();
		this.source = new FencedOperationSource(this.context.getBeanFactory());
	}

	@AfterEach
	void close() {
		this.context.close();
	}

	@Test
	void whenLiteralThenItIsTheResource() {
		assertThat(resources("literal", "1")).containsExactly("ledger: 1 {x}");
	}

	@Test
	void whenExpressionsAreUsedThenTheyAreEvaluated() {
		assertThat(resources("byName", "1")).containsExactly("account:1:end");
		assertThat(resources("byIndex", "1")).containsExactly("1/1/1/1/byIndex/here");
		assertThat(resources("byBean", "1")).containsExactly("asia:1");
		assertThat(resources("several", "1")).containsExactly("a:1", "b:1");
	}

	@Test
	void whenArgumentsDifferThenResourcesDifferCase46() {
		assertThat(resources("byName", "1")).isNotEqualTo(resources("byName", "2"));
	}

	@Test
	void whenPlaceholderIsUsedThenItIsResolvedOnce() {
		assertThat(resources("placeholder", "1")).containsExactly("eu:1:none");
	}

	@ParameterizedTest
	@ValueSource(strings = { "${secret}", "#{1+1}", "#{T(java.lang.System).exit(1)}", "a\\${secret}", "#id", "null",
			"{}x", "a}b" })
	void whenArgumentLooksLikeAnExpressionThenItIsData(String argument) {
		assertThat(resources("byName", argument)).containsExactly("account:" + argument + ":end");
		assertThat(resources("whole", argument)).containsExactly(argument);
		assertThat(resources("elements", List.of(argument))).containsExactly(argument);
	}

	@Test
	void whenWholeExpressionIsIterableOrArrayThenItIsSeveral() {
		assertThat(resources("elements", List.of("a", "b"))).containsExactly("a", "b");
		assertThat(resources("array", (Object) new String[] { "a", "b" })).containsExactly("a", "b");
		assertThat(resources("numbers", (Object) new long[] { 1, 2 })).containsExactly("1", "2");
		assertThat(resources("varargs", (Object) new String[] { "a", "b" })).containsExactly("a", "b");
		assertThat(resources("projected", List.of("a", "b"))).containsExactly("x:a", "x:b");
	}

	@Test
	void whenValueHasATextThenItIsUsed() {
		UUID id = UUID.randomUUID();
		assertThat(resources("any", id)).containsExactly(id.toString());
		assertThat(resources("any", 42L)).containsExactly("42");
		assertThat(resources("any", Thread.State.NEW)).containsExactly("NEW");
		assertThat(resources("any", Optional.of("there"))).containsExactly("there");
		assertThat(resources("any", new Id("7"))).containsExactly("Id[value=7]");
	}

	@ParameterizedTest
	@NullSource
	@ValueSource(strings = { "", "  " })
	void whenPartIsNullOrBlankThenRefusedCase45(@Nullable String argument) {
		for (String method : List.of("byName", "whole", "byIndex")) {
			assertRefused(method, argument).withMessageContaining("." + method + "(")
				.withMessageContaining("expression '")
				.withMessageContaining("-parameters");
		}
		assertRefused("elements", Arrays.asList("a", argument)).withMessageContaining("#ids");
	}

	@Test
	void whenValueCannotNameOneResourceThenRefused() {
		assertRefused("any", Optional.empty()).withMessageContaining("is null");
		assertRefused("any", new Object()).withMessageContaining("toString()");
		assertRefused("any", Map.of("a", "b")).withMessageContaining("collection");
		assertRefused("any", List.of(List.of("a"))).withMessageContaining("collection");
		assertRefused("part", List.of("a")).withMessageContaining("collection");
		assertRefused("elements", List.of()).withMessageContaining("no resource");
	}

	@Test
	void whenExpressionFailsThenMessageShowsNoArgument() {
		assertRefused("parsed", "my secret").withMessageContaining("T(Long).parseLong(#id)")
			.withMessageContaining("NumberFormatException")
			.withMessageNotContaining("my secret")
			.withNoCause();
	}

	@Test
	void whenValueFailsThenMessageShowsNoArgument() {
		Iterable<String> failing = () -> {
			throw new IllegalStateException("my secret");
		};
		for (Object value : List.of(failing, new Failing("my secret"), List.of(new Failing("my secret")))) {
			assertRefused("any", value).withMessageContaining("IllegalStateException")
				.withMessageNotContaining("my secret")
				.withNoCause();
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "withoutBraces", "indexWithoutBraces", "unknownVariable", "unknownIndex", "function",
			"unclosed", "empty", "badSyntax", "blank", "none", "unresolved" })
	void whenTemplateIsBadThenRefusedAtStartCase46(String method) {
		assertThatExceptionOfType(InvalidFencedOperationException.class).isThrownBy(() -> metadata(method))
			.withMessageContaining("Bad." + method + "(String)");
	}

	private ThrowableAssertAlternative<InvalidFencedOperationException> assertRefused(String method,
			@Nullable Object argument) {
		return assertThatExceptionOfType(InvalidFencedOperationException.class)
			.isThrownBy(() -> resources(method, argument));
	}

	private List<String> resources(String method, @Nullable Object argument) {
		return metadata(method)
			.toRequest(new Good(), new @Nullable Object[] { argument }, null, () -> OperationTransaction.DEFAULT)
			.resources();
	}

	private FencedOperationMetadata metadata(String name) {
		for (Class<?> type : List.of(Good.class, Bad.class)) {
			for (Method method : type.getDeclaredMethods()) {
				if (method.getName().equals(name)) {
					FencedOperationMetadata metadata = this.source.getMetadata(method, type);
					assertThat(metadata).isNotNull();
					return metadata;
				}
			}
		}
		throw new IllegalArgumentException(name);
	}

	record Id(String value) {

	}

	public static class Regions {

		public String of(String id) {
			return "asia:" + id;
		}

	}

	public static class Good {

		private final String place = "here";

		public String getPlace() {
			return this.place;
		}

		@FencedOperation("ledger: 1 {x}")
		void literal(String id) {
		}

		@FencedOperation("account:#{#id}:end")
		void byName(String id) {
		}

		@FencedOperation("#{#p0}/#{#a0}/#{#root.args[0]}/#{args[0]}/#{method.name}/#{target.place}")
		void byIndex(String id) {
		}

		@FencedOperation("#{@regions.of(#id)}")
		void byBean(String id) {
		}

		@FencedOperation({ "a:#{#id}", "b:#{#id}" })
		void several(String id) {
		}

		@FencedOperation("${region}:#{#id}:${absent:none}")
		void placeholder(String id) {
		}

		@FencedOperation("#{#id}")
		void whole(String id) {
		}

		@FencedOperation("#{#ids}")
		void elements(Collection<String> ids) {
		}

		@FencedOperation("#{#ids}")
		void array(String[] ids) {
		}

		@FencedOperation("#{#ids}")
		void numbers(long[] ids) {
		}

		@FencedOperation("#{#ids}")
		void varargs(String... ids) {
		}

		@FencedOperation("#{#ids.!['x:' + #this]}")
		void projected(List<String> ids) {
		}

		@FencedOperation("#{#value}")
		void any(Object value) {
		}

		@FencedOperation("x:#{#value}")
		void part(Object value) {
		}

		@FencedOperation("#{T(Long).parseLong(#id)}")
		void parsed(String id) {
		}

	}

	static class Bad {

		@FencedOperation("account:#id")
		void withoutBraces(String id) {
		}

		@FencedOperation("#p0")
		void indexWithoutBraces(String id) {
		}

		@FencedOperation("account:#{#other}")
		void unknownVariable(String id) {
		}

		@FencedOperation("account:#{#p1}")
		void unknownIndex(String id) {
		}

		@FencedOperation("account:#{#hash(#id)}")
		void function(String id) {
		}

		@FencedOperation("account:#{#id")
		void unclosed(String id) {
		}

		@FencedOperation("account:#{}")
		void empty(String id) {
		}

		@FencedOperation("account:#{#id +}")
		void badSyntax(String id) {
		}

		@FencedOperation(" ")
		void blank(String id) {
		}

		@FencedOperation
		void none(String id) {
		}

		@FencedOperation("${not.set}:#{#id}")
		void unresolved(String id) {
		}

	}

	private record Failing(String secret) {

		@Override
		public String toString() {
			throw new IllegalStateException(this.secret);
		}

	}

}
