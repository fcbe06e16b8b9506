package io.fencing.fence.redis;

import java.util.concurrent.Executor;

import io.fencing.context.OperationContext;
import org.aopalliance.intercept.MethodInterceptor;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.core.task.AsyncTaskExecutor;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.core.task.support.TaskExecutorAdapter;
import org.springframework.data.redis.connection.ClusterCommandExecutor;

/**
 * Keeps an operation together while Spring Data Redis fans its commands out to the nodes
 * of a cluster.
 */
final class ClusterExecution {

	private ClusterExecution() {
	}

	/**
	 * Carry the operation to the threads that send to the nodes.
	 * @param executor the application's executor, {@code null} for none
	 * @return an executor that runs each task in the operation that submitted it
	 */
	static AsyncTaskExecutor carrying(@Nullable AsyncTaskExecutor executor) {
		Executor target = (executor != null) ? executor : new SimpleAsyncTaskExecutor("fencing-redis-");
		TaskExecutorAdapter carrying = new TaskExecutorAdapter(target);
		carrying.setTaskDecorator((task) -> {
			OperationContext context = OperationContext.get();
			return (context != null) ? context.wrap(task) : task;
		});
		return carrying;
	}

	/**
	 * Let refusals reach the caller as what they are.
	 * @param executor the executor
	 * @return the executor, of the same class
	 */
	static ClusterCommandExecutor refusing(ClusterCommandExecutor executor) {
		ProxyFactory factory = new ProxyFactory(executor);
		factory.setProxyTargetClass(true);
		factory.addAdvice((MethodInterceptor) (invocation) -> {
			try {
				return invocation.proceed();
			}
			catch (RuntimeException ex) {
				Refused.throwIfRefused(ex);
				for (Throwable other : ex.getSuppressed()) {
					Refused.throwIfRefused(other);
				}
				throw ex;
			}
		});
		return (ClusterCommandExecutor) factory.getProxy(ClusterCommandExecutor.class.getClassLoader());
	}

}
