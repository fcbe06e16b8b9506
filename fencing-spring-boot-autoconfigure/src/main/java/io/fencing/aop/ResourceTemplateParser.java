package io.fencing.aop;

import java.lang.reflect.Method;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.expression.Expression;
import org.springframework.expression.ParseException;
import org.springframework.expression.ParserContext;
import org.springframework.expression.common.CompositeStringExpression;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.SpelParserConfiguration;
import org.springframework.expression.spel.ast.BeanReference;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.FunctionReference;
import org.springframework.expression.spel.ast.Indexer;
import org.springframework.expression.spel.ast.InlineMap;
import org.springframework.expression.spel.ast.MethodReference;
import org.springframework.expression.spel.ast.Projection;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.Selection;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.util.StringUtils;

/**
 * Parses the resources of an operation, and refuses at once what SpEL would answer with
 * {@code null} at every call: variables that the method does not have. Thread-safe.
 */
final class ResourceTemplateParser {

	private static final Pattern MISSED_EXPRESSION = Pattern.compile("#[\\p{L}_]");

	private static final Set<String> ROOT_PROPERTIES = Set.of("method", "args", "target");

	private final SpelExpressionParser parser;

	private final Predicate<String> beans;

	ResourceTemplateParser(@Nullable ClassLoader classLoader, Predicate<String> beans) {
		this.beans = beans;
		this.parser = new SpelExpressionParser(new SpelParserConfiguration(null, classLoader));
	}

	/**
	 * Parse a resource, or another text with expressions.
	 * @param method the method that it belongs to
	 * @param attribute the attribute that it is the value of
	 * @param text the text, its placeholders resolved
	 * @return the template
	 * @throws io.fencing.InvalidFencedOperationException if it cannot be evaluated
	 */
	ResourceTemplate parse(FencedMethod method, String attribute, String text) {
		if (!StringUtils.hasText(text)) {
			throw method.invalid("attribute '" + attribute + "' is blank", "name what is meant", null);
		}
		List<Expression> parts = split(method, attribute, text);
		for (Expression part : parts) {
			if (part instanceof SpelExpression expression) {
				checkVariables(method, expression, expression.getAST(), variables(method.method()));
				checkProperties(method, expression, expression.getAST());
				checkBeans(method, expression, expression.getAST());
			}
			else if (MISSED_EXPRESSION.matcher(part.getExpressionString()).find()) {
				throw method.invalid(attribute + " '" + text + "' has an expression without braces",
						"write #{…} around it, or #{'#'} for the character itself", null);
			}
		}
		return new ResourceTemplate(method, attribute, parts);
	}

	private List<Expression> split(FencedMethod method, String attribute, String text) {
		try {
			Expression expression = this.parser.parseExpression(text, ParserContext.TEMPLATE_EXPRESSION);
			return (expression instanceof CompositeStringExpression composite) ? List.of(composite.getExpressions())
					: List.of(expression);
		}
		catch (ParseException | IllegalStateException ex) {
			throw method.invalid(attribute + " '" + text + "' has a bad expression", "correct it", ex);
		}
	}

	private void checkVariables(FencedMethod method, SpelExpression expression, SpelNode node, Set<String> known) {
		if (node instanceof VariableReference || node instanceof FunctionReference) {
			String name = node.toStringAST().replaceFirst("\\(.*", "");
			if (!known.contains(name)) {
				throw method.invalid(
						"expression '" + expression.getExpressionString() + "' uses '" + name
								+ "', which the method does not have",
						hasParameterNames(method.method()) ? "use one of its parameters"
								: ResourceTemplate.PARAMETER_NAMES_HINT,
						null);
			}
		}
		for (int i = 0; i < node.getChildCount(); i++) {
			checkVariables(method, expression, node.getChild(i), known);
		}
	}

	private void checkBeans(FencedMethod method, SpelExpression expression, SpelNode node) {
		if (node instanceof BeanReference) {
			String name = node.toStringAST().replaceFirst("^@", "").replace("'", "");
			if (!this.beans.test(name)) {
				throw method.invalid("expression '" + expression.getExpressionString() + "' uses bean '" + name
						+ "', which does not exist", "name a bean of the application", null);
			}
		}
		for (int i = 0; i < node.getChildCount(); i++) {
			checkBeans(method, expression, node.getChild(i));
		}
	}

	// what stands alone is asked of the root object; behind a dot, in a projection or as
	// an
	// index it is asked of something that is known only at the call
	private void checkProperties(FencedMethod method, SpelExpression expression, SpelNode node) {
		if (node instanceof PropertyOrFieldReference property && !ROOT_PROPERTIES.contains(property.getName())) {
			throw method.invalid(
					"expression '" + expression.getExpressionString() + "' reads '" + property.getName()
							+ "', which is neither a variable nor a property of the call",
					"write '#" + property.getName() + "' for a parameter", null);
		}
		boolean compound = node instanceof CompoundExpression;
		if (node instanceof Projection || node instanceof Selection || node instanceof Indexer
				|| node instanceof InlineMap) {
			return;
		}
		for (int i = 0; i < node.getChildCount(); i++) {
			SpelNode child = node.getChild(i);
			if (!compound || i == 0 || child instanceof MethodReference) {
				checkProperties(method, expression, child);
			}
		}
	}

	private static Set<String> variables(Method method) {
		Set<String> variables = new HashSet<>(List.of("#root", "#this"));
		@Nullable String @Nullable [] names = parameterNames(method);
		for (int i = 0; i < method.getParameterCount(); i++) {
			variables.add("#p" + i);
			variables.add("#a" + i);
			if (names != null) {
				variables.add("#" + names[i]);
			}
		}
		return variables;
	}

	private static boolean hasParameterNames(Method method) {
		return method.getParameterCount() == 0 || parameterNames(method) != null;
	}

	private static @Nullable String @Nullable [] parameterNames(Method method) {
		return DefaultParameterNameDiscoverer.getSharedInstance().getParameterNames(method);
	}

}
