package io.fencing.calling;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.function.Function;

import io.fencing.FencedOperation;
import io.fencing.OnBusy;
import io.fencing.calling.other.Elsewhere;

import org.springframework.core.annotation.AliasFor;

/**
 * How the code of an operation may look.
 */
final class CodeShapes {

	private static final String SECTION = "The code";

	private static final String JDK_PROXY = "spring.aop.proxy-target-class=false";

	private CodeShapes() {
	}

	static List<Shape> list() {
		return List.of(shape("a public method of a class", Plain.class, (bean) -> bean.withdraw("42"), Plain.class),
				shape("a package-private method of a package-private class", PackagePrivate.class,
						(bean) -> bean.withdraw("42"), PackagePrivate.class),
				shape("a protected method", ProtectedMethod.class, (bean) -> bean.withdraw("42"),
						ProtectedMethod.class),
				shape("a protected method, inherited from another package", ProtectedElsewhere.class,
						Elsewhere.Protected::withdraw, ProtectedElsewhere.class),
				shape("a package-private method, inherited from another package", PackagePrivateElsewhere.class,
						Elsewhere::withdraw, PackagePrivateElsewhere.class),
				shape("a private method", PrivateMethod.class, PrivateMethod::call, PrivateMethod.class),
				shape("a final method", FinalMethod.class, (bean) -> bean.withdraw("42"), FinalMethod.class),
				shape("a static method", StaticMethod.class, (bean) -> StaticMethod.withdraw("42"), StaticMethod.class),
				shape("equals()", Equal.class, (bean) -> null, Equal.class),
				shape("toString()", Text.class, (bean) -> null, Text.class),
				shape("a final class", FinalClass.class, (bean) -> bean.withdraw("42"), FinalClass.class),
				shape("a final class with an interface, class proxies", Accounts.class, (bean) -> bean.withdraw("42"),
						FinalImplementing.class),
				shape("a final class with an interface, JDK proxies", Accounts.class, (bean) -> bean.withdraw("42"),
						FinalImplementing.class)
					.with(JDK_PROXY),
				shape("a sealed class", Sealed.class, (bean) -> bean.withdraw("42"), Sealed.class),
				shape("a class with private constructors only", Hermit.class, (bean) -> bean.withdraw("42"))
					.with((runner) -> runner.withBean(Hermit.class, Hermit::create)),
				shape("a record, class proxies", Accounts.class, (bean) -> bean.withdraw("42"), RecordAccounts.class),
				shape("a record, JDK proxies", Accounts.class, (bean) -> bean.withdraw("42"), RecordAccounts.class)
					.with(JDK_PROXY),
				shape("an enum, class proxies", Accounts.class, (bean) -> bean.withdraw("42"))
					.with((runner) -> runner.withBean(EnumAccounts.class, () -> EnumAccounts.ONE)),
				shape("an enum, JDK proxies", Accounts.class, (bean) -> bean.withdraw("42"))
					.with((runner) -> runner.withBean(EnumAccounts.class, () -> EnumAccounts.ONE))
					.with(JDK_PROXY),
				shape("an interface's method, class proxies", Annotated.class, (bean) -> bean.withdraw("42"),
						ImplementingAnnotated.class),
				shape("an interface's method, JDK proxies", Annotated.class, (bean) -> bean.withdraw("42"),
						ImplementingAnnotated.class)
					.with(JDK_PROXY),
				shape("a class's method that implements an interface, JDK proxies", Accounts.class,
						(bean) -> bean.withdraw("42"), Implementing.class)
					.with(JDK_PROXY),
				shape("a class's method that no interface has, JDK proxies", Accounts.class,
						(bean) -> bean.withdraw("42"), MoreThanInterface.class)
					.with(JDK_PROXY),
				shape("a default method of an interface, class proxies", WithDefault.class,
						(bean) -> bean.withdraw("42"), UsingDefault.class),
				shape("a default method of an interface, JDK proxies", WithDefault.class, (bean) -> bean.withdraw("42"),
						UsingDefault.class)
					.with(JDK_PROXY),
				shape("an interface with the annotation on itself", OnInterface.class, (bean) -> bean.withdraw("42"),
						ImplementingOnInterface.class),
				shape("a generic interface, bridge method, class proxies", Handler.class, (bean) -> handle(bean, "42"),
						TextHandler.class),
				shape("a generic interface, bridge method, JDK proxies", Handler.class, (bean) -> handle(bean, "42"),
						TextHandler.class)
					.with(JDK_PROXY),
				shape("a default method of a generic interface", Handler.class, (bean) -> bean.twice(List.of("42")),
						TextHandler.class),
				shape("a generic superclass", NumberAccounts.class, (bean) -> bean.withdraw(42), NumberAccounts.class),
				shape("a generic superclass, called as such", GenericAccounts.class, (bean) -> withdraw(bean, 42),
						NumberAccounts.class),
				shape("an override with a narrower result, called as the superclass", Wide.class,
						(bean) -> bean.withdraw("42"), Narrow.class),
				shape("an inherited method", Inheriting.class, (bean) -> bean.withdraw("42"), Inheriting.class),
				shape("an override without the annotation", Overriding.class, (bean) -> bean.withdraw("42"),
						Overriding.class),
				shape("an override with an annotation of its own", Redefining.class, (bean) -> bean.withdraw("42"),
						Redefining.class),
				shape("a final override", FinalOverride.class, (bean) -> bean.withdraw("42"), FinalOverride.class),
				shape("an abstract method and its implementation", AbstractAccounts.class,
						(bean) -> bean.withdraw("42"), ConcreteAccounts.class),
				shape("a class with the annotation on itself", OnClass.class, (bean) -> bean.withdraw("42"),
						OnClass.class),
				shape("a class with the annotation on its superclass", OnSuperclass.class, (bean) -> bean.deposit("42"),
						OnSuperclass.class),
				shape("a class with the annotation, a method that it only inherits", OnClassOnly.class,
						(bean) -> bean.unannotated("42"), OnClassOnly.class)
					.isUnfenced("an annotation on a class stands for the methods that the class declares"),
				shape("a class with the annotation, a method that is not public", OnClass.class,
						(bean) -> bean.helper("42"), OnClass.class)
					.isUnfenced("an annotation on a class stands for its public methods"),
				shape("a class with the annotation, a public method that is final", OnClassFinal.class,
						(bean) -> bean.withdraw("42"), OnClassFinal.class),
				shape("a meta-annotation on the method", Composed.class, (bean) -> bean.withdraw("42"), Composed.class),
				shape("a meta-annotation with @AliasFor", Composed.class, (bean) -> bean.aliased("42"), Composed.class),
				shape("a meta-annotation of a meta-annotation", Composed.class, (bean) -> bean.twice("42"),
						Composed.class),
				shape("a meta-annotation on the class", ComposedClass.class, (bean) -> bean.withdraw("42"),
						ComposedClass.class),
				shape("varargs", Parameters.class, (bean) -> bean.varargs("42", "43"), Parameters.class),
				shape("an overload of two", Parameters.class, (bean) -> bean.overloaded(42), Parameters.class),
				shape("a bean in an expression", ByBean.class, (bean) -> bean.withdraw("42"), ByBean.class,
						Naming.class),
				shape("an unknown bean in an expression", ByBean.class, (bean) -> bean.withdraw("42"), ByBean.class),
				shape("a stage that completes later", Parameters.class, (bean) -> bean.later("42").join(),
						Parameters.class),
				shape("a Callable", CallableResult.class, (bean) -> bean.withdraw("42"), CallableResult.class),
				shape("a Future", FutureResult.class, (bean) -> bean.withdraw("42"), FutureResult.class),
				shape("a primitive result with SKIP", SkippingInt.class, (bean) -> bean.withdraw("42"),
						SkippingInt.class),
				shape("a call of a method on this", Selfish.class, (bean) -> bean.call("42"), Selfish.class)
					.isUnfenced("such a call goes by no proxy"),
				shape("a method reference to this, made in the constructor", Selfish.class,
						(bean) -> bean.callReference("42"), Selfish.class)
					.isUnfenced("such a call goes by no proxy"),
				shape("an inner class", Outer.Inner.class, (bean) -> bean.withdraw("42"))
					.with((runner) -> runner.withBean(Outer.Inner.class, () -> new Outer().new Inner())),
				shape("an anonymous class", Accounts.class, (bean) -> bean.withdraw("42"))
					.with((runner) -> runner.withBean(Accounts.class, CodeShapes::anonymous)),
				shape("a lambda of an annotated interface", Annotated.class, (bean) -> bean.withdraw("42"))
					.with((runner) -> runner.withBean(Annotated.class, () -> (id) -> Seen.record())));
	}

