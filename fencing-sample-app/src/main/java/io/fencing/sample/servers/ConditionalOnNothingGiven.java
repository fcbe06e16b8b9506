package io.fencing.sample.servers;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.context.annotation.Conditional;

/**
 * Matches while the environment has no property at all under any of the prefixes.
 */
@Target({ ElementType.TYPE, ElementType.METHOD })
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Conditional(OnNothingGivenCondition.class)
public @interface ConditionalOnNothingGiven {

	/**
	 * The prefixes.
	 * @return at least one, such as {@code spring.datasource}
	 */
	String[] value();

}
