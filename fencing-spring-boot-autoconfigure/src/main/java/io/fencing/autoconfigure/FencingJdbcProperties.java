package io.fencing.autoconfigure;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.fencing.fence.jdbc.JdbcFenceSettings;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.jdbc.init.DatabaseInitializationProperties;

/**
 * The properties of fences in relational databases. As with other modules of Boot,
 * {@code initialize-schema} is {@code embedded} by default.
 */
@ConfigurationProperties("fencing.jdbc")
public class FencingJdbcProperties extends DatabaseInitializationProperties {

	private static final String DEFAULT_SCHEMA_LOCATION = "classpath:io/fencing/jdbc/schema-@@platform@@.sql";

	/**
	 * Names or qualifiers of DataSource beans to fence besides those that have a
	 * transaction manager.
	 */
	private List<String> storages = new ArrayList<>();

	/**
	 * Names or qualifiers of beans that need no fence: DataSources, R2DBC connection
	 * factories and JTA transaction managers.
	 */
	private List<String> excludedStorages = new ArrayList<>();

	/**
	 * Name of the fence table, with its schema in front if it needs one. The schema
	 * scripts create the default one.
	 */
	private String table = JdbcFenceSettings.DEFAULT_TABLE;

	/**
	 * Name of the dialect: postgresql, mysql, mariadb, h2 or that of a DatabaseDialect
	 * bean; by default recognised by the product at first use.
	 */
	private @Nullable String dialect;

	/**
	 * The longest time that a claim tries to get past transactions of earlier holders.
	 */
	private Duration admissionTimeout = Duration.ofSeconds(3);

	/**
	 * How long the fence remembers the token of a resource.
	 */
	private Duration retention = Duration.ofDays(7);

	/**
	 * Time between two removals of rows older than the retention; 0 for none on this
	 * node.
	 */
	private Duration cleanupInterval = Duration.ofHours(1);

	/**
	 * Names of functions that write although a SELECT calls them, besides those known.
	 */
	private List<String> writingFunctions = new ArrayList<>();

	/**
	 * Beginnings of statements, such as VACUUM, that cannot run in a transaction and are
	 * sent without a hold.
	 */
	private List<String> unfencedStatements = new ArrayList<>();

	/**
	 * Create the defaults. A script that fails is told, since the table is looked at
	 * after it in any case.
	 */
	public FencingJdbcProperties() {
		setContinueOnError(false);
	}

	public List<String> getStorages() {
		return this.storages;
	}

	public void setStorages(List<String> storages) {
		this.storages = storages;
	}

	public List<String> getExcludedStorages() {
		return this.excludedStorages;
	}

	public void setExcludedStorages(List<String> excludedStorages) {
		this.excludedStorages = excludedStorages;
	}

	public String getTable() {
		return this.table;
	}

	public void setTable(String table) {
		this.table = table;
	}

	public @Nullable String getDialect() {
		return this.dialect;
	}

	public void setDialect(@Nullable String dialect) {
		this.dialect = dialect;
	}

	public Duration getAdmissionTimeout() {
		return this.admissionTimeout;
	}

	public void setAdmissionTimeout(Duration admissionTimeout) {
		this.admissionTimeout = admissionTimeout;
	}

	public Duration getRetention() {
		return this.retention;
	}

	public void setRetention(Duration retention) {
		this.retention = retention;
	}

	public Duration getCleanupInterval() {
		return this.cleanupInterval;
	}

	public void setCleanupInterval(Duration cleanupInterval) {
		this.cleanupInterval = cleanupInterval;
	}

	public List<String> getWritingFunctions() {
		return this.writingFunctions;
	}

	public void setWritingFunctions(List<String> writingFunctions) {
		this.writingFunctions = writingFunctions;
	}

	public List<String> getUnfencedStatements() {
		return this.unfencedStatements;
	}

	public void setUnfencedStatements(List<String> unfencedStatements) {
		this.unfencedStatements = unfencedStatements;
	}

	@Override
	public String getDefaultSchemaLocation() {
		return DEFAULT_SCHEMA_LOCATION;
	}

}
