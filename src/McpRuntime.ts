/**
 * All the MCP servers of an application behind one service: they start, fail, recover, idle and stop on their own.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import type * as Credentials from "./auth/Credentials.ts"
import type * as McpClient from "./client/McpClient.ts"
import type * as Provenance from "./config/Provenance.ts"
import type * as ServerConfig from "./config/ServerConfig.ts"
import type * as McpError from "./McpError.ts"
import type * as McpEvent from "./McpEvent.ts"
import type * as RuntimeMetrics from "./observability/RuntimeMetrics.ts"
import type * as Bulkhead from "./resilience/Bulkhead.ts"
import type * as CircuitBreaker from "./resilience/CircuitBreaker.ts"
import type * as Teardown from "./resilience/Teardown.ts"
import type * as ConnectionPool from "./runtime/ConnectionPool.ts"
import * as internal from "./runtime/runtime.ts"
import type * as ServerStatus from "./runtime/ServerStatus.ts"
import type * as Permissions from "./safety/Permissions.ts"
import type * as ToolCache from "./tools/ToolCache.ts"
import type * as ToolCatalog from "./tools/ToolCatalog.ts"
import type * as ToolResult from "./tools/ToolResult.ts"
import type * as JsonRpc from "./transport/JsonRpc.ts"
import type * as Transport from "./transport/Transport.ts"

/**
 * @since 0.1.0
 * @category models
 */
export interface Options {
  readonly servers: ReadonlyArray<ServerConfig.ServerConfig>
  /** How long a call may run before an event says that it still does. */
  readonly progressInterval?: Duration.DurationInput | undefined
  /** How long the servers marked `required` have to be there, all of them together. */
  readonly requiredTimeout?: Duration.DurationInput | undefined
}

/**
 * @since 0.1.0
 * @category defaults
 */
export const defaults = { progressInterval: Duration.seconds(30), requiredTimeout: Duration.seconds(60) }

/**
 * A tool that can be called. `Deferred`: its server is not connected yet; what is known of it was kept, and a call waits
 * for the server.
 *
 * @since 0.1.0
 * @category models
 */
export interface RuntimeTool extends ToolCatalog.Offered {
  /** Whether somebody has to agree before a model may call it, unless the arguments decide. */
  readonly requiresApproval: boolean
  readonly call: (
    args?: McpClient.Arguments,
    options?: CallOptions
  ) => Effect.Effect<CallResult, McpError.RuntimeError>
}

/**
 * A tool whose server is not connected yet.
 *
 * @since 0.1.0
 * @category models
 */
export type DeferredTool = RuntimeTool & { readonly _tag: "Deferred" }

/**
 * @since 0.1.0
 * @category models
 */
export interface Tools {
  /** The tools that a model may be offered. */
  readonly tools: ReadonlyArray<RuntimeTool>
  /** Tools that only apps may call (`Tool.isAppOnly`), for a host that shows apps. */
  readonly apps: ReadonlyArray<RuntimeTool>
  readonly toolsByName: ReadonlyMap<string, ReadonlyArray<RuntimeTool>>
  /** The servers whose tools are not there, and why. */
  readonly missing: ReadonlyArray<ToolCatalog.Missing>
  /** Tools that cannot be offered. */
  readonly rejected: ToolCatalog.Listing["rejected"]
  /** Tools that are not what they were when they were first seen, until somebody approves what they are. */
  readonly quarantined: ToolCatalog.Listing["quarantined"]
  /** Tools that a rule denies, whatever their arguments. */
  readonly denied: ReadonlyArray<{ readonly server: string; readonly tool: string; readonly rule: string | undefined }>
}

/**
 * A tool, by the name that a model sees, or by its identity.
 *
 * @since 0.1.0
 * @category models
 */
export type ToolRef = string | { readonly server: string; readonly tool: string }

/**
 * @since 0.1.0
 * @category models
 */
export interface RequestOptions {
  /**
   * Who wants it (default: the program), which decides what happens where no rule speaks: what a model wants is to be
   * agreed to. Whoever hands a model's wish on says so.
   */
  readonly origin?: Permissions.Origin | undefined
}

/**
 * @since 0.1.0
 * @category models
 */
export interface CallOptions extends McpClient.CallOptions, RequestOptions {
  /**
   * `true`: a second execution does no harm, so a call whose answer was lost is sent again. `false`: it is not sent again,
   * even if the annotations of the tool allow it.
   */
  readonly idempotent?: boolean | undefined
  /** The id that its events carry (default: a fresh one). */
  readonly callId?: string | undefined
}

