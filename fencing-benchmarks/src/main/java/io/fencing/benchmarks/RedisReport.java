package io.fencing.benchmarks;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;

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
			Rounds.printLoad("start");
			System.out
				.println("| benchmark | threads | plain/s | fenced/s | ratio | its quartiles | ratio of medians |");
			System.out.println("| --- | --- | --- | --- | --- | --- | --- |");
			for (String benchmark : (benchmarks.length > 0) ? benchmarks : BENCHMARKS) {
				report.run(benchmark, 1);
				report.run(benchmark, 8);
			}
			Rounds.printLoad("end");
		}
		finally {
			server.stop();
		}
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
		Rounds rounds = Rounds.run(options, RedisBenchmark.SIDES);
		System.out.printf("| %s | %d | %.0f | %.0f | **%.2f** | %.2f to %.2f | %.2f |%n", benchmark, threads,
				rounds.median(0), rounds.median(1), rounds.ratio(1, 0, 0.5), rounds.ratio(1, 0, 0.25),
				rounds.ratio(1, 0, 0.75), rounds.median(1) / rounds.median(0));
	}

}
