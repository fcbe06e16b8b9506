package io.fencing;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.core.annotation.AliasFor;

/**
 * Runs a method under a lease and lets every write it makes through a fenced storage
 * count only while no newer holder has started.
 *
 * <p>
 * On a method, on a class (its public methods; a method's own annotation wins), or as a
 * meta-annotation. Durations are text such as {@code 30s} or a <code>${…}</code>
 * placeholder; what is left empty comes from {@code fencing.operations.<name>.*} and then
 * from {@code fencing.*}.
 *
 * <pre class="code">
 * &#64;FencedOperation(resource = "account:#{#id}", name = "withdraw")
 * &#64;Transactional
 * public Receipt withdraw(String id, BigDecimal amount) { … }
 * </pre>
 */
@Target({ ElementType.METHOD, ElementType.TYPE })
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@Documented
public @interface FencedOperation {

	/**
	 * Alias for {@link #resource()}.
	 * @return the resources
	 */
	@AliasFor("resource")
	String[] value() default {};

	/**
	 * What is protected: literal text with <code>#{…}</code> SpEL expressions over the
	 * arguments and <code>${…}</code> placeholders (never evaluated in argument values).
	 * Several are leased and claimed together, in one sorted order, all or none; an
	 * element that is one whole expression with an {@code Iterable} value is several.
	 * @return the resources, at least one
	 */
	@AliasFor("value")
	String[] resource() default {};

	/**
	 * The low-cardinality name in metrics, in {@code fencing.operations.<name>.*} and in
	 * the journal. Required together with {@link #operationId()}.
	 * @return the name; by default {@code SimpleClass.method}
	 */
	String name() default "";

	/**
	 * How long one grant or renewal of the lease lasts.
	 * @return a duration, by default that of {@code fencing.lease.time}
	 */
	String leaseTime() default "";

	/**
	 * How long to wait for the lease while somebody else has it.
	 * @return a duration, by default that of {@code fencing.lease.wait}
	 */
	String waitTime() default "";

	/**
	 * The longest time that the watchdog keeps the lease for one call; past it the lease
	 * is lost.
	 * @return a duration, by default that of {@code fencing.lease.max-hold}
	 */
	String maxHold() default "";

	/**
	 * The shortest time that the lease stays taken, also when the body returns earlier:
	 * for scheduled jobs on nodes with skewed clocks.
	 * @return a duration, by default that of {@code fencing.lease.min-hold}
	 */
	String minHold() default "";

	/**
	 * Whether the watchdog renews the lease while the body runs.
	 * @return {@code true} by default
	 */
	boolean renew() default true;

	/**
	 * What to do when the resource stays leased to somebody else.
	 * @return {@link OnBusy#FAIL} by default
	 */
	OnBusy onBusy() default OnBusy.FAIL;

	/**
	 * The caller's stable id of one logical request, the same on every retry, as an
	 * expression. Switches the journal on.
	 * @return the operation identity, by default none
	 */
	String operationId() default "";

	/**
	 * What counts as the input of the operation when the same identity comes again, as an
	 * expression.
	 * @return an expression, by default all arguments
	 */
	String input() default "";

	/**
	 * Whether the operation has effects outside the database that hold the journal.
	 * @return {@code false} by default
	 */
	boolean external() default false;

	/**
	 * Exceptions that are recorded as the final result of the operation, and answered
	 * again on a retry.
	 * @return none by default
	 */
	Class<? extends Throwable>[] notRepeatableFor() default {};

}
