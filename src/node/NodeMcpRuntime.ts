/** The runtime for Node: a composition of one layer per concern. `using` replaces a concern. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import type * as FileSystem from "@effect/platform/FileSystem"
import * as KeyValueStore from "@effect/platform/KeyValueStore"
import type * as Path from "@effect/platform/Path"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { availableParallelism } from "node:os"
import * as Credentials from "../auth/Credentials.ts"
import * as Interaction from "../auth/Interaction.ts"
import * as TokenStore from "../auth/TokenStore.ts"
import * as Connector from "../client/Connector.ts"
import type * as EraMemory from "../client/EraMemory.ts"
import type * as InputHandlers from "../client/InputHandlers.ts"
import * as ConfigDiscovery from "../config/ConfigDiscovery.ts"
import * as ConfigFiles from "../config/ConfigFiles.ts"
import type * as HostEnvironment from "../config/HostEnvironment.ts"
import * as Limits from "../config/Limits.ts"
import * as Resolution from "../config/Resolution.ts"
import * as ServerConfig from "../config/ServerConfig.ts"
import * as Trust from "../config/Trust.ts"
import * as TrustStore from "../config/TrustStore.ts"
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
import { concern, fromEnvironment, given, sealed, settled, supply } from "../runtime/composition.ts"
import * as Servers from "../runtime/Servers.ts"
import * as RuntimeLog from "../runtimeLog.ts"
import * as Approval from "../safety/Approval.ts"
import * as Grants from "../safety/Grants.ts"
import * as Permissions from "../safety/Permissions.ts"
import type * as Redaction from "../safety/Redaction.ts"
import * as ToolCache from "../tools/ToolCache.ts"
import type * as ToolCatalog from "../tools/ToolCatalog.ts"
import * as ToolPins from "../tools/ToolPins.ts"
import * as Proxy from "../transport/http/proxy.ts"
import * as RemoteHeaders from "../transport/RemoteHeaders.ts"
import type * as Transport from "../transport/Transport.ts"
import * as FileStore from "./FileStore.ts"
import * as NodeConnector from "./NodeConnector.ts"
import * as NodeInteraction from "./NodeInteraction.ts"
import * as NodeTokenStore from "./NodeTokenStore.ts"
import * as NodeTrust from "./NodeTrust.ts"

/** The settings of the default layers. */
export interface Options<Server extends ServerConfig.Source = ServerConfig.Source> extends McpRuntime.Options<Server> {
  /** Logins to remote servers. */
  readonly auth?: Partial<Credentials.Options> | undefined
  readonly bulkhead?: Partial<Bulkhead.Options> | undefined
  readonly cache?: Partial<ToolCache.PersistedOptions> | undefined
  /** The folder of the tool cache (default: in the cache folder of the user). `"memory"` writes no files. */
  readonly cacheDirectory?: string | undefined
  readonly circuitBreaker?: Partial<CircuitBreaker.Options> | undefined
  readonly health?: Partial<HealthCheck.Options> | undefined
  /** Changes the configuration of each server, or omits the server. */
  readonly adapt?: ((server: ServerConfig.ServerConfig) => ServerConfig.ServerConfig | undefined) | undefined
  /** Starts every server, including required ones, at its first use (default: no). */
  readonly lazy?: boolean | undefined
  /** Logs the status transitions of servers (default: yes). */
  readonly logs?: boolean | undefined
  /**
   * Permission rules (default: calls of a model need an approval; calls of the application and of a person do not).
   */
  readonly permissions?: Partial<Permissions.Options> | undefined
  /** Whether a changed tool needs an approval (default: yes, within a run). */
  readonly pins?: Partial<ToolPins.Options> | undefined
  /** The HTTP proxy of remote servers and logins (default: `"environment"`, which reads HTTPS_PROXY and NO_PROXY). */
  readonly proxy?: Proxy.Setting | undefined
  readonly reconnect?: Partial<ReconnectPolicy.Options> | undefined
  /** The values of variables in configurations, and the policies that a resolved configuration must satisfy. */
  readonly resolution?: Partial<Resolution.Options> | undefined
  readonly retry?: Partial<RetryPolicy.Options> | undefined
  readonly teardown?: Partial<Teardown.Options> | undefined
}

