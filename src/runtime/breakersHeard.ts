/**
 * Hears the breakers of the servers that there are: of each once, and no longer than the server is configured.
 *
 * @internal
 */
import type * as CircuitBreaker from "../resilience/CircuitBreaker.ts"
import type * as ConnectionPool from "./ConnectionPool.ts"

/** @internal */
export interface BreakersHeard {
  /** To be asked with every change of a server. */
  readonly hear: (server: string) => void
  readonly stop: () => void
}

/** @internal */
export const make = (
  pool: ConnectionPool.ConnectionPool["Type"],
  breakers: CircuitBreaker.CircuitBreaker["Type"],
  changed: (server: string, state: CircuitBreaker.State["_tag"]) => void
): BreakersHeard => {
  const heard = new Map<string, () => void>()
  return {
    hear: (server) => {
      const silence = heard.get(server)
      if (pool.config(server) === undefined) {
        silence?.()
        heard.delete(server)
      } else if (silence === undefined) {
        heard.set(server, breakers.for(server).onChange((state) => changed(server, state)))
      }
    },
    stop: () => {
      for (const silence of heard.values()) silence()
    }
  }
}
