package io.fencing.autoconfigure;

import java.time.Duration;
import java.util.stream.Stream;

import io.fencing.FencedResourceFactory;
import io.fencing.ResultCodec;
import io.fencing.autoconfigure.CleanupSchedule.Cleanup;
import io.fencing.fence.FencingMode;
import io.fencing.fence.jdbc.JdbcFences;
import io.fencing.journal.OperationJournal;
import io.fencing.journal.jackson.JacksonResultCodec;
import io.fencing.journal.jdbc.JdbcJournalSettings;
import io.fencing.journal.jdbc.JdbcOperationJournal;
import io.fencing.operation.InputFingerprint;
import io.fencing.operation.JournaledOperations;
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
	CleanupSchedule fencingJournalCleanupSchedule(ObjectProvider<JdbcOperationJournal> journal, JdbcFences fences,
			FencingProperties properties, FencingJdbcProperties jdbcProperties) {
		Duration retention = properties.journal().retention();
		return new CleanupSchedule(() -> journals(properties, fences, journal)
			.map((one) -> new Cleanup("the journal", () -> one.removeExpired(retention)))
			.toList(), jdbcProperties.getCleanupInterval());
	}

	// where it cannot be told which storage has it, nothing has an identity
	private static Stream<JdbcOperationJournal> journals(FencingProperties properties, JdbcFences fences,
			ObjectProvider<JdbcOperationJournal> journal) {
		boolean known = properties.journal().storage() != null || fences.getFences().size() == 1;
		return (known && properties.mode() != FencingMode.OFF) ? journal.stream() : Stream.empty();
	}

	@Bean
	@Lazy
	@ConditionalOnMissingBean(OperationJournal.class)
	JdbcOperationJournal fencingOperationJournal(ListableBeanFactory beanFactory, JdbcFences fences,
			FencingProperties properties) {
		JournalStorage storage = new JournalStorage(beanFactory, fences, properties.journal().storage());
		return new JdbcOperationJournal(() -> storage.fence().getConnections(),
				new JdbcJournalSettings(JdbcFenceFactory.table("fencing.journal.table", properties.journal().table()),
						properties.journal().timeout()),
				storage::manager);
	}

	@Bean
	@Lazy
	JournaledOperations fencingJournaledOperations(OperationJournal journal, FencedResourceFactory resources,
			FencingProperties properties, ListableBeanFactory beanFactory) {
		JacksonResultCodec json = new JacksonResultCodec();
		ResultCodec codec = beanFactory.getBeanProvider(ResultCodec.class).getIfAvailable(() -> json);
		return new JournaledOperations(journal,
				new InputFingerprint(json::writeInput, properties.journal().fingerprintKey()),
				new RecordedAnswers(codec, properties.journal().maxResultSize().toBytes()), resources);
	}

}
