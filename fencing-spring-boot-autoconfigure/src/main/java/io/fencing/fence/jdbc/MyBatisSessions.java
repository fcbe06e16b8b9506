package io.fencing.fence.jdbc;

import org.mybatis.spring.SqlSessionHolder;

import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;

/**
 * Lets the MyBatis sessions of the current thread forget what they have read: a session
 * lasts as long as the transaction or scope that it is bound to, and answers a query that
 * it has seen from its own cache, older than the operation's lease.
 */
final class MyBatisSessions {

	private static final boolean PRESENT = ClassUtils.isPresent("org.mybatis.spring.SqlSessionHolder",
			MyBatisSessions.class.getClassLoader());

	private MyBatisSessions() {
	}

	static void forgetReads() {
		if (PRESENT) {
			Sessions.forgetReads();
		}
	}

	// MyBatis may be absent
	private static final class Sessions {

		static void forgetReads() {
			for (Object bound : TransactionSynchronizationManager.getResourceMap().values()) {
				if (bound instanceof SqlSessionHolder holder) {
					holder.getSqlSession().clearCache();
				}
			}
		}

	}

}