/**
 * @since 0.1.0
 * @category models
 */
export interface CallResult extends ToolResult.ToolResult {
  readonly metadata: {
    readonly callId: string
    readonly serverName: string
    readonly toolName: string
    readonly duration: Duration.Duration
    readonly attempts: number
  }
}

/** The errors of `servers.connect` and `servers.reconnect`. */
export type ConnectFailure = McpError.ConnectError | McpError.ServerUnavailable | McpError.NotFound

/** The errors of `servers.login`, `servers.logout` and `servers.loginStatus`. */
export type LoginError = McpError.ConnectError | McpError.NotFound | McpError.ServerUnavailable

/**
 * One server, for people to look at.
 *
 * @since 0.1.0
 * @category models
 */
export interface ServerInfo {
  readonly name: string
  readonly title: string | undefined
  readonly status: ServerStatus.ServerStatus
  /** After filters. */
  readonly toolCount: number | undefined
  readonly transport: ServerConfig.ServerConfig["transport"]
  readonly era: Transport.Era | undefined
  readonly protocolVersion: string | undefined
  readonly serverInfo: McpClient.McpClient["serverInfo"]
  readonly instructions: string | undefined
  readonly error: McpError.ConnectError | undefined
  /** Milliseconds since 1970. */
  readonly connectedSince: number | undefined
  /** The end of the pause that the server asked for (`Retry-After`), in milliseconds since 1970. */
  readonly pausedUntil: number | undefined
  readonly breaker: CircuitBreaker.State
  readonly bulkhead: Bulkhead.State
  readonly health: ConnectionPool.Member["health"]
  readonly reconnects: number
  readonly callsInFlight: number
  readonly sharedWith: string | undefined
  /** Where its configuration was found. */
  readonly provenance: Provenance.Provenance | undefined
}

/**
 * What many servers gave, and which of them gave nothing.
 *
 * @since 0.1.0
 * @category models
 */
export interface Gathered<Item> {
  readonly items: ReadonlyArray<Item & { readonly server: string }>
  readonly missing: ReadonlyArray<ToolCatalog.Missing>
}

/** The servers of a runtime: their status, and the operations on one of them. */
export interface McpServers {
  readonly list: Effect.Effect<ReadonlyArray<ServerInfo>>
  readonly get: (server: string) => Effect.Effect<ServerInfo, McpError.NotFound>
  /** The list now, and again after each change of a status or of a circuit breaker. */
  readonly changes: Stream.Stream<ReadonlyArray<ServerInfo>>
  readonly connect: (server: string) => Effect.Effect<void, ConnectFailure>
  /** Closes the connection, if there is one, and connects again. */
  readonly reconnect: (server: string) => Effect.Effect<void, ConnectFailure>
  /** Closes the connection and opens no other until `connect` or `reconnect`. */
  readonly disconnect: (server: string) => Effect.Effect<void, McpError.NotFound>
  readonly disconnectAll: Effect.Effect<void>
  readonly enable: (server: string) => Effect.Effect<void, McpError.NotFound>
  /** Closes the connection and opens no other until `enable`. */
  readonly disable: (server: string) => Effect.Effect<void, McpError.NotFound>
  /** Replaces the configuration. Servers whose configuration is the same keep their connection. */
  readonly reload: (servers: ReadonlyArray<ServerConfig.ServerConfig>) => Effect.Effect<McpEvent.ReloadReport>
  /** Opens the circuit breaker, which lets no call through until `resetBreaker`. */
  readonly isolate: (server: string) => Effect.Effect<void, McpError.NotFound>
  readonly resetBreaker: (server: string) => Effect.Effect<void, McpError.NotFound>
  /**
   * Asks a person to log in to a remote server, or gets a token for the program itself, and reconnects. No other operation
   * asks a person, unless `Credentials` allows calls to.
   */
  readonly login: (server: string) => Effect.Effect<void, LoginError>
  /** Deletes the login and reconnects without it. */
  readonly logout: (server: string) => Effect.Effect<void, LoginError>
  readonly loginStatus: (server: string) => Effect.Effect<Credentials.Status, LoginError>
}

/**
 * @since 0.1.0
 * @category tags
 */
