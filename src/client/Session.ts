/**
 * The whole protocol with one server, typed and lazy: nothing is listed before somebody asks.
 *
 * @since 0.1.0
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Either from "effect/Either"
import * as ExecutionStrategy from "effect/ExecutionStrategy"
import * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import type * as ServerConfig from "../config/ServerConfig.ts"
import type * as McpError from "../McpError.ts"
import type * as Tool from "../tools/Tool.ts"
import type * as ToolResult from "../tools/ToolResult.ts"
import type * as JsonRpc from "../transport/JsonRpc.ts"
import type * as Connector from "./Connector.ts"
import * as Resolving from "./internal/resolving.ts"
import * as internal from "./internal/session.ts"

/**
 * The arguments of a tool call: an object of JSON values. `object` also accepts interfaces, which have no index
 * signature; `Symbol.iterator` excludes arrays. A value that is not JSON fails with `InvalidArguments` before anything
 * is sent.
 *
 * @since 0.1.0
 * @category models
 */
export type Arguments = { readonly [key: string]: unknown } | (object & { readonly [Symbol.iterator]?: never })

/**
 * The arguments of a prompt: an object of strings. The mapped type also accepts interfaces, which have no index
 * signature.
 *
 * @since 0.1.0
 * @category models
 */
export type PromptArguments<A> = { readonly [K in keyof A]: string | undefined }

/**
 * @since 0.1.0
 * @category models
 */
export interface CallOptions {
  readonly idleTimeout?: Duration.DurationInput | undefined
  readonly totalTimeout?: Duration.DurationInput | undefined
  readonly onProgress?: ((progress: Connector.Progress) => void) | undefined
  /** Called with each update of a call that its server runs as a task. */
  readonly onTask?: ((update: Connector.TaskUpdate) => void) | undefined
  /** What to do with structured content that violates the tool's output schema (default: fail). */
  readonly outputMismatch?: "fail" | "keep" | undefined
  /** Extra `_meta` of the request. */
  readonly meta?: JsonRpc.JsonObject | undefined
  /** Somebody else answers what the server asks: a result that is a question is given back as it came. */
  readonly handOver?: HandOver | undefined
}

/**
 * What somebody else can be asked, and has answered to what an earlier result has asked.
 *
 * @since 0.1.0
 * @category models
 */
export interface HandOver extends Connector.HandOver {
  readonly inputResponses?: JsonRpc.Json | undefined
  readonly requestState?: JsonRpc.Json | undefined
}

/**
 * @since 0.1.0
 * @category models
 */
export type CallEvent =
  | { readonly _tag: "Progress"; readonly progress: Connector.Progress }
  | { readonly _tag: "Task"; readonly update: Connector.TaskUpdate }
  | { readonly _tag: "Result"; readonly result: ToolResult.ToolResult }

/**
 * A page-free list with the server's caching hints. Items are as the server sent them; those without their key field
 * are counted in `malformed`.
 *
 * @since 0.1.0
 * @category models
 */
export interface Listing<Item> {
  readonly items: ReadonlyArray<Item>
  readonly malformed: number
  readonly ttlMs: number | undefined
  readonly cacheScope: "public" | "private" | undefined
}

/**
 * @since 0.1.0
 * @category models
 */
export interface Resource {
  readonly uri: string
  readonly name: string | undefined
  readonly title: string | undefined
  readonly description: string | undefined
  readonly mimeType: string | undefined
  readonly raw: JsonRpc.JsonObject
}

/**
 * @since 0.1.0
 * @category models
 */
export interface ResourceTemplate {
  readonly uriTemplate: string
  readonly name: string | undefined
  readonly title: string | undefined
  readonly description: string | undefined
  readonly mimeType: string | undefined
  readonly raw: JsonRpc.JsonObject
}

/**
 * @since 0.1.0
 * @category models
 */
export type ResourceContents =
  | { readonly _tag: "Text"; readonly uri: string; readonly mimeType: string | undefined; readonly text: string }
  | { readonly _tag: "Blob"; readonly uri: string; readonly mimeType: string | undefined; readonly blob: string }

/**
 * @since 0.1.0
 * @category models
 */
export interface Prompt {
  readonly name: string
  readonly title: string | undefined
  readonly description: string | undefined
  readonly arguments: ReadonlyArray<{
    readonly name: string
    readonly description: string | undefined
    readonly required: boolean
  }>
  readonly raw: JsonRpc.JsonObject
}

/**
 * @since 0.1.0
 * @category models
 */
export interface PromptMessages {
  readonly description: string | undefined
  readonly messages: ReadonlyArray<{ readonly role: string; readonly content: ToolResult.Content }>
}

/**
 * @since 0.1.0
 * @category models
 */
