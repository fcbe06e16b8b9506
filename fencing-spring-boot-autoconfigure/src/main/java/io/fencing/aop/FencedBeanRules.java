package io.fencing.aop;

import java.util.Collection;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.fencing.InvalidFencedOperationException;
import io.fencing.OnBusy;
import io.fencing.operation.JournaledOperations;
import io.fencing.operation.OperationSettings;
import io.fencing.operation.OperationSettingsSource;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.util.function.SingletonSupplier;

/**
 * What a bean with fenced operations has to keep at each time of its life. Errors name
 * bean and method. What AspectJ has woven needs no proxy. Thread-safe.
 */
final class FencedBeanRules {

	private static final String SCOPED_TARGET = ScopedProxyUtils.getTargetBeanName("");

	private final ConfigurableListableBeanFactory beanFactory;

	private final Supplier<FencedOperationSource> source;

	private final Supplier<OperationSettingsSource> settings;

	private final FencedMethods operations;

	private final AdvisedMethodRules advice;

	private final MethodFormRules form;

	private final Supplier<MethodTransactions> transactions;

	FencedBeanRules(ConfigurableListableBeanFactory beanFactory, Supplier<FencedOperationSource> source,
			Supplier<OperationSettingsSource> settings, Supplier<MethodTransactions> transactions) {
		this.beanFactory = beanFactory;
		this.source = SingletonSupplier.of(source);
		this.settings = settings;
		this.operations = new FencedMethods(this.source);
		this.transactions = SingletonSupplier.of(transactions);
		this.advice = new AdvisedMethodRules(beanFactory, this.transactions);
		this.form = new MethodFormRules(new ProxyKind(beanFactory));
	}

	/**
	 * Find the operations of a class.
	 * @param type the class
	 * @return its operations
	 */
	Collection<FencedMethod> operations(Class<?> type) {
		return this.operations.of(type);
	}

	/**
	 * Verify a bean that nothing has wrapped yet.
	 * @param beanName its name
	 * @param type its class
	 * @param definition how it was made, {@code null} if a factory made it
	 */
	void verifyUnproxied(String beanName, Class<?> type, @Nullable RootBeanDefinition definition) {
		verify(beanName, type, (method) -> {
			if (!Weaving.isWoven(method.method())) {
				verifyForm(beanName, type, definition, method);
			}
		});
	}

	/**
	 * Verify a bean as others get it.
	 * @param beanName its name
	 * @param type its class before anything wrapped it
	 * @param bean the bean
	 * @param once whether all its proxies were made for this bean
	 */
	void verifyFinished(String beanName, Class<?> type, Object bean, boolean once) {
		verify(beanName, type, (method) -> {
			verifySettings(method, type);
			if (!Weaving.isWoven(method.method())) {
				this.advice.verifyBean(beanName, bean, method);
				if (once) {
					this.form.verifyOnce(bean, method);
				}
			}
		});
	}

	/**
	 * Verify a bean that does not exist yet, as far as its type tells.
	 * @param beanName its name
	 * @param type its type
	 */
	void verifyType(String beanName, Class<?> type) {
		RootBeanDefinition definition = (!this.beanFactory.isFactoryBean(beanName)
				&& this.beanFactory.getMergedBeanDefinition(beanName) instanceof RootBeanDefinition root) ? root : null;
		verify(beanName, type, (method) -> {
			verifySettings(method, type);
			if (!Weaving.isWoven(method.method())) {
				verifyForm(beanName, type, definition, method);
				this.advice.verifyType(type, method);
			}
		});
	}

	/**
	 * Verify an object that was registered as it is: nothing has processed it.
	 * @param beanName its name
	 * @param bean the object
	 */
	void verifyRegistered(String beanName, Object bean) {
		verify(beanName, AopProxyUtils.ultimateTargetClass(bean), (method) -> {
			if (Weaving.isWoven(method.method())) {
				return;
			}
			if (!(bean instanceof Advised)) {
				throw method.invalid("its object was registered as it is, so that no proxy is made for it",
						"register a bean definition", null);
			}
			this.advice.verifyBean(beanName, bean, method);
		});
	}

	private void verifyForm(String beanName, Class<?> type, @Nullable RootBeanDefinition definition,
			FencedMethod method) {
		this.form.verify(beanName, type, method);
		if (definition != null) {
			ContainerCallRules.verify(definition, method);
		}
	}

	private void verifySettings(FencedMethod method, Class<?> type) {
		FencedOperationMetadata metadata = this.source.get().getMetadata(method.method(), type);
		if (metadata == null) {
			return;
		}
		OperationSettings settings;
		try {
			settings = this.settings.get().resolve(metadata.request().resource(metadata.name()).build());
		}
		catch (InvalidFencedOperationException ex) {
			throw new InvalidFencedOperationException("@FencedOperation method '" + method + "', " + ex.getMessage(),
					ex);
		}
		JournalMetadata journal = metadata.journal();
		if (settings.onBusy() == OnBusy.SKIP) {
			metadata.skippedResult();
			verifySkip(journal, method);
		}
		if (journal != null && !this.settings.get().isOff(metadata.name())) {
			verifyJournal(journal, method, type);
		}
	}

	private static void verifySkip(@Nullable JournalMetadata journal, FencedMethod method) {
		if (journal != null && method.method().getReturnType() != void.class) {
			throw method.invalid("with an 'operationId' a skipped call would get another answer than the one recorded",
					"let it fail when it is busy, or return nothing", null);
		}
	}

	private void verifyJournal(JournalMetadata journal, FencedMethod method, Class<?> type) {
		try {
			JournaledOperations journaled = this.beanFactory.getBeanProvider(JournaledOperations.class)
				.getIfAvailable();
			if (journaled == null) {
				throw new InvalidFencedOperationException("its 'operationId' needs the journal, which needs a fenced "
						+ "DataSource with a transaction manager; add one, or remove the attribute");
			}
			journaled.verify(method.operationName(), method.method(), journal.resultType(),
					this.transactions.get().findTransaction(method.method(), type));
			journal.verifyInput(journaled::supportsInput);
		}
		catch (InvalidFencedOperationException ex) {
			throw new InvalidFencedOperationException("@FencedOperation method '" + method + "': " + ex.getMessage(),
					ex);
		}
	}

	private void verify(String beanName, Class<?> type, Consumer<FencedMethod> rule) {
		for (FencedMethod method : this.operations.of(type)) {
			try {
				rule.accept(method);
			}
			catch (InvalidFencedOperationException ex) {
				String name = beanName.startsWith(SCOPED_TARGET) ? beanName.substring(SCOPED_TARGET.length())
						: beanName;
				throw new InvalidFencedOperationException("Bean '" + name + "', " + ex.getMessage(), ex.getCause());
			}
		}
	}

}
