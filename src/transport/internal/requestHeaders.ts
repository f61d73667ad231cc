/** @internal */
import * as Redacted from "effect/Redacted"
import * as Protocol from "../../client/Protocol.ts"
import * as JsonRpc from "../JsonRpc.ts"
import type * as RemoteHeaders from "../RemoteHeaders.ts"
import type * as Transport from "../Transport.ts"
import * as HeaderText from "./headerText.ts"

/**
 * The headers that the transport sets itself, whatever a configuration says of them.
 *
 * @internal
 */
export const own: ReadonlySet<string> = new Set([
  "accept",
  "accept-encoding",
  "content-type",
  "last-event-id",
  "mcp-method",
  "mcp-name",
  "mcp-protocol-version",
  "mcp-session-id"
])

/** Which parameter `Mcp-Name` mirrors (SEP-2243, SEP-2663). */
const nameSource: ReadonlyMap<string, string> = new Map([
  ["tools/call", "name"],
  ["prompts/get", "name"],
  ["resources/read", "uri"],
  ["tasks/get", "taskId"],
  ["tasks/update", "taskId"],
  ["tasks/cancel", "taskId"]
])

const encodings = "gzip, deflate, br"

/** @internal */
export interface RequestHeaders {
  session: string | undefined
  negotiated: Transport.Negotiated | undefined
  /** The version to name with a message of the stateless era; `undefined` for one of the session era. */
  readonly stateless: (message: JsonRpc.Message) => string | undefined
  readonly post: (
    message: JsonRpc.Message,
    bytes: number,
    extra: Readonly<Record<string, string>> | undefined
  ) => Array<string>
  readonly get: (lastEventId: string | undefined) => Array<string>
  readonly delete: () => Array<string>
}

/** @internal */
export const make = (url: URL, source: RemoteHeaders.Source): RequestHeaders => {
  let known: ReadonlyMap<string, Redacted.Redacted> | undefined
  let base: ReadonlyArray<string> = []

  const common = (): ReadonlyArray<string> => {
    const current = source.current()
    if (current === known) return base
    const headers = ["host", url.host]
    for (const [name, value] of current) {
      if (!own.has(name.toLowerCase())) headers.push(name, Redacted.value(value))
    }
    known = current
    base = headers
    return headers
  }

  const stateless = (message: JsonRpc.Message): string | undefined => {
    const params = "method" in message ? message.params : undefined
    const meta = params?.["_meta"]
    const version = JsonRpc.isObject(meta) ? meta[Protocol.metaKey.protocolVersion] : undefined
    if (typeof version === "string") return version
    return self.negotiated?.era === "stateless" ? self.negotiated.protocolVersion : undefined
  }

  const inSession = (headers: Array<string>): Array<string> => {
    if (self.session !== undefined) headers.push("mcp-session-id", self.session)
    if (self.negotiated !== undefined) headers.push("mcp-protocol-version", self.negotiated.protocolVersion)
    return headers
  }

  const inMessage = (headers: Array<string>, message: JsonRpc.Message, version: string): void => {
    headers.push("mcp-protocol-version", HeaderText.encode(version))
    if (!("method" in message)) return
    headers.push("mcp-method", HeaderText.encode(message.method))
    const field = nameSource.get(message.method)
    const name = field === undefined ? undefined : message.params?.[field]
    if (typeof name === "string") headers.push("mcp-name", HeaderText.encode(name))
  }

  const self: RequestHeaders = {
    session: undefined,
    negotiated: undefined,
    stateless,
    post: (message, bytes, extra) => {
      const headers = common().concat(
        "content-type",
        "application/json",
        "accept",
        "application/json, text/event-stream",
        "accept-encoding",
        encodings,
        "content-length",
        String(bytes)
      )
      const version = stateless(message)
      if (version !== undefined) inMessage(headers, message, version)
      // `initialize` begins a session, so it names none
      else if (!("method" in message) || message.method !== "initialize") inSession(headers)
      if (extra !== undefined) {
        for (const name of Object.keys(extra)) {
          if (!own.has(name.toLowerCase())) headers.push(name, extra[name]!)
        }
      }
      return headers
    },
    get: (lastEventId) => {
      // An encoding would only hold events back until a block of it is full.
      const headers = inSession(common().concat("accept", "text/event-stream", "cache-control", "no-cache"))
      const id = lastEventId === undefined ? undefined : Buffer.from(lastEventId, "utf8").toString("latin1")
      if (id !== undefined && HeaderText.isValue(id)) headers.push("last-event-id", id)
      return headers
    },
    delete: () => inSession(common().slice())
  }
  return self
}
