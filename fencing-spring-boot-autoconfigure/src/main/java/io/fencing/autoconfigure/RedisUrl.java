package io.fencing.autoconfigure;

import java.net.URI;
import java.net.URISyntaxException;

import io.fencing.InvalidFencedOperationException;
import org.jspecify.annotations.Nullable;

import org.springframework.util.StringUtils;

/**
 * A {@code redis://} or {@code rediss://} URL, taken apart as Boot does it.
 *
 * @param address the scheme, host and port
 * @param username the user, {@code null} for none (also where only a password is given)
 * @param password the password, {@code null} for none
 * @param database the number of the database
 */
record RedisUrl(String address, @Nullable String username, @Nullable String password, int database) {

	private static final int DEFAULT_PORT = 6379;

	private static final int MAX_PORT = 65_535;

	/**
	 * Take a URL apart.
	 * @param property the property that it comes from
	 * @param url the URL, which may contain a password and appears in no message
	 * @return its parts
	 * @throws InvalidFencedOperationException if it is not such a URL
	 */
	static RedisUrl parse(String property, String url) {
		try {
			URI uri = new URI(url);
			boolean known = "redis".equals(uri.getScheme()) || "rediss".equals(uri.getScheme());
			if (known && uri.getHost() != null && uri.getQuery() == null && uri.getFragment() == null
					&& uri.getPort() <= MAX_PORT) {
				RedisUrl parsed = of(uri);
				if (parsed.database() >= 0) {
					return parsed;
				}
			}
		}
		catch (URISyntaxException | NumberFormatException ex) {
			// told below, without the URL
		}
		throw new InvalidFencedOperationException("Property '" + property
				+ "' is not a Redis URL; use 'redis://[user:password@]host[:port][/database]', or 'rediss://' for TLS");
	}

	private static RedisUrl of(URI uri) {
		String userInfo = uri.getUserInfo();
		int colon = (userInfo != null) ? userInfo.indexOf(':') : -1;
		String username = (userInfo != null && colon > 0) ? userInfo.substring(0, colon) : null;
		String password = (userInfo != null) ? userInfo.substring(colon + 1) : null;
		String path = uri.getPath();
		int database = (StringUtils.hasLength(path) && path.length() > 1) ? Integer.parseInt(path.substring(1)) : 0;
		int port = (uri.getPort() > 0) ? uri.getPort() : DEFAULT_PORT;
		return new RedisUrl(uri.getScheme() + "://" + uri.getHost() + ":" + port, username,
				StringUtils.hasLength(password) ? password : null, database);
	}

	@Override
	public String toString() {
		return this.address + ((this.database != 0) ? "/" + this.database : "");
	}

}
