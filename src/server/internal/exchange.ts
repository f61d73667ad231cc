/** One request on its way: what its handler can say and ask meanwhile, and the answer that comes of it. */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as RuntimeLog from "../../runtimeLog.ts"
import * as JsonRpc from "../../transport/JsonRpc.ts"
import * as McpServer from "../McpServer.ts"
import * as Envelope from "./envelope.ts"
import * as LogLevels from "./logLevels.ts"
import * as Outlet from "./outlet.ts"

/** @internal */
export interface Options {
  readonly caller: McpServer.Caller
  readonly method: string
  readonly params: JsonRpc.JsonObject
  readonly header: McpServer.Exchange["header"]
  readonly ask: McpServer.Exchange["ask"]
  /** What is to be told of progress by now; a later round has a name of its own for it. */
  readonly progressToken: () => JsonRpc.Json | undefined
  /** Where to now; nowhere while nobody waits, or once it is answered. */
  readonly outlet: () => Outlet.Outlet | undefined
  readonly level: () => McpServer.LogLevel | undefined
}

/** @internal */
export const objectOf = (value: unknown): JsonRpc.JsonObject =>
  // the cast: what JSON.parse gave and is an object is a JSON object
  JsonRpc.isObject(value) ? value as JsonRpc.JsonObject : {}

/** @internal */
export const metaOf = (params: JsonRpc.JsonObject): JsonRpc.JsonObject => objectOf(params["_meta"])

/** @internal */
export const make = (options: Options): McpServer.Exchange => {
  const { ask, caller, header, level, method, outlet, params, progressToken } = options
  let last = -Infinity
  const notify: McpServer.Exchange["notify"] = (method, params) => outlet()?.hint(Outlet.notification(method, params))
  return {
    caller,
    method,
    params,
    header,
    ask,
    notify,
    progress: ({ message, progress, total }) => {
      const token = progressToken()
      if (typeof token !== "string" && typeof token !== "number") return
      // it must grow, whatever whoever reports it believes, and JSON has no endless numbers
      if (!Number.isFinite(progress) || progress <= last) return
      last = progress
      notify("notifications/progress", {
        progressToken: token,
        progress,
        ...(total === undefined || !Number.isFinite(total) ? {} : { total }),
        ...(message === undefined ? {} : { message })
      })
    },
    log: (message) => {
      if (LogLevels.isWanted(message.level, level())) notify("notifications/message", LogLevels.params(message))
    }
  }
}

/** @internal */
export const missing = (method: string): McpServer.Refusal =>
  new McpServer.Refusal({ code: McpServer.codes.methodNotFound, message: `Method not found: ${method.slice(0, 128)}` })

/** @internal */
export const invalidParams = (message: string, data?: JsonRpc.Json): McpServer.Refusal =>
  new McpServer.Refusal({ code: McpServer.codes.invalidParams, message, data })

const bug = new McpServer.Refusal({ code: McpServer.codes.internal, message: "Internal error" })

/** What has become of a request: its result, why there is none, or nothing if it was interrupted. */
export type End = Either.Either<JsonRpc.JsonObject, McpServer.Refusal> | undefined

/**
 * A bug is told to the log and not to the caller. So is a handler that interrupts itself: the request was not cancelled.
 */
export const ended = (
  method: string,
  handling: Effect.Effect<JsonRpc.JsonObject, McpServer.Refusal>
): Effect.Effect<End> => orBug(method, Effect.either(handling))

/** The same for what decides by itself how a request ends. */
export const orBug = (method: string, handling: Effect.Effect<End>): Effect.Effect<End> =>
  Effect.catchAllCause(
    handling,
    (cause) =>
      Effect.as(RuntimeLog.error(`The handler of ${method.slice(0, 128)} died with a defect`, cause), Either.left(bug))
  )

/** @internal */
export const answerOf = (id: JsonRpc.Id, end: NonNullable<End>): JsonRpc.Success | JsonRpc.Failure =>
  Either.isRight(end) ? { jsonrpc: "2.0", id, result: end.right } : Envelope.failure(id, end.left)
