/**
 * What an application touches: the annotation, the token, the context, the exceptions and
 * the listener. Nothing here talks to Redis or to a database.
 */
@NullMarked
package io.fencing;

import org.jspecify.annotations.NullMarked;
