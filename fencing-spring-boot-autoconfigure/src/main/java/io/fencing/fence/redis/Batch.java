package io.fencing.fence.redis;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import io.fencing.context.OperationContext;
import io.fencing.fence.redis.Admitted.Guard;
import org.jspecify.annotations.Nullable;

/**
 * Commands that are answered together: a pipeline or a transaction. Used by the thread
 * that has the connection; its commands are completed by the driver.
 */
final class Batch {

	private final @Nullable OperationContext context;

	private final boolean transaction;

	private final Set<FenceScript> sent = new HashSet<>();

	private final Set<Guard> claimed = new HashSet<>();

	private final List<FencedCommand<?, ?, ?>> commands = new ArrayList<>();

	/**
	 * Create a batch.
	 * @param context the operation that begins it, {@code null} outside of one
	 * @param transaction whether it is a transaction
	 */
	Batch(@Nullable OperationContext context, boolean transaction) {
		this.context = context;
		this.transaction = transaction;
	}

	@Nullable OperationContext getContext() {
		return this.context;
	}

	boolean isTransaction() {
		return this.transaction;
	}

	/**
	 * Whether the batch ends before an operation does.
	 * @param operation the operation
	 * @return whether it was begun inside that very operation
	 */
	boolean endsWithin(OperationContext operation) {
		return this.context == operation;
	}

	/**
	 * Whether a script must be sent as text, since nobody can send it again in time. In a
	 * transaction nothing comes between, so once is enough.
	 * @param script the script
	 * @return whether its name is not enough
	 */
	boolean needsText(FenceScript script) {
		return this.sent.add(script) || !this.transaction;
	}

	/**
	 * Let only the first command claim: those after it are answered after it, and must
	 * find what it has claimed.
	 * @param admission what the next command must show
	 */
	void claimOnce(Admission admission) {
		if (!this.claimed.addAll(admission.getGuards())) {
			admission.follow();
		}
	}

	void add(FencedCommand<?, ?, ?> command) {
		if (this.transaction) {
			this.commands.add(command);
		}
	}

	/**
	 * The transaction has run.
	 */
	void ran() {
		this.commands.forEach(FencedCommand::ran);
	}

}
