package io.fencing.operation;

import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.TreeSet;

import io.fencing.FencedOperationRequest;
import io.fencing.InvalidFencedOperationException;
import io.fencing.fence.FencingMode;
import org.jspecify.annotations.Nullable;

/**
 * Finds the settings of a call: application.yml by the operation's name first, then the
 * request, then the defaults. Thread-safe.
 */
public final class OperationSettingsSource {

	private final OperationSettings defaults;

	private final Map<String, OperationOverrides> overrides;

	private final Duration retention;

	/**
	 * Create a source.
	 * @param defaults what holds where nothing else is said
	 * @param overrides what application.yml says, by operation name
	 * @param retention the shortest time that any token is remembered; no operation may
	 * hold a lease for so long
	 * @throws InvalidFencedOperationException if the defaults, or what application.yml
	 * says about one operation, do not go together, whatever a request adds
	 */
	public OperationSettingsSource(OperationSettings defaults, Map<String, OperationOverrides> overrides,
			Duration retention) {
		this.retention = retention;
		this.defaults = defaults.checked("The defaults 'fencing.lease.*'");
		this.overrides = Map.copyOf(overrides);
		this.overrides.forEach((name, yml) -> checked(yml.alone(), "'fencing.operations." + name + "'"));
	}

	/**
	 * The settings where nothing else is said.
	 * @return settings that go together
	 */
	OperationSettings getDefaults() {
		return this.defaults;
	}

	/**
	 * Find the settings of a call.
	 * @param request the call
	 * @return its settings
	 * @throws InvalidFencedOperationException if they do not go together
	 */
	public OperationSettings resolve(FencedOperationRequest request) {
		OperationOverrides yml = this.overrides.getOrDefault(request.name(), OperationOverrides.NONE);
		OperationSettings other = this.defaults;
		FencingMode mode = first(yml.mode(), null, other.mode());
		// a result that is recorded must be true
		FencingMode effective = (request.identity() != null) ? FencingMode.ENFORCE : mode;
		return checked(new OperationSettings(effective, first(yml.leaseTime(), request.leaseTime(), other.leaseTime()),
				first(yml.waitTime(), request.waitTime(), other.waitTime()), other.waitInTransaction(),
				first(yml.maxHold(), request.maxHold(), other.maxHold()),
				first(yml.minHold(), request.minHold(), other.minHold()),
				first(yml.renew(), request.renew(), other.renew()),
				first(yml.onBusy(), request.onBusy(), other.onBusy())), "Operation '" + request.name() + "'");
	}

	private OperationSettings checked(OperationSettings settings, String subject) {
		settings.checked(subject);
		if (settings.maxHold().compareTo(this.retention) >= 0) {
			throw new InvalidFencedOperationException(subject + ": 'max-hold' (" + settings.maxHold()
					+ ") is not shorter than the time that tokens are remembered (" + this.retention
					+ "); lower it, or raise the retentions");
		}
		return settings;
	}

	/**
	 * Check that application.yml speaks of operations that exist.
	 * @param annotated the names of all annotated operations
	 * @throws InvalidFencedOperationException if it names another one, which is not said
	 * to be programmatic
	 */
	public void checkNames(Collection<String> annotated) {
		this.overrides.forEach((name, yml) -> {
			if (!yml.programmatic() && !annotated.contains(name)) {
				throw new InvalidFencedOperationException("'fencing.operations." + name
						+ "' names no annotated operation, these are known: " + new TreeSet<>(annotated)
						+ "; correct the name, write one with a dot in brackets ('fencing.operations[Type.method]'),"
						+ " or set 'programmatic: true' if it is called by FencedOperations");
			}
		});
	}

	/**
	 * Whether an operation is enforced, so that its calls may fail.
	 * @param operation the name of the operation
	 * @param identified whether its calls have an identity
	 * @return whether it is, or is only observed or off
	 */
	public boolean isEnforced(String operation, boolean identified) {
		FencingMode mode = getMode(operation);
		return mode == FencingMode.ENFORCE || (identified && mode != FencingMode.OFF);
	}

	/**
	 * Whether calls of an operation run as they are.
	 * @param operation the name of the operation
	 * @return whether fencing is off for it
	 */
	public boolean isOff(String operation) {
		return getMode(operation) == FencingMode.OFF;
	}

	/**
	 * How far fencing goes for an operation, whatever else is said about it.
	 * @param operation the name of the operation
	 * @return the mode
	 */
	FencingMode getMode(String operation) {
		FencingMode yml = this.overrides.getOrDefault(operation, OperationOverrides.NONE).mode();
		return first(yml, null, this.defaults.mode());
	}

	private static <T> T first(@Nullable T yml, @Nullable T request, T other) {
		if (yml != null) {
			return yml;
		}
		return (request != null) ? request : other;
	}

}
