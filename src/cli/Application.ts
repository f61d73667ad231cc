// @effect-diagnostics strictEffectProvide:off -- what a command needs is known once it has been read
/**
 * From the options of a command to a runtime over the servers that an application would see. A person at the keyboard makes
 * its calls and answers its questions.
 */
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
  /** The place of logins, in words for a person. */
  readonly keptIn: Effect.Effect<string>
  /**
   * Runs this once every server is connected and listed, or has failed once, and shows the progress. Starts the servers that
   * otherwise start at their first use. The timeout of the command bounds the wait, or else the limits of the servers.
   */
  readonly ask: <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** The servers and their tools after the same wait. */
  readonly listed: Effect.Effect<Settling.Listed>
  /** The servers that are starting, with the installs under way. */
  readonly starting: Effect.Effect<ReadonlyArray<string>>
  /** The time that servers were given when they were started, if any was said. */
  readonly timeout: Duration.Duration | undefined
  /** The application with the servers that are found by now, where files are followed. */
  readonly renewed: Effect.Effect<Application>
}

/** An application that is open already, for commands that run within another: they use its connections and end none. */
export class Open extends Context.Reference<Open>()("effect-mcp-runtime/cli/Application/Open", {
  defaultValue: (): { readonly application?: Application; readonly latency?: Latency.Latency } => ({})
}) {}

/** The servers that a command needs, and how they are started. */
export interface Choice {
  /** By name; without it, those that `--server` names, or all. */
  readonly servers?: ReadonlyArray<string> | undefined
  /** Asks the person at the terminal to approve those of the named servers that need it. */
  readonly consent?: boolean | undefined
  /** Puts the questions of these servers to the person at the terminal. */
  readonly answers?: boolean | undefined
  /** Takes up changes of files while it runs. */
  readonly follow?: boolean | undefined
  /** Gives each server one attempt to connect. */
  readonly once?: boolean | undefined
  /** Connects to no server before something is asked of it. */
  readonly rests?: boolean | undefined
  /** The scopes that a login asks for, beside those of the configuration. */
  readonly scopes?: ReadonlyArray<string> | undefined
  /** Opens a browser of this machine for a login (default: true). */
  readonly browser?: boolean | undefined
}

type Layered = Layer.Layer<NodeMcpRuntime.Services, NodeMcpRuntime.Failure, Lookup.Ground>

/** Changes of a command to the runtime. */
export interface Settings {
  /** Faults of files are an error, or are left to the command (default: an error). */
  readonly faults?: "error" | "collected" | undefined
  /** Replaces concerns of the runtime, as `NodeMcpRuntime.using` does. */
  readonly using?: ((runtime: Layered) => Layered) | undefined
}

/** The server of this name or fingerprint, if there is one. */
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

/** The servers of these names, if there are such servers. */
export const named = (
  names: ReadonlyArray<string>,
  discovery: ConfigDiscovery.Discovery
): Effect.Effect<ReadonlyArray<ConfigDiscovery.Found>, McpError.NotFound> =>
  Effect.forEach(names, (name) => server(name, discovery))

/** Fails for an entry that cannot be used, with the fault in its file. */
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

/** The names of the servers of a choice, or of `--server`; nothing stands for all servers. */
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

/** The limits of a command: those of the environment, or its `--timeout`, which bounds an install too. */
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

/** Provides what runtimes stand on, with the servers that `--server` names, or all. */
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

/** A runtime as if it had only the servers with these names. */
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

/** Over the connections of another: what was decided when these were opened cannot be said again. */
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

/** Asks for these rights beside those of the configuration. */
const withScopes = (config: ServerConfig.ServerConfig, scopes: ReadonlyArray<string>): ServerConfig.ServerConfig =>
  scopes.length === 0 || !("url" in config) || config.oauth === false
    ? config
    : { ...config, oauth: { ...config.oauth, scopes: [...config.oauth?.scopes ?? [], ...scopes] } }

/** Shows after Ctrl-C which servers the end waits for. */
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
      // the discovery that was shown is used, unless a server has just been approved
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
      // the options of the runtime of every command but `serve` and `smoke`
      const layer = NodeMcpRuntime.layerDiscovered({
        adapt: (config) => names?.has(config.name) === false ? undefined : withScopes(config, scopes),
        follow: choice.follow === true,
        lazy: choice.rests === true,
        logs: shared.verbose,
        resolution,
        // commands wait for the first attempt of each server, with progress, so a list must not give up earlier
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

/**
 * A runtime over what was found, as long as the command uses it; when the command has ended, all servers have. Within an
 * application that is open it is the runtime of that, and its servers go on.
 */
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
