/** The gateway: all servers of a runtime as one MCP server, for callers of both eras. */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type * as InputHandlers from "../client/InputHandlers.ts"
import * as Protocol from "../client/Protocol.ts"
import type * as McpError from "../McpError.ts"
import type * as McpEvent from "../McpEvent.ts"
import type * as McpRuntime from "../McpRuntime.ts"
import type * as Approval from "../safety/Approval.ts"
import * as OutputGuard from "../safety/OutputGuard.ts"
import type * as Permissions from "../safety/Permissions.ts"
import * as Redaction from "../safety/Redaction.ts"
import type * as ToolCatalog from "../tools/ToolCatalog.ts"
import * as ToolSearch from "../tools/ToolSearch.ts"
import type * as JsonRpc from "../transport/JsonRpc.ts"
import * as OwnTools from "./gateway/ownTools.ts"
import * as PassThrough from "./gateway/passThrough.ts"
import * as Peers from "./gateway/peers.ts"
import * as Prompts from "./gateway/prompts.ts"
import * as Resources from "./gateway/resources.ts"
import * as Seats from "./gateway/seats.ts"
import * as Tools from "./gateway/tools.ts"
import type * as HttpEndpoint from "./HttpEndpoint.ts"
import * as McpServer from "./McpServer.ts"

export interface Options {
  readonly name: string
  readonly version: string
  readonly title: string | undefined
  readonly instructions: string | undefined
  /** `qualified`: names contain the server. `plain`: names are those of the server, unless two servers have the same one. */
  readonly naming: "qualified" | "plain"
  /**
   * The texts of servers. `clean`: without hidden text, and with long texts in pages. `wrap`: also labelled as untrusted
   * output, for callers that pass it to a model unchanged. `asis`: unchanged.
   */
  readonly output: "clean" | "wrap" | "asis"
  /** Offers three tools (search, describe, call) instead of all tools. */
  readonly search: boolean
  /** Serves a single program: servers start once, with the capabilities that it declares. */
  readonly single: boolean
  /** The servers to which all callers share a connection, because they send no requests and keep no state. */
  readonly shared: (server: string) => boolean
  /**
   * How long a list waits for slow servers. For a server without a cached list, `tools/list` waits
   * `ToolCatalog.Options.firstListWait`.
   */
  readonly gate: Duration.DurationInput
  /** Callers with separate connections. More than `HttpEndpoint.maxSessions`, because only sessions are evicted. */
  readonly maxSeats: number
  /** How long the connections of a caller without a session are kept for its next request. */
  readonly seatTimeout: Duration.DurationInput
}

export const defaults: Options = {
  name: "mcp-runtime",
  version: Protocol.clientInfo.version,
  title: undefined,
  instructions: undefined,
  naming: "qualified",
  output: "clean",
  search: false,
  single: false,
  shared: () => false,
  gate: Duration.seconds(1),
  maxSeats: 96,
  seatTimeout: Duration.minutes(5)
}

/** The services of one runtime. */
type Services =
  | McpEvent.McpEvents
  | McpRuntime.McpRuntime
  | Permissions.Permissions
  | ToolCatalog.ToolCatalog

/** How a runtime reaches its caller. */
export interface Seat {
  /** Answers the requests of servers. */
  readonly handlers?: InputHandlers.Handlers | undefined
  readonly approval?: Approval.Approval["Type"] | undefined
  /** Starts every server at its first use. */
  readonly lazy: boolean
}

/** Opens the runtimes of a gateway: the shared runtime, and one for each separate caller. `NodeMcpServe` provides it. */
export class Runtimes extends Context.Tag("effect-mcp-runtime/server/McpServe/Runtimes")<Runtimes, {
  readonly open: (seat: Seat) => Effect.Effect<
    Context.Context<Services>,
    McpError.RequiredServersFailed | McpError.ConfigurationError,
    Scope.Scope
  >
}>() {}

type Requirements = OutputGuard.OutputGuard | Runtimes | ToolSearch.ToolSearch

/** An offer for `StdioServer` or `HttpEndpoint`. */
export interface Gateway extends McpServer.Offer {
  /** The shared runtime, for health and metrics. Opened at its first use. */
  readonly shared: Effect.Effect<McpRuntime.McpRuntime["Type"], McpServer.Refusal>
  /** The number of callers with separate connections. */
  readonly seats: () => number
}

const capabilities: JsonRpc.JsonObject = {
  tools: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  prompts: { listChanged: true },
  completions: {},
  logging: {}
}

