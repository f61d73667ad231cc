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
export const nameSource: ReadonlyMap<string, string> = new Map([
  ["tools/call", "name"],
  ["prompts/get", "name"],
  ["resources/read", "uri"],
  ["tasks/get", "taskId"],
  ["tasks/update", "taskId"],
  ["tasks/cancel", "taskId"]
])

const protocolVersionKey = "io.modelcontextprotocol/protocolVersion"

/** The headers of the requests of one connection, which change with its session. */
export class RequestHeaders {
  session: string | undefined = undefined
  negotiated: Transport.Negotiated | undefined = undefined
  readonly #host: string
  readonly #source: RemoteHeaders.Source
  #known: RemoteHeaders.Headers | undefined = undefined
  #configured: ReadonlyArray<string> = []

  constructor(url: URL, source: RemoteHeaders.Source) {
    this.#host = url.host
    this.#source = source
  }

  /** Those that every request of the session has. */
  inSession(): Array<string> {
    const headers = this.#common().slice()
    if (this.session !== undefined) headers.push("mcp-session-id", this.session)
    if (this.negotiated !== undefined) headers.push("mcp-protocol-version", this.negotiated.protocolVersion)
    return headers
  }

  /** The version that a message of the stateless era names; `undefined` for one of the session era. */
  stateless(message: JsonRpc.Message): string | undefined {
    const meta = "method" in message ? message.params?.["_meta"] : undefined
    const version = JsonRpc.isObject(meta) ? meta[protocolVersionKey] : undefined
    if (typeof version === "string") return version
    return this.negotiated?.era === "stateless" ? this.negotiated.protocolVersion : undefined
  }

  post(
    message: JsonRpc.Message,
    bytes: number,
    extra?: Readonly<Record<string, string>>
  ): ReadonlyArray<string> {
    const version = this.stateless(message)
    // `initialize` begins a session, so it names none
    const begins = "method" in message && message.method === "initialize"
    const headers = version === undefined && !begins ? this.inSession() : this.#common().slice()
    headers.push(...ofEveryPost, String(bytes))
    if (version !== undefined) mirror(headers, message, version)
    return extra === undefined ? headers : headers.concat(unreserved(Object.entries(extra)).flat())
  }

  get(lastEventId: string | undefined): ReadonlyArray<string> {
    const id = Buffer.from(lastEventId ?? "", "utf8").toString("latin1")
    // an encoding would hold events back until a block of it is full
    const headers = this.inSession().concat("accept", "text/event-stream", "cache-control", "no-cache")
    return id !== "" && HeaderField.isValue(id) ? headers.concat("last-event-id", id) : headers
  }

  /** The configured headers, flattened again only when the source gives others. */
  #common(): ReadonlyArray<string> {
    const current = this.#source.current()
    if (current !== this.#known) {
      this.#known = current
      this.#configured = ["host", this.#host, ...flat(unreserved(current))]
    }
    return this.#configured
  }
}

/** Name, value, name, value: as node sends them without a copy. */
export const flat = (headers: Iterable<readonly [string, Redacted.Redacted]>): ReadonlyArray<string> =>
  Array.from(headers).flatMap(([name, value]) => [name, Redacted.value(value)])

const mirror = (headers: Array<string>, message: JsonRpc.Message, version: string): void => {
  headers.push("mcp-protocol-version", HeaderField.encode(version))
  if (!("method" in message)) return
  headers.push("mcp-method", HeaderField.encode(message.method))
  const field = nameSource.get(message.method)
  const name = field === undefined ? undefined : message.params?.[field]
  if (typeof name === "string") headers.push("mcp-name", HeaderField.encode(name))
}
