/**
 * The port to a connected server, free of any SDK: requests, notifications, health, the end.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import type * as Limits from "../config/Limits.ts"
import type * as ServerConfig from "../config/ServerConfig.ts"
import type * as McpError from "../McpError.ts"
import type * as JsonRpc from "../transport/JsonRpc.ts"
import type * as Transport from "../transport/Transport.ts"

/**
 * How far a request has come, in the server's own words.
 *
 * @since 0.1.0
 * @category models
 */
export interface Progress {
  readonly progress: number
  readonly total?: number | undefined
  readonly message?: string | undefined
}

/**
 * @since 0.1.0
 * @category models
 */
export interface RequestOptions {
  /** Without an answer or progress; default: the server's `requestTimeout`. */
  readonly idleTimeout?: Duration.Duration | undefined
  /** Whatever progress there is; default: the server's `toolTimeout`. */
  readonly totalTimeout?: Duration.Duration | undefined
  /** Called in the order of arrival, and never after the request has settled. */
  readonly onProgress?: ((progress: Progress) => void) | undefined
  /** Headers for transports that have them. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Who answers what the server asks on the way, if not `InputHandlers`. */
  readonly handOver?: HandOver | undefined
}

/**
 * What a server of the stateless era asks is given back as it came, for somebody else to answer with the next request.
 * Servers of the session era know nothing of this, and ask as always.
 *
 * @since 0.1.0
 * @category models
 */
export interface HandOver {
  /** What that somebody can be asked. */
  readonly capabilities: JsonRpc.JsonObject
}

/**
 * A notification of the server. `$/resync` is ours: a watch was interrupted, so whatever it watches may have changed.
 *
 * @since 0.1.0
 * @category models
 */
export interface Notification {
  readonly method: string
  readonly params: JsonRpc.JsonObject
}

/**
 * What to be told of.
 *
 * @since 0.1.0
 * @category models
 */
export interface WatchFilter {
  readonly toolsListChanged?: boolean | undefined
  readonly resourcesListChanged?: boolean | undefined
  readonly promptsListChanged?: boolean | undefined
  readonly resourceUris?: ReadonlyArray<string> | undefined
}

/**
 * Long-running calls of the session era's experimental tasks.
 *
 * @since 0.1.0
 * @category models
 */
export interface LegacyTasks {
  /** Creates a task for a tool call and follows it; the last element is the result. */
  readonly callTool: (
    params: JsonRpc.JsonObject,
    options?: RequestOptions
  ) => Stream.Stream<TaskUpdate, McpError.CallError>
}

/**
 * @since 0.1.0
 * @category models
 */
export type TaskUpdate =
  | { readonly _tag: "Created"; readonly taskId: string; readonly status: string }
  | { readonly _tag: "Status"; readonly taskId: string; readonly status: string; readonly message?: string | undefined }
  | { readonly _tag: "Result"; readonly result: JsonRpc.JsonObject }

/**
 * What is known of how a server speaks, to be remembered for the next connection.
 *
 * @since 0.1.0
 * @category models
 */
export interface Verdict {
  readonly era: Transport.Era
  /** When it was reached, in milliseconds since 1970. */
  readonly at: number
}

/**
 * A connected server. It lives until its scope closes or `ended` comes.
 *
 * @since 0.1.0
 * @category models
 */
export interface Connection {
  readonly server: string
  readonly transport: Transport.Transport["kind"]
  readonly limits: Limits.Limits
  readonly era: Transport.Era
  readonly protocolVersion: string
  /** Absent for an anonymous server. Diagnostics only: nothing is decided on it. */
  readonly serverInfo: { readonly name: string; readonly version: string; readonly title?: string } | undefined
  readonly capabilities: JsonRpc.JsonObject
  readonly instructions: string | undefined
  /**
   * One request. Input that the server asks for on the way is given by `InputHandlers`; interrupting it cancels it at
   * the server. An expired session is replaced once for all requests. A request that it refused is sent once more if
   * its method is idempotent; a tool call fails with `SessionExpired` and the outcome `unknown`.
   */
  readonly request: (
    method: string,
    params?: JsonRpc.JsonObject,
    options?: RequestOptions
  ) => Effect.Effect<JsonRpc.JsonObject, McpError.CallError>
  readonly notify: (method: string, params?: JsonRpc.JsonObject) => Effect.Effect<void, McpError.CallError>
  /** From now on; bounded, the oldest are lost first. */
  readonly notifications: Stream.Stream<Notification>
  /** Called synchronously for each notification, in order; returns how to stop. */
  readonly onNotification: (listener: (notification: Notification) => void) => () => void
  /** Asks to be told of changes, until the scope closes. */
  readonly watch: (filter: WatchFilter) => Effect.Effect<void, McpError.CallError, Scope.Scope>
  /** Succeeds if the server answers. */
  readonly health: Effect.Effect<void, McpError.CallError>
  /** Why the connection ended, once it has. */
  readonly ended: Effect.Effect<McpError.ConnectError>
  /** Called synchronously when the connection ends, or at once if it has ended; returns how to stop. */
  readonly onEnded: (listener: (error: McpError.ConnectError) => void) => () => void
  /** Called synchronously when the server asks for a pause (`Retry-After`), with its end; returns how to stop. */
  readonly onPaused: (listener: (until: number) => void) => () => void
  readonly stderrTail: Effect.Effect<string | undefined>
  readonly tasks: LegacyTasks | undefined
}

/**
 * @since 0.1.0
 * @category tags
 */
export class Connector extends Context.Tag("effect-mcp-runtime/client/Connector")<Connector, {
  /** Connects within the server's `startupTimeout`. A failed or interrupted connect has released everything. */
  readonly connect: (config: ServerConfig.ServerConfig) => Effect.Effect<Connection, McpError.ConnectError, Scope.Scope>
}>() {}
