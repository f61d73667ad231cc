/**
 * The manifest of a bundle (`manifest.json` in an `.mcpb` or `.dxt` file): one server that was installed with all it
 * needs.
 *
 * @since 0.1.0
 */
import type * as ConfigDocument from "./ConfigDocument.ts"
import type * as ConfigEntry from "./ConfigEntry.ts"
import * as internal from "./internal/packages/bundle.ts"

/**
 * What the person who installs it is asked.
 *
 * @since 0.1.0
 * @category models
 */
export interface Input {
  readonly id: string
  readonly title: string | undefined
  readonly description: string | undefined
  readonly secret: boolean
  readonly required: boolean
  /** Several answers: an argument that is this input and nothing else becomes as many arguments. */
  readonly multiple: boolean
  readonly default: ReadonlyArray<ConfigEntry.Template>
}

/**
 * @since 0.1.0
 * @category models
 */
export interface Bundle {
  /** The entry, with `${var:pluginRoot}` where the bundle is unpacked to. */
  readonly item: ConfigEntry.Item
  readonly inputs: ReadonlyArray<Input>
}

/**
 * The answers to inputs, by their ids.
 *
 * @since 0.1.0
 * @category models
 */
export type Answers = ReadonlyMap<string, ReadonlyArray<string>>

/**
 * Reads a manifest for a platform, as Node names it. Total: what cannot be started is there with its fault.
 *
 * @since 0.1.0
 * @category constructors
 */
export const decode: (manifest: ConfigDocument.Table, platform: string) => Bundle = internal.decode

/**
 * The entry with the inputs of several answers put in: one `${input:id}` can have one answer only. The others stay, and
 * are asked for when the server is connected.
 *
 * @since 0.1.0
 * @category combinators
 */
export const answer: (bundle: Bundle, answers: Answers) => ConfigEntry.Item = internal.answer
