package io.fencing.autoconfigure;

import org.junit.jupiter.api.Test;

import org.springframework.context.ApplicationContext;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.RedisTemplate;
import org.springframework.data.redis.serializer.RedisSerializer;
import org.springframework.session.Session;
import org.springframework.session.SessionRepository;
import org.springframework.session.data.redis.RedisIndexedSessionRepository;
import org.springframework.session.data.redis.RedisSessionRepository;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Spring Session's repositories, inside of operations and outside.
 */
class FencedSessionTests extends RedisApplicationTests {

	private static RedisTemplate<String, Object> sessions(ApplicationContext context) {
		RedisTemplate<String, Object> template = new RedisTemplate<>();
		template.setConnectionFactory(context.getBean(RedisConnectionFactory.class));
		template.setKeySerializer(RedisSerializer.string());
		template.setHashKeySerializer(RedisSerializer.string());
		template.afterPropertiesSet();
		return template;
	}

	private <S extends Session> void assertSessionsAreFenced(ApplicationContext context,
			SessionRepository<S> repository) throws Exception {
		S session = repository.createSession();
		session.setAttribute("visits", 0);
		repository.save(session);
		assertFenced(context, () -> {
			S found = repository.findById(session.getId());
			found.setAttribute("visits", (int) found.getAttribute("visits") + 1);
			repository.save(found);
		});
		int visits = repository.findById(session.getId()).getAttribute("visits");
		assertThat(visits).isEqualTo(1);
		assertFenced(context, () -> repository.save(repository.createSession()));
		assertFenced(context, () -> repository.deleteById(session.getId()));
		assertThat(repository.findById(session.getId())).isNull();
	}

	@Test
	void whenSessionsAreSavedThenFencedInsideAndPlainOutside() {
		this.runner.run((context) -> {
			RedisSessionRepository repository = new RedisSessionRepository(sessions(context));
			repository.setRedisKeyNamespace(this.prefix + "session");
			assertSessionsAreFenced(context, repository);
		});
	}

	@Test
	void whenIndexedSessionsAreSavedThenFencedInsideAndPlainOutside() {
		this.runner.run((context) -> {
			RedisIndexedSessionRepository repository = new RedisIndexedSessionRepository(sessions(context));
			repository.setRedisKeyNamespace(this.prefix + "indexed");
			assertSessionsAreFenced(context, repository);
		});
	}

}
