package io.fencing.aop;

import java.lang.reflect.Method;

import org.jspecify.annotations.Nullable;

/**
 * The root object of expressions: <code>#{method.name}</code>, <code>#{args[0]}</code>,
 * <code>#{target.region}</code>, with or without <code>#root.</code> before it. Public,
 * since SpEL reads it.
 */
public final class ExpressionRoot {

	private final Method method;

	private final @Nullable Object[] args;

	private final @Nullable Object target;

	ExpressionRoot(Method method, @Nullable Object[] args, @Nullable Object target) {
		this.method = method;
		this.args = args;
		this.target = target;
	}

	/**
	 * The method that is called.
	 * @return the most specific method
	 */
	public Method getMethod() {
		return this.method;
	}

	/**
	 * What it is called with.
	 * @return the arguments
	 */
	public @Nullable Object[] getArgs() {
		return this.args;
	}

	/**
	 * What it is called on.
	 * @return the object, not its proxy
	 */
	public @Nullable Object getTarget() {
		return this.target;
	}

}
