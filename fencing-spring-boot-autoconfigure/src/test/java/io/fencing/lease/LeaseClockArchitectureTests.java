package io.fencing.lease;

import java.time.Clock;
import java.time.Instant;
import java.util.Date;

import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.syntax.ArchRuleDefinition;

/**
 * Rule 8, case 63: no wall clock decides about leases in this JVM.
 */
@AnalyzeClasses(packages = "io.fencing.lease", importOptions = DoNotIncludeTests.class)
class LeaseClockArchitectureTests {

	@ArchTest
	final ArchRule rule8Case63NobodyReadsTheWallClock = ArchRuleDefinition.noClasses()
		.should()
		.callMethod(System.class, "currentTimeMillis")
		.orShould()
		.dependOnClassesThat()
		.belongToAnyOf(Instant.class, Clock.class, Date.class);

}
