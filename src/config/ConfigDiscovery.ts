/**
 * Finds the servers that a person already has: where each comes from, what is wrong with the rest, and which of them
 * may be started.
 *
 * @since 0.1.0
 */
import * as Path from "@effect/platform/Path"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Stream from "effect/Stream"
import type * as McpError from "../McpError.ts"
import type * as PermissionRule from "../safety/PermissionRule.ts"
import type * as ConfigEntry from "./ConfigEntry.ts"
import * as ConfigFiles from "./ConfigFiles.ts"
import type * as ConfigIssue from "./ConfigIssue.ts"
import * as HostEnvironment from "./HostEnvironment.ts"
import * as internal from "./internal/discovery/service.ts"
import type * as Provenance from "./Provenance.ts"
import type * as Scope from "./Scope.ts"
import * as ServerConfig from "./ServerConfig.ts"
import type * as ServerPolicy from "./ServerPolicy.ts"
import * as Trust from "./Trust.ts"

/**
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** The name of the application in the paths of its own files: `~/.config/<app>/mcp-client.json`. */
  readonly app: string
  /** Where to begin (default: the current folder). */
  readonly directory: string | undefined
  /** The workspace (default: the nearest folder from `directory` up that holds `.git`, or else `directory`). */
  readonly root: string | undefined
  /** The home folder (default: as the environment says). */
  readonly home: string | undefined
  /** Other hosts whose files are read too, by their ids; `"all"` for all that are known. */
  readonly imports: ReadonlyArray<string>
  /** Files for this run only, of a host's format (default: as their names say, or else the native one). */
  readonly files: ReadonlyArray<{ readonly path: string; readonly host?: string | undefined }>
  /** Folders of installed plugins. */
  readonly plugins: ReadonlyArray<string>
  /** Servers that code gives, stronger than every file but the administrator's. */
  readonly servers: ReadonlyArray<ServerConfig.ServerConfig>
  /** Whether files in the workspace count at all. */
  readonly enableProjectConfig: boolean
  /** Whether files in the home folder count. */
  readonly enableUserConfig: boolean
  /** Names of servers that are switched on, or off, whatever their entries say; off is stronger. */
  readonly enable: ReadonlyArray<string>
  readonly disable: ReadonlyArray<string>
  /** Servers that are not to be seen, because the application has something of its own in their place. */
  readonly hide: {
    readonly names?: ReadonlyArray<string> | undefined
    readonly providers?: ReadonlyArray<string> | undefined
    readonly where?: ((found: Found) => boolean) | undefined
  }
  /** Whether what the host of a file itself would refuse is an error, and no rule about a name alone allows a server. */
  readonly strict: boolean
  /** How long files have to be left alone before they are read again. */
  readonly debounce: Duration.DurationInput
}

/**
 * @since 0.1.0
 * @category defaults
 */
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
  debounce: Duration.millis(200)
}

/**
 * What may be done with a server that was found.
 *
 * - `Ready`: it may be started.
 * - `Disabled`: it is switched off, by its entry or by the options.
 * - `Denied`: a policy says no.
 * - `Untrusted`: somebody has to agree first.
 * - `Invalid`: its entry cannot be used; the issues say why.
 *
 * @since 0.1.0
 * @category models
 */
export type State =
  | { readonly _tag: "Ready" }
  | { readonly _tag: "Disabled" }
  | { readonly _tag: "Denied"; readonly decision: Exclude<ServerPolicy.Decision, "allowed"> }
  | { readonly _tag: "Untrusted"; readonly why: Trust.Why }
  | { readonly _tag: "Invalid"; readonly kind: ConfigIssue.EntryFault }

/**
 * @since 0.1.0
 * @category models
 */
export interface Found {
  readonly name: string
  readonly state: State
  /** Absent if it is invalid. */
  readonly entry: ConfigEntry.ConfigEntry | undefined
  /** What a runtime takes; absent if it is invalid. It is blocked in it what is blocked here. */
  readonly config: ServerConfig.ServerConfig | undefined
  readonly provenance: Provenance.Provenance
  readonly shadows: ReadonlyArray<Provenance.Provenance>
  readonly sources: ReadonlyArray<Provenance.Provenance>
  /** The name of another server that it does not differ from. */
  readonly sameAs: string | undefined
  readonly fingerprint: string
}

