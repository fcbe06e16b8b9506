package io.fencing.access;

import java.sql.Types;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Function;

import javax.sql.DataSource;

import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import org.apache.ibatis.session.ExecutorType;
import org.apache.ibatis.session.SqlSessionFactory;
import org.hibernate.Session;
import org.hibernate.SessionFactory;
import org.hibernate.StatelessSession;
import org.jooq.DSLContext;
import org.jooq.impl.DSL;
import org.mybatis.spring.SqlSessionTemplate;

import org.springframework.context.ApplicationContext;
import org.springframework.data.jdbc.core.JdbcAggregateTemplate;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.SqlParameter;
import org.springframework.jdbc.core.namedparam.NamedParameterJdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.core.simple.SimpleJdbcCall;
import org.springframework.jdbc.core.simple.SimpleJdbcInsert;
import org.springframework.orm.jpa.SharedEntityManagerCreator;

/**
 * A way to read and write accounts. What an account comes to is its balance and the sum
 * of its entries.
 *
 * @param name what the table calls it
 * @param read reads a balance
 * @param write makes the account come to a value that is one more than was read
 */
record Access(String name, Function<String, Integer> read, Write write) {

	private static final String READ = "SELECT balance FROM account WHERE id = ?";

	private static final String WRITE = "UPDATE account SET balance = ? WHERE id = ?";

	private static final String INSERT = "INSERT INTO entry (id, account, amount) VALUES (?, ?, 1)";

	/**
	 * Everything on top of a JDBC transaction manager.
	 */
	static List<Access> ofJdbc(ApplicationContext context) {
		JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
		JdbcTemplate handMade = new JdbcTemplate(context.getBean(DataSource.class));
		NamedParameterJdbcTemplate named = context.getBean(NamedParameterJdbcTemplate.class);
		JdbcClient client = context.getBean(JdbcClient.class);
		SimpleJdbcInsert insert = new SimpleJdbcInsert(jdbc).withTableName("entry")
			.usingColumns("id", "account", "amount");
		SimpleJdbcCall call = new SimpleJdbcCall(jdbc).withProcedureName("write_balance")
			.withoutProcedureColumnMetaDataAccess()
			.declareParameters(new SqlParameter("the_id", Types.VARCHAR),
					new SqlParameter("the_balance", Types.INTEGER));
		JdbcAccounts repository = context.getBean(JdbcAccounts.class);
		JdbcAggregateTemplate aggregates = context.getBean(JdbcAggregateTemplate.class);
		AccountMapper mapper = context.getBean(AccountMapper.class);
		AccountMapper batch = new SqlSessionTemplate(context.getBean(SqlSessionFactory.class), ExecutorType.BATCH)
			.getMapper(AccountMapper.class);
		DSLContext jooq = context.getBean(DSLContext.class);
		Function<String, Integer> read = (id) -> jdbc.queryForObject(READ, Integer.class, id);
		return List.of(new Access("`JdbcTemplate`", read, (id, value) -> jdbc.update(WRITE, value, id)),
				new Access("`JdbcTemplate.batchUpdate`", read,
						(id, value) -> jdbc.batchUpdate(WRITE, List.<Object[]>of(new Object[] { value, id }))),
				new Access("`JdbcTemplate` made by hand", (id) -> handMade.queryForObject(READ, Integer.class, id),
						(id, value) -> handMade.update(WRITE, value, id)),
				new Access("`NamedParameterJdbcTemplate`",
						(id) -> named.queryForObject("SELECT balance FROM account WHERE id = :id", Map.of("id", id),
								Integer.class),
						(id, value) -> named.update("UPDATE account SET balance = :balance WHERE id = :id",
								Map.of("id", id, "balance", value))),
				new Access("`JdbcClient`", (id) -> client.sql(READ).param(id).query(Integer.class).single(),
						(id, value) -> client.sql(WRITE).param(value).param(id).update()),
				new Access("`SimpleJdbcInsert`", read,
						(id, value) -> insert
							.execute(Map.of("id", UUID.randomUUID().toString(), "account", id, "amount", 1))),
				new Access("`SimpleJdbcCall` of a procedure", read,
						(id, value) -> call.execute(Map.of("the_id", id, "the_balance", value))),
				new Access("Spring Data JDBC: `save`", (id) -> repository.findById(id).orElseThrow().balance(),
						(id, value) -> repository.save(new JdbcAccount(id, value))),
				new Access("Spring Data JDBC: `@Modifying @Query`",
						(id) -> repository.findById(id).orElseThrow().balance(), repository::write),
				new Access("`JdbcAggregateTemplate`", (id) -> aggregates.findById(id, JdbcAccount.class).balance(),
						(id, value) -> aggregates.update(new JdbcAccount(id, value))),
				new Access("MyBatis: mapper", mapper::read, mapper::write),
				new Access("MyBatis: `BATCH` executor", batch::read, batch::write),
				new Access("jOOQ", (id) -> jooq(jooq, id), (id, value) -> jooq.execute(WRITE, value, id)),
				new Access("jOOQ: `transaction`", (id) -> jooq(jooq, id), (id, value) -> jooq
					.transaction((transaction) -> DSL.using(transaction).execute(WRITE, value, id))));
	}

