/**
 * The protocol between a calling node and the home of a connection, as an entity of `@effect/cluster`.
 *
 * A caller listens with one request after another, which open the connection and are answered with what the home has to
 * tell. No stream is used, because the acknowledgements of a stream go astray when its shard moves.
 *
 * `Call` is one operation on the connection. A call names the incarnation of the connection and a number of its own, so
 * that a home refuses a call for another connection before it runs anything, and runs no call twice.
 */
import * as Entity from "@effect/cluster/Entity"
import * as Rpc from "@effect/rpc/Rpc"
import * as Schema from "effect/Schema"
import * as McpError from "../McpError.ts"
import * as JsonRpc from "../transport/JsonRpc.ts"

/** JSON as text, because the serialization of the cluster changes keys such as `__proto__`. */
const JsonObject = Schema.parseJson(
  Schema.declare((u: unknown): u is JsonRpc.JsonObject => JsonRpc.isObject(u), { identifier: "JsonObject" })
)

/** What the handshake with the server gave. */
export const Opened = Schema.TaggedStruct("Opened", {
  incarnation: Schema.String,
  transport: Schema.Literal("stdio", "streamable-http", "sse", "ws", "memory"),
  era: Schema.Literal("session", "stateless"),
  protocolVersion: Schema.String,
  serverInfo: Schema.optional(
    Schema.Struct({
      name: Schema.String,
      version: Schema.String,
      title: Schema.optionalWith(Schema.String, { exact: true })
    })
  ),
  capabilities: JsonObject,
  instructions: Schema.optional(Schema.String)
})
export type Opened = typeof Opened.Type

export const Event = Schema.Union(
  Opened,
  /** The connection could not be opened, or has ended. */
  Schema.TaggedStruct("Ended", { error: McpError.ConnectError }),
  /** The home moves to another node. It finishes the calls in `accepted`, and has not begun any other. */
  Schema.TaggedStruct("Moving", { accepted: Schema.Array(Schema.Number) }),
  /** The server was ended because nothing used it. The next call starts it again. */
  Schema.TaggedStruct("Asleep", {}),
  Schema.TaggedStruct("Notification", { method: Schema.String, params: JsonObject }),
  Schema.TaggedStruct("Progress", { call: Schema.Number, progress: JsonObject }),
  /** A request of the server that the application of the caller answers. */
  Schema.TaggedStruct("Question", { id: Schema.Number, method: Schema.String, params: JsonObject }),
  /** The server no longer waits for the answer. */
  Schema.TaggedStruct("Withdrawn", { id: Schema.Number }),
  Schema.TaggedStruct("Paused", { until: Schema.Number })
)
export type Event = typeof Event.Type

export const Events = Schema.Struct({
  /** How many events there were before these. */
  read: Schema.Number,
  events: Schema.Array(Event)
})
export type Events = typeof Events.Type

/** The home did not begin the call, for example because it has another incarnation of the connection. */
export class Refused extends Schema.TaggedError<Refused>()("Refused", {
  /** False if another home may have begun the call. */
  neverBegun: Schema.Boolean
}) {}

const isWatched = Schema.optional(Schema.Boolean)

/** What a call does with the connection. */
const Operation = Schema.Union(
  Schema.TaggedStruct("Request", {
    method: Schema.String,
    params: Schema.optional(JsonObject),
    /** Milliseconds. */
    idleTimeout: Schema.optional(Schema.Number),
    totalTimeout: Schema.optional(Schema.Number),
    headers: Schema.optional(Schema.Record({ key: Schema.String, value: Schema.String })),
    /** The capabilities to declare for this request, whose questions are returned and not asked. */
    passInput: Schema.optional(JsonObject)
  }),
  Schema.TaggedStruct("Notify", { method: Schema.String, params: Schema.optional(JsonObject) }),
  Schema.TaggedStruct("Health", {}),
  Schema.TaggedStruct("SetLogLevel", {
    level: Schema.Literal("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
  }),
  /** Lasts until an `Unwatch` names it. */
  Schema.TaggedStruct("Watch", {
    watching: Schema.Number,
    filter: Schema.Struct({
      toolsListChanged: isWatched,
      resourcesListChanged: isWatched,
      promptsListChanged: isWatched,
      resourceUris: Schema.optional(Schema.Array(Schema.String))
    })
  }),
  Schema.TaggedStruct("Unwatch", { watching: Schema.Number }),
  Schema.TaggedStruct("StderrTail", {})
)
export type Operation = typeof Operation.Type

const Call = Schema.Struct({
  caller: Schema.String,
  incarnation: Schema.String,
  /** The number of the call among those of its caller. */
  call: Schema.Number,
  operation: Operation
})
export type Call = typeof Call.Type

const Listen = Schema.Struct({
  caller: Schema.String,
  capabilities: JsonObject,
  /** How many events the caller has read. */
  read: Schema.Number,
  /** The calls that the caller no longer waits for, and never sends again. */
  settled: Schema.Array(Schema.Number)
})
export type Listen = typeof Listen.Type

export const Result = Schema.Struct({
  result: JsonObject,
  /** How much progress the home has sent for the call, which can arrive after the result. */
  progress: Schema.Number
})
export type Result = typeof Result.Type

export const FleetServer = Entity.make("effect-mcp-runtime/FleetServer", [
  /**
   * Opens the connection if there is none, and waits for the events after the first `read` ones. An answer without events
   * is a sign of life.
   */
  Rpc.make("Listen", {
    payload: Listen.fields,
    success: Events
  }),
  Rpc.make("Call", {
    payload: Call.fields,
    success: Result,
    error: Schema.Union(McpError.CallError, Refused)
  }),
  Rpc.make("Answer", {
    payload: {
      caller: Schema.String,
      id: Schema.Number,
      result: Schema.optional(JsonObject),
      refused: Schema.optional(Schema.Struct({ code: Schema.Number, reason: Schema.String }))
    }
  }),
  /** Forgets the caller, with its calls and subscriptions. */
  Rpc.make("Detach", { payload: { caller: Schema.String } })
])

/** The connection that an entity is: of which server, for which user, and for which caller if it is shared with none. */
export interface Address {
  readonly server: string
  readonly identity: string | undefined
  readonly session: string | undefined
}

const part = (value: string | undefined): string => value === undefined ? "" : `=${encodeURIComponent(value)}`

export const idOf = ({ identity, server, session }: Address): string =>
  [part(server), part(identity), part(session)].join("/")

const valueOf = (part: string | undefined): string | undefined =>
  part === undefined || part === "" ? undefined : decodeURIComponent(part.slice(1))

export const addressOf = (id: string): Address => {
  const [server, identity, session] = id.split("/").map(valueOf)
  return { server: server ?? "", identity, session }
}
