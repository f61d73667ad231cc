/**
 * What was agreed to, kept for the next run in files of the user. It protects against whoever cannot run programs as this
 * user: the key lies beside the decisions, unless `key` brings it from a keyring.
 *
 * @since 0.1.0
 */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import type * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as ConfigDiscovery from "../config/ConfigDiscovery.ts"
import * as ConfigFiles from "../config/ConfigFiles.ts"
import * as HostEnvironment from "../config/HostEnvironment.ts"
import * as Trust from "../config/Trust.ts"
import * as TrustStore from "../config/TrustStore.ts"
import type * as McpEvent from "../McpEvent.ts"
import * as FileStore from "./FileStore.ts"

/**
 * @since 0.1.0
 * @category models
 */
export interface Options extends Trust.Options {
  /** The application: each has decisions of its own. */
  readonly app: string
  /** Where they are kept (default: `trust`, in the folder of the application for what must not be forgotten). */
  readonly directory: string | undefined
}

/**
 * @since 0.1.0
 * @category defaults
 */
export const defaults: Options = { ...Trust.defaults, app: ConfigDiscovery.defaults.app, directory: undefined }

/**
 * Where the decisions of an application are kept by default. Nothing, if the environment does not say where that can be.
 *
 * @since 0.1.0
 * @category combinators
 */
export const defaultDirectory = (
  app: string,
  host: HostEnvironment.Host,
  path: Path.Path,
  room: Room = "trust"
): string | undefined => {
  const folder = FileStore.stateDirectory(app, host, path)
  return folder === undefined ? undefined : path.join(folder, room)
}

/**
 * What decisions are about: servers, what tools were, what may be used. Each has a folder and a key of its own, so that
 * whoever follows one is not told of the others.
 *
 * @since 0.1.0
 * @category models
 */
export type Room = "trust" | "pins" | "grants"

/**
 * @since 0.1.0
 * @category models
 */
export interface StoreOptions extends Pick<Options, "app" | "directory"> {
  readonly room: Room
}

/** The pins of a server with very many tools; what is larger is nothing that was written here. */
const maxBytes = 16 * 1024 * 1024

const placeOf =
  ({ app, directory, room }: StoreOptions) => (host: HostEnvironment.Host, path: Path.Path): string | undefined =>
    directory ?? defaultDirectory(app, host, path, room)

/**
 * The store of decisions in files that only the user can read.
 *
 * @since 0.1.0
 * @category constructors
 */
export const makeStore = (
  options: Partial<StoreOptions> & Pick<StoreOptions, "room">
): Effect.Effect<TrustStore.TrustStore["Type"], never, FileSystem.FileSystem | Path.Path> =>
  FileStore.make({ directory: placeOf({ ...defaults, ...options }), maxBytes, maxAge: Duration.infinity })

/**
 * The same for `Trust.layer`, `ToolPins.layer` and whatever else is sealed.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerStore = (
  options: Partial<StoreOptions> & Pick<StoreOptions, "room">
): Layer.Layer<TrustStore.TrustStore> =>
  Layer.effect(TrustStore.TrustStore, makeStore(options)).pipe(
    Layer.provide(Layer.merge(NodeFileSystem.layer, NodePath.layer))
  )

/** What one decision writes, and a decision that somebody else has made. */
const settling = Duration.millis(50)

/** Hears of decisions that other processes make too: a person may answer in another window. */
const following = (
  trust: Trust.Trust["Type"],
  options: Options
): Effect.Effect<Trust.Trust["Type"], never, ConfigFiles.ConfigFiles | Path.Path> =>
  Effect.gen(function*() {
    const files = yield* ConfigFiles.ConfigFiles
    const path = yield* Path.Path
    const directory = placeOf({ ...options, room: "trust" })(yield* HostEnvironment.HostEnvironment, path)
    if (directory === undefined) return trust
    // most look once, and follow nothing
    const changes = Stream.suspend(() => {
      const elsewhere = files.watch([path.join(directory, "*.value")]).pipe(
        Stream.drop(1),
        Stream.debounce(settling)
      )
      return Stream.merge(trust.changes, elsewhere, { haltStrategy: "left" })
    })
    return { ...trust, changes }
  })

/**
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  options?: Partial<Options>
): Effect.Effect<
  Trust.Trust["Type"],
  never,
  ConfigFiles.ConfigFiles | FileSystem.FileSystem | McpEvent.McpEvents | Path.Path | Scope.Scope
> => {
  const all = { ...defaults, ...options }
  return makeStore({ app: all.app, directory: all.directory, room: "trust" }).pipe(
    Effect.flatMap((store) => Effect.provideService(Trust.make(all), TrustStore.TrustStore, store)),
    Effect.flatMap((trust) => following(trust, all))
  )
}

/**
 * @since 0.1.0
 * @category layers
 */
export const layer = (options?: Partial<Options>): Layer.Layer<Trust.Trust, never, McpEvent.McpEvents> =>
  Layer.scoped(Trust.Trust, make(options)).pipe(
    Layer.provide(ConfigFiles.layer),
    Layer.provide(Layer.merge(NodeFileSystem.layer, NodePath.layer))
  )
