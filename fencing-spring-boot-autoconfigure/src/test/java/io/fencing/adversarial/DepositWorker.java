package io.fencing.adversarial;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;

import io.fencing.adversarial.Deposit.Kind;
import io.fencing.adversarial.Places.Place;
import io.fencing.testing.ParentJvm;

import org.springframework.context.ConfigurableApplicationContext;

/**
 * Makes deposits in a JVM of its own, which may die over it.
 */
public final class DepositWorker {

	static final int KILLED = 137;

	// on a slow machine the last call begins long after the first
	private static final Duration LONG_LEASE = Duration.ofMinutes(2);

	private final ParentJvm parent;

	private final Deposits deposits;

	private final Places places;

	private DepositWorker(ParentJvm parent, ConfigurableApplicationContext node) {
		this.parent = parent;
		this.deposits = new Deposits(node, (deposit) -> parent.send("BODY " + deposit.id()));
		this.places = node.getBean(Places.class);
	}

	private void make(int threads, long seed, List<Deposit> list) throws Exception {
		DepositLoad.run(list, threads, seed, List.of(this.deposits),
				(deposit, answer) -> this.parent.send("ANSWER " + deposit.id() + " " + answer));
		this.parent.send("DONE");
	}

	/**
	 * Die in the middle of many calls, of which each has come to another place.
	 * @param prefix what their identities begin with
	 * @param trigger where the one is that ends the JVM, {@code null} if somebody else
	 * does
	 */
	private void die(String prefix, String trigger) {
		CountDownLatch all = new CountDownLatch(2 * Place.values().length);
		for (Place place : Place.values()) {
			for (boolean external : new boolean[] { false, true }) {
				Thread thread = new Thread(() -> {
					this.places.arm(place, () -> {
						this.parent.send("AT " + place);
						all.countDown();
						await(all);
						if (place.name().equals(trigger)) {
							Runtime.getRuntime().halt(KILLED);
						}
						await(new CountDownLatch(1));
					});
					this.deposits.call(deposit(prefix, place, external), external, LONG_LEASE,
							() -> this.places.reach(Place.WORKED));
				});
				thread.start();
			}
		}
	}

	static Deposit deposit(String prefix, Place place, boolean external) {
		String id = prefix + "-" + place + (external ? "-external" : "");
		return new Deposit(id, Kind.PLAIN, id);
	}

	private static void await(CountDownLatch latch) {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	/**
	 * Run it.
	 * @param args the properties of {@link DepositNode}
	 */
	public static void main(String[] args) {
		ParentJvm parent = ParentJvm.connect();
		try {
			DepositWorker worker = new DepositWorker(parent, DepositNode.start(args));
			parent.send("READY");
			while (true) {
				String[] command = parent.receive().split(" ");
				if (command[0].equals("DIE")) {
					worker.die(command[1], command[2]);
				}
				else {
					worker.make(Integer.parseInt(command[1]), Long.parseLong(command[2]),
							Arrays.stream(command[3].split(";")).map(Deposit::parse).toList());
				}
			}
		}
		catch (Throwable ex) {
			ex.printStackTrace(System.out);
			Runtime.getRuntime().halt(1);
		}
	}

}
