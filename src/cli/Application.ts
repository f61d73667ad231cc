// @effect-diagnostics strictEffectProvide:off -- the arguments decide what is provided
/** Builds the runtime of a command from its options, over the servers that an application would see. */
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import * as Credentials from "../auth/Credentials.ts"
import * as InputHandlers from "../client/InputHandlers.ts"
import * as ConfigDiscovery from "../config/ConfigDiscovery.ts"
import * as Limits from "../config/Limits.ts"
import type * as ServerConfig from "../config/ServerConfig.ts"
import * as McpError from "../McpError.ts"
import * as McpEvent from "../McpEvent.ts"
import * as McpRuntime from "../McpRuntime.ts"
import * as NodeMcpRuntime from "../node/NodeMcpRuntime.ts"
import { nearest } from "../text/nearest.ts"
import * as ToolPins from "../tools/ToolPins.ts"
import * as Answers from "./answers.ts"
import type * as Command from "./Command.ts"
import { Usage, usage } from "./Command.ts"
import * as Consent from "./consent.ts"
import type * as Latency from "./latency.ts"
import * as Lookup from "./lookup.ts"
import * as Person from "./person.ts"
import * as Screen from "./Screen.ts"
import * as Settling from "./settling.ts"

/** The runtime of a command. */
export interface Application extends Lookup.Found {
  readonly runtime: McpRuntime.McpRuntime["Type"]
  readonly pins: ToolPins.ToolPins["Type"]
  /** Where logins are saved, for people. */
  readonly keptIn: Effect.Effect<string>
  /**
   * Runs an effect once every server is connected and listed, or has failed once, and shows the progress. Starts lazy servers
   * too. The wait is bounded by `--timeout`, or by the limits of the servers.
   */
  readonly ask: <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** The servers and their tools after the same wait. */
  readonly listed: Effect.Effect<Settling.Listed>
  /** The servers that are starting, with running installs. */
  readonly starting: Effect.Effect<ReadonlyArray<string>>
  /** The `--timeout` with which the servers were started. */
  readonly timeout: Duration.Duration | undefined
  /** The application after changes of files, if `follow` is set. */
  readonly renewed: Effect.Effect<Application>
}

/** The application of the repl: commands that run in it share its connections and leave them open. */
export class Open extends Context.Reference<Open>()("effect-mcp-runtime/cli/Application/Open", {
  defaultValue: (): { readonly application?: Application; readonly latency?: Latency.Latency } => ({})
}) {}

/** The servers of a command, and how they are started. */
export interface Choice {
  /** Names (default: those of `--server`, or all). */
  readonly servers?: ReadonlyArray<string> | undefined
  /** Asks at the terminal to approve the named servers that need approval. */
  readonly consent?: boolean | undefined
  /** Asks the questions of servers at the terminal. */
  readonly answers?: boolean | undefined
  /** Follows changes of files. */
  readonly follow?: boolean | undefined
  /** Gives each server one attempt to connect. */
  readonly once?: boolean | undefined
  /** Starts a server at its first use. */
  readonly lazy?: boolean | undefined
  /** Additional OAuth scopes for logins. */
  readonly scopes?: ReadonlyArray<string> | undefined
  /** Opens a browser for logins (default: true). */
  readonly browser?: boolean | undefined
}

type Layered = Layer.Layer<NodeMcpRuntime.Services, NodeMcpRuntime.Failure, Lookup.Ground>

/** How a command changes the runtime. */
export interface Settings {
  /** Whether faults in files are reported (default), or left to the command. */
  readonly faults?: "error" | "collected" | undefined
  /** Replaces services of the runtime, like `NodeMcpRuntime.using`. */
  readonly using?: ((runtime: Layered) => Layered) | undefined
}

/** The server with this name or fingerprint. */
export const server = (
  name: string,
  { servers }: ConfigDiscovery.Discovery
): Effect.Effect<ConfigDiscovery.Found, McpError.NotFound> => {
  const found = servers.find((one) => one.name === name || one.fingerprint === name.toLowerCase())
  return found === undefined
    ? new McpError.NotFound({
      server: "",
      kind: "server",
      name,
      suggestions: nearest(name, servers.map((one) => one.name))
    })
    : Effect.succeed(found)
}

/** The servers with these names. */
export const named = (
  names: ReadonlyArray<string>,
  discovery: ConfigDiscovery.Discovery
): Effect.Effect<ReadonlyArray<ConfigDiscovery.Found>, McpError.NotFound> =>
  Effect.forEach(names, (name) => server(name, discovery))

/** Fails for an invalid entry. */
export const usable = (
  { name, provenance, state }: ConfigDiscovery.Found,
  { issues }: ConfigDiscovery.Discovery
): Effect.Effect<void, McpError.ConfigurationError> => {
  if (state._tag !== "Invalid") return Effect.void
  const issue = issues.find(({ server, severity }) => server === name && severity === "error")
  return new McpError.ConfigurationError({
    server: name,
    path: provenance.path ?? provenance.provider,
    detail: issue?.message ?? `invalid entry (${state.kind})`
  })
}

