/**
 * Asking a store that may be slow, broken or stuck.
 *
 * @internal
 */
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as UntrustedText from "../../../text/UntrustedText.ts"
import type * as Sealed from "../../Sealed.ts"

/** A disk that does not answer is waited for no longer, whatever is asked of it. */
const patience = Duration.seconds(5)

const unusable = (cause: Cause.Cause<{ readonly message: string }>): Sealed.Unusable => {
  const failure = Cause.failureOption(cause)
  const detail = failure._tag === "Some" ? UntrustedText.excerpt(failure.value.message, 256) : "the store broke down"
  return { _tag: "Unusable", detail }
}

/**
 * Detached, because a file system that is stuck does not let go of whoever asked it.
 *
 * @internal
 */
export const bounded = <A, E extends { readonly message: string }>(
  operation: Effect.Effect<A, E>
): Effect.Effect<A, Sealed.Unusable> =>
  operation.pipe(
    Effect.disconnect,
    Effect.timeoutFail({ duration: patience, onTimeout: () => ({ message: "the store does not answer" }) }),
    Effect.catchAllCause((cause) => Cause.isInterruptedOnly(cause) ? Effect.interrupt : Effect.fail(unusable(cause)))
  )
