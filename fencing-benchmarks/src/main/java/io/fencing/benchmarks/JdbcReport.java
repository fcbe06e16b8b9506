package io.fencing.benchmarks;

import io.fencing.benchmarks.JdbcBenchmark.Statements;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.Options;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.VerboseMode;

/**
 * Starts database servers, runs {@link JdbcBenchmark}, and prints a table: the median
 * scores, and the medians of the ratios of rounds that follow each other.
 */
public final class JdbcReport {

	private JdbcReport() {
	}

	/**
	 * Run it.
	 * @param arguments the JDBC URL of a MariaDB server, with user and password, if that
	 * is to be measured as well
	 * @throws Exception if a server or a benchmark fails
	 */
	public static void main(String[] arguments) throws Exception {
		Rounds.printLoad("start");
		System.out.println("| database | threads | plain/s | by hand/s | with time-outs/s | ours/s | ours to by hand "
				+ "| its quartiles | ours to that with time-outs | its quartiles | ours to plain |");
		System.out.println("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
		Databases.measure(arguments, JdbcReport::run);
		Rounds.printLoad("end");
	}

	private static void run(Statements database, String url, int threads) throws RunnerException {
		Options options = new OptionsBuilder().include(JdbcBenchmark.class.getName() + "\\.")
			.threads(threads)
			.param("database", database.name())
			.param("url", url)
			.verbosity(VerboseMode.SILENT)
			.shouldFailOnError(true)
			.build();
		Rounds rounds = Rounds.run(options, JdbcBenchmark.SIDES);
		System.out.printf(
				"| %s | %d | %.0f | %.0f | %.0f | %.0f | **%.2f** | %.2f to %.2f | **%.2f** | %.2f to %.2f | %.2f |%n",
				database, threads, rounds.median(0), rounds.median(1), rounds.median(2), rounds.median(3),
				rounds.ratio(3, 1, 0.5), rounds.ratio(3, 1, 0.25), rounds.ratio(3, 1, 0.75), rounds.ratio(3, 2, 0.5),
				rounds.ratio(3, 2, 0.25), rounds.ratio(3, 2, 0.75), rounds.ratio(3, 0, 0.5));
	}

}