/** The names of a choice or of `--server`; `undefined` means all servers. */
const wantedOf = (
  choice: Choice,
  shared: Command.Shared,
  discovery: ConfigDiscovery.Discovery
): Effect.Effect<ReadonlySet<string> | undefined, McpError.NotFound> => {
  const wanted = choice.servers ?? (shared.servers.length === 0 ? undefined : shared.servers)
  return Effect.as(named(shared.servers, discovery), wanted && new Set(wanted))
}

const only = (names: ReadonlySet<string> | undefined, found: ConfigDiscovery.Discovery): ConfigDiscovery.Discovery =>
  names === undefined ? found : {
    ...found,
    servers: found.servers.filter(({ name }) => names.has(name)),
    configs: found.configs.filter(({ name }) => names.has(name))
  }

/** The limits of a command: `--timeout`, which includes installs, or those of the environment. */
export const limits = ({ timeout }: Pick<Command.Shared, "timeout">): Layer.Layer<Limits.CurrentLimits, Usage> =>
  timeout === undefined
    ? Layer.catchAll(Limits.layerConfig, (error) =>
      Layer.fail(
        new Usage({
          detail: `invalid environment variable: ${String(error).split("\n")[0]}`,
          next: "Correct MCP_TIMEOUT or MCP_TOOL_TIMEOUT."
        })
      ))
    : Limits.layer({
      startupTimeout: timeout,
      installTimeout: timeout,
      requestTimeout: timeout,
      toolTimeout: timeout,
      listTimeout: timeout
    })

/** Provides the services that a runtime needs, with the servers of `--server`, or all. */
export const over = <A, E, R>(
  shared: Command.Shared,
  use: (
    found: Lookup.Found & Pick<NodeMcpRuntime.ConfiguredOptions, "adapt">
  ) => Effect.Effect<A, E, R | Lookup.Ground>
): Effect.Effect<A, E | Command.Failure, R | Screen.Screen> =>
  Lookup.look(shared, (found) =>
    Effect.gen(function*() {
      yield* Lookup.reportIssues(shared, found.discovery)
      const names = yield* wantedOf({}, shared, found.discovery)
      return yield* use({
        ...found,
        discovery: only(names, found.discovery),
        adapt: (config) => names?.has(config.name) === false ? undefined : config
      })
    }).pipe(Effect.provide(limits(shared))))

/** A view of a runtime with only these servers. */
const narrowed = (
  runtime: McpRuntime.McpRuntime["Type"],
  names: ReadonlySet<string>
): McpRuntime.McpRuntime["Type"] => {
  const kept = <A extends { readonly server: string }>(all: ReadonlyArray<A>) =>
    all.filter(({ server }) => names.has(server))
  const gathered = <A>(all: Effect.Effect<McpRuntime.Gathered<A>>) =>
    Effect.map(all, ({ items, missing }) => ({ items: kept(items), missing: kept(missing) }))
  const lists = (all: McpRuntime.Offered): McpRuntime.Offered => ({
    tools: Effect.map(all.tools, ({ denied, missing, quarantined, rejected, tools, ...others }) => ({
      ...others,
      tools: tools.filter(({ serverName }) => names.has(serverName)),
      missing: kept(missing),
      rejected: kept(rejected),
      quarantined: kept(quarantined),
      denied: kept(denied)
    })),
    resources: gathered(all.resources),
    resourceTemplates: gathered(all.resourceTemplates),
    prompts: gathered(all.prompts)
  })
  const infos = (all: ReadonlyArray<McpRuntime.ServerInfo>) => all.filter(({ name }) => names.has(name))
  const { servers } = runtime
  return {
    ...runtime,
    ...lists(runtime),
    offered: (wait) => lists(runtime.offered(wait)),
    servers: { ...servers, list: Effect.map(servers.list, infos), changes: Stream.map(servers.changes, infos) }
  }
}

/** Runs a command over the connections of the repl. Options that choose the servers are refused. */
const within = <A, E, R>(
  open: Application,
  shared: Command.Shared,
  choose: (found: ConfigDiscovery.Discovery) => Effect.Effect<Choice, E, R>,
  body: (application: Application) => Effect.Effect<A, E, R>
): Effect.Effect<A, E | Command.Failure, R | Screen.Screen> =>
  Effect.gen(function*() {
    const { configs, imports, root, stdio, timeout, urls } = shared
    if (root !== undefined || configs.length + imports.length + stdio.length + urls.length > 0) {
      return yield* usage(
        "the repl uses the servers it was started with",
        "Pass --root, --config, --import, --stdio and --url to `mcp-runtime repl`."
      )
    }
    const application = yield* open.renewed
    const names = yield* wantedOf(yield* choose(application.discovery), shared, application.discovery)
    const runtime = names === undefined ? application.runtime : narrowed(application.runtime, names)
    const screen = yield* Screen.Screen
    const work = body({
      ...application,
      runtime,
      ...Settling.over(runtime, timeout ?? application.timeout, { installs: new Map(), screen })
    })
    return yield* timeout === undefined ? work : Effect.timeoutFail(work, {
      duration: timeout,
      onTimeout: () =>
        new McpError.RequestTimeout({
          server: Array.from(names ?? application.discovery.servers.map(({ name }) => name)).join(", "),
          kind: "total",
          operation: "command",
          limit: timeout,
          outcome: "unknown"
        })
    })
  })

