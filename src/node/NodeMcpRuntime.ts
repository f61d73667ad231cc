/**
 * The whole runtime for Node: every concern with its default, each to be replaced by one layer.
 *
 * @since 0.1.0
 */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import type * as FileSystem from "@effect/platform/FileSystem"
import * as KeyValueStore from "@effect/platform/KeyValueStore"
import type * as Path from "@effect/platform/Path"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Credentials from "../auth/Credentials.ts"
import * as Interaction from "../auth/Interaction.ts"
import * as TokenStore from "../auth/TokenStore.ts"
import * as ClientConnector from "../client/ClientConnector.ts"
import * as Connector from "../client/Connector.ts"
import * as EraMemory from "../client/EraMemory.ts"
import * as ConfigDiscovery from "../config/ConfigDiscovery.ts"
import * as ConfigFiles from "../config/ConfigFiles.ts"
import * as Resolution from "../config/Resolution.ts"
import type * as ServerConfig from "../config/ServerConfig.ts"
import * as Trust from "../config/Trust.ts"
import * as TrustStore from "../config/TrustStore.ts"
import * as Assembly from "../internal/assembly.ts"
import * as RuntimeLog from "../internal/runtimeLog.ts"
import type * as McpError from "../McpError.ts"
import * as McpEvent from "../McpEvent.ts"
import * as McpRuntime from "../McpRuntime.ts"
import * as RuntimeMetrics from "../observability/RuntimeMetrics.ts"
import * as TransitionLog from "../observability/TransitionLog.ts"
import * as Bulkhead from "../resilience/Bulkhead.ts"
import * as CircuitBreaker from "../resilience/CircuitBreaker.ts"
import * as HealthCheck from "../resilience/HealthCheck.ts"
import * as ReconnectPolicy from "../resilience/ReconnectPolicy.ts"
import * as RetryPolicy from "../resilience/RetryPolicy.ts"
import * as Teardown from "../resilience/Teardown.ts"
import * as ConnectionPool from "../runtime/ConnectionPool.ts"
import * as Approval from "../safety/Approval.ts"
import * as Grants from "../safety/Grants.ts"
import * as Permissions from "../safety/Permissions.ts"
import * as ToolCache from "../tools/ToolCache.ts"
import * as ToolCatalog from "../tools/ToolCatalog.ts"
import * as ToolPins from "../tools/ToolPins.ts"
import * as Transport from "../transport/Transport.ts"
import * as FileStore from "./FileStore.ts"
import * as NodeConnector from "./NodeConnector.ts"
import * as NodeInteraction from "./NodeInteraction.ts"
import * as NodeTokenStore from "./NodeTokenStore.ts"
import * as NodeTrust from "./NodeTrust.ts"

/**
 * What can be set without replacing anything.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options<E = never> extends McpRuntime.Options {
  /** How remote servers are logged in to. */
  readonly auth?: Partial<Credentials.Options> | undefined
  readonly bulkhead?: Partial<Bulkhead.Options> | undefined
  readonly cache?: Partial<ToolCache.PersistedOptions> | undefined
  /** Where tools are kept between runs (default: a folder for caches of the user), or `"memory"` for nowhere. */
  readonly cacheDirectory?: string | undefined
  readonly catalog?: Partial<ToolCatalog.Options> | undefined
  readonly circuitBreaker?: Partial<CircuitBreaker.Options> | undefined
  readonly health?: Partial<HealthCheck.Options> | undefined
  /** Whether every server, those too that are required, is started when something is asked of it (default: no). */
  readonly lazy?: boolean | undefined
  /** Whether transitions are logged (default: yes). */
  readonly logs?: boolean | undefined
  /** Who may use what (default: a model is not permitted what nobody has agreed to, everybody else is). */
  readonly permissions?: Partial<Permissions.Options> | undefined
  /** Whether a tool may become another without anybody being asked (default: no, within a run). */
  readonly pins?: Partial<ToolPins.Options> | undefined
  readonly pool?: Partial<ConnectionPool.Options> | undefined
  readonly reconnect?: Partial<ReconnectPolicy.Options> | undefined
  /** Who answers what configurations ask for, and what they must pass when they are connected. */
  readonly resolution?: Partial<Resolution.Options> | undefined
  readonly retry?: Partial<RetryPolicy.Options> | undefined
  readonly teardown?: Partial<Teardown.Options> | undefined
  /**
   * Takes the place of whatever it provides: `ReconnectPolicy.layerNone`, an `Approval` that asks somebody, a `Connector`
   * of one's own, several merged.
   */
  readonly replace?: Layer.Layer<never, E> | undefined
}

/**
 * Why there is no runtime: a server that is required is not there, or something that was given in code cannot be used.
 *
 * @since 0.1.0
 * @category models
 */
