/**
 * What a folded text says in another spelling: letters set apart, words set apart by marks within them, figures and
 * signs for letters, letters moved by thirteen, letters from right to left.
 *
 * @internal
 */
import type { Reading } from "./folding.ts"
import { originOf } from "./folding.ts"
import * as Rewriting from "./rewriting.ts"

const isLetter = (code: number): boolean =>
  (code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39) || code >= 0xc0

/** Fewer single letters in a row are initials. */
const leastLetters = 4
const widestGap = 5

interface Single {
  readonly at: number
  /** What stands before it and after the one before. */
  readonly gap: string
}

/** The letters put together. A wider gap ends a word; where all are the same, they may be several words in one. */
const together = (singles: ReadonlyArray<Single>, text: string): string => {
  const gaps = singles.slice(1).map(({ gap }) => gap)
  const narrowest = Math.min(...gaps.map((gap) => gap.length))
  const unspaced = gaps.some((gap) => !/\s/.test(gap))
  const ends = (gap: string): boolean => gap.length > narrowest || (unspaced && /\s/.test(gap))
  return singles.map(({ at, gap }, index) => (index > 0 && ends(gap) ? " " : "") + text[at]!).join("")
}

const setApart = (reading: Reading): Reading | undefined => {
  const { text } = reading
  const replacements: Array<Rewriting.Replacement> = []
  let singles: Array<Single> = []
  let last = -1
  const close = (): void => {
    if (singles.length >= leastLetters && singles.length <= 4096) {
      replacements.push({ from: singles[0]!.at, to: last + 1, by: together(singles, text) })
    }
    singles = []
  }
  for (let at = 0; at < text.length; at++) {
    if (!isLetter(text.charCodeAt(at))) {
      if (last !== -1 && at - last > widestGap) {
        close()
        last = -1
      }
      continue
    }
    if (isLetter(text.charCodeAt(at + 1))) {
      close()
      last = -1
      while (isLetter(text.charCodeAt(at + 1))) at += 1
      continue
    }
    singles.push({ at, gap: last === -1 ? "" : text.slice(last + 1, at) })
    last = at
  }
  close()
  return Rewriting.rewrite(reading, replacements, "spacing")
}

const within =
  /(?<=[a-z])(?:[*~`]{1,4}|_{2,4}|<\/?[a-z]{1,10}\/?>|<!--[^<>]{0,40}-->|-\r?\n ?|["'] ?[+.&,]? ?["']|\\\n|\u2011)(?=[a-z])/g

/** Marks within words, as of markup, hyphens at the ends of lines, or texts put together by a program. */
const markedUp = (reading: Reading): Reading | undefined => {
  if (!/[a-z](?:[*~`_<\-"'\\][^ ]|["'] ?[+.&,])/.test(reading.text) && !reading.text.includes("-\n")) return undefined
  const replacements = [...reading.text.matchAll(within)].map((match) => ({
    from: match.index,
    to: match.index + match[0].length,
    by: ""
  }))
  return Rewriting.rewrite(reading, replacements, "markup")
}

const signs: ReadonlyMap<string, string> = new Map([
  ["@", "a"],
  ["$", "s"],
  ["!", "i"],
  ["|", "l"],
  ["\u20ac", "e"],
  ["\u00a3", "l"],
  ["\u00a1", "i"],
  ["\u00a5", "y"],
  ["(", "c"],
  ["0", "o"],
  ["1", "i"],
  ["3", "e"],
  ["4", "a"],
  ["5", "s"],
  ["7", "t"]
])

const signed = /[a-z0-9@$!|\u20ac\u00a3\u00a1\u00a5]{3,24}/g

const longestAddress = 200

const isInAddress = (text: string, at: number): boolean => {
  for (let before = at; before > 0 && before > at - longestAddress; before--) {
    const code = text.charCodeAt(before)
    if (code === 0x20 || code === 0x0a) return false
    if (code === 0x2f && text.charCodeAt(before - 1) === 0x2f) return true
  }
  return false
}

const spelledWithSigns = (reading: Reading): Reading | undefined => {
  if (!/[a-z0-9][@$!|\u20ac\u00a3\u00a1\u00a5][a-z0-9]|[@$!][a-z]/.test(reading.text)) return undefined
  const replacements: Array<Rewriting.Replacement> = []
  for (const match of reading.text.matchAll(signed)) {
    const word = match[0]
    const inner = word.replace(/[!|]+$/, "")
    if (isInAddress(reading.text, match.index)) continue
    if (!/[@$!|\u20ac\u00a3\u00a1\u00a5]/.test(inner) || !/[a-z]/.test(inner)) continue
    let by = ""
    for (const char of inner) by += signs.get(char) ?? char
    replacements.push({ from: match.index, to: match.index + inner.length, by })
  }
  return Rewriting.rewrite(reading, replacements, "leet")
}

/** Words that tell of a spelling: some of those a hostile text can hardly do without. */
const telling =
  "ignore previous instructions instruction system prompt disregard password secret credentials forget override".split(
    " "
  )

const rotated = (text: string): string => {
  const codes = Array.from(text, (char) => {
    const code = char.charCodeAt(0)
    return code >= 0x61 && code <= 0x7a ? String.fromCharCode(0x61 + (code - 0x61 + 13) % 26) : char
  })
  return codes.join("")
}

const mirrored = (text: string): string => [...text].toReversed().join("")

const tellingOf = (spell: (word: string) => string): RegExp => new RegExp(telling.map(spell).join("|"))

const rotatedTelling = tellingOf(rotated)
const mirroredTelling = tellingOf(mirrored)

const longestSpelled = 1 << 20

const rotate = (reading: Reading): Reading | undefined =>
  reading.text.length <= longestSpelled && rotatedTelling.test(reading.text) && reading.text.length > 0
    ? { text: rotated(reading.text), origins: sameLength(reading), obfuscation: reading.obfuscation ?? "rot13" }
    : undefined

/** As it stands, or nothing where letters of two units would move what comes after them. */
const sameLength = (reading: Reading): Int32Array => {
  const origins = new Int32Array(reading.text.length)
  for (let at = 0; at < origins.length; at++) origins[at] = originOf(reading, at)
  return origins
}

const mirror = (reading: Reading): Reading | undefined => {
  const { length } = reading.text
  if (length === 0 || length > longestSpelled || !mirroredTelling.test(reading.text)) return undefined
  const text = mirrored(reading.text)
  const origins = new Int32Array(text.length)
  for (let at = 0; at < text.length; at++) origins[at] = originOf(reading, length - 1 - at)
  return { text, origins, obfuscation: reading.obfuscation ?? "reversed" }
}

/** @internal */
export const of = function*(reading: Reading): Generator<Reading> {
  for (const respell of [setApart, markedUp, spelledWithSigns, rotate, mirror]) {
    const respelled = respell(reading)
    if (respelled !== undefined) yield respelled
  }
}
