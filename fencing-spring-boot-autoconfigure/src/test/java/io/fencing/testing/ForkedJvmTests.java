package io.fencing.testing;

import java.time.Duration;
import java.util.List;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Children talk, stop, go on, and never survive.
 */
class ForkedJvmTests {

	@Test
	void whenMessageIsSentThenAnswerArrivesBetweenOtherOutput() {
		try (ForkedJvm child = ForkedJvm.start("child", Echo.class, "hello")) {
			assertThat(child.await("READY")).isEqualTo("hello");
			child.send("one");
			child.send("two");
			assertThat(child.await("ECHO")).isEqualTo("one");
			assertThat(child.await("ECHO")).isEqualTo("two");
			assertThat(child.getOutput()).contains("child | some other output");
		}
	}

	@Test
	void whenFrozenThenSilentUntilThawed() {
		try (ForkedJvm child = ForkedJvm.start("child", Echo.class, "hello")) {
			child.await("READY");
			child.freeze();
			child.send("one");
			assertThatExceptionOfType(AssertionError.class)
				.isThrownBy(() -> child.await("ECHO", Duration.ofMillis(300)));
			child.thaw();
			assertThat(child.await("ECHO")).isEqualTo("one");
		}
	}

	@Test
	void whenClosedWhileFrozenThenGone() {
		ForkedJvm child = ForkedJvm.start("child", Echo.class, "hello");
		child.await("READY");
		child.freeze();
		child.close();
		assertThat(child.isAlive()).isFalse();
	}

	@Test
	void whenChildEndsThenWaitFailsAtOnceAndShowsItsOutput() {
		try (ForkedJvm child = ForkedJvm.start("child", Echo.class)) {
			assertThatExceptionOfType(AssertionError.class).isThrownBy(() -> child.await("READY"))
				.withMessageContaining("ArrayIndexOutOfBoundsException");
			assertThat(child.awaitEnd()).isNotZero();
		}
	}

	@Test
	void whenParentIsKilledThenChildEndsToo() {
		try (ForkedJvm parent = ForkedJvm.start("parent", Forker.class)) {
			ProcessHandle grandchild = ProcessHandle.of(Long.parseLong(parent.await("CHILD"))).orElseThrow();
			assertThat(grandchild.isAlive()).isTrue();
			parent.kill();
			await().until(() -> !grandchild.isAlive());
		}
	}

	@Test
	void whenFreezerIsClosedThenAllRunAgain() {
		try (ForkedJvm first = ForkedJvm.start("first", Echo.class, "1");
				ForkedJvm second = ForkedJvm.start("second", Echo.class, "2")) {
			first.await("READY");
			second.await("READY");
			try (Freezer freezer = Freezer.start(42, List.of(first, second), Duration.ofMillis(5),
					Duration.ofMillis(20))) {
				await().until(() -> freezer.getFreezes() > 10);
			}
			first.send("one");
			second.send("two");
			assertThat(first.await("ECHO")).isEqualTo("one");
			assertThat(second.await("ECHO")).isEqualTo("two");
		}
	}

	public static final class Echo {

		private Echo() {
		}

		public static void main(String[] args) {
			ParentJvm parent = ParentJvm.connect();
			System.out.println("some other output");
			parent.send("READY " + args[0]);
			while (true) {
				parent.send("ECHO " + parent.receive());
			}
		}

	}

	public static final class Forker {

		private Forker() {
		}

		public static void main(String[] args) {
			ParentJvm parent = ParentJvm.connect();
			ForkedJvm child = ForkedJvm.start("grandchild", Echo.class, "hello");
			child.await("READY");
			parent.send("CHILD " + ProcessHandle.current().children().findFirst().orElseThrow().pid());
			parent.receive();
		}

	}

}