export type Failure = McpError.RequiredServersFailed | McpError.ConfigurationError

/**
 * The runtime, and what an application asks beside it: who may use what, which tools were set aside, what happens. It is
 * also what `NodeAgent.layer` stands on.
 *
 * @since 0.1.0
 * @category models
 */
export type Services =
  | Credentials.Credentials
  | McpEvent.McpEvents
  | McpRuntime.McpRuntime
  | Permissions.Permissions
  | ToolCatalog.ToolCatalog
  | ToolPins.ToolPins

type Platform = FileSystem.FileSystem | Path.Path

/** The disk of Node, which nothing stands in for. */
const platform: Effect.Effect<Context.Context<Platform>, never, Scope.Scope> = Effect.zipWith(
  Layer.build(NodeFileSystem.layer),
  Layer.build(NodePath.layer),
  (files, paths) => Context.merge(files, paths)
)

/** A runtime and all its concerns, over what happens, what is pinned and what was granted. */
const runtimeOver = (
  options: Options<unknown>,
  replacements: Context.Context<never>,
  platform: Context.Context<Platform>
) => {
  const { all, layer, service } = Assembly.over(replacements)
  const cache = options.cacheDirectory === "memory"
    ? Layer.build(ToolCache.layer(options.cache))
    : Effect.provideServiceEffect(
      Layer.build(ToolCache.layerPersisted(options.cache)),
      KeyValueStore.KeyValueStore,
      Effect.provide(FileStore.make({ directory: options.cacheDirectory }), platform)
    )
  const resolution = Effect.provide(Layer.build(Resolution.layer(options.resolution)), platform)

  const reached = (ground: Context.Context<McpEvent.McpEvents | TokenStore.TokenStore>) =>
    Effect.succeed(ground).pipe(
      Effect.flatMap(service(Teardown.Teardown, Teardown.make(options.teardown))),
      // the log is below the pool, because it has the teardown to tell of
      Effect.flatMap(layer(options.logs === false ? Layer.empty : TransitionLog.layer)),
      Effect.flatMap(service(Interaction.Interaction, NodeInteraction.make())),
      Effect.flatMap(layer(Credentials.layer(options.auth))),
      Effect.flatMap(service(Transport.Transports, NodeConnector.makeTransports)),
      Effect.flatMap(layer(EraMemory.layerMemory)),
      Effect.flatMap(service(Connector.Connector, ClientConnector.make)),
      Effect.flatMap(layer(Bulkhead.layer(options.bulkhead))),
      Effect.flatMap(layer(RetryPolicy.layer(options.retry))),
      Effect.flatMap(service(CircuitBreaker.CircuitBreaker, CircuitBreaker.make(options.circuitBreaker))),
      Effect.flatMap(layer(HealthCheck.layer(options.health))),
      Effect.flatMap(
        service(ReconnectPolicy.ReconnectPolicy, Effect.sync(() => ReconnectPolicy.make(options.reconnect)))
      ),
      Effect.flatMap(service(RuntimeMetrics.RuntimeMetrics, RuntimeMetrics.make))
    )

  return (ground: Context.Context<Grants.Grants | McpEvent.McpEvents | TokenStore.TokenStore | ToolPins.ToolPins>) =>
    Effect.flatMap(reached(ground), (reached) =>
      Effect.succeed(Context.merge(ground, reached)).pipe(
        Effect.flatMap(all(cache)),
        Effect.flatMap(all(resolution)),
        Effect.flatMap(layer(Approval.layerNobody)),
        Effect.flatMap(service(Permissions.Permissions, Permissions.make(options.permissions))),
        Effect.flatMap(service(ConnectionPool.ConnectionPool, ConnectionPool.make(options.pool))),
        Effect.flatMap(service(ToolCatalog.ToolCatalog, ToolCatalog.make(options.catalog))),
        Effect.flatMap(
          service(
            McpRuntime.McpRuntime,
            McpRuntime.make({ ...options, servers: options.servers.map(resting(options)) })
          )
        ),
        Effect.map((made) => Context.merge(shown(made), replacements))
      ))
}

const resting = ({ lazy }: Pick<Options, "lazy">) => (config: ServerConfig.ServerConfig): ServerConfig.ServerConfig =>
  lazy === true ? { ...config, lazy, required: false } : config

const shown = Context.pick(
  Credentials.Credentials,
  McpEvent.McpEvents,
  McpRuntime.McpRuntime,
  Permissions.Permissions,
  ToolCatalog.ToolCatalog,
  ToolPins.ToolPins
)

