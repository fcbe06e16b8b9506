package io.fencing.sample.ledger;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.fencing.FencedOperationRequest;
import io.fencing.FencedOperations;
import io.fencing.sample.Http;
import io.fencing.sample.SampleApplication;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.http.HttpStatus;
import org.springframework.test.web.servlet.client.RestTestClient.ResponseSpec;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A request that is in an operation when the application is stopped gets its answer (case
 * 64).
 */
@Timeout(120)
@ExtendWith(OutputCaptureExtension.class)
class GracefulShutdownTests {

	@Test
	void case64WhenStoppedInTheMiddleOfARequestThenItsOperationEndsAndIsAnswered(CapturedOutput output) {
		ConfigurableApplicationContext context = new SpringApplicationBuilder(SampleApplication.class,
				SlowController.class)
			.run("--server.port=0");
		SlowController slow = context.getBean(SlowController.class);
		Http http = new Http(context.getEnvironment().getRequiredProperty("local.server.port", Integer.class));
		CompletableFuture<ResponseSpec> request = CompletableFuture.supplyAsync(() -> http.post("/slow"));
		await().atMost(30, TimeUnit.SECONDS).until(() -> slow.entered.getCount() == 0);
		CompletableFuture<Void> closing = CompletableFuture.runAsync(context::close);
		await().until(() -> output.getAll().contains("Commencing graceful shutdown"));
		assertThat(closing).isNotDone();
		slow.mayGoOn.countDown();
		request.join().expectStatus().isEqualTo(HttpStatus.OK);
		closing.join();
		assertThat(output.getAll()).doesNotContain("ERROR").doesNotContain("\tat ");
	}

	/**
	 * Works for as long as the test likes.
	 */
	@RestController
	static class SlowController {

		private final CountDownLatch entered = new CountDownLatch(1);

		private final CountDownLatch mayGoOn = new CountDownLatch(1);

		private final FencedOperations operations;

		SlowController(FencedOperations operations) {
			this.operations = operations;
		}

		@PostMapping("/slow")
		String work() throws InterruptedException {
			this.operations.run(FencedOperationRequest.of("slow", "slow"), () -> {
				this.entered.countDown();
				assertThat(this.mayGoOn.await(60, TimeUnit.SECONDS)).isTrue();
			});
			return "done";
		}

	}

}
