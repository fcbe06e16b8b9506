package io.fencing.fence.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;

/**
 * A connection that is looked at when it goes back.
 */
record CloseCheckedConnection(Connection target) {

	Connection proxy(Check check) {
		return (Connection) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] { Connection.class },
				(proxy, method, arguments) -> {
					if (method.getName().equals("close")) {
						check.accept(this.target);
					}
					try {
						return method.invoke(this.target, arguments);
					}
					catch (InvocationTargetException ex) {
						throw ex.getTargetException();
					}
				});
	}

	/**
	 * What is expected of it.
	 */
	@FunctionalInterface
	interface Check {

		void accept(Connection connection) throws SQLException;

	}

}
