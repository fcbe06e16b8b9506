package io.fencing.architecture.broken.autoconfigure;

/**
 * Nobody but its own package may see this.
 */
public class SeenByAll {

}
