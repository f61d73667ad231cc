import * as Effect from "effect/Effect"
import type * as HiddenText from "../HiddenText.ts"
import { beginAfter, endBefore } from "./cut.ts"
import { shown } from "./shown.ts"

/**
 * What a text may take up.
 *
 * @internal
 */
export interface Room {
  readonly chars: number
  readonly tokens: number
}

/**
 * An end of a text: how much of it as it came, and what is shown of that.
 *
 * @internal
 */
export interface End {
  readonly length: number
  readonly raw: string
  readonly text: string
  readonly findings: ReadonlyArray<HiddenText.Finding>
}

const nothing: End = { length: 0, raw: "", text: "", findings: [] }

/** A part of a string keeps the whole string in memory; a copy does not. */
const copied = (text: string): string => Buffer.from(text, "utf16le").toString("utf16le")

/** Each try costs a count, and the first is mostly right. */
const tries = 10

/** Not worth another try. */
const enough = 0.9

/** No UTF-16 unit is more tokens: vocabularies have one for each byte. */
const mostTokens = 3

/**
 * Tokens, where they could matter.
 *
 * @internal
 */
export const tokensWithin = (
  text: string,
  limit: number,
  count: (text: string) => Effect.Effect<number>
): Effect.Effect<number> => text.length * mostTokens <= limit ? Effect.succeed(0) : count(text)

/** What share of the room a text takes. */
const share = (text: string, room: Room, count: (text: string) => Effect.Effect<number>): Effect.Effect<number> =>
  text.length > room.chars
    ? Effect.succeed(text.length / room.chars)
    : Effect.map(
      tokensWithin(text, room.tokens, count),
      (tokens) => Math.max(text.length / room.chars, tokens / room.tokens)
    )

/**
 * As much of the beginning or the end of a text as there is room for once it can be shown, hardly less.
 *
 * @internal
 */
export const fit = Effect.fnUntraced(function*(
  whole: string,
  from: "head" | "tail",
  room: Room,
  count: (text: string) => Effect.Effect<number>
) {
  if (room.chars < 1 || room.tokens < 1) return nothing
  const most = Math.min(whole.length, room.chars)
  let best = nothing
  let fits = 0
  let tooMuch = most + 1
  let size = most
  for (let left = tries; left > 0 && size > fits; left--) {
    const at = from === "head" ? endBefore(whole, size) : beginAfter(whole, whole.length - size)
    const raw = copied(from === "head" ? whole.slice(0, at) : whole.slice(at))
    const { findings, text } = shown(raw)
    const taken = yield* share(text, room, count)
    if (taken <= 1) {
      best = { length: raw.length, raw, text, findings }
      if (taken >= enough || size === most) return best
      fits = size
    } else {
      tooMuch = size
    }
    const guess = Math.floor(size / taken * 0.98)
    size = guess > fits && guess < tooMuch ? guess : Math.floor((fits + tooMuch) / 2)
  }
  return best
})
