package io.fencing.adversarial;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;

/**
 * Many threads that make deposits, each called until it has an answer.
 */
final class DepositLoad {

	private static final long LIMIT_SECONDS = 120;

	private DepositLoad() {
	}

	/**
	 * Make them all.
	 * @param deposits the deposits, in order
	 * @param threads the number of threads
	 * @param seed decides by which node each one is made, and what fails
	 * @param nodes where they can be made
	 * @param answered told every answer
	 * @throws Exception if one has failed in a way that is not to be repeated
	 */
	static void run(List<Deposit> deposits, int threads, long seed, List<Deposits> nodes,
			BiConsumer<Deposit, String> answered) throws Exception {
		Random seeds = new Random(seed);
		ExecutorService workers = Executors.newFixedThreadPool(threads);
		try {
			List<Future<?>> calls = new ArrayList<>();
			for (Deposit deposit : deposits) {
				Random random = new Random(seeds.nextLong());
				Deposits node = nodes.get(random.nextInt(nodes.size()));
				calls.add(workers.submit(() -> answered.accept(deposit, node.callUntilAnswered(deposit, random))));
			}
			for (Future<?> call : calls) {
				call.get(LIMIT_SECONDS, TimeUnit.SECONDS);
			}
		}
		finally {
			workers.shutdownNow();
		}
	}

}