export class McpRuntime extends Context.Tag("effect-mcp-runtime/McpRuntime")<McpRuntime, {
  /**
   * The tools of all servers. Waits up to the gate for servers with a cached list, and up to `firstListWait` for
   * servers without one, which are `missing` until their first list arrives.
   */
  readonly tools: Effect.Effect<Tools>
  readonly tool: (ref: ToolRef) => Effect.Effect<RuntimeTool, McpError.NotFound | McpError.PermissionDenied>
  /** Interrupting it cancels the call at the server. A tool that reports failure has `isError` in its result. */
  readonly callTool: (
    ref: ToolRef,
    args?: McpClient.Arguments,
    options?: CallOptions
  ) => Effect.Effect<CallResult, McpError.RuntimeError>
  /** Progress as it comes, then the result. */
  readonly callToolStream: (
    ref: ToolRef,
    args?: McpClient.Arguments,
    options?: CallOptions
  ) => Stream.Stream<McpClient.CallEvent, McpError.RuntimeError>
  /** Lists the tools anew, of one server or of all that are connected. */
  readonly refreshTools: (server?: string) => Effect.Effect<Tools, McpError.RuntimeError>
  readonly resources: Effect.Effect<Gathered<McpClient.Resource>>
  readonly resourceTemplates: Effect.Effect<Gathered<McpClient.ResourceTemplate>>
  readonly readResource: (
    server: string,
    uri: string,
    options?: RequestOptions
  ) => Effect.Effect<ReadonlyArray<McpClient.ResourceContents>, McpError.RuntimeError>
  /** A signal for each change of the resource; goes on over reconnects. */
  readonly subscribeResource: (
    server: string,
    uri: string,
    options?: RequestOptions
  ) => Stream.Stream<void, McpError.RuntimeError>
  readonly prompts: Effect.Effect<Gathered<McpClient.Prompt>>
  readonly getPrompt: <A extends McpClient.PromptArguments<A>>(
    server: string,
    name: string,
    args?: A,
    options?: RequestOptions
  ) => Effect.Effect<McpClient.PromptMessages, McpError.RuntimeError>
  /** These four lists, with this wait in place of `firstListWait`. */
  readonly offered: (wait: Duration.DurationInput) => {
    readonly tools: Effect.Effect<Tools>
    readonly resources: Effect.Effect<Gathered<McpClient.Resource>>
    readonly resourceTemplates: Effect.Effect<Gathered<McpClient.ResourceTemplate>>
    readonly prompts: Effect.Effect<Gathered<McpClient.Prompt>>
  }
  readonly servers: McpServers
  readonly events: Stream.Stream<McpEvent.McpEvent>
  /** The events from when this has succeeded. */
  readonly subscribe: Effect.Effect<Queue.Dequeue<McpEvent.McpEvent>, never, Scope.Scope>
  /** The client of a server, for what this interface does not name. What is not permitted is not possible with it. */
  readonly withClient: <A, E, R>(
    server: string,
    f: (client: McpClient.McpClient) => Effect.Effect<A, E, R>,
    options?: RequestOptions
  ) => Effect.Effect<A, E | McpError.RuntimeError, R>
  /** Tells the state to every server that declares `codex/sandbox-state`, now and whenever it connects. */
  readonly notifySandboxState: (state: JsonRpc.JsonObject) => Effect.Effect<void>
  readonly teardownReport: Effect.Effect<Teardown.Report>
}>() {}

/**
 * The concerns that a runtime is composed of.
 *
 * @since 0.1.0
 * @category models
 */
export type Requirements =
  | Credentials.Credentials
  | CircuitBreaker.CircuitBreaker
  | ConnectionPool.ConnectionPool
  | McpEvent.McpEvents
  | Permissions.Permissions
  | RuntimeMetrics.RuntimeMetrics
  | Teardown.Teardown
  | ToolCache.ToolCache
  | ToolCatalog.ToolCatalog

/**
 * Starts the servers and waits for none of them, but for those that are `required`.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make: (
  options: Options
) => Effect.Effect<McpRuntime["Type"], McpError.RequiredServersFailed, Requirements | Scope.Scope> = (options) =>
  internal.make({
    servers: options.servers,
    progressInterval: options.progressInterval ?? defaults.progressInterval,
    requiredTimeout: options.requiredTimeout ?? defaults.requiredTimeout
  })

/**
 * Every concern is left to the application; `NodeMcpRuntime.layer` has all of them.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (options: Options): Layer.Layer<McpRuntime, McpError.RequiredServersFailed, Requirements> =>
  Layer.scoped(McpRuntime, make(options))
