package io.fencing.benchmarks;

import java.lang.management.ManagementFactory;
import java.util.Collection;
import java.util.List;

import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.Options;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.VerboseMode;

/**
 * Runs {@link CallBenchmark} and prints a table. The tenth percentile is that of the
 * rounds which nothing else on the machine has interrupted.
 */
public final class CallReport {

	private CallReport() {
	}

	/**
	 * Run it.
	 * @param arguments none
	 * @throws RunnerException if a benchmark fails
	 */
	public static void main(String[] arguments) throws RunnerException {
		Options options = new OptionsBuilder().include(CallBenchmark.class.getName())
			.addProfiler(GCProfiler.class)
			.verbosity(VerboseMode.SILENT)
			.shouldFailOnError(true)
			.build();
		Collection<RunResult> results = new Runner(options).run();
		System.out.println("| call | ns, 10th percentile | ns, median | bytes |");
		System.out.println("| --- | --- | --- | --- |");
		for (RunResult result : results) {
			List<IterationResult> rounds = result.getBenchmarkResults()
				.stream()
				.flatMap((fork) -> fork.getIterationResults().stream())
				.toList();
			List<Double> times = rounds.stream().map((round) -> round.getPrimaryResult().getScore()).toList();
			List<Double> bytes = rounds.stream().map(CallReport::bytes).toList();
			System.out.printf("| %s | %.0f | %.0f | %.0f |%n", result.getPrimaryResult().getLabel(),
					quantile(times, 0.1), quantile(times, 0.5), quantile(bytes, 0.5));
		}
		System.out.printf("%nJava %s, %d processors, load average at the end %.1f%n", Runtime.version(),
				Runtime.getRuntime().availableProcessors(),
				ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage());
	}

	private static double bytes(IterationResult round) {
		Result<?> bytes = round.getSecondaryResults().get("gc.alloc.rate.norm");
		return (bytes != null) ? bytes.getScore() : Double.NaN;
	}

	private static double quantile(List<Double> values, double part) {
		List<Double> sorted = values.stream().sorted().toList();
		return sorted.get((int) Math.round(part * (sorted.size() - 1)));
	}

}
