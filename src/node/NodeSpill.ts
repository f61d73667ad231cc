/** Stores the rest of long outputs in files of the user for a limited time. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as McpError from "../McpError.ts"
import type * as McpEvent from "../McpEvent.ts"
import { concern, fromEnvironment, supply } from "../runtime/composition.ts"
import type * as InjectionScan from "../safety/InjectionScan.ts"
import * as OutputGuard from "../safety/OutputGuard.ts"
import * as Spill from "../safety/Spill.ts"
import * as Tokens from "../safety/Tokens.ts"
import * as FileStore from "./FileStore.ts"

export interface Options extends Spill.Options {
  /** The folder of the files (default: `effect-mcp-runtime/results` in the cache folder of the user). */
  readonly directory: string | undefined
}

export const defaults: Options = { ...Spill.defaults, directory: undefined }

/** The number of stored texts. Each write reads the list of files. */
const maxFiles = 1_000

/** Stores texts in files of this folder. */
export const make = (options: Options & { readonly directory: string }) =>
  Effect.flatMap(
    FileStore.make({
      directory: options.directory,
      maxBytes: options.maxBytesEach,
      maxTotalBytes: options.maxBytes,
      maxAge: options.maxAge,
      maxFiles
    }),
    (store) => Spill.make(store, options)
  )

/** Stores texts in memory if the environment names no cache folder. */
export const layer = (options?: Partial<Options>): Layer.Layer<Spill.Spill> => {
  const all = { ...defaults, ...options }
  return Layer.unwrapEffect(Effect.map(
    FileStore.directoryOf(all.directory, "cache", "effect-mcp-runtime", "results"),
    (directory) =>
      directory === undefined ? Spill.layerMemory(all) : Layer.scoped(Spill.Spill, make({ ...all, directory }))
  )).pipe(Layer.provide(Layer.merge(NodeFileSystem.layer, NodePath.layer)))
}

/** The services that `layerGuard` takes from its environment. */
export type Concern = InjectionScan.InjectionScan | OutputGuard.OutputGuard | Spill.Spill | Tokens.Tokens

export interface GuardOptions {
  readonly output?: Partial<OutputGuard.Options> | undefined
  /** Where long output is stored, and for how long. */
  readonly spill?: Partial<Options> | undefined
}

/** The output guard with the settings of the environment, which stores long output. */
export const layerGuard = (
  options: GuardOptions
): Layer.Layer<OutputGuard.OutputGuard, McpError.ConfigurationError, McpEvent.McpEvents> => {
  const spill = Effect.map(Layer.build(layer(options.spill)), Context.get(Spill.Spill))
  return concern(
    OutputGuard.OutputGuard,
    fromEnvironment(OutputGuard.makeConfig(options.output)).pipe(
      supply(Spill.Spill, spill),
      supply(Tokens.Tokens, Effect.succeed(Tokens.estimate))
    )
  )
}
