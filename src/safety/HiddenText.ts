/**
 * What hides in the text of a server: characters that a person does not see and a model reads.
 *
 * @since 0.1.0
 */
import { isObject, type Json, type JsonObject } from "../json/Json.ts"
import {
  hasRightToLeft,
  isEmoji,
  isHan,
  isHangul,
  isLetter,
  isLikeAscii,
  isMark,
  isMongolian,
  isPictographic,
  isShaped,
  isUnspaced,
  type Kind as Invisible,
  kindOf,
  mayHide
} from "../text/unicode.ts"
import * as UntrustedText from "../text/UntrustedText.ts"
import * as Decoding from "./internal/hidden/decoding.ts"

/**
 * What was found: `tags` (ASCII moved out of sight), `bidi` (orders to write the other way), `zero-width`, `filler`
 * (blanks that count as letters), `variation` (selectors where there is nothing to select), `annotation`, `control` (what
 * a terminal obeys), `combining` (more marks than a letter has), `private-use`, `noncharacter`, `surrogate` (half a
 * character) and `confusable` (a word of two alphabets that looks like one).
 *
 * @since 0.1.0
 * @category models
 */
export type Kind =
  | "tags"
  | "bidi"
  | "zero-width"
  | "filler"
  | "variation"
  | "annotation"
  | "control"
  | "combining"
  | "private-use"
  | "noncharacter"
  | "surrogate"
  | "confusable"

/**
 * @since 0.1.0
 * @category models
 */
export interface Finding {
  readonly kind: Kind
  readonly level: "low" | "medium" | "high"
  /** Where it began in the text as it came. */
  readonly at: number
  /** How many characters in a row. */
  readonly count: number
  /** What they said to a machine, as it came: escape it before showing it. */
  readonly decoded: string | undefined
}

/** Marks upon one letter: no script needs more. */
const mostMarks = 8

/** Findings of one text. More of them say nothing new. */
const mostFindings = 256

/** What is done with a run of characters of one kind, and how it is called. */
interface Verdict {
  readonly found: Omit<Finding, "at" | "count"> | undefined
  /** What stands in its place, or nothing where it stays. */
  readonly instead: string | undefined
}

interface Run {
  readonly kind: Invisible
  readonly points: ReadonlyArray<number>
  /** The code points around it, -1 at the ends of the text. */
  readonly before: number
  readonly after: number
  readonly text: string
}

/** What is true of the whole text and costs a look at all of it, so it is looked at once and only when asked for. */
interface Whole {
  readonly rightToLeft: () => boolean
  readonly isolatesOnly: () => boolean
}

const stays: Verdict = { found: undefined, instead: undefined }

const stripped = (kind: Finding["kind"], level: Finding["level"], decoded?: string): Verdict => ({
  found: { kind, level, decoded },
  instead: ""
})

/** The flags of England, Scotland and Wales: of all sequences with tags only these are for general use. */
const regions: ReadonlySet<string> = new Set(["gbeng", "gbsct", "gbwls"])

const tags = ({ before, points }: Run): Verdict => {
  const decoded = Decoding.decodeTags(points)
  if (before === 0x1f3f4 && points.at(-1) === 0xe007f && points.length === 6 && regions.has(decoded ?? "")) return stays
  const language = points[0] === 0xe0001 && points.length <= 9
  return stripped("tags", language ? "medium" : "high", decoded)
}

const zeroWidth = ({ after, before, points }: Run): Verdict => {
  const only = points.length === 1 ? points[0] : undefined
  if (only === 0x200d && isPictographic(before) && isPictographic(after)) return stays
  if ((only === 0x200c || only === 0x200d) && isShaped(before)) {
    if (after === -1 || isShaped(after) || !(isLetter(after) || kindOf(after) !== undefined)) {
      return stays
    }
  }
  if (only === 0x200b && (isUnspaced(before) || isUnspaced(after))) return stays
  if (only === 0xfeff && before === -1) return { found: undefined, instead: "" }
  return invisible(points)
}

/** Blanks without width, and signs of mathematics that are not written: two of them in turn stand for bits. */
const invisible = (points: ReadonlyArray<number>): Verdict => {
  const decoded = Decoding.decodeZeroWidth(points)
  return stripped("zero-width", decoded === undefined && points.length < 16 ? "medium" : "high", decoded)
}

