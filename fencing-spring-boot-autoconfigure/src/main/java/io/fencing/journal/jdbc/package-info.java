/**
 * The journal in a table next to the data that operations change.
 */
@NullMarked
package io.fencing.journal.jdbc;

import org.jspecify.annotations.NullMarked;