/** Settings for servers from configuration files. */
export interface ConfiguredOptions extends Omit<Options, "servers"> {
  /** The files to read, and the servers to use. */
  readonly config?: Partial<ConfigDiscovery.Options> | undefined
  /** Reloads when files or decisions change (default: yes). */
  readonly follow?: boolean | undefined
  /** The store of trust decisions. */
  readonly trust?: Partial<NodeTrust.Options> | undefined
}

/** A required server did not connect, or a configuration or a setting is invalid. */
export type Failure = ServerConfig.Failure

/** The runtime, and the other services that an application or `NodeAgent.layer` uses. */
export type Services =
  | Credentials.Credentials
  | McpEvent.McpEvents
  | McpRuntime.McpRuntime
  | Permissions.Permissions
  | ToolCatalog.ToolCatalog
  | ToolPins.ToolPins

/** The services that `using` replaces: all that the composition looks up in its environment. */
export type Concern =
  | NodeConnector.Openers
  | Approval.Approval
  | Bulkhead.Bulkhead
  | CircuitBreaker.CircuitBreaker
  | ConfigDiscovery.ConfigDiscovery
  | ConfigFiles.ConfigFiles
  | Connector.Connector
  | Credentials.Credentials
  | EraMemory.EraMemory
  | Grants.Grants
  | HealthCheck.HealthCheck
  | HostEnvironment.HostEnvironment
  | InputHandlers.InputHandlers
  | Interaction.Interaction
  | Limits.CurrentLimits
  | McpEvent.McpEvents
  | Permissions.Permissions
  | ReconnectPolicy.ReconnectPolicy
  | Redaction.Redaction
  | RemoteHeaders.RemoteHeaders
  | Resolution.Resolution
  | RetryPolicy.RetryPolicy
  | RuntimeMetrics.RuntimeMetrics
  | Teardown.Teardown
  | TokenStore.TokenStore
  | ToolCache.ToolCache
  | ToolPins.ToolPins
  | Transport.Transports
  | Trust.Trust

/** Replaces concerns: `NodeMcpRuntime.layer(options).pipe(NodeMcpRuntime.using(ReconnectPolicy.layerNone))`. */
export const using: <Out extends Concern, E, R>(
  layer: Layer.Layer<Out, E, R>
) => <A, E2, R2>(self: Layer.Layer<A, E2, R2>) => Layer.Layer<A, E | E2, R | Exclude<R2, Out>> = (layer) =>
  Layer.provide(layer)

/** The sources of servers, and the stores for data that outlives a connection. */
interface Sources<R> {
  readonly servers: Effect.Effect<ReadonlyArray<ServerConfig.ServerConfig>, McpError.ConfigurationError, R>
  readonly policies: Effect.Effect<Resolution.Options["policies"], never, R>
  /** The store of one kind of decisions. */
  readonly decisions: (room: "grants" | "pins") => Effect.Effect<TrustStore.TrustStore["Type"], never, Platform>
  readonly tokens: Effect.Effect<TokenStore.TokenStore["Type"], never, Platform>
  /** Runs in the scope of the runtime. */
  readonly beside: (
    runtime: McpRuntime.McpRuntime["Type"]
  ) => Effect.Effect<void, never, McpEvent.McpEvents | Permissions.Permissions | R | Scope.Scope>
}

type Platform = FileSystem.FileSystem | Path.Path

const platform = Layer.merge(NodeFileSystem.layer, NodePath.layer)

