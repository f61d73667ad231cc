/** @internal */
// @effect-diagnostics nodeBuiltinImport:off - asks the system's lookup itself, to check what it says before it is dialled
import * as Effect from "effect/Effect"
import * as UrlGuard from "../UrlGuard.ts"
import { GuardedFetchError } from "./guardedFetchError.ts"

/** @internal */
export interface Address {
  readonly address: string
  readonly family: number
}

/** @internal */
export type Lookup = (host: string) => Effect.Effect<ReadonlyArray<Address>, GuardedFetchError>

const unknown = (errno: string | undefined) =>
  new GuardedFetchError("unreachable", "the name has no address", { errno })

/**
 * The one that everything else on this machine uses.
 *
 * @internal
 */
export const system: Lookup = (host) =>
  Effect.flatMap(Effect.promise(() => import("node:dns")), (dns) =>
    Effect.async((resume) =>
      dns.lookup(
        host,
        { all: true },
        (error, addresses) => resume(error === null ? Effect.succeed(addresses) : Effect.fail(unknown(error.code)))
      )
    ))

/**
 * Asks once. All addresses of the name pass, or it has none: who mixes in one that does not pass wants it to be tried.
 *
 * @internal
 */
export const checked = (lookup: Lookup, host: string, rules: UrlGuard.Rules): ReturnType<Lookup> =>
  Effect.flatMap(lookup(host), (addresses) => {
    if (addresses.length === 0) return Effect.fail(unknown(undefined))
    return addresses.every(({ address }) => UrlGuard.dialable(host, address, rules))
      ? Effect.succeed(addresses)
      : Effect.fail(
        new GuardedFetchError("blocked", "the name stands for a private address", { fault: "private-address" })
      )
  })
