/**
 * The server that a name stands for now. A connection that was replaced goes on for the requests on it, and says nothing
 * about its successor; a server without a first list is still connecting.
 *
 * @internal
 */
import * as Fingerprint from "../config/Fingerprint.ts"
import type * as ServerConfig from "../config/ServerConfig.ts"
import type * as ConnectionPool from "../connection/ConnectionPool.ts"
import type * as ServerStatus from "../connection/ServerStatus.ts"
import * as McpError from "../McpError.ts"
import * as JsonRpc from "../transport/JsonRpc.ts"

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

/**
 * Whether a server has said that it tells of changes of this list.
 *
 * @internal
 */
export const announcesChanges = (
  { session }: ConnectionPool.Live,
  list: "tools" | "resources" | "prompts"
): boolean => {
  const declared = session.connection.capabilities[list]
  return JsonRpc.isObject(declared) && declared["listChanged"] === true
}

/**
 * Why the first list of a server is not there, if the only reason is that it has not come yet.
 *
 * @internal
 */
export const stillConnecting = (
  server: string,
  { _tag }: ServerStatus.ServerStatus
): McpError.ServerUnavailable | undefined => {
  if (_tag !== "Connecting" && _tag !== "Connected") return undefined
  const detail = _tag === "Connected" ? "still connecting; its first list has not come yet" : "still connecting"
  return new McpError.ServerUnavailable({ server, why: "connecting", detail })
}
