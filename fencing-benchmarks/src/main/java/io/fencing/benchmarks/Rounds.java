package io.fencing.benchmarks;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.stream.IntStream;

import org.openjdk.jmh.results.BenchmarkResult;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.Options;

/**
 * The scores of a benchmark whose iterations take its sides in turn, so that what else
 * happens on the machine meets all of them.
 *
 * @param scores for each side, one score a round
 */
record Rounds(List<List<Double>> scores) {

	/**
	 * Run a benchmark.
	 * @param options what to run
	 * @param sides the number of its sides
	 * @return the scores
	 * @throws RunnerException if it fails
	 */
	static Rounds run(Options options, int sides) throws RunnerException {
		List<List<Double>> scores = new ArrayList<>();
		IntStream.range(0, sides).forEach((side) -> scores.add(new ArrayList<>()));
		for (RunResult result : new Runner(options).run()) {
			for (BenchmarkResult fork : result.getBenchmarkResults()) {
				int iteration = fork.getParams().getWarmup().getCount();
				for (IterationResult round : fork.getIterationResults()) {
					scores.get(side(iteration++, sides)).add(round.getPrimaryResult().getScore());
				}
			}
		}
		return new Rounds(scores);
	}

	/**
	 * Whose turn it is. What the first side leaves behind, such as rows that the server
	 * has still to clean up, meets each of the others as often.
	 * @param iteration the number of the iteration, the first one being 0
	 * @param sides the number of sides
	 * @return the side
	 */
	static int side(int iteration, int sides) {
		int place = iteration % sides;
		return (place == 0) ? place : 1 + (place - 1 + iteration / sides) % (sides - 1);
	}

	/**
	 * The median score of a side.
	 * @param side the side
	 * @return the median
	 */
	double median(int side) {
		return quantile(this.scores.get(side), 0.5);
	}

	/**
	 * What one side scores for each point of another, compared round by round.
	 * @param side the side
	 * @param base the other one
	 * @param part which part of the rounds is below the answer
	 * @return the ratio
	 */
	double ratio(int side, int base, double part) {
		return quantile(IntStream.range(0, this.scores.get(side).size())
			.mapToObj((i) -> this.scores.get(side).get(i) / this.scores.get(base).get(i))
			.toList(), part);
	}

	private static double quantile(Collection<Double> values, double part) {
		List<Double> sorted = values.stream().sorted().toList();
		return sorted.get((int) Math.round(part * (sorted.size() - 1)));
	}

	/**
	 * Print what else is part of the result: the machine and its load.
	 * @param when when that is
	 */
	static void printLoad(String when) {
		System.out.printf("%nJava %s, %d processors, load average at the %s %.1f%n%n", Runtime.version(),
				Runtime.getRuntime().availableProcessors(), when,
				ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage());
	}

}
