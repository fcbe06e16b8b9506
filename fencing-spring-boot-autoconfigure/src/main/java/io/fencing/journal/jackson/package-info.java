/**
 * Results and inputs of journaled operations as JSON.
 */
@NullMarked
package io.fencing.journal.jackson;

import org.jspecify.annotations.NullMarked;
