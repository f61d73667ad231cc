/** Finds the servers in configuration files: their origin, the faults of their entries, and whether they may start. */
import * as Path from "@effect/platform/Path"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as SubscriptionRef from "effect/SubscriptionRef"
import type * as McpError from "../McpError.ts"
import type * as PermissionRule from "../safety/PermissionRule.ts"
import * as ConfigFiles from "./ConfigFiles.ts"
import type * as ConfigIssue from "./ConfigIssue.ts"
import * as Discover from "./discover.ts"
import * as Fingerprint from "./Fingerprint.ts"
import * as HostEnvironment from "./HostEnvironment.ts"
import { locate, type Machine } from "./locate.ts"
import { home as homeOf } from "./paths.ts"
import type * as Scope from "./Scope.ts"
import * as ServerConfig from "./ServerConfig.ts"
import type * as ServerEntry from "./serverEntry.ts"
import type * as ServerPolicy from "./ServerPolicy.ts"
import * as Trust from "./Trust.ts"

export interface Options {
  /** The application name in paths: `~/.config/<app>/mcp-client.json`. */
  readonly app: string
  /** Where to begin (default: the current folder). */
  readonly directory: string | undefined
  /** The workspace (default: the nearest folder from `directory` up that holds `.git`, or else `directory`). */
  readonly root: string | undefined
  /** The home folder (default: from the environment). */
  readonly home: string | undefined
  /** The ids of other hosts whose files are read too; `"all"` for all hosts. */
  readonly imports: ReadonlyArray<string>
  /** Files for this run only, of a host's format (default: as their names say, or else the native one). */
  readonly files: ReadonlyArray<{ readonly path: string; readonly host?: string | undefined }>
  /** Folders of installed plugins. */
  readonly plugins: ReadonlyArray<string>
  /** Servers that code gives, stronger than every file but the administrator's. */
  readonly servers: ReadonlyArray<ServerConfig.ServerConfig>
  /** False ignores the files of the workspace. */
  readonly enableProjectConfig: boolean
  /** False ignores the files of the home folder. */
  readonly enableUserConfig: boolean
  /** Names of servers to enable or disable regardless of their entries; disabling wins. */
  readonly enable: ReadonlyArray<string>
  readonly disable: ReadonlyArray<string>
  /** Servers that are left out, because the application has a replacement for them. */
  readonly hide: {
    readonly names?: ReadonlyArray<string> | undefined
    readonly providers?: ReadonlyArray<string> | undefined
    readonly where?: ((found: Found) => boolean) | undefined
  }
  /** Treats entries that their host would refuse as errors, and ignores `allow` rules about names alone. */
  readonly strict: boolean
  /**
   * Where `${NAME}` is looked up. `"entry"`: only in the `env` of the entry itself, as SideCar does for its own settings.
   * `"environment"`: there, and then in the environment of the process, as far as the origin of the entry allows.
   */
  readonly expandFrom: "entry" | "environment"
  /** How long files have to be left alone before they are read again. */
  readonly debounce: Duration.DurationInput
}

export const defaults: Options = {
  app: "mcp-runtime",
  directory: undefined,
  root: undefined,
  home: undefined,
  imports: [],
  files: [],
  plugins: [],
  servers: [],
  enableProjectConfig: true,
  enableUserConfig: true,
  enable: [],
  disable: [],
  hide: {},
  strict: false,
  expandFrom: "environment",
  debounce: Duration.millis(200)
}

/**
 * The state of a found server. `Ready`: it may start. `Disabled`: its entry or the options disable it. `Denied`: a
 * policy denies it. `Untrusted`: a person has to approve it. `Invalid`: its entry cannot be used, and the issues have
 * the reasons.
 */
export type State =
  | { readonly _tag: "Ready" }
  | { readonly _tag: "Disabled" }
  | { readonly _tag: "Denied"; readonly decision: Exclude<ServerPolicy.Decision, "allowed"> }
  | { readonly _tag: "Untrusted"; readonly why: Trust.Why }
  | { readonly _tag: "Invalid"; readonly kind: ConfigIssue.EntryFault }

export interface Found {
  readonly name: string
  readonly state: State
  /** Absent if it is invalid. */
  readonly entry: ServerEntry.Entry | undefined
  /** The configuration for a runtime, blocked according to `state`; absent if the entry is invalid. */
  readonly config: ServerConfig.ServerConfig | undefined
  readonly provenance: Scope.Provenance
  readonly shadows: ReadonlyArray<Scope.Provenance>
  readonly sources: ReadonlyArray<Scope.Provenance>
  /** The name of another server that it does not differ from. */
  readonly sameAs: string | undefined
  readonly fingerprint: string
}