export type LogLevel = "debug" | "info" | "notice" | "warning" | "error" | "critical" | "alert" | "emergency"

/**
 * What a completion is for.
 *
 * @since 0.1.0
 * @category models
 */
export type CompletionRef =
  | { readonly prompt: string; readonly argument: string; readonly value: string }
  | { readonly template: string; readonly argument: string; readonly value: string }

/**
 * One server, ready to be used.
 *
 * @since 0.1.0
 * @category models
 */
export interface Session {
  readonly connection: Connector.Connection
  /** All pages; a tool that is malformed is told apart and costs no other. */
  readonly tools: Effect.Effect<Tool.ToolList, McpError.CallError>
  readonly callTool: (
    name: string,
    args?: Arguments,
    options?: CallOptions
  ) => Effect.Effect<ToolResult.ToolResult, McpError.CallError>
  /** Progress as it comes, then the result. A slow reader gets the latest progress, and always the result. */
  readonly callToolStream: (
    name: string,
    args?: Arguments,
    options?: CallOptions
  ) => Stream.Stream<CallEvent, McpError.CallError>
  readonly resources: Effect.Effect<Listing<Resource>, McpError.CallError>
  readonly resourceTemplates: Effect.Effect<Listing<ResourceTemplate>, McpError.CallError>
  readonly readResource: (
    uri: string,
    options?: Pick<CallOptions, "meta">
  ) => Effect.Effect<ReadonlyArray<ResourceContents>, McpError.CallError>
  /** A signal for each change of the resource, until the stream is left. */
  readonly subscribeResource: (uri: string) => Stream.Stream<void, McpError.CallError>
  readonly prompts: Effect.Effect<Listing<Prompt>, McpError.CallError>
  readonly getPrompt: <A extends PromptArguments<A>>(
    name: string,
    args?: A,
    options?: Pick<CallOptions, "meta">
  ) => Effect.Effect<PromptMessages, McpError.CallError>
  readonly complete: (
    ref: CompletionRef,
    context?: Readonly<Record<string, string>>
  ) => Effect.Effect<{ readonly values: ReadonlyArray<string>; readonly hasMore: boolean }, McpError.CallError>
  readonly setLogLevel: (level: LogLevel) => Effect.Effect<void, McpError.CallError>
  readonly health: Effect.Effect<void, McpError.CallError>
  readonly notifications: Stream.Stream<Connector.Notification>
  /** A signal for each change, at most one per second with one trailing; needs no list first. */
  readonly listChanged: (list: "tools" | "resources" | "prompts") => Stream.Stream<void, McpError.CallError>
  /** Tells the server that the application's roots have changed. */
  readonly rootsChanged: Effect.Effect<void, McpError.CallError>
  /** An experimental capability that the server declares, or `undefined`. */
  readonly experimental: (name: string) => JsonRpc.Json | undefined
  /** A notification of our own, such as `codex/sandbox-state/update`. */
  readonly notify: (method: string, params?: JsonRpc.JsonObject) => Effect.Effect<void, McpError.CallError>
  /** Any request, for what this interface does not name. */
  readonly request: Connector.Connection["request"]
}

/**
 * The session over a connection that is open already. Oddities of the server go to `McpEvents`, where that is provided.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make: (connection: Connector.Connection) => Effect.Effect<Session> = internal.make

/**
 * Opens a session, of a configuration whose variables are read now; closing the scope closes it.
 *
 * @since 0.1.0
 * @category constructors
 */
export const open = (
  config: ServerConfig.ServerConfig
): Effect.Effect<Session, McpError.ConnectError, Connector.Connector | Scope.Scope> =>
  Effect.flatMap(Resolving.connect(config), make)

/**
 * How several servers are opened at once.
 *
 * @since 0.1.0
 * @category models
 */
export interface OpenAllOptions {
  /** How many connect at a time (default 3). */
  readonly batchSize?: number | undefined
}

/**
 * Opens several sessions, each of which may fail alone. Closing the scope closes them in parallel, so that many stubborn
 * servers take no longer than one.
 *
 * @since 0.1.0
 * @category constructors
 */
export const openAll = (
  configs: Iterable<ServerConfig.ServerConfig>,
  options?: OpenAllOptions
): Effect.Effect<
  ReadonlyArray<Either.Either<Session, McpError.ConnectError>>,
  never,
  Connector.Connector | Scope.Scope
> =>
  Effect.flatMap(
    Effect.scope,
    (outer) =>
      Effect.flatMap(Scope.fork(outer, ExecutionStrategy.parallel), (scope) =>
        Effect.forEach(configs, (config) =>
          Effect.either(open(config)), { concurrency: options?.batchSize ?? 3 }).pipe(
            Effect.provideService(Scope.Scope, scope)
          ))
  )