	private static <T> Shape shape(String name, Class<T> type, Function<T, Object> call, Class<?>... components) {
		return Shape.of(SECTION, name, type, call, components);
	}

	@SuppressWarnings("unchecked")
	private static Object handle(Handler<?> handler, String input) {
		return ((Handler<String>) handler).handle(input);
	}

	@SuppressWarnings("unchecked")
	private static Object withdraw(GenericAccounts<?> accounts, Integer id) {
		return ((GenericAccounts<Integer>) accounts).withdraw(id);
	}

	private static Accounts anonymous() {
		return new Accounts() {

			@Override
			@FencedOperation("account:#{#id}")
			public String withdraw(String id) {
				return Seen.record();
			}

		};
	}

	interface Accounts {

		String withdraw(String id);

	}

	interface Annotated {

		@FencedOperation("account:#{#id}")
		String withdraw(String id);

	}

	public static class Plain {

		@FencedOperation("account:#{#id}")
		public String withdraw(String id) {
			return Seen.record();
		}

	}

	static class PackagePrivate {

		@FencedOperation("account:#{#id}")
		String withdraw(String id) {
			return Seen.record();
		}

	}

	public static class ProtectedMethod {

		@FencedOperation("account:#{#id}")
		protected String withdraw(String id) {
			return Seen.record();
		}

	}