const variation = ({ before, points }: Run): Verdict => {
  const only = points.length === 1 ? points[0]! : undefined
  if (only !== undefined) {
    if ((only === 0xfe0e || only === 0xfe0f) && before !== -1 && isEmoji(before)) return stays
    if ((only === 0xfe0e || only === 0xfe0f) && !isLetter(before)) return stays
    if (only >= 0xe0100 && isHan(before)) return stays
    if (only < 0xfe00 && isMongolian(before)) return stays
    if (only >= 0xfe00 && only < 0xfe0e && before >= 0x2200) return stays
  }
  const decoded = Decoding.decodeVariations(points)
  return stripped("variation", decoded !== undefined || points.length >= 8 ? "high" : "medium", decoded)
}

const bidi = (_run: Run, whole: Whole): Verdict =>
  whole.isolatesOnly() && whole.rightToLeft() ? stays : stripped("bidi", "high")

/** The first bytes of what a terminal takes for an order, and what moves its cursor or its character set. */
const orders = /[\b\u000e\u000f\u001b\u0080-\u009f]/

const verdict = (run: Run, whole: Whole, as: "metadata" | "result"): Verdict => {
  switch (run.kind) {
    case "tags":
      return tags(run)
    case "bidi":
      return bidi(run, whole)
    case "mark":
      return whole.rightToLeft() && run.points.length <= 2 ? stays : stripped("bidi", "low")
    case "zero-width":
      return zeroWidth(run)
    case "operator":
      return invisible(run.points)
    case "filler":
      return run.points.length === 1 && isHangul(run.before) ? stays : stripped("filler", "medium")
    case "blank":
      return { found: { kind: "filler", level: "low", decoded: undefined }, instead: undefined }
    case "soft-hyphen":
      return stripped("zero-width", "low")
    case "joiner":
      return isMongolian(run.before) ? stays : stripped("zero-width", "low")
    case "variation":
      return variation(run)
    case "annotation":
      return stripped("annotation", "medium")
    case "control":
      return {
        found: {
          kind: "control",
          level: orders.test(run.text) || as === "metadata" ? "medium" : "low",
          decoded: undefined
        },
        instead: UntrustedText.escape(run.text)
      }
    case "private-use":
      return { found: { kind: "private-use", level: "low", decoded: undefined }, instead: undefined }
    case "noncharacter":
      return {
        found: { kind: "noncharacter", level: "low", decoded: undefined },
        instead: "\ufffd".repeat(run.points.length)
      }
    case "surrogate":
      return {
        found: { kind: "surrogate", level: "low", decoded: undefined },
        instead: "\ufffd".repeat(run.points.length)
      }
  }
}

const lookAtWhole = (text: string): Whole => {
  let rightToLeft: boolean | undefined
  let isolatesOnly: boolean | undefined
  return {
    rightToLeft: () => rightToLeft ??= hasRightToLeft(text),
    isolatesOnly: () => isolatesOnly ??= hasIsolatesOnly(text)
  }
}

/** Isolates, each closed on its line, and nothing that overrides the direction of letters. */
const hasIsolatesOnly = (text: string): boolean => {
  let open = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code >= 0x202a && code <= 0x202e) return false
    if (code >= 0x2066 && code <= 0x2068) open += 1
    else if (code === 0x2069) open -= 1
    else if (code === 0x0a && open !== 0) return false
    if (open < 0) return false
  }
  return open === 0
}

const width = (point: number): number => point > 0xffff ? 2 : 1