	/**
	 * Everything on top of a JPA transaction manager.
	 */
	static List<Access> ofJpa(ApplicationContext context) {
		JpaAccounts repository = context.getBean(JpaAccounts.class);
		EntityManagerFactory factory = context.getBean(EntityManagerFactory.class);
		EntityManager entities = SharedEntityManagerCreator.createSharedEntityManager(factory);
		JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
		AccountMapper mapper = context.getBean(AccountMapper.class);
		DSLContext jooq = context.getBean(DSLContext.class);
		Function<String, Integer> find = (id) -> entities.find(JpaAccount.class, id).balance;
		return List.of(
				new Access("Spring Data JPA: `save`", (id) -> repository.findById(id).orElseThrow().balance,
						(id, value) -> repository.save(new JpaAccount(id, value))),
				new Access("Spring Data JPA: `saveAndFlush`", (id) -> repository.findById(id).orElseThrow().balance,
						(id, value) -> repository.saveAndFlush(new JpaAccount(id, value))),
				new Access("Spring Data JPA: `@Modifying @Query`", find, repository::write),
				new Access("`EntityManager`: changed entity, flush at commit", find,
						(id, value) -> entities.find(JpaAccount.class, id).balance = value),
				new Access("`EntityManager`: changed entity, `flush`", find, (id, value) -> {
					entities.find(JpaAccount.class, id).balance = value;
					entities.flush();
				}),
				new Access("`EntityManager`: `persist`", find, (id, value) -> entities.persist(new JpaEntry(id, 1))),
				new Access("`EntityManager`: JPQL update", find,
						(id, value) -> entities.createQuery("UPDATE JpaAccount a SET a.balance = ?1 WHERE a.id = ?2")
							.setParameter(1, value)
							.setParameter(2, id)
							.executeUpdate()),
				new Access("`EntityManager`: native query", find,
						(id, value) -> entities.createNativeQuery("UPDATE account SET balance = ?1 WHERE id = ?2")
							.setParameter(1, value)
							.setParameter(2, id)
							.executeUpdate()),
				new Access("`StatelessSession` on the connection of the transaction", find,
						(id, value) -> entities.unwrap(Session.class).doWork((connection) -> {
							try (StatelessSession session = factory.unwrap(SessionFactory.class)
								.openStatelessSession(connection)) {
								session.update(new JpaAccount(id, value));
							}
						})),
				new Access("`StatelessSession` with a connection and a transaction of its own", find,
						(id, value) -> factory.unwrap(SessionFactory.class)
							.inStatelessTransaction((session) -> session.update(new JpaAccount(id, value)))),
				new Access("`JdbcTemplate`", (id) -> jdbc.queryForObject(READ, Integer.class, id),
						(id, value) -> jdbc.update(WRITE, value, id)),
				new Access("MyBatis: mapper", mapper::read, mapper::write),
				new Access("jOOQ", (id) -> jooq(jooq, id), (id, value) -> jooq.execute(WRITE, value, id)));
	}

	private static int jooq(DSLContext jooq, String id) {
		return jooq.fetchOne(READ, id).get(0, Integer.class);
	}

	/**
	 * Writes.
	 */
	@FunctionalInterface
	interface Write {

		void write(String id, int value) throws Exception;

	}

}
