/** Everything that the application can do with one connected MCP server. */
import * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type * as Limits from "../config/Limits.ts"
import { toObject } from "../json/Json.ts"
import * as McpError from "../McpError.ts"
import * as McpEvent from "../McpEvent.ts"
import type * as Deadline from "../resilience/Deadline.ts"
import * as Redaction from "../safety/Redaction.ts"
import * as Scoped from "../scoped.ts"
import type * as Tool from "../tools/Tool.ts"
import type * as ToolResult from "../tools/ToolResult.ts"
import type * as JsonRpc from "../transport/JsonRpc.ts"
import type * as Transport from "../transport/Transport.ts"
import * as Lists from "./lists.ts"
import { objectOf, textOf } from "./messages.ts"
import * as Reporting from "./reporting.ts"
import type * as Tasks from "./tasks.ts"
import * as ToolCalls from "./toolCalls.ts"

export type { Json, JsonObject } from "../json/Json.ts"
export type { Annotations, RejectedTool, Tool, ToolList } from "../tools/Tool.ts"

/** The progress of a request, as the server reports it. */
export interface Progress {
  readonly progress: number
  readonly total?: number | undefined
  readonly message?: string | undefined
}

export interface RequestOptions {
  /** The longest time without an answer or progress (default: the server's `requestTimeout`). */
  readonly idleTimeout?: Duration.DurationInput | undefined
  /** The longest time in all (default: the server's `toolTimeout`). */
  readonly totalTimeout?: Duration.DurationInput | undefined
  /** The limits of a call that has begun before the request, in place of both timeouts. */
  readonly deadline?: Deadline.Deadline | undefined
  /** Called in the order of arrival, and never after the request has settled. */
  readonly onProgress?: ((progress: Progress) => void) | undefined
  /** Headers of this request; transports without headers ignore them. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly passInput?: PassInput | undefined
}

/**
 * Returns `input_required` results of the stateless era to the caller instead of answering them with `InputHandlers`.
 * Servers of the session era ask `InputHandlers` as always.
 */
export interface PassInput {
  /** The capabilities to declare for this request. */
  readonly capabilities: JsonRpc.JsonObject
}

/** The caller's answers to an earlier `input_required` result. */
export interface AnsweredInput extends PassInput {
  readonly inputResponses?: JsonRpc.Json | undefined
  readonly requestState?: JsonRpc.Json | undefined
}

/**
 * A notification of the server. `$/resync` is published by the client itself after a gap in a subscription: anything
 * that is watched may have changed.
 */
export interface Notification {
  readonly method: string
  readonly params: JsonRpc.JsonObject
}

/** The changes to be notified of. */
export interface WatchFilter {
  readonly toolsListChanged?: boolean | undefined
  readonly resourcesListChanged?: boolean | undefined
  readonly promptsListChanged?: boolean | undefined
  readonly resourceUris?: ReadonlyArray<string> | undefined
}

/**
 * The arguments of a tool call: an object of JSON values. `object` also accepts interfaces, which have no index
 * signature; `Symbol.iterator` excludes arrays. A value that is not JSON fails with `InvalidArguments` before anything
 * is sent.
 */
export type Arguments = { readonly [key: string]: unknown } | (object & { readonly [Symbol.iterator]?: never })

/** The arguments of a prompt: an object of strings. The mapped type also accepts interfaces. */
export type PromptArguments<A> = { readonly [K in keyof A]: string | undefined }

export type TaskUpdate = Tasks.TaskUpdate

export interface CallOptions extends Omit<RequestOptions, "headers"> {
  /** Called with each update of a call that the server runs as a task. */
  readonly onTask?: ((update: TaskUpdate) => void) | undefined
  /** The handling of structured content that violates the tool's output schema (default: fail). */
  readonly outputMismatch?: "fail" | "keep" | undefined
  /** Extra `_meta` of the request. */
  readonly meta?: JsonRpc.JsonObject | undefined
  readonly passInput?: AnsweredInput | undefined
}

export type CallEvent =
  | { readonly _tag: "Progress"; readonly progress: Progress }
  | { readonly _tag: "Task"; readonly update: TaskUpdate }
  | { readonly _tag: "Result"; readonly result: ToolResult.ToolResult }

/** All pages of a list with the server's caching hints. Items without their key field are counted in `malformed`. */
export interface Listing<Item> {
  readonly items: ReadonlyArray<Item>
  readonly malformed: number
  readonly ttlMs: number | undefined
  readonly cacheScope: "public" | "private" | undefined
}

interface Described {
  readonly name: string | undefined
  readonly title: string | undefined
  readonly description: string | undefined
  readonly mimeType: string | undefined
  readonly raw: JsonRpc.JsonObject
}

export interface Resource extends Described {
  readonly uri: string
}

export interface ResourceTemplate extends Described {
  readonly uriTemplate: string
}

export type ResourceContents =
  | { readonly _tag: "Text"; readonly uri: string; readonly mimeType: string | undefined; readonly text: string }
  | { readonly _tag: "Blob"; readonly uri: string; readonly mimeType: string | undefined; readonly blob: string }

export interface Prompt extends Omit<Described, "mimeType"> {
  readonly name: string
  readonly arguments: ReadonlyArray<{
    readonly name: string
    readonly description: string | undefined
    readonly required: boolean
  }>
}

export interface PromptMessages {
  readonly description: string | undefined
  readonly messages: ReadonlyArray<{ readonly role: string; readonly content: ToolResult.Content }>
}

export type LogLevel = "debug" | "info" | "notice" | "warning" | "error" | "critical" | "alert" | "emergency"

/** The argument that a completion is for. */
export type CompletionRef =
  | { readonly prompt: string; readonly argument: string; readonly value: string }
  | { readonly template: string; readonly argument: string; readonly value: string }

/**
 * An established connection of either era, below the typed operations: `make` builds an `McpClient` on it. It lives
 * until its scope closes or `ended` succeeds.
 */
export interface Channel {
  readonly server: string
  readonly transport: Transport.Transport["kind"]
  readonly limits: Limits.Limits
  readonly era: Transport.Era
  readonly protocolVersion: string
  /** Absent for an anonymous server. For diagnostics only: never decide on it. */
  readonly serverInfo: { readonly name: string; readonly version: string; readonly title?: string } | undefined
  readonly capabilities: JsonRpc.JsonObject
  readonly instructions: string | undefined
  /**
   * Any request. `InputHandlers` answer what the server asks meanwhile; interruption cancels the request at the server.
   * An expired session is replaced once for all requests: one that the server refused is sent again if its method is
   * idempotent, and a tool call fails with `SessionExpired` and the outcome `unknown`.
   */
  readonly request: (
    method: string,
    params?: JsonRpc.JsonObject,
    options?: RequestOptions
  ) => Effect.Effect<JsonRpc.JsonObject, McpError.CallError>
  /** Any notification, such as `codex/sandbox-state/update`. */
  readonly notify: (method: string, params?: JsonRpc.JsonObject) => Effect.Effect<void, McpError.CallError>
  /** Called synchronously for each notification, in order; returns a function that removes the listener. */
  readonly onNotification: (listener: (notification: Notification) => void) => () => void
  /** Subscribes to changes until the scope closes. */
  readonly watch: (filter: WatchFilter) => Effect.Effect<void, McpError.CallError, Scope.Scope>
  /** The lowest level of the log messages that the server sends; a new session gets it again. */
  readonly setLogLevel: (level: LogLevel) => Effect.Effect<void, McpError.CallError>
  /** Succeeds if the server answers anything. */
  readonly health: Effect.Effect<void, McpError.CallError>
  /** Waits for the end of the connection and gives its reason. */
  readonly ended: Effect.Effect<McpError.ConnectError>
  /** Called synchronously when the connection ends, or at once if it has ended; returns a function that removes it. */
  readonly onEnded: (listener: (error: McpError.ConnectError) => void) => () => void
  /** Called synchronously when the server asks for a pause (`Retry-After`), with its end in milliseconds since 1970. */
  readonly onPaused: (listener: (until: number) => void) => () => void
  readonly stderrTail: Effect.Effect<string | undefined>
  /** Tasks of the session era, where the server declares them. */
  readonly tasks: Tasks.Tasks | undefined
}

export interface McpClient extends Channel {
  /** All pages. A malformed tool is reported and costs no other. */
  readonly tools: Effect.Effect<Tool.ToolList, McpError.CallError>
  readonly callTool: (
    name: string,
    args?: Arguments,
    options?: CallOptions
  ) => Effect.Effect<ToolResult.ToolResult, McpError.CallError>
  /** Progress as it arrives, then the result. A slow reader loses progress, and never the result. */
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
  /** A signal for each change of the resource while the stream is read. */
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
  /** Notifications from now on; a slow reader loses the oldest. */
  readonly notifications: Stream.Stream<Notification>
  /** A signal for each change, at most one per second with one trailing; needs no list first. */
  readonly listChanged: (list: "tools" | "resources" | "prompts") => Stream.Stream<void, McpError.CallError>
  /** Notifies the server that the application's roots have changed. */
  readonly rootsChanged: Effect.Effect<void, McpError.CallError>
  /** An experimental capability that the server declares, or `undefined`. */
  readonly experimental: (name: string) => JsonRpc.Json | undefined
}

const changeEvents = new Map<string, (fields: { readonly server: string }) => McpEvent.McpEvent>([
  ["notifications/tools/list_changed", McpEvent.McpEvent.ToolsChanged],
  ["notifications/resources/list_changed", McpEvent.McpEvent.ResourcesChanged],
  ["notifications/prompts/list_changed", McpEvent.McpEvent.PromptsChanged]
])

/** The code for an unknown resource before 2026-07-28. */
const resourceNotFound = -32002

/** How many notifications a slow reader may leave unread. */
const backlog = 1024

/** The client over an established connection. Deviations of the server are published to `McpEvents`, if provided. */
export const make = (channel: Channel): Effect.Effect<McpClient> =>
  Effect.gen(function*() {
    const { era, limits, server } = channel
    const events = Option.getOrUndefined(yield* Effect.serviceOption(McpEvent.McpEvents))
    const redaction = yield* Redaction.Redaction
    const { lenient } = Reporting.make({ server, redaction, publish: (event) => events?.publish(event) })

    const checked = <A>(
      method: string,
      params: JsonRpc.JsonObject | undefined,
      send: (params: JsonRpc.JsonObject | undefined) => Effect.Effect<A, McpError.CallError>
    ) =>
      Effect.suspend(() => {
        const plain = params && toObject(params, limits.maxMessageBytes, "params")
        return plain !== undefined && Either.isLeft(plain)
          ? Effect.fail(new McpError.InvalidArguments({ server, operation: method, ...plain.left }))
          : send(plain?.right)
      })
    const request: Channel["request"] = (method, params, options) =>
      checked(method, params, (params) => channel.request(method, params, options))
    const listed = { ...channel, report: lenient }

    const clock = yield* Effect.clock
    const published = new Map<string, number>()
    channel.onNotification(({ method }) => {
      const event = changeEvents.get(method)
      if (event === undefined || events === undefined) return
      // at most one per second, because a burst would push other events off the bus
      const now = clock.unsafeCurrentTimeMillis()
      if (now - (published.get(method) ?? -Infinity) < 1_000) return
      published.set(method, now)
      events.publish(event({ server }))
    })

    return {
      ...channel,
      request,
      notify: (method, params) => checked(method, params, (params) => channel.notify(method, params)),
      ...ToolCalls.make(channel, lenient),
      resources: Lists.all(listed, Lists.resources),
      resourceTemplates: Lists.all(listed, Lists.templates),
      readResource: (uri, options) =>
        request("resources/read", withMeta({ uri }, options?.meta)).pipe(
          Effect.mapError((error) =>
            error._tag === "RemoteError" && error.code === resourceNotFound
              ? new McpError.NotFound({ server, kind: "resource", name: uri })
              : error
          ),
          Effect.flatMap((result) => Lists.arrayIn(server, "resources/read", result, "contents")),
          Effect.map((parts) => {
            const contents = Lists.contents(parts, uri)
            const malformed = parts.length - contents.length
            if (malformed > 0) lenient(`resources/read: ${malformed} parts are neither text nor blob`)
            return contents
          })
        ),
      subscribeResource: (uri) => signals(channel, { resourceUris: [uri] }, 0, isUpdateOf(uri)),
      prompts: Lists.all(listed, Lists.prompts),
      getPrompt: (name, args, options) =>
        Effect.gen(function*() {
          const operation = "prompts/get"
          const plain = yield* Either.mapLeft(
            toObject(args ?? {}, limits.maxMessageBytes, "arguments"),
            (fault) => new McpError.InvalidArguments({ server, operation, ...fault })
          )
          const result = yield* request(operation, withMeta({ name, arguments: plain }, options?.meta))
          const messages = yield* Lists.arrayIn(server, operation, result, "messages")
          return { description: textOf(result["description"]), messages: messages.flatMap(Lists.promptMessage) }
        }),
      complete: (ref, context) =>
        Effect.map(request("completion/complete", completionParams(ref, context)), Lists.completion),
      // each reader has a queue of its own, so that a connection without readers keeps none
      notifications: Stream.asyncPush<Notification>(
        (emit) => Scoped.listen(() => channel.onNotification(emit.single)),
        { bufferSize: backlog, strategy: "sliding" }
      ),
      listChanged: (list) =>
        signals(channel, listFilters[list], 1_000, ({ method }) => method === `notifications/${list}/list_changed`),
      rootsChanged: era === "session" ? channel.notify("notifications/roots/list_changed") : Effect.void,
      experimental: (name) => {
        const declared = objectOf(channel.capabilities["experimental"])
        return Object.hasOwn(declared, name) ? declared[name] : undefined
      }
    }
  })

const withMeta = (params: JsonRpc.JsonObject, meta: JsonRpc.JsonObject | undefined): JsonRpc.JsonObject =>
  meta === undefined ? params : { ...params, _meta: meta }

const completionParams = (
  ref: CompletionRef,
  context: Readonly<Record<string, string>> | undefined
): JsonRpc.JsonObject => ({
  ref: "prompt" in ref ? { type: "ref/prompt", name: ref.prompt } : { type: "ref/resource", uri: ref.template },
  argument: { name: ref.argument, value: ref.value },
  ...(context === undefined ? {} : { context: { arguments: context } })
})

const listFilters = {
  tools: { toolsListChanged: true },
  resources: { resourcesListChanged: true },
  prompts: { promptsListChanged: true }
} as const

/** Servers may announce the change of a part of the resource. */
const isUpdateOf = (uri: string) => {
  const parts = uri.endsWith("/") ? uri : `${uri}/`
  return ({ method, params: { uri: changed } }: Notification): boolean =>
    method === "notifications/resources/updated" && typeof changed === "string" &&
    (changed === uri || changed.startsWith(parts))
}

/** A signal for each change, with the least milliseconds from one signal to the next. */
const signals = (
  channel: Channel,
  filter: WatchFilter,
  spacing: number,
  concerns: (notification: Notification) => boolean
): Stream.Stream<void, McpError.CallError> =>
  Stream.unwrapScoped(Effect.gen(function*() {
    const changed = yield* Effect.makeLatch(false)
    yield* Scoped.listen(() =>
      channel.onNotification((notification) => {
        if (notification.method === "$/resync" || concerns(notification)) changed.unsafeOpen()
      })
    )
    yield* channel.watch(filter)
    let next = 0
    return Stream.repeatEffect(Effect.gen(function*() {
      yield* Effect.raceFirst(changed.await, Effect.flip(channel.ended))
      const now = yield* Clock.currentTimeMillis
      const wait = Math.max(0, next - now)
      next = now + wait + spacing
      if (wait > 0) yield* Effect.sleep(wait)
      // one signal stands for all changes up to here
      yield* changed.close
    }))
  }))
