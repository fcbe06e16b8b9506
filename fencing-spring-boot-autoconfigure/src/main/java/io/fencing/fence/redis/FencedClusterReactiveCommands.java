package io.fencing.fence.redis;

import java.util.function.Supplier;

import io.lettuce.core.cluster.RedisAdvancedClusterReactiveCommandsImpl;
import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.json.JsonParser;
import io.lettuce.core.protocol.RedisCommand;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Reactive commands to a cluster whose answers arrive inside of the operation of their
 * connection. Thread-safe.
 *
 * @param <K> the type of keys
 * @param <V> the type of values
 */
final class FencedClusterReactiveCommands<K, V> extends RedisAdvancedClusterReactiveCommandsImpl<K, V> {

	private final FencedClusterConnection<K, V> connection;

	FencedClusterReactiveCommands(FencedClusterConnection<K, V> connection, RedisCodec<K, V> codec,
			Supplier<JsonParser> parser) {
		super(connection, codec, parser);
		this.connection = connection;
	}

	@Override
	public <T> Mono<T> createMono(Supplier<RedisCommand<K, V, T>> command) {
		return Continuation.of(super.createMono(command), this.connection.getCaptured());
	}

	@Override
	public <T> Flux<T> createFlux(Supplier<RedisCommand<K, V, T>> command) {
		return Continuation.of(super.createFlux(command), this.connection.getCaptured());
	}

	@Override
	public <T, R> Flux<R> createDissolvingFlux(Supplier<RedisCommand<K, V, T>> command) {
		return Continuation.of(super.createDissolvingFlux(command), this.connection.getCaptured());
	}

}
