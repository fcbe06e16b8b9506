/**
 * What a running application shows of its operations.
 */
@NullMarked
package io.fencing.observation;

import org.jspecify.annotations.NullMarked;
