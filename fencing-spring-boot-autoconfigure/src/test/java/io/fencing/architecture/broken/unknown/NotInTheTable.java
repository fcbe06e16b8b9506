package io.fencing.architecture.broken.unknown;

/**
 * Its package is in no table.
 */
class NotInTheTable {

}