const starting =
  ({ adapt = identity, lazy }: Pick<Options, "adapt" | "lazy">) =>
  (configs: ReadonlyArray<ServerConfig.ServerConfig>): ReadonlyArray<ServerConfig.ServerConfig> =>
    configs.flatMap((config) => {
      const server = adapt(config)
      return server === undefined ? [] : [lazy === true ? { ...server, lazy, required: false } : server]
    })

/** The settings as references for all other layers, and the file system. */
const settingsOf = <R>(options: Omit<Options, "servers">, { policies }: Pick<Sources<R>, "policies">) =>
  Layer.scopedContext(Effect.gen(function*() {
    const { bulkhead, health, proxy = "environment", resolution, retry } = options
    const disk = yield* Layer.build(platform)
    const resolving = Effect.flatMap(policies, (policies) => Resolution.make({ ...resolution, policies }))
    const settings = yield* Effect.all([
      settled(Limits.CurrentLimits, fromEnvironment(Limits.config)),
      settled(Bulkhead.Bulkhead, Effect.succeed({ ...Bulkhead.defaults, ...bulkhead })),
      settled(HealthCheck.HealthCheck, Effect.succeed({ ...HealthCheck.defaults, ...health })),
      settled(Proxy.DefaultProxy, Effect.succeed(proxy)),
      settled(RetryPolicy.RetryPolicy, Effect.succeed({ ...RetryPolicy.defaults, ...retry })),
      settled(Resolution.Resolution, Effect.provide(resolving, disk))
    ])
    return Context.mergeAll(disk, ...settings)
  }))

/** The credentials, and the headers of remote connections that they provide. */
const credentialsOf = ({ auth }: Pick<Options, "auth">, { tokens }: Pick<Sources<never>, "tokens">) =>
  Layer.scopedContext(Effect.gen(function*() {
    const credentials = yield* given(
      Credentials.Credentials,
      Credentials.make(auth).pipe(
        supply(TokenStore.TokenStore, tokens),
        supply(Interaction.Interaction, NodeInteraction.make())
      )
    )
    const headers = yield* settled(RemoteHeaders.RemoteHeaders, Effect.succeed({ resolve: credentials.resolve }))
    return Context.add(headers, Credentials.Credentials, credentials)
  }))

/** Connects mostly wait for processes to start, so more cores allow more concurrent connects. */
const batchSize = (): number => Math.max(Servers.defaults.batchSize, 2 * availableParallelism())

/** Seals a composition whose fibers log to stderr by default. */
const closed: typeof sealed = (composition, required) => RuntimeLog.layerOnStderr(sealed(composition, required))

/** The diagram in docs/architecture.md: a layer uses the layers below it. */
const compose = <R>(options: Omit<Options, "servers">, sources: Sources<R>) => {
  const settings = settingsOf(options, sources)
  const events = concern(McpEvent.McpEvents, McpEvent.make())
  const teardown = concern(Teardown.Teardown, Teardown.make(options.teardown))
  const log = options.logs === false ? Layer.empty : Layer.scopedDiscard(TransitionLog.make)
  const credentials = credentialsOf(options, sources)
  const connector = concern(Connector.Connector, NodeConnector.make)
  const reconnect = concern(ReconnectPolicy.ReconnectPolicy, Effect.sync(() => ReconnectPolicy.make(options.reconnect)))
  const breaker = concern(CircuitBreaker.CircuitBreaker, CircuitBreaker.make(options.circuitBreaker))
  const cache = concern(
    ToolCache.ToolCache,
    options.cacheDirectory === "memory" ? ToolCache.make(options.cache) : Effect.provideServiceEffect(
      ToolCache.makePersisted(options.cache),
      KeyValueStore.KeyValueStore,
      Effect.flatMap(
        FileStore.directoryOf(options.cacheDirectory, "cache", "effect-mcp-runtime"),
        (directory) => FileStore.make({ directory })
      )
    )
  )
  const stored = (room: "grants" | "pins") =>
    Effect.provideServiceEffect(TrustStore.TrustStore, sources.decisions(room))
  const pins = concern(ToolPins.ToolPins, stored("pins")(ToolPins.make(options.pins)))
  const permissions = concern(
    Permissions.Permissions,
    Permissions.make(options.permissions).pipe(
      supply(Approval.Approval, Effect.succeed(Approval.none)),
      supply(Grants.Grants, stored("grants")(Grants.make))
    )
  )
  const metrics = concern(RuntimeMetrics.RuntimeMetrics, RuntimeMetrics.make)
  const runtime = Layer.scopedContext(Effect.gen(function*() {
    const servers = starting(options)(yield* sources.servers)
    const made = yield* McpRuntime.make({ batchSize: batchSize(), ...options, servers })
    yield* sources.beside(Context.get(made, McpRuntime.McpRuntime))
    return made
  }))
  return runtime.pipe(
    Layer.provide([connector, reconnect, breaker, cache, metrics]),
    Layer.provideMerge(Layer.mergeAll(permissions, credentials)),
    Layer.provideMerge(pins),
    Layer.provide([teardown, log]),
    Layer.provideMerge(events),
    Layer.provide(settings)
  )
}

