package io.fencing;

import java.util.function.Function;

/**
 * The thing protected: a text such as {@code account:42} inside a namespace. Immutable;
 * two are equal when namespace and name are. Made by {@link FencedResourceFactory}.
 */
public final class FencedResource implements Comparable<FencedResource> {

	private final String namespace;

	private final String name;

	private final String key;

	private final Function<FencedResource, String> fingerprint;

	FencedResource(String namespace, String name, String key, Function<FencedResource, String> fingerprint) {
		this.namespace = namespace;
		this.name = name;
		this.key = key;
		this.fingerprint = fingerprint;
	}

	/**
	 * The namespace that the resource lives in ({@code fencing.namespace}).
	 * @return the namespace
	 */
	public String getNamespace() {
		return this.namespace;
	}

	/**
	 * The raw text. Treat it as personal data: it belongs in no log, metric or error
	 * code.
	 * @return the name as the application wrote it; the key, where nothing else is known
	 */
	public String getName() {
		return this.name;
	}

	/**
	 * What stands for the resource in stored keys and rows, whatever characters and
	 * length the name has.
	 * @return 64 lower-case hexadecimal digits: SHA-256 of namespace and name
	 */
	public String getKey() {
		return this.key;
	}

	/**
	 * What stands for the resource in logs and messages.
	 * @return a short keyed fingerprint such as {@code #3fa1c2d4e5}, or the raw name
	 * where the application asked for it
	 */
	public String getFingerprint() {
		return this.fingerprint.apply(this);
	}

	/**
	 * The one order in which several resources are leased, claimed and held.
	 */
	@Override
	public int compareTo(FencedResource other) {
		return this.key.compareTo(other.key);
	}

	@Override
	public boolean equals(Object obj) {
		return obj instanceof FencedResource other && this.key.equals(other.key);
	}

	@Override
	public int hashCode() {
		return this.key.hashCode();
	}

	/**
	 * The fingerprint, so that a resource in a log line shows no personal data.
	 */
	@Override
	public String toString() {
		return getFingerprint();
	}

}
