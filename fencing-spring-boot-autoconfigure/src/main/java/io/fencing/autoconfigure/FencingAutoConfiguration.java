package io.fencing.autoconfigure;

import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.fencing.FencedOperations;
import io.fencing.FencedResourceFactory;
import io.fencing.FencingListener;
import io.fencing.FencingListeners;
import io.fencing.OnBusy;
import io.fencing.autoconfigure.FencingProperties.Logging.ResourceNames;
import io.fencing.fence.Fence;
import io.fencing.fence.FenceSource;
import io.fencing.lease.DefaultLeaseManager;
import io.fencing.lease.LeaseCoordinator;
import io.fencing.lease.LeaseManager;
import io.fencing.lease.MonotonicClock;
import io.fencing.operation.FencedOperationExecutor;
import io.fencing.operation.JournaledOperations;
import io.fencing.operation.OperationEntry;
import io.fencing.operation.OperationObserver;
import io.fencing.operation.OperationOverrides;
import io.fencing.operation.OperationSettings;
import io.fencing.operation.OperationSettingsSource;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.ImportRuntimeHints;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.env.Environment;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.util.function.SingletonSupplier;

/**
 * Auto-configuration of operations, from the settings to the executor. Which coordinator
 * grants leases and which storages have a fence is configured next to it.
 */
@AutoConfiguration
@ConditionalOnBooleanProperty(name = "fencing.enabled", matchIfMissing = true)
@EnableConfigurationProperties(FencingProperties.class)
@ImportRuntimeHints(FencingRuntimeHints.class)
public final class FencingAutoConfiguration {

	@Bean
	@ConditionalOnMissingBean
	FencedResourceFactory fencedResourceFactory(FencingProperties properties) {
		return new FencedResourceFactory(properties.namespace(), fingerprintKey(properties));
	}

	private static @Nullable String fingerprintKey(FencingProperties properties) {
		if (properties.logging().resourceNames() == ResourceNames.FULL) {
			return null;
		}
		String key = properties.logging().fingerprintKey();
		return (key != null) ? key : properties.namespace();
	}

	@Bean
	@Lazy(false)
	UnsupportedStorages fencingUnsupportedStorages(ListableBeanFactory beanFactory, Environment environment,
			FencingProperties properties) {
		return new UnsupportedStorages(beanFactory, environment, properties.mode());
	}

	@Bean
	FencingListeners fencingListeners(ObjectProvider<FencingListener> listeners) {
		return new FencingListeners(listeners.orderedStream().toList());
	}

	@Bean
	@ConditionalOnMissingBean
	MonotonicClock fencingClock() {
		return MonotonicClock.SYSTEM;
	}

	@Bean(destroyMethod = "close")
	@ConditionalOnMissingBean(LeaseManager.class)
	DefaultLeaseManager fencingLeaseManager(LeaseCoordinator coordinator, FencingListeners listeners,
			MonotonicClock clock, FencingProperties properties) {
		return new DefaultLeaseManager(coordinator, listeners, clock, properties.coordinator().timeout());
	}

	@Bean
	FencingLifecycle fencingLifecycle(LeaseManager leases, FencingProperties properties) {
		return new FencingLifecycle(leases, properties);
	}

	@Bean
	OperationSettingsSource fencingOperationSettings(FencingProperties properties,
			ObjectProvider<StorageRetention> retentions, Environment environment) {
		OperationPropertyNames.check(environment);
		FencingProperties.Lease lease = properties.lease();
		OperationSettings defaults = new OperationSettings(properties.mode(), lease.time(), lease.waitTime(),
				lease.waitInTransaction(), lease.maxHold(), lease.minHold(), true, OnBusy.FAIL);
		Map<String, OperationOverrides> overrides = properties.operations()
			.entrySet()
			.stream()
			.collect(Collectors.toMap(Map.Entry::getKey, (entry) -> overrides(entry.getValue())));
		Duration retention = Stream
			.concat(Stream.of(properties.coordinator().retention(), properties.redis().retention()),
					retentions.stream().map(StorageRetention::time))
			.min(Comparator.naturalOrder())
			.orElseThrow();
		return new OperationSettingsSource(defaults, overrides, retention);
	}

	private static OperationOverrides overrides(FencingProperties.Operation operation) {
		return new OperationOverrides(operation.mode(), operation.leaseTime(), operation.waitTime(),
				operation.maxHold(), operation.minHold(), operation.renew(), operation.onBusy(),
				operation.programmatic());
	}

	@Bean
	OperationEntry fencingOperationEntry(LeaseManager leases, ObjectProvider<Fence> fences,
			ObjectProvider<FenceSource> sources, FencingListeners listeners) {
		return new OperationEntry(leases, all(fences, sources), listeners);
	}

	@Bean
	@ConditionalOnMissingBean(FencedOperations.class)
	FencedOperationExecutor fencedOperations(OperationSettingsSource settings, FencedResourceFactory resources,
			OperationEntry entry, LeaseManager leases, ObjectProvider<Fence> fences,
			ObjectProvider<FenceSource> sources, FencingListeners listeners, MonotonicClock clock,
			ObjectProvider<JournaledOperations> journaled) {
		SimpleAsyncTaskExecutor completions = new SimpleAsyncTaskExecutor("fencing-completion-");
		completions.setDaemon(true);
		return new FencedOperationExecutor(settings, resources, entry,
				new OperationObserver(leases, all(fences, sources), listeners, clock), listeners, clock, completions,
				journaled::getIfAvailable);
	}

	// looked for late, and once
	private static Supplier<List<Fence>> all(ObjectProvider<Fence> fences, ObjectProvider<FenceSource> sources) {
		return SingletonSupplier.of(() -> Stream
			.concat(fences.orderedStream(), sources.orderedStream().flatMap((source) -> source.getFences().stream()))
			.toList());
	}

}
