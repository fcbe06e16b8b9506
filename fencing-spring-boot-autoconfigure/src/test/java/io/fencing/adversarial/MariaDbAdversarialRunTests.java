package io.fencing.adversarial;

import io.fencing.testing.TestServers;

/**
 * The same on MariaDB, at its default isolation.
 */
class MariaDbAdversarialRunTests extends AdversarialRunTests {

	@Override
	String newUrl() {
		return TestServers.newMariaDbUrl();
	}

}
