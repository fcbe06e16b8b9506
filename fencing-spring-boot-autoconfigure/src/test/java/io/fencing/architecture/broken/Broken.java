package io.fencing.architecture.broken;

import io.fencing.architecture.broken.autoconfigure.SeenByAll;

import org.springframework.beans.factory.BeanFactory;

/**
 * Sees what its package may not see.
 */
class Broken {

	SeenByAll forbidden;

	BeanFactory notInSpringCore;

}
