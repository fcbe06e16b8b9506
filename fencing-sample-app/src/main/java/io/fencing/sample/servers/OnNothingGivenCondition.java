package io.fencing.sample.servers;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.type.AnnotatedTypeMetadata;

/**
 * The condition of {@link ConditionalOnNothingGiven}. It binds, so that environment
 * variables count as well.
 */
final class OnNothingGivenCondition extends SpringBootCondition {

	@Override
	public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
		MergedAnnotation<ConditionalOnNothingGiven> annotation = metadata.getAnnotations()
			.get(ConditionalOnNothingGiven.class);
		String given = given(Binder.get(context.getEnvironment()), annotation.getStringArray("value"));
		ConditionMessage.Builder message = ConditionMessage.forCondition(ConditionalOnNothingGiven.class);
		return (given != null) ? ConditionOutcome.noMatch(message.foundExactly("properties under " + given))
				: ConditionOutcome.match(message.because("nothing is given"));
	}

	private static @Nullable String given(Binder binder, String[] prefixes) {
		for (String prefix : prefixes) {
			if (binder.bind(prefix, Bindable.mapOf(String.class, Object.class)).isBound()) {
				return prefix;
			}
		}
		return null;
	}

}
