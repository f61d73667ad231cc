/**
 * What is the same for the clients of both SDKs.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Hold from "../../internal/hold.ts"
import * as UntrustedText from "../../text/UntrustedText.ts"
import * as JsonRpc from "../../transport/JsonRpc.ts"
import type * as Adapter from "./adapter.ts"
import * as Bridge from "./bridge.ts"

/**
 * An SDK's own timers are never to fire: deadlines are ours. This is the longest that a timer can take.
 *
 * @internal
 */
export const never = 2 ** 31 - 1

type Judged<T> =
  | { valid: true; data: T; errorMessage: undefined }
  | { valid: false; data: undefined; errorMessage: string }

/**
 * Results are judged elsewhere, per tool and with a budget; an SDK's own validator would compile every schema.
 *
 * @internal
 */
export const noValidator = {
  getValidator: <T>() => (input: unknown): Judged<T> => ({
    valid: true,
    // the cast: nothing is judged here, so the SDK gets back what it gave
    data: input as T,
    errorMessage: undefined
  })
}

/**
 * Closes a client with the scope, so that no timer of it is left. There is nothing to wait for: the transport that it
 * has, ours, closes at once.
 *
 * @internal
 */
export const closing = (client: { readonly close: () => Promise<void> }): Effect.Effect<void, never, Scope.Scope> =>
  Hold.letGo(() => {
    client.close().catch(() => undefined)
  })

/** @internal */
export const attempt = <A>(run: () => Promise<A>): Effect.Effect<A, Adapter.HandshakeFailed> =>
  Effect.tryPromise({
    try: run,
    catch: (cause): Adapter.HandshakeFailed => ({
      _tag: "HandshakeFailed",
      detail: UntrustedText.excerpt(cause instanceof Error ? cause.message : String(cause))
    })
  })

/**
 * Our own error, inside one that an SDK has made of it.
 *
 * @internal
 */
export const carried = (cause: unknown): Bridge.Carrier["error"] | undefined =>
  JsonRpc.isObject(cause) && cause["data"] instanceof Bridge.Carrier ? cause["data"].error : undefined

/** @internal */
export const paramsOf = (request: unknown): JsonRpc.JsonObject => {
  const params = JsonRpc.isObject(request) ? request["params"] : undefined
  return JsonRpc.isObject(params) ? params as JsonRpc.JsonObject : {}
}
