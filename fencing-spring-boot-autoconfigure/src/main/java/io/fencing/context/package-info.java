/**
 * Opening, closing and carrying the context of an operation.
 */
@NullMarked
package io.fencing.context;

import org.jspecify.annotations.NullMarked;
