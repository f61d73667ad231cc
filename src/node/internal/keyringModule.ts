/**
 * The package that speaks to the keyrings of systems. It is machine code, and optional.
 *
 * @internal
 */
import type * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"

/** @internal */
export interface Entry {
  /** Nothing, or `null`, if there is none. */
  readonly getSecret: () => Promise<ArrayLike<number> | null | undefined>
  readonly setSecret: (secret: Uint8Array) => Promise<void>
  /** Whether there was one. */
  readonly deleteCredential: () => Promise<boolean>
}

/** @internal */
export interface KeyringModule {
  readonly AsyncEntry: new(
    service: string,
    account: string,
    options: { readonly linux: { readonly store: "secret-service" } }
  ) => Entry
}

/**
 * How the package is loaded: when it is first needed, unless something else is provided.
 *
 * @internal
 */
export class KeyringLoader extends Context.Reference<KeyringLoader>()(
  "effect-mcp-runtime/node/internal/keyringModule/KeyringLoader",
  {
    defaultValue: (): Effect.Effect<KeyringModule, Cause.UnknownException> =>
      // with this catch, bundlers do without the package where it is not installed
      Effect.tryPromise(() => import("@napi-rs/keyring").catch((error: unknown) => Promise.reject(error)))
  }
) {}
