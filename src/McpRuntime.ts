/** All MCP servers of an application behind one service, which starts, reconnects, idles and stops them. */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Mailbox from "effect/Mailbox"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type * as Credentials from "./auth/Credentials.ts"
import type * as Connector from "./client/Connector.ts"
import type * as McpClient from "./client/McpClient.ts"
import * as ToolCalls from "./client/toolCalls.ts"
import * as ServerConfig from "./config/ServerConfig.ts"
import type * as McpError from "./McpError.ts"
import * as McpEvent from "./McpEvent.ts"
import type * as RuntimeMetrics from "./observability/RuntimeMetrics.ts"
import type * as CircuitBreaker from "./resilience/CircuitBreaker.ts"
import type * as ReconnectPolicy from "./resilience/ReconnectPolicy.ts"
import * as Teardown from "./resilience/Teardown.ts"
import * as CallTool from "./runtime/callTool.ts"
import * as Lists from "./runtime/lists.ts"
import * as McpServers from "./runtime/McpServers.ts"
import * as Permitted from "./runtime/permitted.ts"
import * as Requests from "./runtime/requests.ts"
import * as RuntimeTool from "./runtime/RuntimeTool.ts"
import * as Servers from "./runtime/Servers.ts"
import * as Startup from "./runtime/startup.ts"
import * as Permissions from "./safety/Permissions.ts"
import type * as ToolCache from "./tools/ToolCache.ts"
import * as ToolCatalog from "./tools/ToolCatalog.ts"
import type * as ToolPins from "./tools/ToolPins.ts"
import type * as ToolResult from "./tools/ToolResult.ts"
import type * as JsonRpc from "./transport/JsonRpc.ts"

export type { McpServers, ServerInfo } from "./runtime/McpServers.ts"
export type { RuntimeTool, ToolRef, Tools } from "./runtime/RuntimeTool.ts"
export type { ConnectFailure, ConnectOptions } from "./runtime/Servers.ts"
export { type Change, ServerStatus } from "./runtime/ServerStatus.ts"
export { type Missing, ToolCatalog } from "./tools/ToolCatalog.ts"

export interface Options<Server extends ServerConfig.Source = ServerConfig.Source> extends Partial<Servers.Options> {
  readonly servers: ReadonlyArray<Server>
  readonly catalog?: Partial<ToolCatalog.Options> | undefined
  /** The time between two `CallRunning` events of a call (default 30 s, at least 25 ms). */
  readonly progressInterval?: Duration.DurationInput | undefined
  /** The time in which all servers with `required` must connect. */
  readonly requiredTimeout?: Duration.DurationInput | undefined
}

export const defaults = { progressInterval: Duration.seconds(30), requiredTimeout: Duration.seconds(60) }

export interface RequestOptions {
  /**
   * The origin of the request (default: `"program"`), which decides where no rule does: a request of a model needs approval.
   * Pass `"model"` for each request that a model asks for.
   */
  readonly origin?: Permissions.Origin | undefined
  /**
   * The user of the request. Each user has a separate connection and login, unless `affinity` of the server is
   * `"shared"`. Default: the connection and login of the application.
   */
  readonly identity?: string | undefined
}

export interface CallOptions extends McpClient.CallOptions, RequestOptions {
  /**
   * `true`: a second execution does no harm, so a call whose answer was lost is sent again. `false`: it is not sent again,
   * even if the annotations of the tool allow it.
   */
  readonly idempotent?: boolean | undefined
  /** The id in the events of the call (default: a new one). */
  readonly callId?: string | undefined
}

/** The call of a result. */
export interface CallMetadata {
  readonly callId: string
  readonly serverName: string
  readonly toolName: string
  readonly duration: Duration.Duration
  readonly attempts: number
  /** The limit in characters of the result for a model, if the configuration of the server has one. */
  readonly maxResultChars: number | undefined
}

export interface CallResult extends ToolResult.ToolResult {
  readonly metadata: CallMetadata
}

/** An item of a list, and the server that has it. */
export type FromServer<Item> = Item & { readonly server: string }

/** The items of all servers, each with its server, and the servers that gave none. */
export interface Gathered<Item> {
  readonly items: ReadonlyArray<FromServer<Item>>
  readonly missing: ReadonlyArray<ToolCatalog.Missing>
}

