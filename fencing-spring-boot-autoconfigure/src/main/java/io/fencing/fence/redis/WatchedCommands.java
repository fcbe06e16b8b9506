package io.fencing.fence.redis;

import java.lang.reflect.Method;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

import io.fencing.context.OperationContext;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.dao.InvalidDataAccessApiUsageException;
import org.springframework.data.redis.connection.RedisPipelineException;
import org.springframework.data.redis.connection.jedis.JedisConnection;

/**
 * Lets the commands of one connection of Jedis go by the fence, which has nothing that
 * commands could be rewritten at: each write of an operation runs in a
 * {@link WatchedTransaction}, a read as it is once the guards have shown the token. A
 * pipeline runs as one transaction. Not thread-safe, as the connection.
 */
final class WatchedCommands implements MethodInterceptor {

	private static final Set<String> HARMLESS = Set.of("isClosed", "isSubscribed", "getSubscription", "hashCode",
			"equals", "toString", "setConvertPipelineAndTxResults");

	// would end a transaction behind its back, or take it to a database whose guards are
	// not watched: what comes after would not be checked
	private static final Set<String> ESCAPES = Set.of("QUIT", "RESET", "SELECT", "UNWATCH");

	private static final String PAST_THE_FENCE = "commands would go past the fence by it; use the connection's own "
			+ "methods, or call it outside of the operation";

	private static final String ENDS_WATCH = "a transaction of its own would end the WATCH of this connection; send "
			+ "it between MULTI and EXEC, or before WATCH";

	private static final String OTHER_GUARDS = "the guards that are watched are in the database of before; select it "
			+ "before the pipeline or transaction begins";

	private final JedisConnection connection;

	private final boolean converts;

	private final Supplier<RedisFence> fence;

	private final WatchedTransaction transaction;

	private final Map<String, Object> commands = new HashMap<>();

	private int database;

	private boolean watching;

	private @Nullable Running running;

	/**
	 * Create an interceptor.
	 * @param connection the connection
	 * @param database the database that it is in
	 * @param converts whether results of pipelines and transactions are converted
	 * @param fence gives the fence; called at the first command that needs it
	 */
	WatchedCommands(JedisConnection connection, int database, boolean converts, Supplier<RedisFence> fence) {
		this.connection = connection;
		this.database = database;
		this.converts = converts;
		this.fence = fence;
		this.transaction = new WatchedTransaction(connection);
	}

