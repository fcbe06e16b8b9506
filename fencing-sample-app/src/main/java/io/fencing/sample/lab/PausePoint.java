package io.fencing.sample.lab;

/**
 * Where a worker is held up, after its remote call and before it writes.
 */
enum PausePoint {

	/**
	 * Nowhere.
	 */
	NONE {
		@Override
		void arrange(LabAccounts accounts, Runnable pause) {
		}
	},

	/**
	 * Before its own JVM looks at its lease once more.
	 */
	BEFORE_LOCAL_CHECK {
		@Override
		void arrange(LabAccounts accounts, Runnable pause) {
			pause.run();
		}
	},

	/**
	 * After that look, before anything of the write reaches the storage.
	 */
	BEFORE_STORAGE {
		@Override
		void arrange(LabAccounts accounts, Runnable pause) {
			accounts.pauseBeforeSending(pause);
		}
	};

	/**
	 * Have the calling worker held up there.
	 * @param accounts the accounts that it works on
	 * @param pause what holds it up
	 */
	abstract void arrange(LabAccounts accounts, Runnable pause);

}