/** Builds the layer once with all replacements merged. Its fibers log to stderr by default. */
const replacing = <E, A, E2, R>(
  { replace }: Pick<Options<E>, "replace">,
  make: (replacements: Context.Context<never>) => Effect.Effect<Context.Context<A>, E2, R>
): Layer.Layer<A, E | E2, Exclude<R, Scope.Scope>> => {
  const made = (replacements: Context.Context<never>) => Layer.scopedContext(RuntimeLog.onStderr(make(replacements)))
  return replace === undefined ? made(Context.empty()) : Layer.flatMap(replace, made)
}

/**
 * One `McpRuntime` over everything that it takes. It waits for no server but those that are `required`.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = <E = never>(
  options: Options<E>
): Layer.Layer<Services, Failure | E> =>
  replacing(options, (replacements) => {
    const { layer, service } = Assembly.over(replacements)
    return Effect.succeed(Context.empty()).pipe(
      Effect.flatMap(service(McpEvent.McpEvents, McpEvent.make())),
      Effect.flatMap(layer(ToolPins.layerMemory(options.pins))),
      Effect.flatMap(layer(Grants.layerMemory)),
      Effect.flatMap(service(TokenStore.TokenStore, TokenStore.makeMemory)),
      Effect.flatMap((ground) =>
        Effect.flatMap(platform, (platform) => runtimeOver(options, replacements, platform)(ground))
      )
    )
  })

/**
 * What can be set for a runtime whose servers are found.
 *
 * @since 0.1.0
 * @category models
 */
export interface ConfiguredOptions<E = never> extends Omit<Options<E>, "servers"> {
  /** Where servers are looked for, and which of them count. */
  readonly config?: Partial<ConfigDiscovery.Options> | undefined
  /** Whether what changes in files and decisions is taken up while it runs (default: yes). */
  readonly follow?: boolean | undefined
  /** What was agreed to, where it is kept. */
  readonly trust?: Partial<NodeTrust.Options> | undefined
}

const blockedOf = ({ servers }: ConfigDiscovery.Discovery) =>
  servers.flatMap(({ config, name }) => config?.blocked === undefined ? [] : [{ server: name, why: config.blocked }])

/** What was agreed to is kept, what tools were, and who is logged in, each in a place of its own. */
const kept = (
  { config, pins, trust }: ConfiguredOptions<unknown>,
  replacements: Context.Context<never>,
  platform: Context.Context<Platform>
) => {
  const { all, service } = Assembly.over(replacements)
  const app = config?.app ?? ConfigDiscovery.defaults.app
  const within =
    (room: NodeTrust.Room) =>
    <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, Exclude<R, TrustStore.TrustStore>> =>
      Effect.provideServiceEffect(
        self,
        TrustStore.TrustStore,
        Effect.provide(
          NodeTrust.makeStore({
            app,
            room,
            directory: trust?.directory === undefined ? undefined : `${trust.directory}/${room}`
          }),
          platform
        )
      )
  return (ground: Context.Context<McpEvent.McpEvents>) =>
    Effect.succeed(ground).pipe(
      Effect.flatMap(all(within("pins")(Layer.build(ToolPins.layer({ key: trust?.key, ...pins }))))),
      Effect.flatMap(all(within("grants")(Layer.build(Grants.layer({ key: trust?.key }))))),
      Effect.flatMap(service(
        TokenStore.TokenStore,
        Effect.provide(
          NodeTokenStore.make({
            app,
            directory: trust?.directory === undefined ? undefined : `${trust.directory}/logins`
          }),
          platform
        )
      ))
    )
}

/** Takes up what a discovery has found, and what it finds. */
const following = (options: ConfiguredOptions<unknown>) =>
  Effect.gen(function*() {
    const discovery = yield* ConfigDiscovery.ConfigDiscovery
    const { reload } = yield* McpRuntime.McpRuntime
    const events = yield* McpEvent.McpEvents
    const { configure } = yield* Permissions.Permissions
    const take = (current: ConfigDiscovery.Discovery) =>
      Effect.zipLeft(
        configure("files", current.permissions),
        Effect.sync(() =>
          events.publish(McpEvent.McpEvent.ConfigurationFound({
            servers: current.configs.length,
            blocked: blockedOf(current),
            issues: current.issues
          }))
        )
      )
    yield* take(yield* discovery.current)
    if (options.follow === false) return
    yield* discovery.changes.pipe(
      // a reload waits for successors, and what must be stopped does not wait for that
      Stream.mapEffect(
        ({ discovery }) => Effect.zipRight(take(discovery), reload(discovery.configs.map(resting(options)))),
        { concurrency: "unbounded" }
      ),
      Stream.runDrain,
      Effect.forkScoped
    )
  })

