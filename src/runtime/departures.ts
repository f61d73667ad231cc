/**
 * Hears when a server is gone for good, so that whoever keeps something of each server lets go of it.
 *
 * @internal
 */
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Hold from "../internal/hold.ts"
import type * as Servers from "./Servers.ts"

/** @internal */
export const watch = (
  pool: Servers.Servers,
  forget: ReadonlyArray<(server: string) => void>
): Effect.Effect<void, never, Scope.Scope> =>
  Hold.listen(() =>
    pool.onChange(({ server, status }) => {
      // closed with its configuration still there, it is the pool that ends
      if (status._tag !== "Closed" || pool.config(server) !== undefined) return
      for (const one of forget) one(server)
    })
  )
