/** The headers of our own requests. */
import * as Redacted from "effect/Redacted"
import * as HeaderField from "../../text/headerField.ts"
import * as JsonRpc from "../JsonRpc.ts"
import type * as RemoteHeaders from "../RemoteHeaders.ts"
import type * as Transport from "../Transport.ts"

/** Set by the transport, whatever a configuration says of them. */
const reserved: ReadonlySet<string> = new Set(
  ("accept accept-encoding content-type last-event-id " +
    "mcp-method mcp-name mcp-protocol-version mcp-session-id").split(" ")
)

export const unreserved = <A>(headers: Iterable<readonly [string, A]>): ReadonlyArray<readonly [string, A]> =>
  Array.from(headers).filter(([name]) => !reserved.has(name.toLowerCase()))

/** The length of the body follows. */
const ofEveryPost: ReadonlyArray<string> = [
  "content-type",
  "application/json",
  "accept",
  "application/json, text/event-stream",
  "accept-encoding",
  "gzip, deflate, br",
  "content-length"
]

/** The parameter that `Mcp-Name` mirrors (SEP-2243, SEP-2663). */
const nameSource: ReadonlyMap<string, string> = new Map([
  ["tools/call", "name"],
  ["prompts/get", "name"],
  ["resources/read", "uri"],
  ["tasks/get", "taskId"],
  ["tasks/update", "taskId"],
  ["tasks/cancel", "taskId"]
])

const protocolVersionKey = "io.modelcontextprotocol/protocolVersion"

export interface RequestHeaders {
  session: string | undefined
  negotiated: Transport.Negotiated | undefined
  /** The version that a message of the stateless era names; `undefined` for one of the session era. */
  readonly stateless: (message: JsonRpc.Message) => string | undefined
  readonly post: (
    message: JsonRpc.Message,
    bytes: number,
    extra?: Readonly<Record<string, string>>
  ) => ReadonlyArray<string>
  readonly get: (lastEventId: string | undefined) => ReadonlyArray<string>
  readonly delete: () => ReadonlyArray<string>
}

export const make = (url: URL, source: RemoteHeaders.Source): RequestHeaders => {
  let known: ReadonlyMap<string, Redacted.Redacted> | undefined
  let configured: ReadonlyArray<string> = []

  /** The configured headers, flattened again only when the source gives others. */
  const common = (): ReadonlyArray<string> => {
    const current = source.current()
    if (current !== known) {
      known = current
      configured = ["host", url.host].concat(
        unreserved(current).flatMap(([name, value]) => [name, Redacted.value(value)])
      )
    }
    return configured
  }

  const inSession = (headers: ReadonlyArray<string>): Array<string> => {
    const { negotiated, session } = self
    const all = headers.slice()
    if (session !== undefined) all.push("mcp-session-id", session)
    if (negotiated !== undefined) all.push("mcp-protocol-version", negotiated.protocolVersion)
    return all
  }

  const mirrored = (headers: Array<string>, message: JsonRpc.Message, version: string): void => {
    headers.push("mcp-protocol-version", HeaderField.encode(version))
    if (!("method" in message)) return
    headers.push("mcp-method", HeaderField.encode(message.method))
    const field = nameSource.get(message.method)
    const name = field === undefined ? undefined : message.params?.[field]
    if (typeof name === "string") headers.push("mcp-name", HeaderField.encode(name))
  }

  const self: RequestHeaders = {
    session: undefined,
    negotiated: undefined,
    stateless: (message) => {
      const meta = "method" in message ? message.params?.["_meta"] : undefined
      const version = JsonRpc.isObject(meta) ? meta[protocolVersionKey] : undefined
      if (typeof version === "string") return version
      return self.negotiated?.era === "stateless" ? self.negotiated.protocolVersion : undefined
    },
    post: (message, bytes, extra) => {
      const version = self.stateless(message)
      // `initialize` begins a session, so it names none
      const begins = "method" in message && message.method === "initialize"
      const headers = version === undefined && !begins ? inSession(common()) : common().slice()
      headers.push(...ofEveryPost, String(bytes))
      if (version !== undefined) mirrored(headers, message, version)
      return extra === undefined ? headers : headers.concat(unreserved(Object.entries(extra)).flat())
    },
    get: (lastEventId) => {
      const id = Buffer.from(lastEventId ?? "", "utf8").toString("latin1")
      // an encoding would hold events back until a block of it is full
      const headers = inSession(common().concat("accept", "text/event-stream", "cache-control", "no-cache"))
      if (id !== "" && HeaderField.isValue(id)) headers.push("last-event-id", id)
      return headers
    },
    delete: () => inSession(common())
  }
  return self
}
