package io.fencing.aop;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionStage;

import io.fencing.FencedOperation;
import io.fencing.InvalidFencedOperationException;
import io.fencing.OnBusy;
import io.fencing.operation.DeferredResults;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.core.KotlinDetector;
import org.springframework.format.datetime.standard.DurationFormatterUtils;
import org.springframework.util.StringUtils;

/**
 * Turns an annotation into metadata: resolves placeholders, parses templates and
 * durations, and refuses what cannot work. Thread-safe.
 */
final class FencedOperationMetadataReader {

	private final ConfigurableBeanFactory beanFactory;

	private final ResourceTemplateParser templates;

	FencedOperationMetadataReader(ConfigurableBeanFactory beanFactory) {
		this.beanFactory = beanFactory;
		this.templates = new ResourceTemplateParser(beanFactory.getBeanClassLoader(), beanFactory::containsBean);
	}

	/**
	 * Read the metadata of a method.
	 * @param method the method
	 * @return its metadata
	 * @throws InvalidFencedOperationException if it is annotated wrongly
	 */
	FencedOperationMetadata read(FencedMethod method) {
		FencedOperation annotation = method.annotation();
		checkName(method);
		checkResult(method);
		List<ResourceTemplate> resources = new ArrayList<>();
		for (String resource : annotation.resource()) {
			resources.add(expression(method, "resource", resource));
		}
		if (resources.isEmpty()) {
			throw method.invalid("attribute 'resource' is missing", "name at least one resource", null);
		}
		return new FencedOperationMetadata(method, method.operationName(), List.copyOf(resources),
				positive(method, "leaseTime", annotation.leaseTime()),
				notNegative(method, "waitTime", annotation.waitTime()),
				positive(method, "maxHold", annotation.maxHold()), notNegative(method, "minHold", annotation.minHold()),
				// a default is left open, so that application.yml may decide
				annotation.renew() ? null : Boolean.FALSE,
				(annotation.onBusy() != OnBusy.FAIL) ? annotation.onBusy() : null, journal(method), this.beanFactory);
	}

	private @Nullable JournalMetadata journal(FencedMethod method) {
		FencedOperation annotation = method.annotation();
		if (annotation.operationId().isEmpty()) {
			checkNeedsIdentity(method, "input", annotation.input().isEmpty());
			checkNeedsIdentity(method, "external", !annotation.external());
			checkNeedsIdentity(method, "notRepeatableFor", annotation.notRepeatableFor().length == 0);
			return null;
		}
		if (annotation.name().isEmpty()) {
			throw method.invalid("with an 'operationId' it needs a name of its own, which stays when it is renamed",
					"set attribute 'name'", null);
		}
		if (CompletionStage.class.isAssignableFrom(method.method().getReturnType())) {
			throw method.invalid("with an 'operationId' its result commits with its work, on the calling thread",
					"return the finished result", null);
		}
		return new JournalMetadata(method, expression(method, "operationId", annotation.operationId()),
				annotation.input().isEmpty() ? null : expression(method, "input", annotation.input()),
				annotation.external(), Set.of(annotation.notRepeatableFor()));
	}

	private ResourceTemplate expression(FencedMethod method, String attribute, String text) {
		return this.templates.parse(method, attribute, resolve(method, attribute, text));
	}

	private static void checkNeedsIdentity(FencedMethod method, String attribute, boolean unused) {
		if (!unused) {
			throw method.invalid("attribute '" + attribute + "' has no meaning without an 'operationId'",
					"set 'operationId' or remove the attribute", null);
		}
	}

	private void checkName(FencedMethod method) {
		String name = method.annotation().name();
		if (name.contains("#{") || name.contains("${") || (!name.isEmpty() && name.isBlank())) {
			throw method.invalid("attribute 'name' is '" + name + "'",
					"use a constant text, since it names metrics and properties", null);
		}
	}

	private void checkResult(FencedMethod method) {
		Class<?> type = method.method().getReturnType();
		if (KotlinDetector.isSuspendingFunction(method.method()) || !DeferredResults.isSupported(type)) {
			throw method.invalid("its result is completed after it has returned, and nobody can tell when",
					"return the finished result, a CompletionStage or a CompletableFuture,"
							+ " or call FencedOperations where the work is done",
					null);
		}
		if (method.annotation().onBusy() == OnBusy.SKIP && type.isPrimitive() && type != void.class) {
			throw method.invalid("with 'onBusy = SKIP' a call may return nothing, but it returns '" + type + "'",
					"return the wrapper type or an Optional", null);
		}
	}

	private @Nullable Duration positive(FencedMethod method, String attribute, String text) {
		Duration duration = notNegative(method, attribute, text);
		if (duration != null && duration.isZero()) {
			throw method.invalid("attribute '" + attribute + "' is '" + text + "'", "use a duration above zero", null);
		}
		return duration;
	}

	private @Nullable Duration notNegative(FencedMethod method, String attribute, String text) {
		String resolved = resolve(method, attribute, text).trim();
		if (resolved.isEmpty()) {
			return null;
		}
		Duration duration = parse(resolved);
		if (duration == null || duration.isNegative()) {
			throw method.invalid("attribute '" + attribute + "' is '" + resolved + "'",
					"use a duration with its unit such as '30s'", null);
		}
		return duration;
	}

	private static @Nullable Duration parse(String text) {
		// a bare number would count as milliseconds, which nobody means by "30"
		if (Character.isDigit(text.charAt(text.length() - 1))) {
			return null;
		}
		try {
			return DurationFormatterUtils.detectAndParse(text);
		}
		catch (IllegalArgumentException | ArithmeticException ex) {
			return null;
		}
	}

	private String resolve(FencedMethod method, String attribute, String text) {
		String resolved;
		try {
			resolved = this.beanFactory.resolveEmbeddedValue(text);
		}
		catch (IllegalArgumentException ex) {
			throw method.invalid("a placeholder in attribute '" + attribute + "' = '" + text + "' has no value",
					"set the property or give the placeholder a default", ex);
		}
		if (!StringUtils.hasLength(text)) {
			return text;
		}
		if (resolved == null || resolved.contains("${")) {
			throw method.invalid("a placeholder in attribute '" + attribute + "' = '" + text + "' has no value",
					"set the property or give the placeholder a default", null);
		}
		return resolved;
	}

}
