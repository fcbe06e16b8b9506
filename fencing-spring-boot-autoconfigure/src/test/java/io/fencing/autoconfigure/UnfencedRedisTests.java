package io.fencing.autoconfigure;

import io.fencing.UnfencedWriteException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import reactor.core.scheduler.Schedulers;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.data.redis.core.ReactiveStringRedisTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Writes outside of operations, by {@code fencing.unfenced-writes}.
 */
@ExtendWith(OutputCaptureExtension.class)
class UnfencedRedisTests extends RedisApplicationTests {

	@Test
	void whenWarnedThenWritesPassAndAreToldOnceForEachCommand(CapturedOutput output) {
		this.runner.withPropertyValues("fencing.unfenced-writes=warn").run((context) -> {
			template(context).opsForValue().increment(this.key);
			template(context).opsForValue().increment(this.key);
			assertThat(template(context).opsForValue().get(this.key)).isEqualTo("2");
			assertThat(events(context)).containsExactly("unfenced redis", "unfenced redis");
			assertFenced(context, () -> template(context).opsForValue().increment(this.key));
		});
		assertThat(output.getOut().split("Command 'INCR' to storage 'redis' goes by no fence", -1)).hasSize(2);
		assertThat(output).doesNotContain(this.key);
	}

	// a thread that the application brings in is another thread
	@Test
	void whenRejectedThenReactiveWritesOnForeignThreadsAreFound() {
		this.runner.withPropertyValues("fencing.unfenced-writes=reject").run((context) -> {
			ReactiveStringRedisTemplate reactive = context.getBean(ReactiveStringRedisTemplate.class);
			assertThatExceptionOfType(UnfencedWriteException.class).isThrownBy(() -> call(context,
					() -> reactive.opsForValue().increment(this.key).subscribeOn(Schedulers.parallel()).block()));
			assertThatExceptionOfType(UnfencedWriteException.class).isThrownBy(() -> call(context,
					() -> reactive.opsForValue()
						.get(this.key)
						.publishOn(Schedulers.parallel())
						.switchIfEmpty(reactive.opsForValue().append(this.key, "x").map(String::valueOf))
						.block()));
			assertThat(template(context).hasKey(this.key)).isFalse();
		});
	}

}
