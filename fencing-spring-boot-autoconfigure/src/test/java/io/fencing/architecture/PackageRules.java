package io.fencing.architecture;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.syntax.ArchRuleDefinition;

/**
 * The package table of docs/design.md: who may see whom, for the packages under a root.
 */
final class PackageRules {

	private static final String ROOT = "";

	/**
	 * What each package may see, besides itself; the packages of {@code autoconfigure}
	 * see all and are seen by nobody.
	 */
	private static final Map<String, List<String>> MAY_SEE = new LinkedHashMap<>();

	static {
		MAY_SEE.put(ROOT, List.of());
		MAY_SEE.put(".lease", List.of(ROOT));
		MAY_SEE.put(".lease.redisson", List.of(ROOT, ".lease"));
		MAY_SEE.put(".context", List.of(ROOT, ".lease"));
		MAY_SEE.put(".fence", List.of(ROOT, ".lease", ".context"));
		MAY_SEE.put(".fence.jdbc", List.of(ROOT, ".fence", ".context", ".jdbc"));
		MAY_SEE.put(".fence.redis", List.of(ROOT, ".fence", ".context"));
		MAY_SEE.put(".journal", List.of(ROOT));
		MAY_SEE.put(".journal.jdbc", List.of(ROOT, ".journal", ".jdbc"));
		MAY_SEE.put(".journal.jackson", List.of(ROOT));
		MAY_SEE.put(".jdbc", List.of(ROOT));
		MAY_SEE.put(".operation", List.of(ROOT, ".lease", ".context", ".fence", ".journal"));
		MAY_SEE.put(".aop", List.of(ROOT, ".operation"));
		MAY_SEE.put(".observation", List.of(ROOT));
		MAY_SEE.put(".actuate", List.of(ROOT, ".lease", ".fence", ".journal"));
	}

	private final String root;

	PackageRules(String root) {
		this.root = root;
	}

	Stream<ArchRule> all() {
		List<ArchRule> rules = new ArrayList<>();
		MAY_SEE.forEach((name, seen) -> rules.add(seesOnly(name, seen)));
		rules.add(everyPackageIsInTheTable());
		rules.add(rootIsPlain());
		rules.add(usedOnlyIn("org.springframework.boot..", ".actuate", ".autoconfigure"));
		rules.add(usedOnlyIn("org.redisson..", ".lease.redisson", ".fence.redis", ".autoconfigure"));
		rules.add(usedOnlyIn("org.springframework.data.redis..", ".fence.redis", ".autoconfigure"));
		rules.add(usedOnlyIn("io.lettuce..", ".fence.redis", ".autoconfigure"));
		rules.add(usedOnlyIn("tools.jackson..", ".journal.jackson", ".autoconfigure"));
		return rules.stream().map((rule) -> rule.allowEmptyShould(true));
	}

	private ArchRule seesOnly(String name, List<String> seen) {
		String[] allowed = Stream.concat(Stream.of(name), seen.stream()).map(this.root::concat).toArray(String[]::new);
		DescribedPredicate<JavaClass> others = JavaClass.Predicates.resideInAPackage(this.root + "..")
			.and(DescribedPredicate.not(JavaClass.Predicates.resideInAnyPackage(allowed)))
			.as("packages of ours but %s", List.of(allowed));
		return ArchRuleDefinition.noClasses()
			.that()
			.resideInAPackage(this.root + name)
			.should()
			.dependOnClassesThat(others)
			.because("docs/design.md says what '" + this.root + name + "' may see");
	}

	private ArchRule everyPackageIsInTheTable() {
		String[] known = Stream.concat(MAY_SEE.keySet().stream(), Stream.of(".autoconfigure"))
			.map(this.root::concat)
			.toArray(String[]::new);
		return ArchRuleDefinition.noClasses()
			.should()
			.resideOutsideOfPackages(known)
			.because("every package has a line in the table of docs/design.md");
	}

	private ArchRule rootIsPlain() {
		return ArchRuleDefinition.noClasses()
			.that()
			.resideInAPackage(this.root)
			.should()
			.dependOnClassesThat()
			.resideOutsideOfPackages(this.root + "..", "java..", "javax.crypto..", "org.jspecify..", "org.slf4j..",
					"org.springframework.core..", "org.springframework.util..", "org.springframework.lang..")
			.because("the API needs the JDK, JSpecify, SLF4J and spring-core only");
	}

	private ArchRule usedOnlyIn(String library, String... packages) {
		String[] allowed = Stream.of(packages).map(this.root::concat).toArray(String[]::new);
		return ArchRuleDefinition.noClasses()
			.that()
			.resideOutsideOfPackages(allowed)
			.should()
			.dependOnClassesThat()
			.resideInAPackage(library)
			.because("only " + List.of(allowed) + " may use " + library);
	}

}
