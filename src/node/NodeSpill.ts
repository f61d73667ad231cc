/**
 * What a model was not given of long results, kept in files of the user for a while.
 *
 * @since 0.1.0
 */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as Path from "@effect/platform/Path"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as HostEnvironment from "../config/HostEnvironment.ts"
import type * as McpError from "../McpError.ts"
import type * as McpEvent from "../McpEvent.ts"
import { concern, fromEnvironment, given } from "../runtime/composition.ts"
import * as OutputGuard from "../safety/OutputGuard.ts"
import * as Spill from "../safety/Spill.ts"
import * as Tokens from "../safety/Tokens.ts"
import * as FileStore from "./FileStore.ts"

/**
 * @since 0.1.0
 * @category models
 */
export interface Options extends Spill.Options {
  /** Where they are kept (default: `results`, in the folder for caches of the user). */
  readonly directory: string | undefined
}

/**
 * @since 0.1.0
 * @category defaults
 */
export const defaults: Options = { ...Spill.defaults, directory: undefined }

/**
 * Where they are kept by default. Nothing, if the environment does not say where that can be.
 *
 * @since 0.1.0
 * @category combinators
 */
export const defaultDirectory = (host: HostEnvironment.Host, path: Path.Path): string | undefined => {
  const folder = FileStore.defaultDirectory(host, path)
  return folder === undefined ? undefined : path.join(folder, "results")
}

/**
 * In memory where the environment names no folder for it.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (options?: Partial<Options>): Layer.Layer<Spill.Spill> => {
  const all = { ...defaults, ...options }
  return Layer.unwrapEffect(Effect.gen(function*() {
    const host = yield* HostEnvironment.HostEnvironment
    const directory = all.directory ?? defaultDirectory(host, yield* Path.Path)
    return directory === undefined ? Spill.layerMemory(all) : Spill.layerFiles({ ...all, directory })
  })).pipe(Layer.provide(Layer.merge(NodeFileSystem.layer, NodePath.layer)))
}

/** What `layerGuard` looks up in its environment. */
export type Concern = OutputGuard.OutputGuard | Spill.Spill | Tokens.Tokens

/** The output guard, with the settings of the environment, over the spill of these options. */
export const layerGuard = (options: {
  readonly output?: Partial<OutputGuard.Options> | undefined
  readonly spill?: Partial<Options> | undefined
}): Layer.Layer<OutputGuard.OutputGuard, McpError.ConfigurationError, McpEvent.McpEvents> => {
  const spill = Effect.map(Layer.build(layer(options.spill)), Context.get(Spill.Spill))
  return concern(
    OutputGuard.OutputGuard,
    fromEnvironment(OutputGuard.makeConfig(options.output)).pipe(
      Effect.provideServiceEffect(Spill.Spill, given(Spill.Spill, spill)),
      Effect.provideServiceEffect(Tokens.Tokens, given(Tokens.Tokens, Effect.succeed(Tokens.estimate)))
    )
  )
}
