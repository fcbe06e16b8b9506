package io.fencing.fence.jdbc;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Set;

import javax.sql.DataSource;

import io.fencing.FencingListener;
import io.fencing.FencingListeners;
import io.fencing.RejectionReason;
import io.fencing.fence.UnfencedWrites;
import io.fencing.jdbc.DatabaseDialects;
import io.fencing.jdbc.TableName;
import org.jspecify.annotations.Nullable;

import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * A database with a fence, a transaction manager and a template, wired as the starter
 * wires them, and one account to work on.
 */
final class FencedDatabase {

	final DataSource dataSource;

	final JdbcFence fence;

	final JdbcFences fences;

	final PlatformTransactionManager manager;

	final JdbcTemplate jdbc;

	/** Goes by no fence. */
	final JdbcTemplate raw;

	final Operations operations;

	final List<RejectionReason> rejections = Collections.synchronizedList(new ArrayList<>());

	final List<String> unfenced = Collections.synchronizedList(new ArrayList<>());

	FencedDatabase(DataSource dataSource, JdbcFenceSettings settings) {
		this.dataSource = dataSource;
		FencingListener recorder = new FencingListener() {

			@Override
			public void onRejected(String operation, String storage, RejectionReason reason) {
				FencedDatabase.this.rejections.add(reason);
			}

			@Override
			public void onUnfenced(@Nullable String operation, @Nullable String storage) {
				FencedDatabase.this.unfenced.add(operation + "@" + storage);
			}

		};
		FencingListeners listeners = new FencingListeners(List.of(recorder));
		this.fence = new JdbcFence(null, dataSource, settings, listeners, Set.of("manager"));
		this.fences = new JdbcFences(settings, listeners, () -> List.of(this.fence), Set::of);
		this.manager = manage(new JdbcTransactionManager(dataSource));
		this.jdbc = wrap(new JdbcTemplate(dataSource));
		this.raw = new JdbcTemplate(dataSource);
		this.operations = new Operations(this.fence);
	}

	static FencedDatabase create(DataSource dataSource) {
		return create(dataSource, settings(UnfencedWrites.ALLOW, JoinedTransactions.SAFE, Duration.ofMillis(300)));
	}

	static FencedDatabase create(DataSource dataSource, JdbcFenceSettings settings) {
		FencedDatabase database = new FencedDatabase(dataSource, settings);
		String dialect = Objects.requireNonNull(database.raw.execute(
				(ConnectionCallback<String>) (connection) -> database.fence.table(connection).getDialect().getName()));
		new ResourceDatabasePopulator(new ClassPathResource("io/fencing/jdbc/schema-drop-" + dialect + ".sql"),
				new ClassPathResource("io/fencing/jdbc/schema-" + dialect + ".sql"))
			.execute(dataSource);
		database.raw.execute("DROP TABLE IF EXISTS account");
		database.raw.execute("CREATE TABLE account (id VARCHAR(20) PRIMARY KEY, balance INT NOT NULL)");
		database.raw.update("INSERT INTO account VALUES ('a', 0)");
		database.raw.update("INSERT INTO account VALUES ('b', 0)");
		return database;
	}

	static JdbcFenceSettings settings(UnfencedWrites unfencedWrites, JoinedTransactions joined, Duration timeout) {
		return new JdbcFenceSettings(new TableName(null, JdbcFenceSettings.DEFAULT_TABLE),
				DatabaseDialects.of(List.of()), timeout, Duration.ofDays(7), joined, unfencedWrites,
				JdbcFenceSettings.DEFAULT_WRITING_FUNCTIONS, List.of("vacuum analyze"));
	}

	<T extends PlatformTransactionManager> T manage(T manager) {
		new HoldingTransactionPostProcessor(() -> this.fences).postProcessAfterInitialization(manager, "manager");
		return manager;
	}

	@SuppressWarnings("unchecked")
	<T> T wrap(T template) {
		return (T) new FencedTemplatePostProcessor(() -> this.fences).postProcessAfterInitialization(template,
				"template");
	}

	TransactionTemplate transaction() {
		return new TransactionTemplate(this.manager);
	}

	TransactionTemplate newTransaction() {
		return transaction(TransactionDefinition.PROPAGATION_REQUIRES_NEW, TransactionDefinition.ISOLATION_DEFAULT);
	}

	TransactionTemplate transaction(int propagation, int isolation) {
		TransactionTemplate template = transaction();
		template.setPropagationBehavior(propagation);
		template.setIsolationLevel(isolation);
		return template;
	}

	TransactionTemplate readOnlyTransaction() {
		TransactionTemplate template = transaction();
		template.setReadOnly(true);
		return template;
	}

	int read() {
		return read(this.jdbc);
	}

	static int read(JdbcTemplate template) {
		return template.queryForObject("SELECT balance FROM account WHERE id = 'a'", Integer.class);
	}

	int balance() {
		return Operations.elsewhere(() -> read(this.raw));
	}

	void write(int balance) {
		this.jdbc.update("UPDATE account SET balance = ? WHERE id = 'a'", balance);
	}

	void writeInTransaction(int balance) {
		transaction().executeWithoutResult((status) -> write(balance));
	}

	/** Another worker with a newer token reads and adds one, on its own thread. */
	boolean takeOver(String resource) {
		return Operations.elsewhere(() -> {
			this.operations.run(() -> writeInTransaction(read() + 1), TestHeld.next(resource));
			return true;
		});
	}

	Set<String> tokens() {
		return Set.copyOf(this.raw.queryForList("SELECT CONCAT(token, ':', owner) FROM fencing_fence", String.class));
	}

}
