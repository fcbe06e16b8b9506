/**
 * The journal of operations with an identity: its states, their legal moves, and what a
 * store of it must do.
 */
@NullMarked
package io.fencing.journal;

import org.jspecify.annotations.NullMarked;
