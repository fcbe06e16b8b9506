package io.fencing.aop;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.fencing.InvalidFencedOperationException;
import org.jspecify.annotations.Nullable;

import org.springframework.core.KotlinDetector;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.Expression;
import org.springframework.expression.common.LiteralExpression;
import org.springframework.expression.spel.SpelEvaluationException;
import org.springframework.util.Assert;
import org.springframework.util.ObjectUtils;
import org.springframework.util.ReflectionUtils;
import org.springframework.util.StringUtils;

/**
 * One element of {@code resource}: literal text and expressions. A value that would make
 * different things share one lease, or one thing have several, is refused: {@code null},
 * a blank text, a collection inside of a text, an object without a text of its own.
 * Values are data and never evaluated, and no message shows one. Immutable.
 */
final class ResourceTemplate {

	/**
	 * What to do about a variable that is not there.
	 */
	static final String PARAMETER_NAMES_HINT = "compile with '-parameters', or use #p0, #p1, …";

	private final FencedMethod method;

	private final String attribute;

	private final List<Expression> parts;

	/**
	 * Create a template.
	 * @param method the method that it belongs to
	 * @param attribute the attribute that it is the value of
	 * @param parts the parts, at least one
	 */
	ResourceTemplate(FencedMethod method, String attribute, List<Expression> parts) {
		this.method = method;
		this.attribute = attribute;
		this.parts = parts;
	}

	/**
	 * Name the resources of one call.
	 * @param context the method, its target and its arguments
	 * @param resources takes the names
	 * @throws InvalidFencedOperationException if one cannot be named
	 */
	void resolve(EvaluationContext context, Consumer<String> resources) {
		if (this.parts.size() > 1) {
			StringBuilder text = new StringBuilder();
			this.parts.forEach((part) -> text.append(text(part, evaluate(part, context))));
			resources.accept(text.toString());
			return;
		}
		Expression whole = this.parts.get(0);
		Object value = evaluate(whole, context);
		for (Object element : attempt(whole, () -> elements(value))) {
			resources.accept(text(whole, element));
		}
	}

	/**
	 * Evaluate to whatever the expression says.
	 * @param context the method, its target and its arguments
	 * @return the value of the whole expression, else the text
	 * @throws InvalidFencedOperationException if it cannot be evaluated
	 */
	@Nullable Object value(EvaluationContext context) {
		if (this.parts.size() == 1) {
			return evaluate(this.parts.get(0), context);
		}
		List<String> text = new ArrayList<>();
		resolve(context, text::add);
		return text.get(0);
	}

	private static List<@Nullable Object> elements(@Nullable Object value) {
		List<@Nullable Object> elements = new ArrayList<>();
		if (value instanceof Iterable<?> iterable) {
			iterable.forEach(elements::add);
		}
		else if (ObjectUtils.isArray(value)) {
			elements.addAll(Arrays.asList(ObjectUtils.toObjectArray(value)));
		}
		else {
			elements.add(value);
		}
		return elements;
	}

	private @Nullable Object evaluate(Expression part, EvaluationContext context) {
		return attempt(part, () -> part.getValue(context));
	}

	private <T extends @Nullable Object> T attempt(Expression part, Supplier<T> task) {
		try {
			return task.get();
		}
		// whatever an expression or a value calls may throw anything
		catch (Exception ex) {
			// not as the cause, since its message may show an argument
			throw invalid(part, "failed with " + describe(ex));
		}
	}

	private static String describe(Exception exception) {
		Throwable root = NestedExceptionUtils.getMostSpecificCause(exception);
		String code = (exception instanceof SpelEvaluationException spel) ? " (" + spel.getMessageCode() + ")" : "";
		return root.getClass().getName() + code;
	}

	private String text(Expression part, @Nullable Object raw) {
		if (part instanceof LiteralExpression) {
			return part.getExpressionString();
		}
		Object value = unwrap(raw);
		if (value == null) {
			throw invalid(part, "is null");
		}
		if (value instanceof Iterable || value instanceof Map || value.getClass().isArray()) {
			throw invalid(part, "is a collection inside of a text or another collection");
		}
		String text = attempt(part, value::toString);
		if (!StringUtils.hasText(text)) {
			throw invalid(part, "is blank");
		}
		if (!hasText(value)) {
			throw invalid(part, "is of type '" + value.getClass().getName() + "', which has no toString() of its own");
		}
		return text;
	}

	// the same value that a parameter of a Kotlin value class has, which is not in a box
	private @Nullable Object unwrap(@Nullable Object raw) {
		Object value = (raw instanceof Optional<?> optional) ? optional.orElse(null) : raw;
		if (value == null || !KotlinDetector.isInlineClass(value.getClass())) {
			return value;
		}
		Method unbox = ReflectionUtils.findMethod(value.getClass(), "unbox-impl");
		Assert.state(unbox != null, "A Kotlin value class can be unboxed");
		return ReflectionUtils.invokeMethod(unbox, value);
	}

	private static boolean hasText(Object value) {
		if (value instanceof CharSequence || value instanceof Number) {
			return true;
		}
		var toString = ReflectionUtils.findMethod(value.getClass(), "toString");
		return (toString != null) && toString.getDeclaringClass() != Object.class;
	}

	private InvalidFencedOperationException invalid(Expression part, String problem) {
		return this.method.invalid("expression '" + part.getExpressionString() + "' " + problem,
				"the body did not run, see what attribute '" + this.attribute + "' gets (for missing parameter names "
						+ PARAMETER_NAMES_HINT + ")",
				null);
	}

}