/** The extensions of the servers of a seat. A disconnected server keeps its last declaration. */
const extensions = (gate: Duration.DurationInput) => {
  const known = new Map<string, JsonRpc.JsonObject>()
  return ({ connected, runtime, settled }: Seats.Seat): Effect.Effect<JsonRpc.JsonObject> =>
    Effect.gen(function*() {
      yield* settled
      const note = (server: string) =>
        runtime.withClient(server, ({ capabilities }) =>
          Effect.sync(() => known.set(server, PassThrough.extensionsOf(capabilities)))).pipe(
            Effect.timeoutOption(gate),
            Effect.ignore
          )
      yield* Effect.forEach(yield* connected, note, { concurrency: "unbounded", discard: true })
      const servers = yield* runtime.servers.list
      return PassThrough.mergedExtensions(servers.map(({ name }) =>
        known.get(name) ?? {}
      ))
    })
}

/** Every list of the gateway has a single page. */
const onePage =
  (list: (caller: McpServer.Caller) => ReturnType<McpServer.Handler>): McpServer.Handler => ({ caller, params }) =>
    params["cursor"] === undefined ? list(caller) : McpServer.invalidParams("Invalid params: unknown cursor")

/** All connections end with the scope. */
export const make = (given?: Partial<Options>): Effect.Effect<Gateway, never, Requirements | Scope.Scope> =>
  Effect.gen(function*() {
    const options = { ...defaults, ...given }
    const { gate, instructions, name, output, search, single, title, version } = options
    const guard = yield* OutputGuard.OutputGuard
    const toolSearch = yield* ToolSearch.ToolSearch
    const redaction = yield* Redaction.Redaction
    const seats = yield* Seats.make(options, yield* Runtimes)
    const texts = PassThrough.texts(guard, output)
    const refusal = PassThrough.refusalOf(redaction.text)
    const extensionsOf = extensions(gate)
    // opened before the first caller arrives, so that it does not wait
    if (!single) yield* Effect.forkScoped(Effect.ignoreLogged(seats.shared))

    const open = (peer: McpServer.Peer): Effect.Effect<McpServer.Service, never, Scope.Scope> =>
      Effect.map(Peers.make(seats, options, peer), ({ notified, setLogLevel, ...choice }) => {
        const parts: Peers.Parts = { options, choice, texts, refusal, links: Resources.links() }
        const tools = Tools.make(parts)
        const resources = Resources.make(parts)
        const prompts = Prompts.make(parts, resources.template)
        const own = OwnTools.make(options, guard, toolSearch, tools)

        const list = (caller: McpServer.Caller) =>
          Effect.map(search ? Effect.succeed([]) : tools.list(caller), (listed) => ({
            tools: [
              ...listed.map(({ item, name }) => tools.definition(name, item)),
              ...Array.from(own.values(), ({ definition }) => definition)
            ]
          }))

        const call: McpServer.Handler = (exchange) =>
          Effect.flatMap(Tools.callOf(exchange.params), ({ args, name }) => {
            const ownTool = own.get(name)
            if (ownTool !== undefined) return ownTool.call(args, exchange)
            return search ? Tools.unknown(name) : tools.call(exchange, name, args)
          })

        return {
          handlers: new Map<string, McpServer.Handler>([
            ["tools/list", onePage(list)],
            ["tools/call", call],
            ["resources/list", onePage(resources.list)],
            ["resources/templates/list", onePage(resources.templates)],
            ["resources/read", resources.read],
            ["prompts/list", onePage(prompts.list)],
            ["prompts/get", prompts.get],
            ["completion/complete", prompts.complete]
          ]),
          extensions: (caller) => Effect.orElseSucceed(Effect.flatMap(choice.base(caller), extensionsOf), () => ({})),
          watch: resources.watch,
          notified,
          setLogLevel
        }
      })

    return {
      info: { name, version, title },
      instructions,
      capabilities,
      open,
      shared: Effect.map(seats.shared, ({ runtime }) => runtime),
      seats: seats.size
    }
  })

/** `/health` without a token; `/status` and `/metrics` (Prometheus) with the token of the endpoint. */
export const pages = (gateway: Gateway): ReadonlyArray<HttpEndpoint.Page> => {
  // imported on demand, because only HTTP needs these modules of @effect/platform
  const load = Effect.promise(() => import("./gateway/statusPages.ts"))
  return [
    { path: "/health", guarded: false, render: Effect.flatMap(load, ({ health }) => health(gateway)) },
    { path: "/status", guarded: true, render: Effect.flatMap(load, ({ status }) => status(gateway)) },
    { path: "/metrics", guarded: true, render: Effect.flatMap(load, ({ metrics }) => metrics) }
  ]
}
