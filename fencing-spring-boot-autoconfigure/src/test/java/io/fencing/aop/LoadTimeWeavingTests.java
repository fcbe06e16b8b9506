package io.fencing.aop;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

import io.fencing.testing.ForkedJvm;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The same aspect, woven by AspectJ's agent when classes are loaded.
 */
class LoadTimeWeavingTests {

	private static final String AOP_XML = """
			<aspectj>
				<weaver>
					<include within="io.fencing.aop.WovenApplication..*"/>
					<include within="io.fencing.aop.FencedOperationAspect"/>
				</weaver>
				<aspects>
					<aspect name="io.fencing.aop.FencedOperationAspect"/>
				</aspects>
			</aspectj>
			""";

	@Test
	void whenWovenThenSelfInvokedPrivateFinalAndStaticMethodsAreFencedAndOthersByProxies(@TempDir Path directory)
			throws IOException {
		Files.createDirectory(directory.resolve("META-INF"));
		Files.writeString(directory.resolve("META-INF/aop.xml"), AOP_XML);
		String classPath = System.getProperty("java.class.path");
		String weaver = Arrays.stream(classPath.split(File.pathSeparator))
			.filter((entry) -> entry.contains("aspectjweaver"))
			.findFirst()
			.orElseThrow();
		List<String> options = List.of("-javaagent:" + weaver, "--add-opens=java.base/java.lang=ALL-UNNAMED", "-cp",
				directory + File.pathSeparator + classPath);
		try (ForkedJvm jvm = ForkedJvm.start("woven", options, WovenApplication.class)) {
			assertThat(jvm.await("early")).contains("no application context");
			assertThat(jvm.await("type")).isEqualTo("Ledger");
			assertThat(jvm.await("resources")).isEqualTo("[public, private, final, static, public, interface]");
			jvm.await("done");
		}
	}

}