/** Adds OAuth scopes to a configuration. */
const withScopes = (config: ServerConfig.ServerConfig, scopes: ReadonlyArray<string>): ServerConfig.ServerConfig =>
  scopes.length === 0 || !("url" in config) || config.oauth === false
    ? config
    : { ...config, oauth: { ...config.oauth, scopes: [...config.oauth?.scopes ?? [], ...scopes] } }

/** Shows after Ctrl-C which servers are still stopping. */
const stopping = (screen: Screen.Screen["Type"], { servers }: McpRuntime.McpRuntime["Type"]) =>
  Effect.flatMap(servers.list, (all) => {
    const open = all.filter(({ status: { _tag } }) => _tag === "Connected" || _tag === "Connecting")
    const what = `stopping ${open.map(({ name }) => name).join(", ")}; press Ctrl-C again to kill`
    return open.length === 0
      ? Effect.void
      : Effect.interruptible(Settling.showing(screen, () => what, Effect.succeed([]))(Effect.never))
  })

const opened = <A, E, R>(
  shared: Command.Shared,
  choose: (found: ConfigDiscovery.Discovery) => Effect.Effect<Choice, E, R>,
  body: (application: Application) => Effect.Effect<A, E, R>,
  { faults, using = (runtime) => runtime }: Settings
): Effect.Effect<A, E | Command.Failure, R | Screen.Screen> =>
  Lookup.find(shared, (found) =>
    Effect.gen(function*() {
      const { discovery, trust } = found
      const screen = yield* Screen.Screen
      const events = yield* McpEvent.McpEvents
      const { current, discover } = yield* ConfigDiscovery.ConfigDiscovery
      const choice = yield* choose(discovery)
      const names = yield* wantedOf(choice, shared, discovery)
      const asked = choice.consent === true ? names : undefined
      // an approval changes the result of the discovery
      if (asked !== undefined && (yield* Consent.atFirstUse(trust, asked))) yield* discover
      const resolution = yield* Answers.make(shared, only(names, yield* current).servers, asked ?? new Set())
      const turns = yield* Effect.makeSemaphore(1)
      const scope = yield* Effect.scope
      const person = Layer.mergeAll(
        Person.approval(screen, turns),
        Person.login(screen, { browser: choice.browser !== false, timeout: shared.timeout }),
        choice.answers === true ? Person.inputs(screen, discovery, turns) : InputHandlers.layerNone
      )
      const scopes = choice.scopes ?? []
      const layer = NodeMcpRuntime.layerDiscovered({
        adapt: (config) => names?.has(config.name) === false ? undefined : withScopes(config, scopes),
        follow: choice.follow === true,
        lazy: choice.lazy === true,
        logs: shared.verbose,
        resolution,
        // a list must wait as long as the command, which shows the progress of the first attempts
        catalog: { firstListWait: "settled" },
        ...(choice.once === true ? { reconnect: { schedule: Schedule.stop } } : {})
      }).pipe(using, NodeMcpRuntime.using(person), NodeMcpRuntime.using(limits(shared)))
      return yield* Settling.watched(events, screen, shared, (watch, onInterrupt) =>
        Effect.gen(function*() {
          const runtime = yield* McpRuntime.McpRuntime
          const application: Application = {
            ...found,
            runtime,
            pins: yield* ToolPins.ToolPins,
            keptIn: (yield* Credentials.Credentials).where,
            ...Settling.over(runtime, shared.timeout, watch),
            timeout: shared.timeout,
            renewed: Effect.map(current, (all) => ({ ...application, discovery: only(names, all) }))
          }
          return yield* body(application).pipe(
            Effect.onInterrupt(() => Effect.zipRight(onInterrupt, Effect.forkIn(stopping(screen, runtime), scope)))
          )
        }).pipe(Effect.provide(layer)))
    }).pipe(Effect.scoped), faults)

/** Runs a command with a runtime that stops all servers at the end, or with the runtime of the repl. */
export const use = <A, E, R>(
  shared: Command.Shared,
  choose: (found: ConfigDiscovery.Discovery) => Effect.Effect<Choice, E, R>,
  body: (application: Application) => Effect.Effect<A, E, R>,
  settings: Settings = {}
): Effect.Effect<A, E | Command.Failure, R | Screen.Screen> =>
  Effect.flatMap(
    Open,
    ({ application }) =>
      application === undefined ? opened(shared, choose, body, settings) : within(application, shared, choose, body)
  )
