// @effect-diagnostics strictEffectProvide:off -- what is looked for is known from the options of the command
/**
 * What is found on this machine, whatever is wrong with it: for commands that show just that.
 *
 * @internal
 */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ConfigDiscovery from "../../config/ConfigDiscovery.ts"
import * as ConfigFiles from "../../config/ConfigFiles.ts"
import * as Trust from "../../config/Trust.ts"
import * as McpEvent from "../../McpEvent.ts"
import * as NodeTrust from "../../node/NodeTrust.ts"
import type * as Command from "../Command.ts"

const platform = Layer.merge(NodeFileSystem.layer, NodePath.layer)

/** @internal */
export const look = (shared: Command.Shared): Effect.Effect<ConfigDiscovery.Discovery> =>
  Effect.gen(function*() {
    const path = yield* Path.Path
    const root = shared.root === undefined ? undefined : path.resolve(shared.root)
    const isOnly = shared.configs.length > 0
    const layer = ConfigDiscovery.layerFiles({
      ...(root === undefined ? {} : { root, directory: root }),
      imports: shared.imports,
      files: shared.configs.map((file) => ({ path: path.resolve(file) })),
      enableProjectConfig: !isOnly,
      enableUserConfig: !isOnly
    }).pipe(
      Layer.provide(ConfigFiles.layer),
      Layer.provide(NodeTrust.layer()),
      Layer.provide(platform),
      Layer.provide(McpEvent.layer)
    )
    return yield* Effect.flatMap(ConfigDiscovery.ConfigDiscovery, ({ discover }) => discover).pipe(
      Effect.provide(layer)
    )
  }).pipe(Effect.provide(platform))

/** Where a file is that is given by its content. */
const nowhere = "/"

/**
 * What one file says, whatever else there is on this machine. It is read from memory: no file that it names is.
 *
 * @internal
 */
export const only = (
  file: { readonly path: string; readonly host: string | undefined; readonly bytes: Uint8Array }
): Effect.Effect<ConfigDiscovery.Discovery> =>
  Effect.flatMap(ConfigDiscovery.ConfigDiscovery, ({ discover }) => discover).pipe(
    Effect.provide(
      ConfigDiscovery.layerFiles({
        root: nowhere,
        directory: nowhere,
        files: [{ path: file.path, host: file.host }],
        enableProjectConfig: false,
        enableUserConfig: false
      }).pipe(
        Layer.provide(ConfigFiles.layerMemory(new Map([[file.path, file.bytes]]))),
        Layer.provide(Layer.merge(Trust.layerAll(), NodePath.layer))
      )
    )
  )
