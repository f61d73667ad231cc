/** The tokens that a text takes for a model: an estimate, or a count with a vocabulary. */
import type * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { estimateTokenCount } from "tokenx"
import * as RuntimeLog from "../runtimeLog.ts"

/**
 * A tokenizer of OpenAI: `o200k_base` for GPT-4o and later, `cl100k_base` for GPT-4. Models of other makers have their own,
 * and most of them need more tokens for the same text.
 */
export type Vocabulary = "o200k_base" | "cl100k_base"

export class Tokens extends Context.Tag("effect-mcp-runtime/safety/Tokens")<Tokens, {
  /** A text of more than 256 × 1024 characters is counted in samples. */
  readonly count: (text: string) => Effect.Effect<number>
}>() {}

/** Characters of a text that are counted; of a longer text, samples of this length together. */
const maxCounted = 256 * 1024
const samples = 16

const sampled = (count: (text: string) => number) => (text: string): number => {
  const { length } = text
  if (length <= maxCounted) return count(text)
  const each = maxCounted / samples
  const step = (length - each) / (samples - 1)
  const parts = Array.from({ length: samples }, (_, at) => text.slice(Math.round(at * step)).slice(0, each))
  return Math.ceil(parts.reduce((sum, part) => sum + count(part), 0) * (length / maxCounted))
}

/**
 * Code points of one token, by the first pattern that a word has, against `o200k_base`. `tokenx` has rates for Latin,
 * Cyrillic, Greek, Chinese, Japanese and Korean; for what is here it gives down to a twentieth.
 */
const rates: ReadonlyArray<readonly [pattern: RegExp, charsPerToken: number]> = [
  [/[\u{10000}-\u{1efff}\u{20000}-\u{10ffff}]/u, 0.25],
  [/[\u2800-\u28ff\ue000-\uf8ff]/, 1 / 3],
  [/[\u1100-\u11ff\u2190-\u27ff\u2900-\u2bff\u3130-\u318f]|\p{Extended_Pictographic}|\p{Regional_Indicator}/u, 0.5],
  [/[\p{Script=Myanmar}\p{Script=Khmer}\p{Script=Lao}\p{Script=Sinhala}]/u, 1.4],
  [/[\p{Script=Thai}\p{Script=Tamil}]/u, 2.3],
  [/[\p{Script=Arabic}\p{Script=Hebrew}]/u, 2.6],
  [/[\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}]/u, 2.4],
  [/[\p{Script=Gujarati}\p{Script=Gurmukhi}\p{Script=Georgian}\p{Script=Armenian}]/u, 2.4],
  // any other script is spelled in bytes, but for those that have rates in `tokenx`
  [
    /[^\p{ASCII}\p{Script=Common}\p{Script=Inherited}\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u,
    1 / 3
  ],
  [/[\u00c0-\u017f]{3}/, 1],
  [/[äöüßğşıİåøæ]/i, 2.6],
  [/[\u0180-\u024f\u1e00-\u1eff]/, 2.2],
  [/^\d+$/, 1.6],
  // hexadecimal, base64 and identifiers
  [/^(?=[A-Za-z]*\d)[\dA-Za-z]{6,}$/, 1.4],
  [/[a-z][A-Z].*[a-z][A-Z]|[A-Z]{2}[a-z]/, 1.9],
  [/^[A-Z]{4,}$/, 2.6],
  [/^[a-z]{10,}$/, 5],
  [/^[^\s\dA-Za-z\u0080-\uffff]{3,}$/, 1.6]
]

const languageConfigs = rates.map(([pattern, averageCharsPerToken]) => ({ pattern, averageCharsPerToken }))

const estimated = sampled((text) => estimateTokenCount(text, { languageConfigs }))

/** Needs no vocabulary. For prose of any script, code, data and logs it is hardly ever below `o200k_base`. */
export const estimate: Tokens["Type"] = { count: (text) => Effect.sync(() => estimated(text)) }

export const layerEstimate: Layer.Layer<Tokens> = Layer.succeed(Tokens, estimate)

/** A piece without an end takes quadratic time, so texts are counted in parts of this length. */
const partLength = 512

/** The end of a part: before a blank, so that words stay whole, or else between two characters. */
const endOf = (text: string, from: number): number => {
  const end = from + partLength
  if (end >= text.length) return text.length
  const blank = Math.max(text.lastIndexOf(" ", end), text.lastIndexOf("\n", end))
  if (blank > from + partLength / 2) return blank
  return (text.charCodeAt(end) & 0xfc00) === 0xdc00 ? end + 1 : end
}

/** Fails if the package is not installed. Vocabularies have some megabytes, so they are loaded when first used. */
const counter = (vocabulary: Vocabulary): Effect.Effect<(text: string) => number, Cause.UnknownException> =>
  Effect.map(
    Effect.tryPromise(() =>
      vocabulary === "o200k_base"
        ? import("gpt-tokenizer/encoding/o200k_base")
        : import("gpt-tokenizer/encoding/cl100k_base")
    ),
    ({ clearMergeCache, countTokens }) => (text) => {
      // what a server writes like a special token is text
      const options = { disallowedSpecial: new Set<string>() }
      let tokens = 0
      for (let at = 0, end = 0; at < text.length; at = end) {
        end = endOf(text, at)
        tokens += countTokens(text.slice(at, end), options)
      }
      // its cache keeps the texts in memory
      clearMergeCache()
      return tokens
    }
  )

/** Counts with the package `gpt-tokenizer`. Without the package it estimates, and logs that once. */
export const layerTiktoken = (vocabulary: Vocabulary = "o200k_base"): Layer.Layer<Tokens> =>
  Layer.effect(
    Tokens,
    Effect.map(
      Effect.cached(
        counter(vocabulary).pipe(
          Effect.map(sampled),
          Effect.catchAll((error) =>
            Effect.as(RuntimeLog.warning("Tokens are estimated: gpt-tokenizer could not be loaded.", error), estimated)
          )
        )
      ),
      (counter) => ({ count: (text) => Effect.map(counter, (count) => count(text)) })
    )
  )