/** A complete `McpRuntime`. It waits only for servers that are `required`. */
export function layer<Server extends ServerConfig.Source>(
  options: Options<Server>
): Layer.Layer<Services, ServerConfig.Failure<Server>>
export function layer(options: Options): Layer.Layer<Services, Failure> {
  return closed(
    compose(options, {
      servers: ServerConfig.all(options.servers),
      policies: Effect.succeed(options.resolution?.policies ?? Resolution.defaults.policies),
      decisions: () => TrustStore.makeMemory,
      tokens: TokenStore.makeMemory,
      beside: () => Effect.void
    }),
    Context.pick()
  )
}

/** `layer` for tests: writes no cache file and no log by default, and ignores the `MCP_*` environment variables. */
export const layerTest = <Server extends ServerConfig.Source>(
  options: Options<Server>
): Layer.Layer<Services, ServerConfig.Failure<Server>> =>
  Layer.provide(
    layer<Server>({ cacheDirectory: "memory", logs: false, ...options }),
    Layer.setConfigProvider(ConfigProvider.fromMap(new Map()))
  )

const appOf = (config: ConfiguredOptions["config"]): string => config?.app ?? ConfigDiscovery.defaults.app

/** A discovery and its trust. */
const discovering = ({ config, trust }: Pick<ConfiguredOptions, "config" | "trust">) =>
  Layer.scopedContext(Effect.gen(function*() {
    const files = yield* settled(ConfigFiles.ConfigFiles, ConfigFiles.make())
    const make = NodeTrust.make({ app: appOf(config), ...trust })
    const trusted = yield* settled(Trust.Trust, Effect.provide(make, files))
    const found = ConfigDiscovery.make(config).pipe(Effect.provide(Context.merge(files, trusted)))
    return Context.merge(trusted, yield* settled(ConfigDiscovery.ConfigDiscovery, found))
  })).pipe(
    Layer.provide(platform),
    Layer.provideMerge(concern(McpEvent.McpEvents, McpEvent.make()))
  )

/** Applies the result of the discovery, and its later changes. */
const following = (options: ConfiguredOptions) => ({ servers: { reload } }: McpRuntime.McpRuntime["Type"]) =>
  Effect.gen(function*() {
    const discovery = yield* ConfigDiscovery.ConfigDiscovery
    const { publish } = yield* McpEvent.McpEvents
    const { configure } = yield* Permissions.Permissions
    const take = (found: ConfigDiscovery.Discovery) =>
      Effect.map(configure("files", found.permissions), () => {
        const configs = starting(options)(found.configs)
        publish(McpEvent.McpEvent.ConfigurationFound({
          servers: configs.length,
          blocked: configs.flatMap(({ blocked: why, name: server }) => why === undefined ? [] : [{ server, why }]),
          issues: found.issues
        }))
        return configs
      })
    yield* take(yield* discovery.current)
    if (options.follow === false) return
    yield* discovery.changes.pipe(
      // unbounded, because a reload waits for successors and the next one may have to stop a server now
      Stream.mapEffect((found) => Effect.flatMap(take(found), reload), { concurrency: "unbounded" }),
      Stream.runDrain,
      Effect.forkScoped
    )
  })

