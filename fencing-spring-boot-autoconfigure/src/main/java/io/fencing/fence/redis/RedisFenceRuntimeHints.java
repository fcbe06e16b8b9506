package io.fencing.fence.redis;

import java.util.List;

import io.lettuce.core.RedisAsyncCommandsImpl;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.cluster.RedisAdvancedClusterAsyncCommandsImpl;
import io.lettuce.core.cluster.api.sync.RedisAdvancedClusterCommands;
import io.lettuce.core.cluster.api.sync.RedisClusterCommands;
import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionProvider;
import org.springframework.util.ClassUtils;

/**
 * What the fence reads and reflects on, for a native image: its scripts, the state of the
 * connection factory that it takes the place of, the commands that it calls by name, and
 * the interfaces that its proxies have. Class proxies, which clusters and other drivers
 * get, are not covered.
 */
public final class RedisFenceRuntimeHints implements RuntimeHintsRegistrar {

	private static final List<String> PROVIDERS = List.of("StandaloneConnectionProvider", "ClusterConnectionProvider",
			"StaticMasterReplicaConnectionProvider", "LettucePoolingConnectionProvider",
			"LettuceConnectionFactory$ExceptionTranslatingConnectionProvider");

	@Override
	public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
		hints.resources().registerPattern("io/fencing/fence/redis/*.lua");
		hints.reflection().registerType(LettuceConnectionFactory.class, MemberCategory.ACCESS_DECLARED_FIELDS);
		hints.reflection().registerType(RedisAsyncCommandsImpl.class, MemberCategory.INVOKE_PUBLIC_METHODS);
		hints.reflection()
			.registerType(RedisAdvancedClusterAsyncCommandsImpl.class, MemberCategory.INVOKE_PUBLIC_METHODS);
		hints.proxies().registerJdkProxy(RedisCommands.class, RedisClusterCommands.class);
		hints.proxies().registerJdkProxy(RedisAdvancedClusterCommands.class);
		hints.reflection().registerType(LettuceConnectionProvider.class, MemberCategory.INVOKE_PUBLIC_METHODS);
		String providers = LettuceConnectionProvider.class.getPackageName() + ".";
		for (String name : PROVIDERS) {
			Class<?> provider = ClassUtils.resolveClassName(providers + name, classLoader);
			hints.proxies().registerJdkProxy(ClassUtils.getAllInterfacesForClass(provider));
		}
	}

}
