package io.fencing.aop;

import java.util.ArrayList;
import java.util.List;

import io.fencing.FencedOperationRequest;
import io.fencing.FencedOperations;
import org.jspecify.annotations.Nullable;

import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Remembers the requests and runs the bodies, or none while everything is busy.
 */
class RecordingOperations implements FencedOperations {

	private final List<FencedOperationRequest> requests = new ArrayList<>();

	boolean transactionActive;

	private boolean busy;

	@Override
	public <T extends @Nullable Object, E extends Exception> @Nullable T call(FencedOperationRequest request,
			FencedBody<T, E> body) throws E {
		this.requests.add(request);
		this.transactionActive = TransactionSynchronizationManager.isActualTransactionActive();
		return this.busy ? null : body.run();
	}

	void setBusy() {
		this.busy = true;
	}

	List<FencedOperationRequest> requests() {
		return this.requests;
	}

	FencedOperationRequest last() {
		return this.requests.get(this.requests.size() - 1);
	}

	List<String> resources() {
		return last().resources();
	}

}
