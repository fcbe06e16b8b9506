package io.fencing.fence.jdbc;

import java.util.function.Supplier;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;

/**
 * Lets every transaction manager bean, Boot's and the application's, take holds. The bean
 * stays what it is; it gets a listener.
 */
public final class HoldingTransactionPostProcessor implements BeanPostProcessor {

	private static final Logger logger = LoggerFactory.getLogger(HoldingTransactionPostProcessor.class);

	private final Supplier<JdbcFences> fences;

	/**
	 * Create the post-processor.
	 * @param fences gives the fences; called at the first transaction inside an operation
	 */
	public HoldingTransactionPostProcessor(Supplier<JdbcFences> fences) {
		this.fences = fences;
	}

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		if (bean instanceof PlatformTransactionManager manager) {
			if (bean instanceof ConfigurableTransactionManager configurable) {
				addListener(configurable);
			}
			else {
				logger.warn(
						"Transactions of bean '{}' of type '{}' cannot be held, since it takes no listeners; unless it "
								+ "leaves them to managers that are beans, they are refused inside fenced operations",
						beanName, manager.getClass().getName());
			}
		}
		return bean;
	}

	private void addListener(ConfigurableTransactionManager manager) {
		boolean listening = manager.getTransactionExecutionListeners()
			.stream()
			.anyMatch(HoldingTransactionListener.class::isInstance);
		if (!listening) {
			manager.addListener(new HoldingTransactionListener(manager, this.fences));
		}
	}

}
