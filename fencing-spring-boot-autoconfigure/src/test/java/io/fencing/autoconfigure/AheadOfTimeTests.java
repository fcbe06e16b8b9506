package io.fencing.autoconfigure;

import java.io.File;
import java.io.IOException;
import java.io.StringWriter;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

import io.fencing.testing.TestServers;
import io.lettuce.core.RedisAsyncCommandsImpl;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.cluster.api.sync.RedisClusterCommands;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.aot.generate.ClassNameGenerator;
import org.springframework.aot.generate.DefaultGenerationContext;
import org.springframework.aot.generate.FileSystemGeneratedFiles;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.aot.ApplicationContextAotGenerator;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.javapoet.ClassName;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An application whose context is prepared ahead of time, as for a native image.
 */
class AheadOfTimeTests {

	@TempDir
	private Path generated;

	@Test
	void whenContextIsProcessedAheadOfTimeThenOperationsAreFenced() throws Exception {
		String url = TestServers.redisUrl();
		DefaultGenerationContext generation = new DefaultGenerationContext(
				new ClassNameGenerator(ClassName.get(AheadOfTimeTests.class)),
				new FileSystemGeneratedFiles(this.generated));
		AnnotationConfigApplicationContext prepared = new AnnotationConfigApplicationContext();
		TestPropertyValues.of(PreparedRun.properties(url)).applyTo(prepared);
		prepared.register(Prepared.class);
		ClassName initializer = new ApplicationContextAotGenerator().processAheadOfTime(prepared, generation);
		generation.writeGeneratedContent();
		assertHints(generation.getRuntimeHints());
		compile();
		// everything anew, so that generated classes share their packages with ours
		try (URLClassLoader loader = new URLClassLoader(classpath(), ClassLoader.getPlatformClassLoader())) {
			Thread thread = Thread.currentThread();
			ClassLoader before = thread.getContextClassLoader();
			thread.setContextClassLoader(loader);
			try {
				Object written = loader.loadClass(PreparedRun.class.getName())
					.getMethod("run", String.class, String.class)
					.invoke(null, initializer.reflectionName(), url);
				assertThat(written).isEqualTo("2 guards");
			}
			finally {
				thread.setContextClassLoader(before);
			}
		}
	}

	private void compile() throws IOException {
		JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
		try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null);
				Stream<Path> sources = Files.walk(this.generated)) {
			List<Path> java = sources.filter((file) -> file.toString().endsWith(".java")).toList();
			StringWriter output = new StringWriter();
			boolean compiled = compiler
				.getTask(output, files, null,
						List.of("-proc:none", "-nowarn", "-d", classes().toString(), "-classpath",
								classes() + File.pathSeparator + System.getProperty("java.class.path")),
						null, files.getJavaFileObjectsFromPaths(java))
				.call();
			assertThat(compiled).as(output.toString()).isTrue();
		}
	}

	// where class proxies have been generated as well
	private Path classes() {
		return this.generated.resolve("classes");
	}

	private URL[] classpath() throws MalformedURLException {
		List<URL> urls = new ArrayList<>();
		urls.add(classes().toUri().toURL());
		for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
			urls.add(Path.of(entry).toUri().toURL());
		}
		return urls.toArray(URL[]::new);
	}

	private static void assertHints(RuntimeHints hints) {
		for (String script : new String[] { "check", "command", "equal", "large" }) {
			assertThat(RuntimeHintsPredicates.resource().forResource("io/fencing/fence/redis/" + script + ".lua"))
				.accepts(hints);
		}
		for (String script : new String[] { "acquire", "renew", "release", "lift" }) {
			assertThat(RuntimeHintsPredicates.resource().forResource("io/fencing/lease/redisson/" + script + ".lua"))
				.accepts(hints);
		}
		assertThat(RuntimeHintsPredicates.resource().forResource("io/fencing/jdbc/schema-postgresql.sql"))
			.accepts(hints);
		assertThat(RuntimeHintsPredicates.reflection()
			.onType(LettuceConnectionFactory.class)
			.withMemberCategory(MemberCategory.ACCESS_DECLARED_FIELDS)).accepts(hints);
		assertThat(RuntimeHintsPredicates.reflection()
			.onType(RedisAsyncCommandsImpl.class)
			.withMemberCategory(MemberCategory.INVOKE_PUBLIC_METHODS)).accepts(hints);
		assertThat(RuntimeHintsPredicates.proxies().forInterfaces(RedisCommands.class, RedisClusterCommands.class))
			.accepts(hints);
	}

	/** As Boot would configure it. */
	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ SslAutoConfiguration.class, AopAutoConfiguration.class, DataRedisAutoConfiguration.class,
			DataSourceAutoConfiguration.class, DataSourceTransactionManagerAutoConfiguration.class,
			JdbcTemplateAutoConfiguration.class, TransactionAutoConfiguration.class, FencingJdbcAutoConfiguration.class,
			FencingCoordinatorAutoConfiguration.class, FencingRedisAutoConfiguration.class,
			FencingAutoConfiguration.class, FencingAopAutoConfiguration.class })
	static class Prepared extends RedisApplicationTests.Application {

	}

}
