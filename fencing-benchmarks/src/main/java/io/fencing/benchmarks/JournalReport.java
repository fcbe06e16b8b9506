package io.fencing.benchmarks;

import io.fencing.benchmarks.JdbcBenchmark.Statements;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.VerboseMode;

/**
 * Starts database servers, runs {@link JournalBenchmark}, and prints a table: the median
 * scores, and the medians of the ratios of rounds that follow each other.
 */
public final class JournalReport {

	private JournalReport() {
	}

	/**
	 * Run it.
	 * @param arguments the JDBC URL of a MariaDB server, with user and password, if that
	 * is to be measured as well
	 * @throws Exception if a server or a benchmark fails
	 */
	public static void main(String[] arguments) throws Exception {
		Rounds.printLoad("start");
		System.out.println(
				"| database | threads | without/s | with a new identity/s | answered/s | with to without | its quartiles |");
		System.out.println("| --- | --- | --- | --- | --- | --- | --- |");
		Databases.measure(arguments, JournalReport::run);
		Rounds.printLoad("end");
	}

	private static void run(Statements database, String url, int threads) throws RunnerException {
		Rounds rounds = Rounds.run(new OptionsBuilder().include(JournalBenchmark.class.getName() + "\\.")
			.threads(threads)
			.param("database", database.name())
			.param("url", url)
			.verbosity(VerboseMode.SILENT)
			.shouldFailOnError(true)
			.build(), JournalBenchmark.SIDES);
		System.out.printf("| %s | %d | %.0f | %.0f | %.0f | **%.2f** | %.2f to %.2f |%n", database, threads,
				rounds.median(0), rounds.median(1), rounds.median(2), rounds.ratio(1, 0, 0.5), rounds.ratio(1, 0, 0.25),
				rounds.ratio(1, 0, 0.75));
	}

}