/** A runtime over the last result of a discovery, with decisions and logins in files. */
const composeDiscovered = (options: ConfiguredOptions) => {
  const { config, resolution, trust } = options
  const app = appOf(config)
  const folder = (name: string) => trust?.directory === undefined ? undefined : `${trust.directory}/${name}`
  return compose<ConfigDiscovery.ConfigDiscovery>(options, {
    servers: Effect.flatMap(
      ConfigDiscovery.ConfigDiscovery,
      ({ current }) => Effect.map(current, ({ configs }) => configs)
    ),
    policies: Effect.map(ConfigDiscovery.ConfigDiscovery, ({ current }) =>
      Effect.zipWith(
        resolution?.policies ?? Resolution.defaults.policies,
        Effect.map(current, ({ policies }) => policies),
        (code, files) => [...code, ...files]
      )),
    decisions: (room) => NodeTrust.makeStore(room, { app, key: trust?.key, directory: folder(room) }),
    tokens: NodeTokenStore.make({ app, directory: folder("logins") }),
    beside: following(options)
  })
}

/** The discovery of `layerConfigured`, for an application that inspects it before it builds `layerDiscovered`. */
export const layerDiscovery = (
  options: Pick<ConfiguredOptions, "config" | "trust"> = {}
): Layer.Layer<ConfigDiscovery.ConfigDiscovery | McpEvent.McpEvents | Trust.Trust> =>
  closed(discovering(options), Context.pick())

/**
 * An `McpRuntime` over the last result of the discovery in the environment. It reads no files again before servers
 * start.
 */
export const layerDiscovered = (
  options: ConfiguredOptions = {}
): Layer.Layer<Services, Failure, ConfigDiscovery.ConfigDiscovery | McpEvent.McpEvents> =>
  closed(composeDiscovered(options), Context.pick(ConfigDiscovery.ConfigDiscovery, McpEvent.McpEvents))

/**
 * `McpRuntime` over the servers of configuration files, with its discovery and its trust. A server that needs approval is
 * blocked and starts when it is approved.
 */
export const layerConfigured = (
  options: ConfiguredOptions = {}
): Layer.Layer<Services | ConfigDiscovery.ConfigDiscovery | Trust.Trust, Failure> =>
  closed(Layer.provideMerge(composeDiscovered(options), discovering(options)), Context.pick())

export interface Discovered extends McpRuntime.Tools {
  readonly runtime: McpRuntime.McpRuntime["Type"]
}

/** The result of a discovery on this machine, without a runtime. Starts no server. */
export const discovery = (
  options: Pick<ConfiguredOptions, "config" | "trust"> = {}
): Effect.Effect<ConfigDiscovery.Discovery> =>
  Effect.scoped(Effect.flatMap(
    Layer.build(layerDiscovery(options)),
    (context) => Context.get(context, ConfigDiscovery.ConfigDiscovery).discover
  ))

/**
 * Connects to the servers of `servers`, or else of configuration files, and lists their tools. The servers run until the
 * scope closes.
 */
export const discover = (options: Options | ConfiguredOptions = {}): Effect.Effect<Discovered, Failure, Scope.Scope> =>
  Effect.gen(function*() {
    const made: Layer.Layer<Services, Failure> = "servers" in options ? layer(options) : layerConfigured(options)
    const runtime = Context.get(yield* Layer.build(made), McpRuntime.McpRuntime)
    return { ...(yield* runtime.tools), runtime }
  })
