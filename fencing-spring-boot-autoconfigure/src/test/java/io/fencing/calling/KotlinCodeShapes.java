package io.fencing.calling;

import java.util.List;
import java.util.function.Function;

/**
 * How the code of an operation may look in Kotlin.
 */
final class KotlinCodeShapes {

	private static final String SECTION = "Kotlin";

	private KotlinCodeShapes() {
	}

	static List<Shape> list() {
		return List.of(open("an open function of an open class", (bean) -> bean.withdraw("42")),
				open("a parameter with a default value, left out", KotlinCalls::withDefault),
				open("an internal function", KotlinCalls::mangled),
				open("a value class as the parameter", KotlinCalls::byValue),
				open("a list of a value class as the parameter", KotlinCalls::byBoxed),
				open("a data class as the parameter", KotlinCalls::byData),
				open("a nullable parameter", (bean) -> bean.byNullable("42")),
				open("vararg", (bean) -> bean.byVararg("42", "43")),
				open("an extension function", KotlinCalls::extension),
				open("a CompletableFuture", (bean) -> bean.later("42").join()),
				open("a result of Unit with SKIP", KotlinCodeShapes::skippingUnit),
				shape("a final class, Kotlin's default", FinalAccounts.class, (bean) -> bean.withdraw("42"),
						FinalAccounts.class),
				shape("a final function, Kotlin's default", FinalFunction.class, (bean) -> bean.withdraw("42"),
						FinalFunction.class),
				shape("a final class with an interface, class proxies", KotlinAccounts.class,
						(bean) -> bean.withdraw("42"), ImplementingAccounts.class),
				shape("a final class with an interface, JDK proxies", KotlinAccounts.class,
						(bean) -> bean.withdraw("42"), ImplementingAccounts.class)
					.with("spring.aop.proxy-target-class=false"),
				shape("a function with a body in an interface", KotlinAccounts.class, (bean) -> bean.withBody("42"),
						DelegatingAccounts.class),
				shape("delegation to an object that is no bean, by an interface without the annotation",
						KotlinAccounts.class, (bean) -> bean.withdraw("42"), DelegatingAccounts.class)
					.isUnfenced("the object is unknown to Spring, and what is called has no annotation"),
				shape("an object", SingletonAccounts.class, (bean) -> bean.withdraw("42"))
					.with((runner) -> runner.withBean(SingletonAccounts.class, () -> SingletonAccounts.INSTANCE)),
				shape("@JvmStatic in a companion object", CompanionAccounts.class,
						(bean) -> CompanionAccounts.withdraw("42"), CompanionAccounts.class),
				shape("a private function", PrivateFunction.class, (bean) -> bean.call("42"), PrivateFunction.class),
				shape("suspend", SuspendingAccounts.class, (bean) -> null, SuspendingAccounts.class),
				shape("a Flow", FlowingAccounts.class, (bean) -> bean.withdraw("42"), FlowingAccounts.class),
				shape("a Deferred", DeferredAccounts.class, (bean) -> bean.withdraw("42"), DeferredAccounts.class),
				shape("a result of Int with SKIP", SkippingInt.class, (bean) -> bean.withdraw("42"),
						SkippingInt.class));
	}

	private static Object skippingUnit(OpenAccounts bean) {
		bean.skippingUnit("42");
		return bean.lastSeen();
	}

	private static Shape open(String name, Function<OpenAccounts, Object> call) {
		return shape(name, OpenAccounts.class, call, OpenAccounts.class);
	}

	private static <T> Shape shape(String name, Class<T> type, Function<T, Object> call, Class<?>... components) {
		return Shape.of(SECTION, name, type, call, components);
	}

}
