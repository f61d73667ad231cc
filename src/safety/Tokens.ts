/**
 * How many tokens a text is for a model: an estimate, or a count with a real vocabulary.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Tiktoken from "./internal/tiktoken.ts"
import * as TokenCount from "./internal/tokenCount.ts"

/**
 * Which tokenizer of OpenAI's: `o200k_base` for GPT-4o and later, `cl100k_base` for GPT-4. Models of other makers have
 * their own, and most of them need more tokens for the same text.
 *
 * @since 0.1.0
 * @category models
 */
export type Vocabulary = Tiktoken.Vocabulary

/**
 * @since 0.1.0
 * @category tags
 */
export class Tokens extends Context.Tag("effect-mcp-runtime/safety/Tokens")<Tokens, {
  /** Of a text with more than 256 × 1024 characters so many are counted, taken from all over it, and the rest in proportion. */
  readonly count: (text: string) => Effect.Effect<number>
}>() {}

/**
 * Needs no vocabulary. Against `o200k_base` it is off by a quarter at most for English and other prose, Chinese, Japanese
 * and Korean, code, JSON, logs, hexadecimal and base64; where one letter is repeated, it counts several times too many.
 *
 * @since 0.1.0
 * @category constructors
 */
export const estimate: Tokens["Type"] = { count: (text) => Effect.sync(() => TokenCount.estimated(text)) }

/**
 * @since 0.1.0
 * @category layers
 */
export const layerEstimate: Layer.Layer<Tokens> = Layer.succeed(Tokens, estimate)

/**
 * Counts with the package `gpt-tokenizer`, which is loaded when the first text is counted. Without it texts are estimated,
 * and the log says so once: no result is lost for the want of a count.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerTiktoken = (vocabulary: Vocabulary = "o200k_base"): Layer.Layer<Tokens> =>
  Layer.effect(
    Tokens,
    Effect.map(TokenCount.orEstimated(Tiktoken.counter(vocabulary)), (count) => ({ count }))
  )
