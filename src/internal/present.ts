/**
 * Whether a connection is still one of the server that has its name now: one that was replaced goes on for a while, for
 * those who use it, and has nothing to say about what took its place.
 *
 * @internal
 */
import * as Fingerprint from "../config/Fingerprint.ts"
import type * as ServerConfig from "../config/ServerConfig.ts"
import type * as ConnectionPool from "../connection/ConnectionPool.ts"

/**
 * Whether both are the same server, however it is used.
 *
 * @internal
 */
export const isSame = (one: ServerConfig.ServerConfig | undefined, other: ServerConfig.ServerConfig): boolean =>
  one === other || (one !== undefined && Fingerprint.of(one) === Fingerprint.of(other))

/** @internal */
export const isPresent = (pool: ConnectionPool.ConnectionPool["Type"], live: ConnectionPool.Live): boolean => {
  const present = pool.config(live.server)
  return present?.blocked === undefined && isSame(present, live.config)
}
