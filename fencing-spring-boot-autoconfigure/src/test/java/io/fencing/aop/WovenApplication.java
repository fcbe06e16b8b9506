package io.fencing.aop;

import io.fencing.FencedOperation;
import io.fencing.testing.ParentJvm;

import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.EnableAspectJAutoProxy;
import org.springframework.stereotype.Component;

/**
 * Runs under AspectJ's agent, and tells which resources its calls have leased.
 */
public final class WovenApplication {

	private WovenApplication() {
	}

	public static void main(String[] args) {
		ParentJvm parent = ParentJvm.connect();
		try {
			new Ledger().outside();
			parent.send("early ran");
		}
		catch (IllegalStateException ex) {
			parent.send("early " + ex.getMessage());
		}
		try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext(
				AspectConfiguration.class, Proxying.class, Ledger.class, Inherited.class)) {
			Ledger ledger = context.getBean("ledger", Ledger.class);
			ledger.outside();
			ledger.selfInvoking();
			Ledger.ofTheClass();
			new Ledger().outside();
			context.getBean(Payments.class).pay();
			parent.send("type " + context.getBean("ledger").getClass().getSimpleName());
			parent.send("resources " + context.getBean(RecordingOperations.class)
				.requests()
				.stream()
				.flatMap((request) -> request.resources().stream())
				.toList());
		}
		parent.send("done");
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAspectJAutoProxy(proxyTargetClass = true)
	static class Proxying {

	}

	@Component("ledger")
	public static class Ledger {

		@FencedOperation("public")
		public void outside() {
		}

		public void selfInvoking() {
			inside();
			atLast();
		}

		@FencedOperation("private")
		private void inside() {
		}

		@FencedOperation("final")
		public final void atLast() {
		}

		@FencedOperation("static")
		static void ofTheClass() {
		}

	}

	public interface Payments {

		@FencedOperation("interface")
		void pay();

	}

	// the pointcut of AspectJ does not see annotations of interfaces: a proxy does
	public static class Inherited implements Payments {

		@Override
		public void pay() {
		}

	}

}
