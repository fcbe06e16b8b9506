package io.fencing.adversarial;

import io.fencing.FencedOperations;
import io.fencing.autoconfigure.LedgerApplication.Ledger;

import org.springframework.context.ApplicationContext;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionOperations;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * What a transaction shape is made of, as one application context has it.
 *
 * @param operations runs fenced operations
 * @param ledger reads and writes, in whatever transaction there is
 * @param required transactions that join one that is there
 * @param requiresNew transactions of their own
 * @param nested transactions that are a savepoint in one that is there
 */
record ShapesNode(FencedOperations operations, Ledger ledger, TransactionOperations required,
		TransactionOperations requiresNew, TransactionOperations nested) {

	static ShapesNode of(ApplicationContext context) {
		PlatformTransactionManager manager = context.getBean(PlatformTransactionManager.class);
		return new ShapesNode(context.getBean(FencedOperations.class), context.getBean(Ledger.class),
				transactions(manager, TransactionDefinition.PROPAGATION_REQUIRED),
				transactions(manager, TransactionDefinition.PROPAGATION_REQUIRES_NEW),
				transactions(manager, TransactionDefinition.PROPAGATION_NESTED));
	}

	private static TransactionOperations transactions(PlatformTransactionManager manager, int propagation) {
		TransactionTemplate template = new TransactionTemplate(manager);
		template.setPropagationBehavior(propagation);
		return template;
	}

}
