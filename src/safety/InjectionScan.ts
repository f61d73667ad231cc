/**
 * Looks for orders to a model in the text of a server. It labels and decides nothing: whoever means harm and tries long
 * enough finds words it does not know.
 *
 * @since 0.1.0
 */
import type * as Tool from "../tools/Tool.ts"
import * as definition from "./internal/scan/definition.ts"
import * as internal from "./internal/scan/scanning.ts"

/**
 * `low`: worth a look. `medium`: what talk about attacks quotes, or what may be harmless. `high`: an order to a model.
 *
 * @since 0.1.0
 * @category models
 */
export type Level = "low" | "medium" | "high"

/**
 * @since 0.1.0
 * @category models
 */
export type Category =
  | "override"
  | "fake-role"
  | "tool-poisoning"
  | "secrecy"
  | "exfiltration"
  | "shadowing"
  | "boundary-escape"
  | "approval-manipulation"
  | "error-injection"
  | "config-tamper"
  | "persistence"
  | "elicitation-phishing"
  | "authority"
  | "conditional-trigger"
  | "prompt-leak"
  | "obfuscated"

/**
 * By which way a text came. What asks a person for a password is looked for in an elicitation only.
 *
 * @since 0.1.0
 * @category models
 */
export type Channel =
  | "name"
  | "title"
  | "description"
  | "param_description"
  | "instructions"
  | "result"
  | "resource"
  | "prompt"
  | "error"
  | "log"
  | "progress"
  | "elicitation"

/**
 * @since 0.1.0
 * @category models
 */
export interface Signal {
  readonly category: Category
  readonly level: Level
  /** Where it begins in the text as it came. */
  readonly at: number
  /** Escaped, and at most 160 characters. */
  readonly excerpt: string
  /** How it was disguised, if it was. */
  readonly obfuscation: string | undefined
}

/**
 * @since 0.1.0
 * @category models
 */
export interface Options {
  readonly channel?: Channel | undefined
  readonly maxSignals?: number | undefined
}

/**
 * @since 0.1.0
 * @category models
 */
export const defaults = { channel: "result", maxSignals: 32 } as const satisfies Required<Options>

/**
 * What in a text reads like an order to a model, in the order of the text; of too many the gravest. Takes time in
 * proportion to the text.
 *
 * @since 0.1.0
 * @category combinators
 */
export const scan = (text: string, options: Options = defaults): ReadonlyArray<Signal> =>
  internal.scan(text, options.channel ?? defaults.channel, options.maxSignals ?? defaults.maxSignals)

/**
 * The same for every string of a tool's definition: names, titles, descriptions, enums, defaults, names of properties.
 * `path` says where it stands, as a JSON pointer.
 *
 * @since 0.1.0
 * @category combinators
 */
export const scanTool = (tool: Tool.Tool): ReadonlyArray<Signal & { readonly path: string }> =>
  definition.scanTool(tool, defaults.maxSignals)