/** A file that was looked for, and exists. */
export interface FileFound {
  readonly provider: string
  readonly scope: Scope.Scope
  readonly path: string
  readonly servers: number
  /** Its last good content is used, because its content now cannot be. */
  readonly stale: boolean
}

export interface Discovery {
  readonly servers: ReadonlyArray<Found>
  readonly issues: ReadonlyArray<ConfigIssue.ConfigIssue>
  readonly files: ReadonlyArray<FileFound>
  readonly policies: ReadonlyArray<ServerPolicy.Policy>
  /** The rules on tools, for `Permissions.configure`. */
  readonly permissions: ReadonlyArray<PermissionRule.Input>
  /** The argument of `servers.reload`. */
  readonly configs: ReadonlyArray<ServerConfig.ServerConfig>
}

export class ConfigDiscovery extends Context.Tag("effect-mcp-runtime/config/ConfigDiscovery")<ConfigDiscovery, {
  /**
   * Reads all files now. Starts no server, opens no socket, runs no program, and reads only the variables for the
   * locations of files.
   */
  readonly discover: Effect.Effect<Discovery>
  /** The last discovery; the first, if there was none. */
  readonly current: Effect.Effect<Discovery>
  /** A new discovery whenever a file, an approval or a policy has changed anything. */
  readonly changes: Stream.Stream<Discovery>
}>() {}

type Service = ConfigDiscovery["Type"]

/** Equal for discoveries that do not differ in any server or issue. */
const signature = ({ issues, servers }: Discovery): string =>
  JSON.stringify([
    issues,
    servers.map((
      { config, fingerprint, name, state }
    ) => [name, state, fingerprint, config && Fingerprint.configuration(config)])
  ])

/** The folders from `from` up to `to`, both included. */
const between = (path: Path.Path, from: string, to: string): ReadonlyArray<string> => {
  const folders = [from]
  while (folders.at(-1) !== to) {
    const parent = path.dirname(folders.at(-1)!)
    if (parent === folders.at(-1)) return [from]
    folders.push(parent)
  }
  return folders
}

/** The machine of this process; the workspace can be another one each time. */
const machineOf = Effect.gen(function*() {
  const files = yield* ConfigFiles.ConfigFiles
  const path = yield* Path.Path
  const host = yield* HostEnvironment.HostEnvironment
  const atStart = { ...host.variables() }
  return Effect.fnUntraced(function*(options: Options) {
    const directory = yield* files.realPath(path.resolve(options.directory ?? options.root ?? "."))
    const above = between(path, directory, path.parse(directory).root)
    const root = options.root === undefined
      ? Option.getOrElse(
        yield* Effect.findFirst(above, (folder) => files.exists(path.join(folder, ".git"))),
        () => directory
      )
      : yield* files.realPath(path.resolve(options.root))
    const machine: Machine = {
      platform: host.platform,
      variables: host.variables(),
      started: (name) => Object.hasOwn(atStart, name) ? atStart[name] : undefined,
      home: path.resolve(options.home ?? (homeOf(undefined, host) || "/nonexistent")),
      root,
      folders: between(path, directory, root),
      files: options.files.map((file) => ({ ...file, path: path.resolve(directory, file.path) })),
      plugins: options.plugins.map((plugin) => path.resolve(plugin)),
      app: options.app
    }
    return machine
  })
})

/** The paths of native files of the user or the workspace, strongest first; they need not exist. */
export const nativePaths = (
  scope: "project" | "user",
  options?: Partial<Options>
): Effect.Effect<ReadonlyArray<string>, never, ConfigFiles.ConfigFiles | Path.Path> =>
  Effect.gen(function*() {
    const all = { ...defaults, ...options, files: [] }
    const machine = yield* (yield* machineOf)(all)
    const isHere = (distance: number): boolean => scope === "user" || distance === machine.folders.length - 1
    return locate(machine, all, [])
      .filter((source) => source.dialect.host === "native" && source.scope === scope && isHere(source.distance))
      .map(({ path }) => path)
  })