/**
 * A file that was looked at, and there.
 *
 * @since 0.1.0
 * @category models
 */
export interface FileFound {
  readonly provider: string
  readonly scope: Scope.Scope
  readonly path: string
  readonly servers: number
  /** Its last good content is used, because what is there now cannot be. */
  readonly stale: boolean
}

/**
 * @since 0.1.0
 * @category models
 */
export interface Discovery {
  readonly servers: ReadonlyArray<Found>
  readonly issues: ReadonlyArray<ConfigIssue.ConfigIssue>
  readonly files: ReadonlyArray<FileFound>
  readonly policies: ReadonlyArray<ServerPolicy.Policy>
  /** The rules on tools, for `Permissions.configure`. */
  readonly permissions: ReadonlyArray<PermissionRule.Input>
  /** What `McpRuntime.reload` takes. */
  readonly configs: ReadonlyArray<ServerConfig.ServerConfig>
}

/**
 * What differs between two discoveries, by name.
 *
 * @since 0.1.0
 * @category models
 */
export interface Diff {
  readonly added: ReadonlyArray<string>
  readonly removed: ReadonlyArray<string>
  readonly changed: ReadonlyArray<string>
}

/**
 * @since 0.1.0
 * @category tags
 */
export class ConfigDiscovery extends Context.Tag("effect-mcp-runtime/config/ConfigDiscovery")<ConfigDiscovery, {
  /** Reads everything now. Starts nothing, opens no socket, runs no program, and reads no variable but those that say where files are. */
  readonly discover: Effect.Effect<Discovery>
  /** The last discovery; the first, if there was none. */
  readonly current: Effect.Effect<Discovery>
  /** A new discovery whenever a file, an approval or a policy has changed anything, with what it changed. */
  readonly changes: Stream.Stream<{ readonly discovery: Discovery; readonly diff: Diff }>
}>() {}

/**
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  options?: Partial<Options>
): Effect.Effect<ConfigDiscovery["Type"], never, ConfigFiles.ConfigFiles | Path.Path | Trust.Trust> =>
  internal.make({ ...defaults, ...options })

/**
 * From the files of this machine.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerFiles = (
  options?: Partial<Options>
): Layer.Layer<ConfigDiscovery, never, ConfigFiles.ConfigFiles | Path.Path | Trust.Trust> =>
  Layer.effect(ConfigDiscovery, make(options))

const elsewhere: Partial<Options> = { directory: "/project", root: "/project", home: "/home/me" }

const inMemory = (
  files: ReadonlyMap<string, string | Uint8Array>,
  options: Partial<Options>
): Layer.Layer<ConfigDiscovery, never, Trust.Trust> =>
  Layer.provide(
    layerFiles({ ...elsewhere, ...options }),
    Layer.mergeAll(
      ConfigFiles.layerMemory(files),
      Path.layer,
      Layer.succeed(HostEnvironment.HostEnvironment, { platform: "linux", variables: () => ({ HOME: "/home/me" }) })
    )
  )

/**
 * What code gives, and no files.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerStatic = (
  servers: ReadonlyArray<ServerConfig.Source>
): Layer.Layer<ConfigDiscovery, McpError.ConfigurationError> =>
  Layer.unwrapEffect(Effect.map(
    ServerConfig.all(servers),
    (servers) => Layer.provide(inMemory(new Map(), { servers }), Trust.layerMemory())
  ))

/**
 * From files that are in memory only, by their paths, on a Linux without variables: what a test needs. The current folder
 * is `/project`, and home is `/home/me`, unless the options say otherwise.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerTest = (
  files: ReadonlyMap<string, string | Uint8Array>,
  options: Partial<Options> = {}
): Layer.Layer<ConfigDiscovery, never, Trust.Trust> => inMemory(files, options)
