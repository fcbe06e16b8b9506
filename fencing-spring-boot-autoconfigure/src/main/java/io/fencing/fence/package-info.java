/**
 * Fences: what makes a token count at a storage.
 */
@NullMarked
package io.fencing.fence;

import org.jspecify.annotations.NullMarked;