const followed = (options: () => Options) =>
  Effect.gen(function*() {
    const files = yield* ConfigFiles.ConfigFiles
    const trust = yield* Trust.Trust
    const machine = yield* machineOf
    const look = Discover.make({ files, trust, options, machine: Effect.suspend(() => machine(options())) })
    const watched = yield* SubscriptionRef.make<ReadonlyArray<string>>([])
    // the last discovery, so that a new subscriber misses nothing since
    let last: Discovery | undefined
    const turn = yield* Effect.makeSemaphore(1)
    const next = Effect.gen(function*() {
      const before = last
      const { discovery, paths } = yield* look
      last = discovery
      if (paths.join("\0") !== (yield* watched).join("\0")) yield* SubscriptionRef.set(watched, paths)
      return { before, discovery }
    }).pipe(turn.withPermits(1))

    const changes: Service["changes"] = watched.changes.pipe(
      Stream.flatMap(files.watch, { switch: true }),
      Stream.debounce(options().debounce),
      // a decision is not debounced, because a person waits for it
      Stream.merge(trust.changes),
      Stream.mapEffect(() => next),
      Stream.filter(({ before, discovery }) => before === undefined || signature(before) !== signature(discovery)),
      Stream.map(({ discovery }) => discovery)
    )
    const discover = Effect.map(next, ({ discovery }) => discovery)
    return { discover, current: Effect.suspend(() => last === undefined ? discover : Effect.succeed(last)), changes }
  })

export const make = (
  options?: Partial<Options>
): Effect.Effect<Service, never, ConfigFiles.ConfigFiles | Path.Path | Trust.Trust> =>
  Effect.suspend(() => {
    const all = { ...defaults, ...options }
    return followed(() => all)
  })

/** From the files of this machine. */
export const layerFiles = (
  options?: Partial<Options>
): Layer.Layer<ConfigDiscovery, never, ConfigFiles.ConfigFiles | Path.Path | Trust.Trust> =>
  Layer.effect(ConfigDiscovery, make(options))

const elsewhere: Partial<Options> = { directory: "/project", root: "/project", home: "/home/me" }

/** A Linux without files and variables, but for the files in memory. */
const inMemory = (files: Parameters<typeof ConfigFiles.layerMemory>[0], changed?: Stream.Stream<void>) =>
  Layer.mergeAll(
    ConfigFiles.layerMemory(files, changed),
    Path.layer,
    Layer.succeed(HostEnvironment.HostEnvironment, { platform: "linux", variables: () => ({ HOME: "/home/me" }) })
  )

/**
 * From files in memory, by their paths, on a Linux without variables. The current folder is `/project`, and home is
 * `/home/me`, unless the options say otherwise.
 */
export const layerTest = (
  files: ReadonlyMap<string, string | Uint8Array>,
  options: Partial<Options> = {}
): Layer.Layer<ConfigDiscovery, never, Trust.Trust> =>
  Layer.provide(layerFiles({ ...elsewhere, ...options }), inMemory(files))

/** From code, without files. */
export const layerStatic = (
  servers: ReadonlyArray<ServerConfig.Source>
): Layer.Layer<ConfigDiscovery, McpError.ConfigurationError> =>
  Layer.unwrapEffect(Effect.map(
    ServerConfig.all(servers),
    (servers) => Layer.provide(layerTest(new Map(), { servers }), Trust.layerMemory())
  ))

/** All servers of a source at one moment. */
export interface Snapshot {
  readonly servers?: ReadonlyArray<ServerConfig.ServerConfig> | undefined
  /** Documents of a host's format (default: as their names say, or else the native one), with the rights of code. */
  readonly documents?:
    | ReadonlyArray<{
      readonly path: string
      readonly content: string | Uint8Array
      readonly host?: string | undefined
    }>
    | undefined
}

/** How long the layer waits for the first snapshot before the first discovery is empty. */
const firstSnapshotWait = Duration.seconds(5)

/**
 * From a source of the application, such as a database. Each snapshot replaces the one before it, and a runtime reloads
 * the difference. A document that cannot be read keeps its last good content.
 */
export const layerStream = <R>(
  snapshots: Stream.Stream<Snapshot, never, R>,
  options?: Partial<Pick<Options, "enable" | "disable" | "hide" | "strict" | "expandFrom">>
): Layer.Layer<ConfigDiscovery, never, R | Trust.Trust> =>
  Layer.unwrapScoped(
    Effect.gen(function*() {
      const contents = new Map<string, string | Uint8Array>()
      let current: Options = { ...defaults, ...elsewhere, ...options, debounce: Duration.zero }
      const count = yield* SubscriptionRef.make(0)
      const following = yield* snapshots.pipe(
        Stream.runForEach(({ documents = [], servers = [] }) => {
          contents.clear()
          for (const { content, path } of documents) contents.set(path, content)
          current = { ...current, servers, files: documents }
          return SubscriptionRef.update(count, (count) => count + 1)
        }),
        Effect.forkScoped
      )
      const first = Stream.runHead(Stream.filter(count.changes, (count) => count > 0))
      yield* Effect.timeoutOption(Effect.raceFirst(first, Fiber.await(following)), firstSnapshotWait)
      return Layer.provide(
        Layer.effect(ConfigDiscovery, followed(() => current)),
        inMemory(contents, Stream.map(count.changes, () => undefined))
      )
    })
  )