/** A runtime over what a discovery has found last. */
const discovered = (options: ConfiguredOptions<unknown>, replacements: Context.Context<never>) =>
(
  ground: Context.Context<ConfigDiscovery.ConfigDiscovery | McpEvent.McpEvents | Trust.Trust>
) =>
  Effect.gen(function*() {
    const { current } = Context.get(ground, ConfigDiscovery.ConfigDiscovery)
    const { configs } = yield* current
    const policies = Effect.zipWith(
      options.resolution?.policies ?? Resolution.defaults.policies,
      Effect.map(current, (current) => current.policies),
      (given, found) => [...given, ...found]
    )
    const { replace: _, ...rest } = options
    const disk = yield* platform
    const over = runtimeOver(
      { ...rest, servers: configs, resolution: { ...options.resolution, policies } },
      replacements,
      disk
    )
    const runtime = yield* Effect.flatMap(kept(options, replacements, disk)(ground), over)
    const all = Context.merge(ground, runtime)
    yield* Effect.provide(following(options), all)
    return all
  })

/** What looks for servers, and knows what was agreed to. */
const discovering = ({ config, trust }: ConfiguredOptions<unknown>, replacements: Context.Context<never>) => {
  const { all, service } = Assembly.over(replacements)
  return Effect.succeed(Context.empty()).pipe(
    Effect.flatMap(service(McpEvent.McpEvents, McpEvent.make())),
    Effect.flatMap(all(platform)),
    Effect.flatMap(service(ConfigFiles.ConfigFiles, ConfigFiles.make())),
    Effect.flatMap(
      service(Trust.Trust, NodeTrust.make({ app: config?.app ?? ConfigDiscovery.defaults.app, ...trust }))
    ),
    Effect.flatMap(service(ConfigDiscovery.ConfigDiscovery, ConfigDiscovery.make(config))),
    Effect.map((made) =>
      Context.merge(Context.pick(ConfigDiscovery.ConfigDiscovery, McpEvent.McpEvents, Trust.Trust)(made), replacements)
    )
  )
}

/**
 * The discovery of `layerConfigured` alone, for whoever looks first, and starts what was found then with
 * `layerDiscovered`.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerDiscovery = (
  options: Pick<ConfiguredOptions, "config" | "trust"> = {}
): Layer.Layer<ConfigDiscovery.ConfigDiscovery | McpEvent.McpEvents | Trust.Trust> =>
  Layer.scopedContext(RuntimeLog.onStderr(discovering(options, Context.empty())))

/**
 * One `McpRuntime` over what a discovery has found last: nothing is read once more before servers start. What of
 * `options` is about the discovery itself counts for nothing.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerDiscovered = <E = never>(
  options: ConfiguredOptions<E> = {}
): Layer.Layer<Services, Failure | E, ConfigDiscovery.ConfigDiscovery | McpEvent.McpEvents | Trust.Trust> =>
  replacing(options, (replacements) =>
    Effect.flatMap(
      Effect.context<ConfigDiscovery.ConfigDiscovery | McpEvent.McpEvents | Trust.Trust>(),
      (context) => {
        const ground = Context.pick(ConfigDiscovery.ConfigDiscovery, McpEvent.McpEvents, Trust.Trust)(context)
        return discovered(options, replacements)(Context.merge(ground, replacements))
      }
    ))

/**
 * One `McpRuntime` over the servers that configuration files name, with the discovery and the trust that it stands on:
 * what nobody has agreed to is blocked, and starts when it is approved.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerConfigured = <E = never>(
  options: ConfiguredOptions<E> = {}
): Layer.Layer<
  Services | ConfigDiscovery.ConfigDiscovery | Trust.Trust,
  Failure | E
> =>
  replacing(
    options,
    (replacements) => Effect.flatMap(discovering(options, replacements), discovered(options, replacements))
  )

/**
 * What `discover` found.
 *
 * @since 0.1.0
 * @category models
 */
export interface Discovered extends McpRuntime.Tools {
  readonly runtime: McpRuntime.McpRuntime["Type"]
  /** The servers that offer nothing, and why: `missing` under the name that people look for. */
  readonly errors: McpRuntime.Tools["missing"]
}

/**
 * Connects to every server and lists its tools, in one step: what there is, what is not and why. The servers live until
 * the scope closes.
 *
 * @since 0.1.0
 * @category constructors
 */
export const discover = <E = never>(
  options: Options<E>
): Effect.Effect<Discovered, Failure | E, Scope.Scope> =>
  Effect.flatMap(Layer.build(layer(options)), (context) =>
    Effect.gen(function*() {
      const runtime = yield* McpRuntime.McpRuntime
      const tools = yield* runtime.tools
      return { ...tools, runtime, errors: tools.missing }
    }).pipe(Effect.provide(context)))
