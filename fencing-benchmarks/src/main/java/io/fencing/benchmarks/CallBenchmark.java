package io.fencing.benchmarks;

import java.util.concurrent.TimeUnit;

import io.fencing.FencedOperationRequest;
import io.fencing.FencedOperations;
import io.fencing.benchmarks.CallApplication.Work;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

import org.springframework.context.annotation.AnnotationConfigApplicationContext;

/**
 * What a call costs in this JVM before anything is sent: aspect, expression, context and
 * executor around an empty method, next to other advice.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
// compiled before it goes on, in short rounds: other work on the machine spoils few of
// them
@Fork(value = 1, jvmArgsAppend = "-Xbatch")
@Warmup(iterations = 60, time = 30, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 100, time = 5, timeUnit = TimeUnit.MILLISECONDS)
public class CallBenchmark {

	private static final int IDS = 1000;

	private final Work bareProxy = CallApplication.bareProxy();

	private AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();

	private Work work = this.bareProxy;

	private FencedOperations operations = new FencedOperations() {

		@Override
		public <T, E extends Exception> T call(FencedOperationRequest request, FencedBody<T, E> body) throws E {
			return body.run();
		}

	};

	private long id;

	/**
	 * Start the application.
	 */
	@Setup
	public void start() {
		this.context = CallApplication.start();
		this.work = this.context.getBean(Work.class);
		this.operations = this.context.getBean(FencedOperations.class);
	}

	/**
	 * Stop it.
	 */
	@TearDown
	public void stop() {
		this.context.close();
	}

	private long id() {
		this.id = (this.id + 1) % IDS;
		return this.id;
	}

	/**
	 * Advice that does nothing.
	 * @return the result
	 */
	@Benchmark
	public long bareProxy() {
		return this.bareProxy.bare(id());
	}

	/**
	 * A transaction of a manager that does nothing.
	 * @return the result
	 */
	@Benchmark
	public long transactional() {
		return this.work.transactional(id());
	}

	/**
	 * The annotation, its resource an expression.
	 * @return the result
	 */
	@Benchmark
	public long fenced() {
		return this.work.fenced(id());
	}

	/**
	 * The annotation, its resource a constant.
	 * @return the result
	 */
	@Benchmark
	public long fencedConstant() {
		return this.work.constant(id());
	}

	/**
	 * The annotation, switched off for this operation.
	 * @return the result
	 */
	@Benchmark
	public long off() {
		return this.work.off(id());
	}

	/**
	 * The programmatic twin.
	 * @return the result
	 */
	@Benchmark
	public Object called() {
		long current = id();
		return this.operations.call(FencedOperationRequest.of("called", "account:" + current), () -> current);
	}

}
