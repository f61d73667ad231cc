/** A request in flight, the same for both eras and both transports. */
import * as Effect from "effect/Effect"
import * as JsonRpc from "../transport/JsonRpc.ts"
import * as McpServer from "./McpServer.ts"
import * as Messages from "./messages.ts"

/** The destination of messages to a caller: stdout or an event stream. */
export interface Output {
  /** Waits while the queue is full. Messages to a disconnected caller are dropped. */
  readonly send: (message: JsonRpc.Message) => Effect.Effect<void>
  /** Drops the message if the queue is full. */
  readonly offer: (message: JsonRpc.Message) => void
}

/** The context of a received message, and the destination of its response. */
export interface Arrival {
  readonly output: Output
  readonly principal: string | undefined
  readonly header: McpServer.Exchange["header"]
  /** Called when the response has been sent, or at once if there is none. */
  readonly done: () => void
  /** Identifies the request in place of its id, if several callers share one conversation. */
  readonly key?: symbol
  /** Set if a header names the era. Otherwise the message decides. */
  readonly era?: "stateless"
}

/** An offer, and the connection over which it is served. */
export interface Serving {
  readonly offer: McpServer.Offer
  readonly limits: McpServer.Limits
  readonly link: McpServer.Caller["link"]
  /** The destination of messages that belong to no request. */
  readonly output?: Output
}

export interface Request extends Messages.Request, Arrival {}

export type Result = Effect.Effect<JsonRpc.JsonObject, McpServer.Refusal>

/** The request until its response is sent, and then `undefined`, so that a late handler sends nothing. */
export type CurrentRequest = () => Request | undefined

/** Reads the caller from an `initialize` request or from the `_meta` of a stateless request, by these keys. */
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

/** Sends notifications, and log messages of at least this level, to an output. */
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

/** The exchange of a request. In the stateless era later requests continue it; `current` is the latest of them. */
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
      // progress must increase, and JSON has no infinite numbers
      if (!Number.isFinite(progress) || progress <= last) return
      last = progress
      const known = Number.isFinite(total) ? { total } : {}
      notify("notifications/progress", { progressToken, progress, ...known, message })
    }
  }
}

/** Subscriptions of one session, or of all stateless callers. */
export const maxSubscriptions = 1_024

export const tooManySubscriptions = McpServer.refusal("overloaded", "Too many subscriptions")

export const methodNotFound = (method: string): McpServer.Refusal =>
  McpServer.refusal("methodNotFound", `Method not found: ${method.slice(0, 128)}`)