/** The four lists of all servers. */
export interface Offered {
  readonly tools: Effect.Effect<RuntimeTool.Tools>
  readonly resources: Effect.Effect<Gathered<McpClient.Resource>>
  readonly resourceTemplates: Effect.Effect<Gathered<McpClient.ResourceTemplate>>
  readonly prompts: Effect.Effect<Gathered<McpClient.Prompt>>
}

export interface Service extends Offered {
  /**
   * The tools of all servers. Waits up to the gate for servers with a cached list, and up to `firstListWait` for
   * servers without one, which are `missing` until their first list arrives.
   */
  readonly tools: Effect.Effect<RuntimeTool.Tools>
  readonly tool: (
    ref: RuntimeTool.ToolRef
  ) => Effect.Effect<RuntimeTool.RuntimeTool, McpError.NotFound | McpError.PermissionDenied>
  /** Interrupting it cancels the call at the server. The result of a tool that reports failure has `isError`. */
  readonly callTool: (
    ref: RuntimeTool.ToolRef,
    args?: McpClient.Arguments,
    options?: CallOptions
  ) => Effect.Effect<CallResult, McpError.RuntimeError>
  /** The progress of the call, then its result. */
  readonly callToolStream: (
    ref: RuntimeTool.ToolRef,
    args?: McpClient.Arguments,
    options?: CallOptions
  ) => Stream.Stream<McpClient.CallEvent, McpError.RuntimeError>
  /** Lists the tools again, of one server or of all that are connected. */
  readonly refreshTools: (server?: string) => Effect.Effect<RuntimeTool.Tools, McpError.RuntimeError>
  readonly readResource: (
    server: string,
    uri: string,
    options?: RequestOptions
  ) => Effect.Effect<ReadonlyArray<McpClient.ResourceContents>, McpError.RuntimeError>
  /** An element for each change of the resource. The subscription continues over reconnects. */
  readonly subscribeResource: (
    server: string,
    uri: string,
    options?: RequestOptions
  ) => Stream.Stream<void, McpError.RuntimeError>
  readonly getPrompt: <A extends McpClient.PromptArguments<A>>(
    server: string,
    name: string,
    args?: A,
    options?: RequestOptions
  ) => Effect.Effect<McpClient.PromptMessages, McpError.RuntimeError>
  /**
   * The four lists, with this wait in place of `firstListWait`. With a wait of zero the tools are those known, and no server
   * is connected for them.
   */
  readonly offered: (wait: Duration.DurationInput) => Offered
  /** Lends the client of a server for requests that this interface does not name. Permissions apply to its requests. */
  readonly withClient: <A, E, R>(
    server: string,
    f: (client: McpClient.McpClient) => Effect.Effect<A, E, R>,
    options?: RequestOptions
  ) => Effect.Effect<A, E | McpError.RuntimeError, R>
  readonly servers: McpServers.McpServers
  readonly events: Stream.Stream<McpEvent.McpEvent>
  /** The events after the subscription. */
  readonly subscribe: Effect.Effect<Mailbox.ReadonlyMailbox<McpEvent.McpEvent>, never, Scope.Scope>
  /** Sends the state to each server that declares `codex/sandbox-state`, now and after each connect. */
  readonly notifySandboxState: (state: JsonRpc.JsonObject) => Effect.Effect<void>
  readonly teardownReport: Effect.Effect<Teardown.Report>
}

export class McpRuntime extends Context.Tag("effect-mcp-runtime/McpRuntime")<McpRuntime, Service>() {}

/** The concerns that a runtime is composed of. */
export type Requirements =
  | CircuitBreaker.CircuitBreaker
  | Connector.Connector
  | Credentials.Credentials
  | McpEvent.McpEvents
  | Permissions.Permissions
  | ReconnectPolicy.ReconnectPolicy
  | RuntimeMetrics.RuntimeMetrics
  | Teardown.Teardown
  | ToolCache.ToolCache
  | ToolPins.ToolPins

