package io.fencing.adversarial;

import io.fencing.testing.TestServers;

/**
 * The same on MySQL, at its default isolation.
 */
class MySqlAdversarialRunTests extends AdversarialRunTests {

	@Override
	String newUrl() {
		return TestServers.newMySqlUrl();
	}

}
