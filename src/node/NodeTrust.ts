/**
 * What was agreed to, kept for the next run in files of the user. It protects against whoever cannot run programs as this
 * user: the key lies beside the decisions, unless `key` brings it from a keyring.
 *
 * @since 0.1.0
 */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import type * as Path from "@effect/platform/Path"
import * as Duration from "effect/Duration"
import * as Layer from "effect/Layer"
import * as ConfigDiscovery from "../config/ConfigDiscovery.ts"
import * as Trust from "../config/Trust.ts"
import * as TrustStore from "../config/TrustStore.ts"
import type * as McpEvent from "../McpEvent.ts"
import type * as HostEnvironment from "../transport/HostEnvironment.ts"
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

const layerStore = ({ app, directory }: Options): Layer.Layer<TrustStore.TrustStore> =>
  Layer.effect(
    TrustStore.TrustStore,
    FileStore.make({
      directory: directory ?? ((host, path) => defaultDirectory(app, host, path)),
      maxBytes,
      maxAge: Duration.infinity
    })
  ).pipe(Layer.provide(Layer.merge(NodeFileSystem.layer, NodePath.layer)))

/**
 * @since 0.1.0
 * @category layers
 */
export const layer = (options?: Partial<Options>): Layer.Layer<Trust.Trust, never, McpEvent.McpEvents> => {
  const all = { ...defaults, ...options }
  return Layer.provide(Trust.layer(all), layerStore(all))
}