	@Override
	public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		Method method = invocation.getMethod();
		if (CommandMethods.isCommands(method.getReturnType())) {
			return commands(invocation);
		}
		return switch (method.getName()) {
			case "isPipelined" -> isPipeline() || this.connection.isPipelined();
			case "isQueueing" -> !isPipeline() && this.connection.isQueueing();
			case "openPipeline" -> begin(true, invocation);
			case "multi" -> begin(false, invocation);
			case "closePipeline" -> isPipeline() ? closePipeline() : invocation.proceed();
			case "exec" -> (this.running != null && !isPipeline()) ? end(this.running) : exec(invocation);
			case "discard", "unwatch", "close" -> release(invocation);
			case "watch" -> watch(invocation);
			case "select" -> select(invocation);
			default -> HARMLESS.contains(method.getName()) ? invocation.proceed() : command(invocation);
		};
	}

	private @Nullable Object commands(MethodInvocation invocation) throws Throwable {
		Object known = this.commands.get(invocation.getMethod().getName());
		if (known == null) {
			Object target = invocation.proceed();
			if (target == this.connection || target == null) {
				return target;
			}
			ProxyFactory factory = new ProxyFactory(target);
			factory.addAdvice((MethodInterceptor) this::command);
			known = factory.getProxy(target.getClass().getClassLoader());
			this.commands.put(invocation.getMethod().getName(), known);
		}
		return known;
	}

	private @Nullable Object command(MethodInvocation invocation) throws Throwable {
		OperationContext context = OperationContext.get();
		String name = CommandMethods.name(invocation.getMethod(), invocation.getArguments());
		CommandKind kind = CommandKind.of(name);
		if (context == null && (kind == CommandKind.WRITE || kind == CommandKind.SCRIPT || Refusals.mayWrite(name))) {
			this.fence.get().checkOutside(name);
		}
		if (context == null || (kind == CommandKind.CONNECTION && !ESCAPES.contains(name))) {
			return invocation.proceed();
		}
		if (!context.isEnforced()) {
			this.fence.get().observe(context, this.database, remedy(invocation, name, kind));
			return invocation.proceed();
		}
		enter(context);
		String remedy = remedy(invocation, name, kind, context);
		if (remedy != null) {
			throw this.fence.get().unfenced(context, name, remedy);
		}
		if (this.running != null) {
			return invocation.proceed();
		}
		if (kind == CommandKind.READ) {
			claim(context);
			return invocation.proceed();
		}
		this.connection.setConvertPipelineAndTxResults(true);
		try {
			return this.transaction.run(() -> admission(context), () -> queue(invocation, name));
		}
		finally {
			this.connection.setConvertPipelineAndTxResults(this.converts);
		}
	}

	private @Nullable Object queue(MethodInvocation invocation, String name) throws Throwable {
		return CommandMethods.isQueuedRaw(invocation.getMethod())
				? this.connection.execute(name, CommandMethods.raw(invocation.getArguments())) : invocation.proceed();
	}

	private static @Nullable String remedy(MethodInvocation invocation, String name, CommandKind kind) {
		boolean control = kind == CommandKind.BEGIN || kind == CommandKind.END || ESCAPES.contains(name);
		if (control || !CommandMethods.isCommand(invocation.getMethod())) {
			return PAST_THE_FENCE;
		}
		return Refusals.findAnywhere(name, CommandMethods.arguments(invocation.getArguments()));
	}

	private @Nullable String remedy(MethodInvocation invocation, String name, CommandKind kind,
			OperationContext context) {
		String remedy = remedy(invocation, name, kind);
		if (remedy != null) {
			return remedy;
		}
		if (isBegun() && (this.running == null || this.running.context() != context)) {
			return Refusals.BEGUN_OUTSIDE;
		}
		return (this.watching && this.running == null && kind != CommandKind.READ) ? ENDS_WATCH : null;
	}

	private boolean isBegun() {
		return this.connection.isPipelined() || this.connection.isQueueing();
	}

	private boolean isPipeline() {
		return this.running != null && this.running.pipeline();
	}

	private void enter(OperationContext context) {
		this.fence.get().checkBeforeSending(context);
		context.meetFence();
	}

	private Admission admission(OperationContext context) {
		return this.fence.get().admission(context, this.database, Admission.NO_SLOT);
	}

	private void claim(OperationContext context) {
		Admission admission = admission(context);
		if (!admission.isGranted()) {
			this.transaction.check(admission);
		}
	}

	private @Nullable Object begin(boolean pipeline, MethodInvocation invocation) throws Throwable {
		OperationContext context = OperationContext.getEnforced();
		if (isPipeline() && !pipeline) {
			throw new InvalidDataAccessApiUsageException("Cannot use Transaction while a pipeline is open");
		}
		if (context == null || isPipeline() || isBegun() || (pipeline && this.watching)) {
			return invocation.proceed();
		}
		enter(context);
		Admission admission = admission(context);
		this.transaction.begin(admission);
		this.running = new Running(context, admission, pipeline);
		return null;
	}

	private @Nullable List<?> end(Running ending) {
		boolean watched = this.watching;
		this.running = null;
		this.watching = false;
		return this.transaction.end(ending.admission(), watched);
	}

	private @Nullable Object exec(MethodInvocation invocation) throws Throwable {
		if (isPipeline()) {
			throw new InvalidDataAccessApiUsageException("No ongoing transaction; Did you forget to call multi");
		}
		this.watching = false;
		return invocation.proceed();
	}

	private @Nullable List<?> closePipeline() {
		Running ending = this.running;
		try {
			return (ending != null) ? end(ending) : List.of();
		}
		catch (RuntimeException ex) {
			Refused.throwIfRefused(ex);
			throw new RedisPipelineException(ex, List.of());
		}
	}

	private @Nullable Object release(MethodInvocation invocation) throws Throwable {
		String method = invocation.getMethod().getName();
		boolean open = this.running != null && method.equals("close");
		this.running = method.equals("unwatch") ? this.running : null;
		this.watching = false;
		try {
			if (open) {
				this.connection.discard();
			}
		}
		finally {
			invocation.proceed();
		}
		return null;
	}

	private @Nullable Object watch(MethodInvocation invocation) throws Throwable {
		OperationContext context = OperationContext.getEnforced();
		if (context != null) {
			enter(context);
		}
		// a claim later on would end the WATCH; one that waits in a pipeline is none
		if (context != null && !isBegun()) {
			claim(context);
		}
		Object result = invocation.proceed();
		this.watching = true;
		return result;
	}

	private @Nullable Object select(MethodInvocation invocation) throws Throwable {
		OperationContext context = OperationContext.getEnforced();
		if (context != null && isBegun()) {
			throw this.fence.get().unfenced(context, "SELECT", OTHER_GUARDS);
		}
		Object result = invocation.proceed();
		if (invocation.getArguments()[0] instanceof Integer selected) {
			this.database = selected;
		}
		return result;
	}

	/**
	 * A pipeline or transaction that has begun.
	 *
	 * @param context the operation that it belongs to
	 * @param admission what it must show
	 * @param pipeline whether it is a pipeline for the caller
	 */
	private record Running(OperationContext context, Admission admission, boolean pipeline) {
	}

}
