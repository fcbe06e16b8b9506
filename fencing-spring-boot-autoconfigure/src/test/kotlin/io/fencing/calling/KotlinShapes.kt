package io.fencing.calling

import io.fencing.FencedOperation
import io.fencing.FencingContext
import io.fencing.OnBusy
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.Deferred
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.flowOf
import java.util.concurrent.CompletableFuture

/** What the bodies of all shapes do: tell what they are fenced for. */
private fun seen(): String = FencingContext.current()?.held?.joinToString { it.resource.name } ?: "nothing"

/** The key of an account, without a box of its own at runtime. */
@JvmInline
value class AccountId(val value: String)

/** A key that is an object at runtime. */
data class AccountKey(val id: String, val region: String = "eu")

open class OpenAccounts {

	@FencedOperation("account:#{#id}")
	open fun withdraw(id: String): String = seen()

	@FencedOperation("account:#{#id}")
	open fun withDefault(id: String, amount: Int = 1): String = seen()

	@FencedOperation("account:#{#id}")
	internal open fun mangled(id: String): String = seen()

	@FencedOperation("account:#{#id}")
	open fun byValue(id: AccountId): String = seen()

	@FencedOperation("account:#{#key.id}")
	open fun byData(key: AccountKey): String = seen()

	@FencedOperation("account:#{#id}")
	open fun byNullable(id: String?): String = seen()

	@FencedOperation("account:#{#ids[0]}")
	open fun byVararg(vararg ids: String): String = seen()

	@FencedOperation("account:#{#id}", onBusy = OnBusy.SKIP)
	open fun skippingUnit(id: String) {
		seen = seen()
	}

	@FencedOperation("account:#{#ids[0]}")
	open fun byBoxed(ids: List<AccountId>): String = seen()

	@FencedOperation("account:#{#p0}")
	open fun String.withdrawn(): String = seen()

	@FencedOperation("account:#{#id}")
	open fun later(id: String): CompletableFuture<String> = CompletableFuture.completedFuture(seen())

	private var seen = ""

	open fun lastSeen(): String = seen

}

/** Calls as Kotlin compiles them. */
object KotlinCalls {

	@JvmStatic
	fun withDefault(accounts: OpenAccounts): String = accounts.withDefault("42")

	@JvmStatic
	fun mangled(accounts: OpenAccounts): String = accounts.mangled("42")

	@JvmStatic
	fun byValue(accounts: OpenAccounts): String = accounts.byValue(AccountId("42"))

	@JvmStatic
	fun byBoxed(accounts: OpenAccounts): String = accounts.byBoxed(listOf(AccountId("42")))

	@JvmStatic
	fun byData(accounts: OpenAccounts): String = accounts.byData(AccountKey("42"))

	@JvmStatic
	fun extension(accounts: OpenAccounts): String = with(accounts) { "42".withdrawn() }

}

class FinalAccounts {

	@FencedOperation("account:#{#id}")
	fun withdraw(id: String): String = seen()

}

open class FinalFunction {

	@FencedOperation("account:#{#id}")
	fun withdraw(id: String): String = seen()

}

interface KotlinAccounts {

	fun withdraw(id: String): String

	@FencedOperation("account:#{#id}")
	fun withBody(id: String): String = seen()

}

class ImplementingAccounts : KotlinAccounts {

	@FencedOperation("account:#{#id}")
	override fun withdraw(id: String): String = seen()

}

/** Everything by another bean of the interface. */
open class DelegatingAccounts(accounts: KotlinAccounts = ImplementingAccounts()) : KotlinAccounts by accounts

object SingletonAccounts {

	@FencedOperation("account:#{#id}")
	fun withdraw(id: String): String = seen()

}

open class CompanionAccounts {

	companion object {

		@JvmStatic
		@FencedOperation("account:#{#id}")
		fun withdraw(id: String): String = seen()

	}

}

open class SuspendingAccounts {

	@FencedOperation("account:#{#id}")
	open suspend fun withdraw(id: String): String = seen()

}

open class FlowingAccounts {

	@FencedOperation("account:#{#id}")
	open fun withdraw(id: String): Flow<String> = flowOf(id)

}

open class DeferredAccounts {

	@FencedOperation("account:#{#id}")
	open fun withdraw(id: String): Deferred<String> = CompletableDeferred(id)

}

open class SkippingInt {

	@FencedOperation("account:#{#id}", onBusy = OnBusy.SKIP)
	open fun withdraw(id: String): Int = id.length

}

open class PrivateFunction {

	@FencedOperation("account:#{#id}")
	private fun withdraw(id: String): String = seen()

	fun call(id: String): String = withdraw(id)

}
