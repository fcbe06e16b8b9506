package io.fencing.adversarial;

import io.fencing.FencingException;

/**
 * A way for operations and transactions to be put into each other. Each acknowledges what
 * it has changed when, and only when, its caller would rely on it.
 */
enum TransactionShape {

	ONE_TRANSACTION {

		@Override
		void run(ShapeAttempt attempt) {
			String account = attempt.first();
			attempt.fenced(() -> attempt.inTransaction((status) -> attempt.add(account, 1)), account);
			attempt.acknowledge(account, 1);
		}

	},

	NO_TRANSACTION {

		@Override
		void run(ShapeAttempt attempt) {
			String account = attempt.first();
			attempt.fenced(() -> attempt.add(account, 1), account);
			attempt.acknowledge(account, 1);
		}

	},

	TWO_TRANSACTIONS {

		@Override
		void run(ShapeAttempt attempt) {
			String account = attempt.first();
			attempt.fenced(() -> {
				long[] balance = new long[1];
				attempt.inTransaction((status) -> balance[0] = attempt.read(account));
				attempt.pause();
				attempt.inTransaction((status) -> {
					attempt.write(account, balance[0] + 1);
					attempt.pause();
				});
			}, account);
			attempt.acknowledge(account, 1);
		}

	},

	JOINED_ON_TWO_RESOURCES {

		@Override
		void run(ShapeAttempt attempt) {
			attempt.inTransaction((status) -> {
				attempt.fenced(() -> attempt.add(attempt.first(), 1), attempt.first());
				attempt.fenced(() -> attempt.add(attempt.second(), 1), attempt.second());
				attempt.pause();
			});
			attempt.acknowledge(attempt.first(), 1);
			attempt.acknowledge(attempt.second(), 1);
		}

	},

	NEW_TRANSACTION_IN_A_CALLERS {

		@Override
		void run(ShapeAttempt attempt) {
			String account = attempt.first();
			attempt.inTransaction((status) -> {
				attempt.read(attempt.second());
				attempt.fencedOutsideOfTransaction(() -> attempt.inNewTransaction((own) -> attempt.add(account, 1)),
						account);
				attempt.acknowledge(account, 1);
			});
		}

	},

	TRANSFER {

		@Override
		void run(ShapeAttempt attempt) {
			String from = attempt.first();
			String to = attempt.second();
			attempt.fenced(() -> attempt.inTransaction((status) -> {
				long taken = attempt.read(from) - 1;
				// not zero in sum, so that a mistake in one cannot hide in the other
				long given = attempt.read(to) + 2;
				attempt.pause();
				attempt.write(from, taken);
				attempt.write(to, given);
			}), from, to);
			attempt.acknowledge(from, -1);
			attempt.acknowledge(to, 2);
		}

	},

	JOINED_INSIDE_AN_OPERATION {

		@Override
		void run(ShapeAttempt attempt) {
			String outer = attempt.first();
			String inner = attempt.second();
			attempt.fenced(() -> attempt.inTransaction((status) -> {
				long balance = attempt.read(outer);
				attempt.fenced(() -> attempt.add(inner, 1), inner);
				attempt.pause();
				attempt.write(outer, balance + 1);
			}), outer);
			attempt.acknowledge(outer, 1);
			attempt.acknowledge(inner, 1);
		}

	},

	SAVEPOINT_ROLLBACK_AND_ON {

		@Override
		void run(ShapeAttempt attempt) {
			String account = attempt.first();
			attempt.inTransaction((status) -> {
				Object savepoint = status.createSavepoint();
				attempt.fenced(() -> attempt.add(account, 100), account);
				attempt.pause();
				status.rollbackToSavepoint(savepoint);
				attempt.pause();
				attempt.fenced(() -> attempt.add(account, 1), account);
			});
			attempt.acknowledge(account, 1);
		}

	},

	NESTED_AND_NEW_INSIDE_AN_OPERATION {

		@Override
		void run(ShapeAttempt attempt) {
			String account = attempt.first();
			attempt.fenced(() -> attempt.inTransaction((status) -> {
				attempt.inNestedTransaction((nested) -> {
					attempt.write(account, attempt.read(account) + 50);
					nested.setRollbackOnly();
				});
				attempt.pause();
				try {
					attempt.inNewTransaction((own) -> attempt.write("nobody", 0));
				}
				catch (FencingException ex) {
					// swallowed: the operation must end with it all the same
				}
				attempt.add(account, 1);
			}), account);
			attempt.acknowledge(account, 1);
		}

	};

	abstract void run(ShapeAttempt attempt);

}
