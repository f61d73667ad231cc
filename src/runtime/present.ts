/**
 * The server that a name stands for now. A replaced connection still serves its pending requests, but its status is not
 * that of its successor. A server without a first list counts as connecting.
 *
 * @internal
 */
import * as Fingerprint from "../config/Fingerprint.ts"
import type * as ServerConfig from "../config/ServerConfig.ts"
import * as McpError from "../McpError.ts"
import * as JsonRpc from "../transport/JsonRpc.ts"
import type * as Server from "./Server.ts"
import type * as Servers from "./Servers.ts"
import type * as ServerStatus from "./ServerStatus.ts"

/**
 * Whether both are the same server, however it is used.
 *
 * @internal
 */
export const isSame = (one: ServerConfig.ServerConfig | undefined, other: ServerConfig.ServerConfig): boolean =>
  one === other || (one !== undefined && Fingerprint.of(one) === Fingerprint.of(other))

/** @internal */
export const isPresent = (pool: Servers.Servers, live: Server.Live): boolean => {
  const present = pool.config(live.server)
  return present?.blocked === undefined && isSame(present, live.config)
}

/**
 * True if the server has declared `listChanged` for this list.
 *
 * @internal
 */
export const announcesChanges = (
  { session }: Server.Live,
  list: "tools" | "resources" | "prompts"
): boolean => {
  const declared = session.capabilities[list]
  return JsonRpc.isObject(declared) && declared["listChanged"] === true
}

/**
 * The `connecting` error of a server whose first list has not arrived; `undefined` if there is another reason.
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
