package io.fencing.journal.jackson;

import java.util.Set;
import java.util.function.Function;

import tools.jackson.core.JsonGenerator;
import tools.jackson.databind.SerializationContext;
import tools.jackson.databind.ValueSerializer;

/**
 * Writes equal sets equally: the order of their elements differs from one JVM to the
 * next. Thread-safe.
 */
final class SetSerializer extends ValueSerializer<Set<?>> {

	private final Function<Object, String> elements;

	SetSerializer(Function<Object, String> elements) {
		this.elements = elements;
	}

	@Override
	public Class<?> handledType() {
		return Set.class;
	}

	@Override
	public void serialize(Set<?> set, JsonGenerator generator, SerializationContext context) {
		generator.writeStartArray();
		set.stream().map(this.elements).sorted().forEach(generator::writeRawValue);
		generator.writeEndArray();
	}

}
