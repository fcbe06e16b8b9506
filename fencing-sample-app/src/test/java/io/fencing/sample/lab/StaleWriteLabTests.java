package io.fencing.sample.lab;

import io.fencing.sample.Http;
import io.fencing.sample.SampleTest;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.web.server.LocalServerPort;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the project is for: a paused worker's late write is refused, and without the fence
 * it is not.
 */
@SampleTest
class StaleWriteLabTests {

	@LocalServerPort
	private int port;

	private Http http;

	@BeforeEach
	void connect() {
		this.http = new Http(this.port);
	}

	@ParameterizedTest
	@ValueSource(strings = { "postgresql", "redis" })
	void whenFencedThenStaleWriteIsRefusedByStorageAndNothingIsLost(String storage) {
		LabReport report = run(storage, "on", "short");
		assertThat(report.storage()).isEqualTo(storage);
		assertThat(report.a().outcome()).isEqualTo("refused");
		assertThat(report.a().refusedBy()).isEqualTo(storage);
		assertThat(report.a().error()).isEqualTo("StaleTokenException");
		assertThat(report.b().outcome()).isEqualTo("acknowledged");
		assertThat(report.b().refusedBy()).isNull();
		assertThat(report.finalBalance()).isEqualTo("105.00").isEqualTo(report.expectedBalance());
		assertThat(report.updateLost()).isFalse();
		assertThat(report.timeline()).filteredOn((entry) -> entry.worker().equals("A"))
			.extracting(Timeline.Entry::event)
			.containsExactly("has the lease", "has read 100.00", "has the answer of its remote call",
					"is held up, its lease held", "goes on, its lease lost", "ends with StaleTokenException");
		assertThat(report.timeline()).filteredOn((entry) -> entry.worker().equals("B"))
			.extracting(Timeline.Entry::event)
			.containsExactly("has the lease", "has read 100.00", "has the answer of its remote call",
					"has committed 105.00");
		assertThat(report.b().token()).isGreaterThan(report.a().token());
	}

	@ParameterizedTest
	@ValueSource(strings = { "postgresql", "redis" })
	void whenFencedAndPausedBeforeLocalCheckThenRefusedLocallyAsLost(String storage) {
		LabReport report = run(storage, "on", "long");
		assertThat(report.a().outcome()).isEqualTo("refused");
		assertThat(report.a().refusedBy()).isEqualTo("local");
		assertThat(report.a().error()).isEqualTo("LeaseLostException");
		assertThat(report.b().outcome()).isEqualTo("acknowledged");
		assertThat(report.finalBalance()).isEqualTo("105.00");
		assertThat(report.updateLost()).isFalse();
	}

	@ParameterizedTest
	@ValueSource(strings = { "postgresql", "redis" })
	void whenNotFencedThenUpdateOfNewerWorkerIsLost(String storage) {
		for (String pause : new String[] { "short", "long" }) {
			LabReport report = run(storage, "off", pause);
			assertThat(report.a().outcome()).isEqualTo("acknowledged");
			assertThat(report.b().outcome()).isEqualTo("acknowledged");
			assertThat(report.b().token()).isGreaterThan(report.a().token());
			assertThat(report.expectedBalance()).isEqualTo("115.00");
			assertThat(report.finalBalance()).isEqualTo("110.00");
			assertThat(report.updateLost()).isTrue();
		}
	}

	@Test
	void whenRunAgainThenTokensDiffer() {
		LabReport first = run("postgresql", "on", "short");
		LabReport second = run("postgresql", "on", "short");
		assertThat(new Long[] { first.a().token(), first.b().token(), second.a().token(), second.b().token() })
			.doesNotContainNull()
			.doesNotHaveDuplicates();
	}

	@Test
	void whenParametersAreNotUnderstoodThenBadRequest() {
		this.http.post("/lab/stale-write").expectStatus().isBadRequest();
		this.http.post("/lab/stale-write?fencing=maybe").expectStatus().isBadRequest();
		this.http.post("/lab/stale-write?fencing=on&pause=odd").expectStatus().isBadRequest();
		this.http.post("/lab/stale-write?fencing=on&storage=odd").expectStatus().isBadRequest();
	}

	private LabReport run(String storage, String fencing, String pause) {
		return this.http
			.post("/lab/stale-write?storage={storage}&fencing={fencing}&pause={pause}", storage, fencing, pause)
			.expectStatus()
			.isOk()
			.expectBody(LabReport.class)
			.returnResult()
			.getResponseBody();
	}

}
