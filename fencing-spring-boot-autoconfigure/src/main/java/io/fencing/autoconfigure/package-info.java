/**
 * Auto-configuration of the fencing starter.
 */
@NullMarked
package io.fencing.autoconfigure;

import org.jspecify.annotations.NullMarked;