const isAsciiLetter = (code: number): boolean => (code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a
const isForeignLetter = (code: number): boolean =>
  (code >= 0x370 && code <= 0x58f) || (code >= 0x13a0 && code <= 0x13f5)

/**
 * Where words begin that mix letters of ASCII with Cyrillic, Greek, Armenian or Cherokee ones that look the same. A word
 * of two or three letters may be a formula.
 */
const mixedWords = (text: string): ReadonlyArray<number> => {
  if (!/[\u0370-\u058f\u13a0-\u13f5]/.test(text)) return []
  const found: Array<number> = []
  for (let at = 0; at < text.length; at++) {
    let ascii = 0
    let foreign = 0
    let alike = true
    const from = at
    for (; at < text.length; at++) {
      const code = text.charCodeAt(at)
      if (isAsciiLetter(code)) ascii += 1
      else if (isForeignLetter(code)) {
        foreign += 1
        alike &&= isLikeAscii(text[at]!)
      } else break
    }
    if (ascii > 0 && foreign > 0 && alike && ascii + foreign > 3 && found.length < mostFindings) found.push(from)
  }
  return found
}

/**
 * Takes out what hides, makes control characters visible, and tells what it was. What a script or a picture is made of
 * stays: joiners of Persian and Hindi, sequences of emoji, variants of Han characters. A text with nothing to change is
 * given back as it is. Names and descriptions (`metadata`) are judged more strictly than results.
 *
 * @since 0.1.0
 * @category combinators
 */
export const clean = (
  text: string,
  as: "metadata" | "result"
): { readonly text: string; readonly findings: ReadonlyArray<Finding> } => {
  const findings: Array<Finding> = []
  const note = (finding: Finding): void => {
    if (findings.length < mostFindings) findings.push(finding)
  }
  for (const at of mixedWords(text)) {
    note({ kind: "confusable", level: as === "metadata" ? "high" : "medium", at, count: 1, decoded: undefined })
  }
  if (!mayHide(text)) return { text, findings }

  const whole = lookAtWhole(text)
  const parts: Array<string> = []
  let kept = 0
  let before = -1
  let marks = 0
  let surplus = -1
  const replace = (from: number, to: number, instead: string): void => {
    if (from > kept) parts.push(text.slice(kept, from))
    if (instead !== "") parts.push(instead)
    kept = to
  }
  const closeMarks = (at: number): void => {
    if (surplus === -1) return
    note({ kind: "combining", level: "low", at: surplus, count: at - surplus, decoded: undefined })
    replace(surplus, at, "")
    surplus = -1
  }
  for (let at = 0; at < text.length;) {
    const point = text.codePointAt(at)!
    const kind = point < 0x7f && point >= 0x20 ? undefined : kindOf(point)
    if (kind === undefined) {
      if (point >= 0x300 && isMark(point)) {
        marks += 1
        if (marks > mostMarks && surplus === -1) surplus = at
      } else {
        closeMarks(at)
        marks = 0
      }
      before = point
      at += width(point)
      continue
    }
    closeMarks(at)
    const points: Array<number> = []
    let end = at
    for (let next: number = point; kindOf(next) === kind;) {
      points.push(next)
      end += width(next)
      if (end >= text.length) break
      next = text.codePointAt(end)!
    }
    const after = end < text.length ? text.codePointAt(end)! : -1
    const { found, instead } = verdict({ kind, points, before, after, text: text.slice(at, end) }, whole, as)
    if (found !== undefined) note({ ...found, at, count: points.length })
    if (instead === undefined) before = points.at(-1)!
    else replace(at, end, instead)
    at = end
  }
  closeMarks(text.length)
  if (kept === 0 && parts.length === 0) return { text, findings }
  parts.push(text.slice(kept))
  return { text: parts.join(""), findings }
}

const isTrail = (unit: number): boolean => (unit & 0xfc00) === 0xdc00

/**
 * A short text of a server for a model, such as a title or a description, with a note of how much was left out.
 *
 * @since 0.1.0
 * @category combinators
 */
export const brief = (text: string, limit: number): string => {
  // twice the limit, because hidden characters take room
  const seen = clean(text.slice(0, 2 * limit), "metadata").text
  if (seen.length <= limit && text.length <= 2 * limit) return seen
  const end = isTrail(seen.charCodeAt(limit)) ? limit - 1 : limit
  return `${seen.slice(0, end)}… (cut from ${text.length} characters)`
}

const cleanValue = (value: Json): Json => {
  if (typeof value === "string") return clean(value, "metadata").text
  if (Array.isArray(value)) {
    const items = value.map((item: Json) => cleanValue(item))
    return items.every((item, at) => item === value[at]) ? value : items
  }
  return isObject(value) ? cleanJson(value) : value
}

/**
 * A schema or another value of a server for a model; the same object if nothing hides in it, so that caches by identity
 * hold.
 *
 * @since 0.1.0
 * @category combinators
 */
export const cleanJson = (value: JsonObject): JsonObject => {
  let same = true
  const entries = Object.entries(value).flatMap(([key, before]): ReadonlyArray<readonly [string, Json]> => {
    if (before === undefined) return []
    const name = clean(key, "metadata").text
    const after = cleanValue(before)
    same &&= name === key && after === before
    return [[name, after]]
  })
  return same ? value : Object.fromEntries(entries)
}
