package io.fencing.lease.redisson;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.fencing.lease.CoordinatorInvariants;
import io.fencing.lease.LeaseAnswer.Busy;
import io.fencing.lease.LeaseAnswer.Granted;
import io.fencing.lease.LeaseCoordinator;
import io.fencing.lease.LeaseCoordinator.ReleaseSubscription;
import io.fencing.lease.LeaseRequest;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The coordinator that grants in order of arrival keeps the contract too, and the order.
 * An owner {@code n-1} is the first invocation of the instance {@code n}.
 */
class FairCoordinatorContractTests extends RedissonLeaseCoordinatorContractTests {

	private static final String SILENCE_IS_OVER = "1";

	private static final Pattern FIRST = Pattern.compile("[*]1\r\n[$]\\d+\r\n(.*)\r\n");

	private final LeaseRequest holder = request("holder-1");

	@Override
	protected LeaseCoordinator coordinator() {
		return redis().fairCoordinator();
	}

	@Test
	void whenOthersStandInLineThenFreeLeaseIsKeptForTheFirst() {
		lineUpBehindHolder("a-1", "b-1");
		coordinator().abandon(this.holder, TIMEOUT);
		for (String owner : new String[] { "newcomer-1", "b-1", "a-2" }) {
			assertThat(answer(owner)).as(owner)
				.isInstanceOfSatisfying(Busy.class,
						(busy) -> assertThat(busy.remaining().toMillis()).isBetween(1L, 5000L));
		}
		assertThat(answer("a-1")).isInstanceOf(Granted.class);
		assertThat(answer("a-1")).as("rule 7").isInstanceOf(Granted.class);
		assertThat(line()).isEqualTo("b-1");
	}

	@Test
	void whenAnotherThreadOfTheFirstInstanceAsksThenPlacesAreChanged() {
		lineUpBehindHolder("a-1", "b-1", "a-2");
		coordinator().abandon(this.holder, TIMEOUT);
		assertThat(answer("a-2")).isInstanceOf(Granted.class);
		coordinator().abandon(request("a-2"), TIMEOUT);
		assertThat(answer("a-1")).as("its place is behind that of b-1 now").isInstanceOf(Busy.class);
		assertThat(answer("b-1")).isInstanceOf(Granted.class);
		assertThat(line()).isEqualTo("a-1");
	}

	@Test
	void whenInstanceIsSilentThenItsPlacesAreDropped() {
		lineUpBehindHolder("a-1", "a-2", "b-1");
		coordinator().abandon(this.holder, TIMEOUT);
		heard("a", SILENCE_IS_OVER);
		assertThat(answer("b-1")).isInstanceOf(Granted.class);
		assertThat(line()).isNull();
	}

	@Test
	void whenClockIsSetBackThenNobodyIsHeardOfForever() {
		lineUpBehindHolder("a-1", "b-1");
		coordinator().abandon(this.holder, TIMEOUT);
		heard("a", "9000000000000");
		assertThat(answer("b-1")).isInstanceOf(Granted.class);
	}

	@Test
	void whenInstanceIsHeardOfAgainThenItStandsAtTheEnd() {
		lineUpBehindHolder("a-1", "b-1");
		heard("a", SILENCE_IS_OVER);
		coordinator().abandon(this.holder, TIMEOUT);
		assertThat(answer("a-1")).isInstanceOf(Busy.class);
		lineUp("a-1", 2);
		assertThat(answer("b-1")).isInstanceOf(Granted.class);
		assertThat(line()).isEqualTo("a-1");
	}

	@Test
	void whenLinedUpTwiceThenPlaceIsKept() {
		lineUpBehindHolder("a-1", "b-1");
		coordinator().lineUp(request("a-1"));
		lineUp("c-1", 3);
		assertThat(line()).isEqualTo("a-1");
	}

	@Test
	void whenFirstLeavesThenTheNextInstanceIsWokenAndNoOther() throws Exception {
		lineUpBehindHolder("a-1", "b-1", "c-1");
		coordinator().abandon(this.holder, TIMEOUT);
		try (ReleaseSubscription next = coordinator().subscribe(request("b-1"));
				ReleaseSubscription other = coordinator().subscribe(request("c-1"))) {
			assertThat(next.await(TIMEOUT)).as("listens").isTrue();
			assertThat(other.await(TIMEOUT)).as("listens").isTrue();
			coordinator().abandon(request("a-1"), TIMEOUT);
			assertThat(next.await(TIMEOUT)).isTrue();
			coordinator().abandon(request("b-1"), TIMEOUT);
			assertThat(other.await(TIMEOUT)).isTrue();
			assertThat(other.await(LEASE.dividedBy(10))).as("woken once").isFalse();
		}
	}

	@Test
	void rule12WhenNobodyWaitsAnyMoreThenTheLineEnds() {
		lineUpBehindHolder("a-1");
		LeaseKeys keys = new LeaseKeys("fencing");
		Stream.of(keys.line(resource()), keys.heard(resource()))
			.forEach((key) -> assertThat(redis().console().remainingMillis(key)).isBetween(1L, 5000L));
	}

	private void lineUpBehindHolder(String... owners) {
		assertThat(answer("holder-1")).isInstanceOf(Granted.class);
		for (int i = 0; i < owners.length; i++) {
			assertThat(answer(owners[i])).isInstanceOf(Busy.class);
			lineUp(owners[i], i + 1);
		}
	}

	private void lineUp(String owner, int length) {
		coordinator().lineUp(request(owner));
		await().until(() -> redis().console().send("ZCARD " + new LeaseKeys("fencing").line(resource())),
				Integer.toString(length)::equals);
	}

	private Object answer(String owner) {
		return CoordinatorInvariants.answer(coordinator(), resource(), owner);
	}

	private LeaseRequest request(String owner) {
		return CoordinatorInvariants.request(resource(), owner);
	}

	private void heard(String node, String millis) {
		redis().console().send("ZADD " + new LeaseKeys("fencing").heard(resource()) + " " + millis + " " + node);
	}

	private String line() {
		Matcher first = FIRST
			.matcher(redis().console().sendForText("ZRANGE " + new LeaseKeys("fencing").line(resource()) + " 0 0"));
		return first.find() ? first.group(1) : null;
	}

}
