package io.fencing.calling;

import java.util.function.Function;
import java.util.function.UnaryOperator;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;

/**
 * A way to write an operation, or to make its bean, that an application may have.
 *
 * @param section what it is about
 * @param name what the table calls it
 * @param setup makes the application
 * @param call calls the operation, which withdraws from account 42; what its body has
 * seen, or {@code null} if {@link Seen} has it
 * @param unfenced why nothing fences it and nothing can tell, empty if something must
 */
record Shape(String section, String name, UnaryOperator<ApplicationContextRunner> setup,
		Function<ApplicationContext, Object> call, String unfenced) {

	Shape(String section, String name, UnaryOperator<ApplicationContextRunner> setup,
			Function<ApplicationContext, Object> call) {
		this(section, name, setup, call, "");
	}

	static <T> Shape of(String section, String name, Class<T> type, Function<T, Object> call, Class<?>... components) {
		return new Shape(section, name, (runner) -> runner.withUserConfiguration(components),
				(context) -> call.apply(context.getBean(type)));
	}

	Shape with(String... properties) {
		return with((runner) -> runner.withPropertyValues(properties));
	}

	Shape with(UnaryOperator<ApplicationContextRunner> more) {
		return new Shape(this.section, this.name, (runner) -> more.apply(this.setup.apply(runner)), this.call,
				this.unfenced);
	}

	Shape isUnfenced(String reason) {
		return new Shape(this.section, this.name, this.setup, this.call, reason);
	}

	@Override
	public String toString() {
		return this.section + ": " + this.name;
	}

}
