package io.fencing.autoconfigure;

import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import io.fencing.FencedResourceFactory;
import io.fencing.FencingListeners;
import io.fencing.InvalidFencedOperationException;
import io.fencing.OperationReconciler;
import io.fencing.ResultCodec;
import io.fencing.UndecidedOperations;
import io.fencing.autoconfigure.BackgroundSchedule.Task;
import io.fencing.autoconfigure.FencingProperties.Reconciler;
import io.fencing.fence.FencingMode;
import io.fencing.fence.jdbc.JdbcFences;
import io.fencing.journal.OperationJournal;
import io.fencing.journal.jackson.JacksonResultCodec;
import io.fencing.journal.jdbc.JdbcJournalSettings;
import io.fencing.journal.jdbc.JdbcOperationJournal;
import io.fencing.operation.InputFingerprint;
import io.fencing.operation.JournaledOperations;
import io.fencing.operation.OperationDecisions;
import io.fencing.operation.OperationEntry;
import io.fencing.operation.OperationSettingsSource;
import io.fencing.operation.Reconciliation;
import io.fencing.operation.Reconciliation.Schedule;
import io.fencing.operation.RecordedAnswers;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Lazy;

/**
 * Auto-configuration of the journal of operations with an identity, in a fenced database.
 */
@AutoConfiguration(after = FencingJdbcAutoConfiguration.class)
@ConditionalOnClass(JsonMapper.class)
@ConditionalOnBean(JdbcFences.class)
@ConditionalOnBooleanProperty(name = "fencing.enabled", matchIfMissing = true)
public final class FencingJournalAutoConfiguration {

	@Bean
	StorageRetention fencingJournalRetention(FencingProperties properties) {
		return new StorageRetention(properties.journal().retention());
	}

	@Bean
	BackgroundSchedule fencingJournalCleanupSchedule(ObjectProvider<JdbcOperationJournal> journal, JdbcFences fences,
			FencingProperties properties, FencingJdbcProperties jdbcProperties) {
		Duration retention = properties.journal().retention();
		return new BackgroundSchedule("fencing-journal-cleanup-", () -> tasks(properties, fences, journal.stream()
			.map((one) -> new Task("Removal of expired rows of the journal", () -> one.removeExpired(retention)))),
				"fencing.jdbc.cleanup-interval", jdbcProperties.getCleanupInterval());
	}

	@Bean
	BackgroundSchedule fencingReconciliationSchedule(ObjectProvider<Reconciliation> reconciliation, JdbcFences fences,
			FencingProperties properties) {
		return new BackgroundSchedule("fencing-reconciler-",
				() -> tasks(properties, fences,
						reconciliation.stream()
							.map((one) -> new Task("Reconciliation of operations without an end", one::run))),
				"fencing.journal.reconciler.interval", properties.journal().reconciler().interval());
	}

	// where it cannot be told which storage has it, nothing has an identity
	private static Collection<Task> tasks(FencingProperties properties, JdbcFences fences, Stream<Task> tasks) {
		boolean known = properties.journal().storage() != null || fences.getFences().size() == 1;
		return (known && properties.mode() != FencingMode.OFF) ? tasks.toList() : List.of();
	}

	@Bean
	@Lazy
	@ConditionalOnMissingBean(OperationJournal.class)
	JdbcOperationJournal fencingOperationJournal(ListableBeanFactory beanFactory, JdbcFences fences,
			FencingProperties properties) {
		JournalStorage storage = new JournalStorage(beanFactory, fences, properties.journal().storage());
		return new JdbcOperationJournal(() -> storage.fence().getConnections(),
				new JdbcJournalSettings(JdbcFenceFactory.table("fencing.journal.table", properties.journal().table()),
						properties.journal().timeout(), properties.journal().reconciler().after()),
				storage::manager);
	}

	@Bean
	@Lazy
	JournaledOperations fencingJournaledOperations(OperationJournal journal, FencedResourceFactory resources,
			FencingListeners listeners, FencingProperties properties, ListableBeanFactory beanFactory) {
		JacksonResultCodec json = new JacksonResultCodec();
		ResultCodec codec = beanFactory.getBeanProvider(ResultCodec.class).getIfAvailable(() -> json);
		return new JournaledOperations(journal,
				new InputFingerprint(json::writeInput, json::canWrite, properties.journal().fingerprintKey()),
				new RecordedAnswers(codec, properties.journal().maxResultSize().toBytes()), resources, listeners);
	}

	@Bean
	@Lazy
	@ConditionalOnMissingBean(UndecidedOperations.class)
	OperationDecisions fencingUndecidedOperations(JournaledOperations operations, FencedResourceFactory resources) {
		return new OperationDecisions(operations, resources);
	}

	@Bean
	@Lazy
	Reconciliation fencingReconciliation(JournaledOperations operations, OperationEntry entry,
			OperationSettingsSource settings, FencedResourceFactory resources,
			ObjectProvider<OperationReconciler> reconcilers, FencingProperties properties) {
		Reconciler reconciler = properties.journal().reconciler();
		return new Reconciliation(operations, new OperationDecisions(operations, resources), entry, settings, resources,
				byOperation(reconcilers.stream().toList()),
				new Schedule(reconciler.after(), reconciler.maxDelay(), reconciler.batchSize()));
	}

	private static Map<String, OperationReconciler> byOperation(List<OperationReconciler> reconcilers) {
		Map<String, OperationReconciler> found = new HashMap<>();
		for (OperationReconciler reconciler : reconcilers) {
			OperationReconciler other = found.put(reconciler.getOperation(), reconciler);
			if (other != null) {
				throw new InvalidFencedOperationException("Two OperationReconciler beans, '"
						+ other.getClass().getName() + "' and '" + reconciler.getClass().getName()
						+ "', are for operation '" + reconciler.getOperation() + "'; keep one");
			}
		}
		return found;
	}

}