	public static class ProtectedElsewhere extends Elsewhere.Protected {

	}

	public static class PackagePrivateElsewhere extends Elsewhere {

	}

	public static class PrivateMethod {

		@FencedOperation("account:#{#id}")
		private String withdraw(String id) {
			return Seen.record();
		}

		String call() {
			return withdraw("42");
		}

	}

	public static class FinalMethod {

		@FencedOperation("account:#{#id}")
		public final String withdraw(String id) {
			return Seen.record();
		}

	}

	public static class Equal {

		@Override
		@FencedOperation("account:42")
		public boolean equals(Object other) {
			return other instanceof Equal;
		}

		@Override
		public int hashCode() {
			return 42;
		}

	}

	public static class Text {

		@Override
		@FencedOperation("account:42")
		public String toString() {
			return Seen.record();
		}

	}

	public static class StaticMethod {

		@FencedOperation("account:#{#id}")
		public static String withdraw(String id) {
			return Seen.record();
		}

	}

	public static final class FinalClass {

		@FencedOperation("account:#{#id}")
		public String withdraw(String id) {
			return Seen.record();
		}

	}

	public static class Implementing implements Accounts {

		@Override
		@FencedOperation("account:#{#id}")
		public String withdraw(String id) {
			return Seen.record();
		}

	}

	public static final class FinalImplementing implements Accounts {

		@Override
		@FencedOperation("account:#{#id}")
		public String withdraw(String id) {
			return Seen.record();
		}

	}

	public static sealed class Sealed permits Unsealed {

		@FencedOperation("account:#{#id}")
		public String withdraw(String id) {
			return Seen.record();
		}

	}

	static final class Unsealed extends Sealed {

	}

	public static class Hermit {

		private Hermit() {
		}

		static Hermit create() {
			return new Hermit();
		}

		@FencedOperation("account:#{#id}")
		public String withdraw(String id) {
			return Seen.record();
		}

		private static final class Only extends Hermit {

		}

	}

	record RecordAccounts() implements Accounts {

		@Override
		@FencedOperation("account:#{#id}")
		public String withdraw(String id) {
			return Seen.record();
		}

	}

	enum EnumAccounts implements Accounts {

		ONE;

		@Override
		@FencedOperation("account:#{#id}")
		public String withdraw(String id) {
			return Seen.record();
		}

	}

	public static class ImplementingAnnotated implements Annotated {

		@Override
		public String withdraw(String id) {
			return Seen.record();
		}

	}

	public static class MoreThanInterface implements Accounts {

		@Override
		public String withdraw(String id) {
			return more(id);
		}

		@FencedOperation("account:#{#id}")
		public String more(String id) {
			return Seen.record();
		}

	}

	interface WithDefault {

		@FencedOperation("account:#{#id}")
		default String withdraw(String id) {
			return Seen.record();
		}

	}

	public static class UsingDefault implements WithDefault {

	}

	@FencedOperation("account:#{#id}")
	interface OnInterface {

		String withdraw(String id);

	}

	public static class ImplementingOnInterface implements OnInterface {

		@Override
		public String withdraw(String id) {
			return Seen.record();
		}

	}

	interface Handler<T> {

		String handle(T input);

		@FencedOperation("account:#{#inputs[0]}")
		default String twice(List<T> inputs) {
			return Seen.record();
		}

	}

	public static class TextHandler implements Handler<String> {

		@Override
		@FencedOperation("account:#{#input}")
		public String handle(String input) {
			return Seen.record();
		}

	}

	public abstract static class GenericAccounts<T> {

		@FencedOperation("account:#{#id}")
		public Object withdraw(T id) {
			return Seen.record();
		}

	}

	public static class NumberAccounts extends GenericAccounts<Integer> {

		@Override
		public String withdraw(Integer id) {
			return Seen.record();
		}

	}

	public static class Wide {

		@FencedOperation("account:#{#id}")
		public Object withdraw(String id) {
			return "wide";
		}

	}

