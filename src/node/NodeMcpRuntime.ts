/**
 * The whole runtime for Node: every concern with its default, each to be replaced by one layer.
 *
 * @since 0.1.0
 */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Credentials from "../auth/Credentials.ts"
import * as Interaction from "../auth/Interaction.ts"
import * as TokenStore from "../auth/TokenStore.ts"
import * as ConfigDiscovery from "../config/ConfigDiscovery.ts"
import * as ConfigFiles from "../config/ConfigFiles.ts"
import * as Resolution from "../config/Resolution.ts"
import type * as Trust from "../config/Trust.ts"
import * as ClientConnector from "../connection/ClientConnector.ts"
import * as ConnectionPool from "../connection/ConnectionPool.ts"
import * as EraMemory from "../connection/EraMemory.ts"
import type * as McpError from "../McpError.ts"
import * as McpEvent from "../McpEvent.ts"
import * as McpRuntime from "../McpRuntime.ts"
import * as RuntimeMetrics from "../observability/RuntimeMetrics.ts"
import * as TransitionLog from "../observability/TransitionLog.ts"
import * as Bulkhead from "../resilience/Bulkhead.ts"
import * as CallPolicy from "../resilience/CallPolicy.ts"
import * as CircuitBreaker from "../resilience/CircuitBreaker.ts"
import * as HealthCheck from "../resilience/HealthCheck.ts"
import * as ReconnectPolicy from "../resilience/ReconnectPolicy.ts"
import * as Teardown from "../resilience/Teardown.ts"
import * as Approval from "../safety/Approval.ts"
import * as Grants from "../safety/Grants.ts"
import * as Permissions from "../safety/Permissions.ts"
import * as ToolCache from "../tools/ToolCache.ts"
import * as ToolCatalog from "../tools/ToolCatalog.ts"
import * as ToolPins from "../tools/ToolPins.ts"
import * as FileStore from "./FileStore.ts"
import * as NodeConnector from "./NodeConnector.ts"
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
  readonly calls?: Partial<CallPolicy.Options> | undefined
  readonly catalog?: Partial<ToolCatalog.Options> | undefined
  readonly circuitBreaker?: Partial<CircuitBreaker.Options> | undefined
  readonly health?: Partial<HealthCheck.Options> | undefined
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

/**
 * One `McpRuntime` over everything that it takes. It waits for no server but those that are `required`.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = <E = never>(
  options: Options<E>
): Layer.Layer<Services, Failure | E> => {
  // built once, however often it is mentioned
  const replacements: Layer.Layer<never, E> = options.replace ?? Layer.empty
  const replaced = <Out, E2, In>(self: Layer.Layer<Out, E2, In>): Layer.Layer<Out, E | E2, In> =>
    Layer.merge(self, replacements)

  const credentials = Layer.provide(
    Credentials.layer(options.auth),
    replaced(Layer.merge(TokenStore.layerMemory, Interaction.layerNone))
  )
  const ground = replaced(Layer.mergeAll(Teardown.layer(options.teardown), McpEvent.layer, credentials))
  const transports = replaced(Layer.merge(NodeConnector.layerTransports, EraMemory.layerMemory))
  const concerns = replaced(Layer.mergeAll(
    Layer.provide(ClientConnector.layer, transports),
    Bulkhead.layer(options.bulkhead),
    CallPolicy.layer(options.calls),
    CircuitBreaker.layer(options.circuitBreaker),
    HealthCheck.layer(options.health),
    ReconnectPolicy.layer(options.reconnect),
    RuntimeMetrics.layer
  ))
  const resolution = Layer.provide(Resolution.layer(options.resolution), NodeFileSystem.layer)
  const store = FileStore.layer({ directory: options.cacheDirectory }).pipe(
    Layer.provide(Layer.merge(NodeFileSystem.layer, NodePath.layer))
  )
  const cache: Layer.Layer<ToolCache.ToolCache, never, McpEvent.McpEvents> = options.cacheDirectory === "memory"
    ? ToolCache.layer(options.cache)
    : Layer.provide(ToolCache.layerPersisted(options.cache), store)
  const permissions = Layer.provide(
    replaced(Permissions.layer(options.permissions)),
    replaced(Layer.merge(Approval.layerNobody, Grants.layerMemory))
  )
  // the log is below the pool, because it has the teardown to tell of
  const log = options.logs === false ? Layer.empty : TransitionLog.layer

  return McpRuntime.layer(options).pipe(
    Layer.provideMerge(replaced(ToolCatalog.layer(options.catalog))),
    Layer.provide(replaced(ConnectionPool.layer(options.pool))),
    Layer.provideMerge(permissions),
    Layer.provideMerge(replaced(ToolPins.layerMemory(options.pins))),
    Layer.provide(replaced(resolution)),
    Layer.provide(replaced(cache)),
    Layer.provide(concerns),
    Layer.provide(log),
    Layer.provideMerge(ground)
  )
}

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

/** What was agreed to is kept, and what tools were, each in a folder of its own. */
const kept = ({ config, pins, trust }: ConfiguredOptions<unknown>) => {
  const app = config?.app ?? ConfigDiscovery.defaults.app
  const room = (room: NodeTrust.Room) => ({
    app,
    room,
    directory: trust?.directory === undefined ? undefined : `${trust.directory}/${room}`
  })
  return Layer.merge(
    Layer.provide(ToolPins.layer({ key: trust?.key, ...pins }), NodeTrust.layerStore(room("pins"))),
    Layer.provide(Grants.layer({ key: trust?.key }), NodeTrust.layerStore(room("grants")))
  )
}

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
> => {
  const replacements: Layer.Layer<never, E> = options.replace ?? Layer.empty
  const platform = Layer.merge(NodeFileSystem.layer, NodePath.layer)
  const events = Layer.merge(McpEvent.layer, replacements)
  const found = ConfigDiscovery.layerFiles(options.config).pipe(
    Layer.provide(ConfigFiles.layer),
    Layer.provideMerge(NodeTrust.layer({ app: options.config?.app ?? ConfigDiscovery.defaults.app, ...options.trust })),
    Layer.provide(platform),
    Layer.provide(events)
  )
  const runtime = Layer.unwrapEffect(Effect.gen(function*() {
    const discovery = yield* ConfigDiscovery.ConfigDiscovery
    const { configs } = yield* discovery.discover
    const policies = Effect.zipWith(
      options.resolution?.policies ?? Resolution.defaults.policies,
      Effect.map(discovery.current, (current) => current.policies),
      (given, found) => [...given, ...found]
    )
    return layer({
      ...options,
      servers: configs,
      resolution: { ...options.resolution, policies },
      replace: Layer.merge(Layer.provide(kept(options), events), replacements)
    })
  }))
  const following = Layer.scopedDiscard(Effect.gen(function*() {
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
        ({ discovery }) => Effect.zipRight(take(discovery), reload(discovery.configs)),
        { concurrency: "unbounded" }
      ),
      Stream.runDrain,
      Effect.forkScoped
    )
  }))
  return following.pipe(
    Layer.provideMerge(runtime),
    Layer.provideMerge(found),
    Layer.provide(events)
  )
}

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
