import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"

/**
 * The vocabularies that there are.
 *
 * @internal
 */
export type Vocabulary = "o200k_base" | "cl100k_base"

interface Encoding {
  readonly countTokens: (text: string, options: { readonly disallowedSpecial: Set<string> }) => number
  readonly clearMergeCache: () => void
}

/** Which are loaded only when somebody counts: they are some megabytes of words. */
const load = (vocabulary: Vocabulary): Promise<Encoding> =>
  vocabulary === "o200k_base"
    ? import("gpt-tokenizer/encoding/o200k_base")
    : import("gpt-tokenizer/encoding/cl100k_base")

/** A piece without an end takes the square of its length: a text is counted in parts that are short enough for that. */
const part = 512

const isBlank = (code: number): boolean => code === 0x20 || code === 0x0a

/** Where a part ends: before a blank, so that words stay whole, or else where no character is cut in two. */
const endOf = (text: string, from: number): number => {
  const end = from + part
  if (end >= text.length) return text.length
  for (let at = end; at > from + (part >> 1); at--) if (isBlank(text.charCodeAt(at))) return at
  return (text.charCodeAt(end) & 0xfc00) === 0xdc00 ? end + 1 : end
}

// What a server writes like a special token is text like any other.
const options = { disallowedSpecial: new Set<string>() }

/**
 * Counts with a vocabulary; fails if the package is not there.
 *
 * @internal
 */
export const counter = (vocabulary: Vocabulary): Effect.Effect<(text: string) => number, Cause.UnknownException> =>
  Effect.map(Effect.tryPromise(() => load(vocabulary)), (encoding) => (text) => {
    let tokens = 0
    for (let at = 0; at < text.length;) {
      const end = endOf(text, at)
      tokens += encoding.countTokens(text.slice(at, end), options)
      at = end
    }
    // It keeps pieces of the texts, and with them the texts whole.
    encoding.clearMergeCache()
    return tokens
  })
