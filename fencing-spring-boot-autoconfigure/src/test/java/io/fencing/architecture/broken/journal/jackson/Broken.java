package io.fencing.architecture.broken.journal.jackson;

import io.fencing.architecture.broken.autoconfigure.SeenByAll;

/**
 * Sees what its package may not see.
 */
class Broken {

	SeenByAll forbidden;

}
