package io.fencing.autoconfigure;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import javax.tools.ToolProvider;

import io.fencing.FencingException;
import io.fencing.observation.FencingMeters;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.boot.json.JsonParserFactory;
import org.springframework.core.io.ClassPathResource;
import org.springframework.util.ClassUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the README says is so: its Java compiles, as that of all documents, its tables
 * name what there is.
 */
class ReadmeTests {

	private static final Path README = Path.of("..", "README.md");

	private static final Pattern JAVA = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);

	private static final Pattern PROPERTY = Pattern.compile("(?m)^\\| `(fencing\\.[a-z.-]+)` \\| (?:`(.*?)`)? ?\\|");

	private static final Pattern EXCEPTION = Pattern.compile("(?m)^\\| `(\\w+Exception)` \\|");

	@Test
	void whenJavaIsShownThenItCompiles(@TempDir Path directory) throws IOException {
		List<String> snippets = new ArrayList<>();
		for (Path document : documents()) {
			JAVA.matcher(Files.readString(document)).results().map((match) -> match.group(1)).forEach(snippets::add);
		}
		assertThat(snippets).hasSizeGreaterThan(4);
		for (int i = 0; i < snippets.size(); i++) {
			Path source = directory.resolve("Snippet" + i + ".java");
			Files.writeString(source, """
					import io.fencing.*;
					import java.math.BigDecimal;
					import java.lang.reflect.Method;
					import org.springframework.context.annotation.Bean;
					import org.springframework.dao.TransientDataAccessException;
					import org.springframework.jdbc.core.simple.JdbcClient;
					import org.springframework.resilience.annotation.Retryable;
					import org.springframework.resilience.retry.MethodRetryPredicate;
					import org.springframework.transaction.annotation.Transactional;
					class Snippet%d {
					record Receipt() { }
					enum Remittance { EXECUTED, NEVER_SEEN, PENDING }
					interface BankClient { Remittance find(String id); }
					interface Payments { Receipt settle(String id); }
					%s
					}
					""".formatted(i, snippets.get(i).replace("…", "throw new UnsupportedOperationException();")));
			assertThat(ToolProvider.getSystemJavaCompiler()
				.run(null, null, null, "-cp", System.getProperty("java.class.path"), "-proc:none", source.toString()))
				.as(snippets.get(i))
				.isZero();
		}
	}

	private static List<Path> documents() throws IOException {
		try (Stream<Path> files = Files.list(Path.of("..", "docs"))) {
			return Stream.concat(Stream.of(README), files.filter((file) -> file.toString().endsWith(".md"))).toList();
		}
	}

	@Test
	void whenPropertiesAreListedThenTheyAreThoseThatThereAreWithTheirDefaults() throws IOException {
		Map<String, Object> defaults = new HashMap<>();
		List<Map<String, Object>> metadata = metadata();
		metadata.forEach((property) -> defaults.put(name(property), property.get("defaultValue")));
		List<MatchResult> rows = PROPERTY.matcher(section("Properties")).results().toList();
		assertThat(rows).extracting((row) -> row.group(1))
			.containsExactlyInAnyOrderElementsOf(metadata.stream()
				.filter((property) -> !String.valueOf(property.get("description")).contains("reserved"))
				.map(ReadmeTests::name)
				.filter((name) -> !name.equals("fencing.operations"))
				.toList());
		assertThat(rows).filteredOn((row) -> defaults.get(row.group(1)) != null && row.group(2) != null)
			.filteredOn((row) -> !row.group(1).equals("fencing.aspect.order"))
			.hasSizeGreaterThan(15)
			.allSatisfy((row) -> assertThat(row.group(2)).as(row.group(1))
				.isEqualTo(String.valueOf(defaults.get(row.group(1)))));
	}

	@Test
	void whenMetricsAreListedThenTheyAreThoseThatThereAre() throws IOException {
		String source = Files
			.readString(Path.of("src/main/java", FencingMeters.class.getName().replace('.', '/') + ".java"));
		List<String> built = Pattern.compile("builder\\(\"(.+?)\"")
			.matcher(source)
			.results()
			.map((match) -> match.group(1))
			.toList();
		assertThat(Pattern.compile("(?m)^\\| `(.+?)` \\|")
			.matcher(section("Metrics"))
			.results()
			.map((row) -> row.group(1))).containsExactlyInAnyOrderElementsOf(built);
	}

	@Test
	void whenExceptionsAreListedThenTheyExist() throws IOException {
		List<String> names = matches(EXCEPTION).stream().map((match) -> match.group(1)).toList();
		assertThat(names).hasSizeGreaterThan(8)
			.allSatisfy((name) -> assertThat(FencingException.class)
				.isAssignableFrom(ClassUtils.forName("io.fencing." + name, null)));
	}

	private static String section(String title) throws IOException {
		return Files.readString(README).replaceFirst("(?s).*\n## " + title + "\n", "").replaceFirst("(?s)\n## .*", "");
	}

	private static List<MatchResult> matches(Pattern pattern) throws IOException {
		return pattern.matcher(Files.readString(README)).results().collect(Collectors.toList());
	}

	@SuppressWarnings("unchecked")
	private static List<Map<String, Object>> metadata() throws IOException {
		String json = new ClassPathResource("META-INF/spring-configuration-metadata.json",
				FencingProperties.class.getClassLoader())
			.getContentAsString(StandardCharsets.UTF_8);
		return ((List<Map<String, Object>>) JsonParserFactory.getJsonParser().parseMap(json).get("properties")).stream()
			.filter((property) -> name(property).startsWith("fencing."))
			.toList();
	}

	private static String name(Map<String, Object> property) {
		return String.valueOf(property.get("name"));
	}

}
