package io.fencing.architecture;

import java.util.stream.Stream;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The package table of docs/design.md holds, and would be missed if it did not.
 */
class ArchitectureTests {

	private static final String BROKEN = ArchitectureTests.class.getPackageName() + ".broken";

	@TestFactory
	Stream<DynamicTest> whenStarterIsBuiltThenPackageTableHolds() {
		JavaClasses classes = new ClassFileImporter().withImportOption(new ImportOption.DoNotIncludeTests())
			.importPackages("io.fencing");
		assertThat(classes).isNotEmpty();
		return new PackageRules("io.fencing").all()
			.map((rule) -> DynamicTest.dynamicTest(rule.getDescription(), () -> rule.check(classes)));
	}

	@TestFactory
	Stream<DynamicTest> whenFixtureBreaksEveryRuleThenEachReportsIt() {
		JavaClasses classes = new ClassFileImporter().importPackages(BROKEN);
		return new PackageRules(BROKEN).all()
			.map((rule) -> DynamicTest.dynamicTest(rule.getDescription(),
					() -> assertThat(rule.evaluate(classes).hasViolation()).isTrue()));
	}

}
