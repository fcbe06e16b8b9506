package io.fencing.journal.jackson;

import java.lang.reflect.Type;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;

import io.fencing.ResultCodec;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JavaType;
import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.cfg.DateTimeFeature;
import tools.jackson.databind.cfg.EnumFeature;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.module.SimpleModule;
import tools.jackson.databind.ser.impl.UnknownSerializer;

/**
 * Writes JSON with a mapper of its own, since that of the application may be changed for
 * reasons that have nothing to do with what is recorded already. Thread-safe.
 */
public final class JacksonResultCodec implements ResultCodec {

	private static final byte[] NOTHING = new byte[0];

	private static final List<Class<?>> HANDLES = List.of(AutoCloseable.class, Iterator.class, Thread.class,
			Future.class, CompletionStage.class);

	private final JsonMapper mapper = JsonMapper.builder()
		.findAndAddModules()
		.enable(MapperFeature.SORT_PROPERTIES_ALPHABETICALLY)
		.enable(SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS)
		.enable(SerializationFeature.FAIL_ON_EMPTY_BEANS)
		.enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
		.disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
		.disable(EnumFeature.WRITE_ENUMS_USING_TO_STRING, EnumFeature.READ_ENUMS_USING_TO_STRING)
		.enable(DateTimeFeature.WRITE_DATES_WITH_ZONE_ID)
		.disable(DateTimeFeature.ADJUST_DATES_TO_CONTEXT_TIME_ZONE, DateTimeFeature.NORMALIZE_DESERIALIZED_ZONE_ID)
		.build();

	private final JsonMapper inputMapper = this.mapper.rebuild()
		.addModule(new SimpleModule()
			.addSerializer(new SetSerializer((element) -> this.inputMapper.writeValueAsString(element))))
		.build();

	@Override
	public byte[] write(@Nullable Object value, Type type) {
		if (isVoid(type)) {
			return NOTHING;
		}
		return this.mapper.writerFor(this.mapper.constructType(type)).writeValueAsBytes(value);
	}

	@Override
	public @Nullable Object read(byte[] bytes, Type type) {
		return isVoid(type) ? null : this.mapper.readValue(bytes, this.mapper.constructType(type));
	}

	/**
	 * Write an input: equal ones equally, as far as their values say.
	 * @param input the input
	 * @return its JSON
	 */
	public byte[] writeInput(@Nullable Object input) {
		return this.inputMapper.writeValueAsBytes(input);
	}

	/**
	 * Whether values of a type can be written as inputs, as far as the type tells: what
	 * is read only once, or is a handle on something else, cannot.
	 * @param type the type
	 * @return whether they can
	 */
	public boolean canWrite(Type type) {
		JavaType javaType = this.mapper.constructType(type);
		Class<?> raw = javaType.getRawClass();
		if (HANDLES.stream().anyMatch((handle) -> handle.isAssignableFrom(raw))) {
			return false;
		}
		// what an open type stands for is known only when it is there
		return !javaType.isConcrete() || raw == Object.class || !(this.mapper._serializationContext()
			.findTypedValueSerializer(javaType, true) instanceof UnknownSerializer);
	}

	private static boolean isVoid(Type type) {
		return type == void.class || type == Void.class;
	}

}
