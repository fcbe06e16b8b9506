package io.fencing.benchmarks;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

import org.openjdk.jmh.results.BenchmarkResult;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.Options;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.VerboseMode;
import redis.embedded.RedisServer;

/**
 * Starts a Redis server, runs {@link RedisBenchmark}, and prints a table: the median
 * scores, and the median of the ratios of rounds that follow each other.
 */
public final class RedisReport {

	/** In the last one, commands are sent when the pipeline is closed. */
	private static final String[] BENCHMARKS = { "set", "hset", "pipeline", "pipeline/flushOnClose" };

	private final String url;

	private RedisReport(String url) {
		this.url = url;
	}

	/**
	 * Run it.
	 * @param benchmarks names of benchmarks, all if absent
	 * @throws Exception if a server or a benchmark fails
	 */
	public static void main(String[] benchmarks) throws Exception {
		int port = freePort();
		RedisServer server = RedisServer.newRedisServer()
			.port(port)
			.bind("127.0.0.1")
			.setting("save \"\"")
			.setting("appendonly no")
			.build();
		server.start();
		try {
			RedisReport report = new RedisReport("redis://127.0.0.1:" + port);
			printLoad("start");
			System.out
				.println("| benchmark | threads | plain/s | fenced/s | ratio | its quartiles | ratio of medians |");
			System.out.println("| --- | --- | --- | --- | --- | --- | --- |");
			for (String benchmark : (benchmarks.length > 0) ? benchmarks : BENCHMARKS) {
				report.run(benchmark, 1);
				report.run(benchmark, 8);
			}
			printLoad("end");
		}
		finally {
			server.stop();
		}
	}

	// what else runs on the machine is part of the result
	private static void printLoad(String when) {
		System.out.printf("%nJava %s, %d processors, load average at the %s %.1f%n%n", Runtime.version(),
				Runtime.getRuntime().availableProcessors(), when,
				ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage());
	}

	private static int freePort() throws IOException {
		try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
			return socket.getLocalPort();
		}
	}

	private void run(String benchmark, int threads) throws RunnerException {
		String[] method = benchmark.split("/");
		Options options = new OptionsBuilder().include(RedisBenchmark.class.getName() + "\\." + method[0] + "$")
			.threads(threads)
			.param("url", this.url)
			.param("flushOnClose", Boolean.toString(method.length > 1))
			.verbosity(VerboseMode.SILENT)
			.shouldFailOnError(true)
			.build();
		List<Double> plain = new ArrayList<>();
		List<Double> fenced = new ArrayList<>();
		for (RunResult result : new Runner(options).run()) {
			for (BenchmarkResult fork : result.getBenchmarkResults()) {
				fork.getIterationResults()
					.forEach((iteration) -> ((plain.size() == fenced.size()) ? plain : fenced)
						.add(iteration.getPrimaryResult().getScore()));
			}
		}
		List<Double> ratios = IntStream.range(0, fenced.size()).mapToObj((i) -> fenced.get(i) / plain.get(i)).toList();
		System.out.printf("| %s | %d | %.0f | %.0f | **%.2f** | %.2f to %.2f | %.2f |%n", benchmark, threads,
				quantile(plain, 0.5), quantile(fenced, 0.5), quantile(ratios, 0.5), quantile(ratios, 0.25),
				quantile(ratios, 0.75), quantile(fenced, 0.5) / quantile(plain, 0.5));
	}

	private static double quantile(List<Double> values, double part) {
		List<Double> sorted = values.stream().sorted().toList();
		return sorted.get((int) Math.round(part * (sorted.size() - 1)));
	}

}
