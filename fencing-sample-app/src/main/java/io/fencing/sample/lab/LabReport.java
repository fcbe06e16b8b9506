package io.fencing.sample.lab;

import java.math.BigDecimal;
import java.util.List;

/**
 * What one run of the lab has shown. Everything in it was observed.
 *
 * @param fencing whether the workers wrote by way of the fence
 * @param storage where the account is kept
 * @param account the account, new for each run
 * @param timeline what happened, in order
 * @param a the worker that was held up
 * @param b the worker that took over
 * @param initialBalance the balance before
 * @param expectedBalance the balance before and all acknowledged deposits
 * @param finalBalance the balance after, read on a separate raw connection
 * @param updateLost whether the two differ: an acknowledged deposit is gone
 */
record LabReport(boolean fencing, String storage, String account, List<Timeline.Entry> timeline, WorkerReport a,
		WorkerReport b, BigDecimal initialBalance, BigDecimal expectedBalance, BigDecimal finalBalance,
		boolean updateLost) {
}
