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
import * as Stream from "effect/Stream"
import * as ConfigDiscovery from "../config/ConfigDiscovery.ts"
import * as ConfigFiles from "../config/ConfigFiles.ts"
import * as Trust from "../config/Trust.ts"
import * as TrustStore from "../config/TrustStore.ts"
import type * as McpEvent from "../McpEvent.ts"
import * as HostEnvironment from "../transport/HostEnvironment.ts"
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
export const defaultDirectory = (app: string, host: HostEnvironment.Host, path: Path.Path): string | undefined => {
  const folder = FileStore.stateDirectory(app, host, path)
  return folder === undefined ? undefined : path.join(folder, "trust")
}

/** An approval names a few variables; what is larger is none. */
const maxBytes = 256 * 1024

const placeOf = ({ app, directory }: Options) => (host: HostEnvironment.Host, path: Path.Path): string | undefined =>
  directory ?? defaultDirectory(app, host, path)

const layerStore = (options: Options): Layer.Layer<TrustStore.TrustStore, never, FileSystem.FileSystem | Path.Path> =>
  Layer.effect(
    TrustStore.TrustStore,
    FileStore.make({ directory: placeOf(options), maxBytes, maxAge: Duration.infinity })
  )

/** What one decision writes, and a decision that somebody else has made. */
const settling = Duration.millis(50)

/** Hears of decisions that other processes make too: a person may answer in another window. */
const following = (
  options: Options
): Layer.Layer<Trust.Trust, never, ConfigFiles.ConfigFiles | Path.Path | Trust.Trust> =>
  Layer.effect(
    Trust.Trust,
    Effect.gen(function*() {
      const trust = yield* Trust.Trust
      const files = yield* ConfigFiles.ConfigFiles
      const path = yield* Path.Path
      const directory = placeOf(options)(yield* HostEnvironment.HostEnvironment, path)
      if (directory === undefined) return trust
      const elsewhere = files.watch([path.join(directory, "*.value")]).pipe(
        Stream.drop(1),
        Stream.debounce(settling)
      )
      return { ...trust, changes: Stream.merge(trust.changes, elsewhere, { haltStrategy: "left" }) }
    })
  )

/**
 * @since 0.1.0
 * @category layers
 */
export const layer = (options?: Partial<Options>): Layer.Layer<Trust.Trust, never, McpEvent.McpEvents> => {
  const all = { ...defaults, ...options }
  return following(all).pipe(
    Layer.provide(Layer.merge(Trust.layer(all), ConfigFiles.layer)),
    Layer.provide(layerStore(all)),
    Layer.provide(Layer.merge(NodeFileSystem.layer, NodePath.layer))
  )
}
