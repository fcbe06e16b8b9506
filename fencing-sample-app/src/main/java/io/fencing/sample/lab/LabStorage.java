package io.fencing.sample.lab;

/**
 * The two ways to the accounts in one storage.
 *
 * @param fenced by what the application decorates
 * @param undecorated by what is no bean, so that nothing has decorated it
 * @param onClose closes what is no bean
 */
record LabStorage(LabAccounts fenced, LabAccounts undecorated, Runnable onClose) implements AutoCloseable {

	LabStorage(LabAccounts fenced, LabAccounts undecorated) {
		this(fenced, undecorated, () -> {
		});
	}

	LabAccounts way(boolean fencing) {
		return fencing ? this.fenced : this.undecorated;
	}

	@Override
	public void close() {
		this.onClose.run();
	}

}