	public static class Narrow extends Wide {

		@Override
		public String withdraw(String id) {
			return Seen.record();
		}

	}

	public static class Inheriting extends Plain {

	}

	public static class Overriding extends Plain {

		@Override
		public String withdraw(String id) {
			return Seen.record();
		}

	}

	public static class Redefining extends OtherResource {

		@Override
		@FencedOperation("account:#{#id}")
		public String withdraw(String id) {
			return super.withdraw(id);
		}

	}

	public static class OtherResource {

		@FencedOperation("other:#{#id}")
		public String withdraw(String id) {
			return Seen.record();
		}

	}

	public static class FinalOverride extends Plain {

		@Override
		public final String withdraw(String id) {
			return Seen.record();
		}

	}

	public abstract static class AbstractAccounts {

		@FencedOperation("account:#{#id}")
		public abstract String withdraw(String id);

	}

	public static class ConcreteAccounts extends AbstractAccounts {

		@Override
		public String withdraw(String id) {
			return Seen.record();
		}

	}

	@FencedOperation("account:#{#id}")
	public static class OnClass {

		public String withdraw(String id) {
			return Seen.record();
		}

		String helper(String id) {
			return Seen.record();
		}

	}

	public static class OnSuperclass extends OnClass {

		public String deposit(String id) {
			return Seen.record();
		}

	}

	public static class Unannotated {

		public String unannotated(String id) {
			return Seen.record();
		}

	}

	@FencedOperation("account:#{#id}")
	public static class OnClassOnly extends Unannotated {

		public String withdraw(String id) {
			return Seen.record();
		}

	}

	@FencedOperation("account:#{#id}")
	public static class OnClassFinal {

		public final String withdraw(String id) {
			return Seen.record();
		}

	}

	@FencedOperation("account:#{#id}")
	@Retention(RetentionPolicy.RUNTIME)
	@interface ById {

	}

	@FencedOperation
	@Retention(RetentionPolicy.RUNTIME)
	@interface OnAccount {

		@AliasFor(annotation = FencedOperation.class, attribute = "resource")
		String[] account();

		@AliasFor(annotation = FencedOperation.class, attribute = "leaseTime")
		String during() default "20s";

	}

	@OnAccount(account = "account:#{#id}")
	@Retention(RetentionPolicy.RUNTIME)
	@interface Patiently {

	}

	public static class Composed {

		@ById
		public String withdraw(String id) {
			return Seen.record();
		}

		@OnAccount(account = "account:#{#id}", during = "30s")
		public String aliased(String id) {
			return Seen.record();
		}

		@Patiently
		public String twice(String id) {
			return Seen.record();
		}

	}

	@ById
	public static class ComposedClass {

		public String withdraw(String id) {
			return Seen.record();
		}

	}

	public static class Naming {

		public String of(String id) {
			return "account:" + id;
		}

	}

	public static class Parameters {

		@FencedOperation("account:#{#ids[0]}")
		public String varargs(String... ids) {
			return Seen.record();
		}

		@FencedOperation("other:#{#id}")
		public String overloaded(String id) {
			return Seen.record();
		}

		@FencedOperation("account:#{#id}")
		public String overloaded(int id) {
			return Seen.record();
		}

		@FencedOperation("account:#{#id}")
		public CompletableFuture<String> later(String id) {
			return CompletableFuture.completedFuture(Seen.record());
		}

	}

	public static class ByBean {

		@FencedOperation("#{@'codeShapes.Naming'.of(#id)}")
		public String withdraw(String id) {
			return Seen.record();
		}

	}

	public static class CallableResult {

		@FencedOperation("account:#{#id}")
		public Callable<String> withdraw(String id) {
			return Seen::record;
		}

	}

	public static class FutureResult {

		@FencedOperation("account:#{#id}")
		public Future<String> withdraw(String id) {
			return CompletableFuture.completedFuture(Seen.record());
		}

	}

	public static class SkippingInt {

		@FencedOperation(resource = "account:#{#id}", onBusy = OnBusy.SKIP)
		public int withdraw(String id) {
			return 1;
		}

	}

	public static class Selfish {

		private final Function<String, String> reference;

		Selfish() {
			this.reference = this::withdraw;
		}

		@FencedOperation("account:#{#id}")
		public String withdraw(String id) {
			return Seen.record();
		}

		public String call(String id) {
			return withdraw(id);
		}

		public String callReference(String id) {
			return this.reference.apply(id);
		}

	}

	public static class Outer {

		public class Inner {

			@FencedOperation("account:#{#id}")
			public String withdraw(String id) {
				return Seen.record();
			}

		}

	}

}
