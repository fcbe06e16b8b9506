package io.fencing.lease;

import java.time.Duration;

import io.fencing.FencedResource;

/**
 * What one invocation asks of the coordinator for one resource. Immutable.
 *
 * @param operation the name of the operation, for events and messages
 * @param resource the resource
 * @param owner the id of the invocation, never reused
 * @param leaseTime how long one grant or renewal lasts
 */
public record LeaseRequest(String operation, FencedResource resource, String owner, Duration leaseTime) {
}