/** The runtime over servers and a catalog of their tools. */
export const makeService = (
  servers: Servers.Servers,
  catalog: ToolCatalog.ToolCatalog["Type"],
  options: Options
): Effect.Effect<Service, ServerConfig.Failure, Requirements | Scope.Scope> =>
  Effect.gen(function*() {
    const events = yield* McpEvent.McpEvents
    const permissions = yield* Permissions.Permissions
    const configs = yield* ServerConfig.all(options.servers)

    const permitted = yield* Permitted.make(catalog)
    const logins = yield* McpServers.logins(servers)
    const calls = yield* CallTool.make(servers, logins.use, catalog, permitted)
    const tools = yield* RuntimeTool.make(servers, catalog, calls)
    const group = yield* McpServers.make(servers, catalog, calls, logins)
    const ask = Requests.asking(servers, servers.use)
    const send = Requests.make(servers, Requests.asking(servers, logins.use), permitted)
    const gather = Lists.gathering(servers, ask)
    const follow = Lists.follow(catalog, events.publish)
    const sandbox = McpServers.sandboxState(servers)

    yield* Startup.watch(servers, events, configs)
    servers.onConnected((live) =>
      // the lists are those of the application
      Effect.zipRight(sandbox.send(live), live.identity === undefined ? follow(live) : Effect.void)
    )
    yield* Effect.forkScoped(
      calls.reportRunning(Duration.decode(options.progressInterval ?? defaults.progressInterval))
    )
    yield* permissions.configure("servers", McpServers.approvals(configs))
    yield* servers.reload(configs)
    const requiredTimeout = Duration.decode(options.requiredTimeout ?? defaults.requiredTimeout)
    yield* Startup.awaitRequired(servers, configs, requiredTimeout)

    const offered = (
      list: ToolCatalog.ToolCatalog["Type"]["list"],
      wait: Duration.DurationInput | undefined
    ): Offered => ({
      tools: Effect.map(list, tools.listed),
      resources: gather(({ resources }) => resources, wait),
      resourceTemplates: gather(({ templates }) => templates, wait),
      prompts: gather(({ prompts }) => prompts, wait)
    })
    const lists = offered(catalog.list, catalog.firstListWait)

    return {
      ...lists,
      offered: (wait) => offered(catalog.listWithin(wait), wait),
      tool: tools.get,
      callTool: tools.call,
      callToolStream: (ref, args, options) =>
        ToolCalls.streamOf((more) => tools.call(ref, args, { ...options, ...more }), options),
      refreshTools: (server) => {
        const connected = servers.all().filter(({ live }) => live !== undefined)
        const refresh = server === undefined
          ? Effect.forEach(connected, ({ name }) => Effect.either(catalog.refresh(name)), { concurrency: "unbounded" })
          : catalog.refresh(server)
        return Effect.zipRight(refresh, lists.tools)
      },
      readResource: (server, uri, options) =>
        send(
          server,
          { method: "resources/read", uri, kind: "resource", name: uri },
          options,
          ({ session }, { meta }) => session.readResource(uri, { meta })
        ),
      subscribeResource: Requests.subscribing(servers, permitted),
      getPrompt: (server, prompt, args, options) =>
        send(
          server,
          { method: "prompts/get", prompt, kind: "prompt", name: prompt, args: args ?? {} },
          options,
          // the cast: the permitted arguments are a copy of `args`
          ({ session }, permitted) =>
            session.getPrompt(prompt, permitted.args as typeof args | undefined ?? args, { meta: permitted.meta })
        ),
      withClient: (server, f, options) =>
        ask(
          server,
          "the session",
          (live) => f(permitted.session(live, options?.origin ?? "program", options?.identity)),
          options?.identity
        ),
      servers: group,
      events: Stream.takeUntil(events.stream, ({ _tag }) => _tag === "TeardownComplete"),
      subscribe: events.subscribe,
      notifySandboxState: sandbox.notify,
      teardownReport: (yield* Teardown.Teardown).report
    }
  })

/** Starts the servers and waits only for those that are `required`. Makes the catalog of their tools, too. */
export const make = (
  options: Options
): Effect.Effect<
  Context.Context<McpRuntime | ToolCatalog.ToolCatalog>,
  ServerConfig.Failure,
  Requirements | Scope.Scope
> =>
  Effect.gen(function*() {
    const servers = yield* Servers.make(options)
    const catalog = yield* ToolCatalog.make(servers, options.catalog)
    const runtime = yield* makeService(servers, catalog, options)
    return Context.make(McpRuntime, runtime).pipe(Context.add(ToolCatalog.ToolCatalog, catalog))
  })

/** Requires every concern from the application. `NodeMcpRuntime.layer` has defaults for all of them. */
export function layer<Server extends ServerConfig.Source>(
  options: Options<Server>
): Layer.Layer<McpRuntime | ToolCatalog.ToolCatalog, ServerConfig.Failure<Server>, Requirements>
export function layer(
  options: Options
): Layer.Layer<McpRuntime | ToolCatalog.ToolCatalog, ServerConfig.Failure, Requirements> {
  return Layer.scopedContext(make(options))
}
