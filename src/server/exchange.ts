/** One request of a caller on its way to an answer, the same for both eras and both transports. */
import * as Effect from "effect/Effect"
import * as JsonRpc from "../transport/JsonRpc.ts"
import * as McpServer from "./McpServer.ts"
import * as Messages from "./messages.ts"

/** Where messages to a caller go: a pipe, or one event stream. */
export interface Output {
  /** Waits for room. Messages to a caller that is gone are dropped. */
  readonly send: (message: JsonRpc.Message) => Effect.Effect<void>
  /** Drops the message if there is no room. */
  readonly offer: (message: JsonRpc.Message) => void
}

/** How a message has arrived, and where its answer goes. */
export interface Arrival {
  readonly output: Output
  readonly principal: string | undefined
  readonly header: McpServer.Exchange["header"]
  /** Called once everything that the message led to was sent. */
  readonly done: () => void
  /** Replaces the id of a request, where ids of several callers meet. */
  readonly key?: symbol
  /** Known from a header; otherwise the message tells. */
  readonly era?: "stateless"
}

/** An offer, and the caller that it is served to. */
export interface Serving {
  readonly offer: McpServer.Offer
  readonly limits: McpServer.Limits
  readonly link: McpServer.Caller["link"]
  /** For messages that belong to no request. */
  readonly output?: Output
}

export interface Request extends Messages.Request, Arrival {}

export type Result = Effect.Effect<JsonRpc.JsonObject, McpServer.Refusal>

/** The request, until it is answered: after that the handler can send nothing for it. */
export type CurrentRequest = () => Request | undefined

/** The caller that an `initialize` request or the `_meta` of a stateless request describes, under these keys. */
export const callerOf = (
  source: JsonRpc.JsonObject,
  keys: Readonly<Record<"protocolVersion" | "clientCapabilities" | "clientInfo", string>>,
  { era, link, principal }: Pick<McpServer.Caller, "era" | "link" | "principal">
): Effect.Effect<McpServer.Caller, McpServer.Refusal> => {
  const protocolVersion = source[keys.protocolVersion]
  const capabilities = source[keys.clientCapabilities]
  const info = source[keys.clientInfo]
  if (typeof protocolVersion !== "string") {
    return McpServer.invalidParams(`Invalid params: ${keys.protocolVersion} must be a string`)
  }
  if (!JsonRpc.isObject(capabilities)) {
    return McpServer.invalidParams(`Invalid params: ${keys.clientCapabilities} must be an object`)
  }
  return Effect.succeed({
    era,
    link,
    protocolVersion,
    clientInfo: JsonRpc.isObject(info) ? Messages.objectOf(info) : undefined,
    capabilities: Messages.objectOf(capabilities),
    principal
  })
}

/** The capabilities of an offer, with the extensions for this caller. */
export const capabilitiesFor = (
  { capabilities }: McpServer.Offer,
  { extensions }: McpServer.Service,
  caller: McpServer.Caller
): Effect.Effect<JsonRpc.JsonObject> =>
  extensions === undefined ? Effect.succeed(capabilities) : Effect.map(
    extensions(caller),
    (extensions) => Object.keys(extensions).length === 0 ? capabilities : { ...capabilities, extensions }
  )

/** The notifications and log messages to an output, from a level on. */
export const notifying = (
  output: () => Output | undefined,
  level: () => McpServer.LogLevel | undefined
): Pick<McpServer.Exchange, "log" | "notify"> => {
  const notify: McpServer.Exchange["notify"] = (method, params) => output()?.offer({ jsonrpc: "2.0", method, params })
  return {
    notify,
    log: (message) => {
      const least = level()
      const { logLevels } = McpServer
      if (least === undefined || logLevels.indexOf(message.level) < logLevels.indexOf(least)) return
      notify("notifications/message", { ...message })
    }
  }
}

/** The exchange of a request whose later rounds are other requests: `current` is the one that waits for the answer. */
export const make = (
  { header, method, params }: Request,
  current: CurrentRequest,
  level: () => McpServer.LogLevel | undefined,
  { ask, caller }: Pick<McpServer.Exchange, "ask" | "caller">
): McpServer.Exchange => {
  const { log, notify } = notifying(() => current()?.output, level)
  let last = -Infinity
  return {
    ask,
    caller,
    method,
    params,
    header,
    notify,
    log,
    progress: ({ message, progress, total }) => {
      const { progressToken } = Messages.metaOf(current()?.params ?? {})
      if (typeof progressToken !== "string" && typeof progressToken !== "number") return
      // the protocol wants it to grow, and JSON has no infinite numbers
      if (!Number.isFinite(progress) || progress <= last) return
      last = progress
      const known = Number.isFinite(total) ? { total } : {}
      notify("notifications/progress", { progressToken, progress, ...known, message })
    }
  }
}

export const methodNotFound = (method: string): McpServer.Refusal =>
  McpServer.refusal("methodNotFound", `Method not found: ${method.slice(0, 128)}`)
