/**
 * What a model is given of a server's words: of bounded length, with nothing hidden in it, and marked as somebody else's.
 * It labels what reads like orders to the model, and holds nothing back for that.
 *
 * @since 0.1.0
 */
import * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as McpEvent from "../McpEvent.ts"
import type * as ToolResult from "../tools/ToolResult.ts"
import type * as HiddenText from "./HiddenText.ts"
import type * as InjectionScan from "./InjectionScan.ts"
import * as internal from "./internal/guarding.ts"
import type * as Spill from "./Spill.ts"
import type * as Tokens from "./Tokens.ts"

/**
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** Characters of a text without its wrapper. Of a longer one the beginning and the end are kept. */
  readonly maxResultChars: number
  /** Tokens of a text without its wrapper. */
  readonly maxTokens: number
  /** Whether the whole of what is too long is kept, to be read page by page. */
  readonly spill: boolean
  /** Whether what reads like orders to the model is looked for. It is told, and nothing else. */
  readonly scan: boolean
  /** Whether the text is put between tags that say where it comes from and that nothing in it can close. */
  readonly wrap: boolean
  /** The tool a model can read kept texts with, for the note in a text that is too long. */
  readonly readTool: string | undefined
}

/**
 * @since 0.1.0
 * @category defaults
 */
export const defaults: Options = {
  maxResultChars: 50_000,
  maxTokens: 25_000,
  spill: true,
  scan: true,
  wrap: true,
  readTool: undefined
}

/**
 * Whose words they are. What has no tool is named by what it has: a resource by its URI, a prompt by its name.
 *
 * @since 0.1.0
 * @category models
 */
export interface Source {
  readonly server: string
  readonly tool: string
  readonly kind?: "tool" | "resource" | "prompt" | "error" | "instructions"
}

/**
 * What is no text, for those who can give it to a model in another way. `data` is base64 as it came, and `reference` is
 * what the text calls it.
 *
 * @since 0.1.0
 * @category models
 */
export interface Attachment {
  readonly _tag: "Image" | "Audio" | "Blob"
  readonly mimeType: string
  readonly data: string
  readonly reference: string
}

/**
 * @since 0.1.0
 * @category models
 */
export interface Rendered {
  /** For a model. */
  readonly text: string
  /** The same without the wrapper. */
  readonly body: string
  readonly attachments: ReadonlyArray<Attachment>
  readonly isError: boolean
  /** How many characters, and about how many tokens, were left out. */
  readonly truncated:
    | { readonly chars: number; readonly tokens: number; readonly spilled: Spill.Handle | undefined }
    | undefined
  /** What in the text reads like orders to a model; places are those in the text as it came. */
  readonly signals: ReadonlyArray<InjectionScan.Signal>
  /** What was hidden in the text, and is now visible or gone. */
  readonly hidden: ReadonlyArray<HiddenText.Finding>
}

/**
 * A page of a text that was too long.
 *
 * @since 0.1.0
 * @category models
 */
export interface RenderedPage extends Rendered {
  readonly offset: number
  /** Where the next page begins, if there is one. */
  readonly next: number | undefined
}

/**
 * @since 0.1.0
 * @category tags
 */
export class OutputGuard extends Context.Tag("effect-mcp-runtime/safety/OutputGuard")<OutputGuard, {
  /** The result of a call. */
  readonly render: (
    result: Pick<ToolResult.ToolResult, "content" | "structuredContent" | "isError">,
    source: Source
  ) => Effect.Effect<Rendered>
  /** Any other text of a server: a resource, a prompt, an error, instructions. */
  readonly renderText: (text: string, source: Source) => Effect.Effect<Rendered>
  /** A page of what was too long, as much of it as there is room for. */
  readonly renderPage: (handle: string, range?: Spill.Range) => Effect.Effect<RenderedPage, Spill.SpillError>
}>() {}

/**
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  options?: Partial<Options>
): Effect.Effect<OutputGuard["Type"], never, Tokens.Tokens | Spill.Spill | McpEvent.McpEvents> =>
  internal.make({ ...defaults, ...options })

/**
 * @since 0.1.0
 * @category layers
 */
export const layer = (
  options?: Partial<Options>
): Layer.Layer<OutputGuard, never, Tokens.Tokens | Spill.Spill | McpEvent.McpEvents> =>
  Layer.effect(OutputGuard, make(options))

const positive = (name: string) =>
  Config.option(Config.validate(Config.integer(name), {
    message: "expected a positive number",
    validation: (number) => number > 0
  }))

/**
 * An operator's `MAX_MCP_OUTPUT_TOKENS` and `MCP_MAX_RESULT_CHARS` come before what the application says.
 *
 * @since 0.1.0
 * @category constructors
 */
export const makeConfig = (
  options?: Partial<Options>
): Effect.Effect<
  OutputGuard["Type"],
  ConfigError.ConfigError,
  Tokens.Tokens | Spill.Spill | McpEvent.McpEvents
> =>
  Effect.gen(function*() {
    const all = { ...defaults, ...options }
    const maxTokens = yield* positive("MAX_MCP_OUTPUT_TOKENS")
    const maxResultChars = yield* positive("MCP_MAX_RESULT_CHARS")
    return yield* make({
      ...all,
      maxTokens: Option.getOrElse(maxTokens, () => all.maxTokens),
      maxResultChars: Option.getOrElse(maxResultChars, () => all.maxResultChars)
    })
  })

/**
 * @since 0.1.0
 * @category layers
 */
export const layerConfig = (
  options?: Partial<Options>
): Layer.Layer<OutputGuard, ConfigError.ConfigError, Tokens.Tokens | Spill.Spill | McpEvent.McpEvents> =>
  Layer.effect(OutputGuard, makeConfig(options))
