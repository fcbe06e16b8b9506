package io.fencing.testing;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * The acknowledged operations of a run in which several processes add to one value by
 * reading it and writing a new one. Thread-safe.
 *
 * <p>
 * If no update was lost, the operations form one chain: each has read what the one before
 * it wrote. That chain is the order of the commits.
 */
public final class History {

	private final List<Operation> operations = new ArrayList<>();

	/**
	 * Add an acknowledged operation.
	 * @param operation the operation
	 */
	public synchronized void add(Operation operation) {
		this.operations.add(operation);
	}

	public synchronized int size() {
		return this.operations.size();
	}

	/**
	 * What is wrong with the run.
	 * @param initial the value before it
	 * @param last the value after it
	 * @return one sentence for each violation, none if the history is that of a sequence
	 */
	public List<String> getViolations(long initial, long last) {
		return getViolations(initial, last, 0);
	}

	/**
	 * What is wrong with the run, if the outcome of some operations is unknown: each of
	 * them may have added one to the value, between two acknowledged ones.
	 * @param initial the value before it
	 * @param last the value after it
	 * @param unknown the number of these operations
	 * @return one sentence for each violation, none if the history is that of a sequence
	 */
	public synchronized List<String> getViolations(long initial, long last, long unknown) {
		List<Operation> chain = this.operations.stream().sorted(Comparator.comparingLong(Operation::written)).toList();
		List<String> violations = new ArrayList<>();
		long added = chain.stream().mapToLong((operation) -> operation.written() - operation.read()).sum();
		long between = last - initial - added;
		if (between < 0 || between > unknown) {
			violations.add("Acknowledged operations added " + added + " to " + initial + ", but the value is " + last
					+ ", with " + unknown + " of unknown outcome");
		}
		Operation before = new Operation("nobody", Long.MIN_VALUE, initial, initial, Long.MIN_VALUE, Long.MIN_VALUE);
		for (Operation operation : chain) {
			compare(before, operation, unknown, violations);
			before = operation;
		}
		return violations;
	}

	private static void compare(Operation before, Operation after, long unknown, List<String> violations) {
		long between = after.read() - before.written();
		if (between < 0 || between > unknown) {
			violations.add(after + " has not read what " + before + " wrote");
		}
		if (after.token() < before.token()) {
			violations.add(after + " was accepted after the newer " + before);
		}
		if (after.ended() < before.started()) {
			violations.add(after + " was acknowledged before " + before + ", which it builds on, had started");
		}
	}

	/**
	 * One acknowledged operation. Times are those of {@link System#nanoTime()}, which all
	 * processes of one machine share on Linux.
	 *
	 * @param worker who
	 * @param token its token
	 * @param read the value that it read
	 * @param written the value that it wrote
	 * @param started when it was called, in nanoseconds
	 * @param ended when it had returned, in nanoseconds
	 */
	public record Operation(String worker, long token, long read, long written, long started, long ended) {

		/**
		 * From what {@link #toLine()} made.
		 * @param line the line
		 * @return the operation
		 */
		public static Operation parse(String line) {
			String[] parts = line.split(" ");
			return new Operation(parts[0], Long.parseLong(parts[1]), Long.parseLong(parts[2]), Long.parseLong(parts[3]),
					Long.parseLong(parts[4]), Long.parseLong(parts[5]));
		}

		/**
		 * As one line, to be sent to another process.
		 * @return the line
		 */
		public String toLine() {
			return this.worker + " " + this.token + " " + this.read + " " + this.written + " " + this.started + " "
					+ this.ended;
		}

	}

}
