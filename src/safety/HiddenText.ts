/** Takes out of a server's text the characters that a person does not see and a model reads, and reports them. */
import { isObject, type Json, type JsonObject } from "../json/Json.ts"
import {
  asciiWord,
  hasRightToLeft,
  isEmoji,
  isHan,
  isHangul,
  isLetter,
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

/**
 * `tags` is ASCII out of sight, `bidi` changes the direction of writing, `filler` is a blank that counts as a letter,
 * `variation` selects where there is nothing to select, `annotation` includes the replacement for objects (U+FFFC),
 * `control` is what a terminal obeys, `combining` is more marks than a letter has, `surrogate` is half a character, and
 * `confusable` is a word of two alphabets that looks like one. The kinds left out are reported as one of the others.
 */
export type Kind =
  | Exclude<Invisible, "mark" | "operator" | "blank" | "soft-hyphen" | "joiner">
  | "combining"
  | "confusable"

export interface Finding {
  readonly kind: Kind
  readonly level: "low" | "medium" | "high"
  /** The place in the text as it came. */
  readonly at: number
  /** How many characters in a row. */
  readonly count: number
  /** The text that the characters encode, not escaped. */
  readonly decoded: string | undefined
}

/** No script puts more marks on one letter. */
const mostMarks = 8

/** Findings of one text. */
const mostFindings = 256

/** The report on a run of characters of one kind, and its replacement; the run stays where `instead` is missing. */
interface Verdict {
  readonly found?: Omit<Finding, "at" | "count">
  readonly instead?: string | undefined
}

interface Run {
  readonly kind: Invisible
  readonly points: ReadonlyArray<number>
  /** The code points around it, -1 at the ends of the text. */
  readonly before: number
  readonly after: number
  readonly text: string
}

/** The direction of the text that a run stands in. */
interface Direction {
  readonly isRightToLeft: boolean
  /** See `hasIsolatesOnly`. */
  readonly hasIsolatesOnly: boolean
}

const stays: Verdict = {}

const found = (kind: Kind, level: Finding["level"], instead?: string, decoded?: string): Verdict => ({
  found: { kind, level, decoded },
  instead
})

const stripped = (kind: Kind, level: Finding["level"], decoded?: string): Verdict => found(kind, level, "", decoded)

/** Of long runs only the beginning is decoded. */
const mostDecoded = 4096

/** Bytes as text, if four in five of its characters are printable. */
const printable = (bytes: ReadonlyArray<number>): string | undefined => {
  if (bytes.length < 2) return undefined
  const chars = Array.from(new TextDecoder().decode(new Uint8Array(bytes)))
  const readable = chars.filter((char) => char >= " " && char !== "\u007f" && char !== "\ufffd").length
  return readable * 5 >= chars.length * 4 ? chars.join("") : undefined
}

const decodeTags = (points: ReadonlyArray<number>): string | undefined => {
  const ascii = points.map((point) => point - 0xe0000).filter((code) => code >= 0x20 && code < 0x7f)
  return ascii.length === 0 ? undefined : String.fromCharCode(...ascii.slice(0, mostDecoded))
}

/** Each of the 256 variation selectors stands for a byte. */
const decodeVariations = (points: ReadonlyArray<number>): string | undefined =>
  printable(
    points.slice(0, mostDecoded)
      .map((point) => point >= 0xe0100 ? point - 0xe0100 + 16 : point - 0xfe00)
      .filter((byte) => byte >= 0)
  )

/** Two zero-width characters in turn stand for bits, eight to a byte; either can be zero. */
const decodeZeroWidth = (points: ReadonlyArray<number>): string | undefined => {
  const kinds = [...new Set(points)]
  if (points.length < 16 || kinds.length !== 2) return undefined
  const bytes = Math.floor(Math.min(points.length, 8 * mostDecoded) / 8)
  const read = (zero: number): string | undefined =>
    printable(
      Array.from({ length: bytes }, (_, byte) =>
        points.slice(8 * byte, 8 * byte + 8).reduce((sum, point) => 2 * sum + (point === zero ? 0 : 1), 0))
    )
  return read(kinds[0]!) ?? read(kinds[1]!)
}

/** The flags of England, Scotland and Wales are the only sequences with tags that Unicode recommends. */
const regions: ReadonlySet<string> = new Set(["gbeng", "gbsct", "gbwls"])

const tags = ({ before, points }: Run): Verdict => {
  const decoded = decodeTags(points)
  if (before === 0x1f3f4 && points.at(-1) === 0xe007f && points.length === 6 && regions.has(decoded ?? "")) return stays
  const language = points[0] === 0xe0001 && points.length <= 9
  return stripped("tags", language ? "medium" : "high", decoded)
}

const zeroWidth = ({ after, before, points }: Run): Verdict => {
  const only = points.length === 1 ? points[0] : undefined
  if (only === 0x200d && isPictographic(before) && isPictographic(after)) return stays
  const fitsAfter = after === -1 || isShaped(after) || !(isLetter(after) || kindOf(after) !== undefined)
  if ((only === 0x200c || only === 0x200d) && isShaped(before) && fitsAfter) return stays
  if (only === 0x200b && (isUnspaced(before) || isUnspaced(after))) return stays
  if (only === 0xfeff && before === -1) return stripped("zero-width", "low")
  return invisible(points)
}

/** Two invisible characters in turn can stand for bits. */
const invisible = (points: ReadonlyArray<number>): Verdict => {
  const decoded = decodeZeroWidth(points)
  return stripped("zero-width", decoded === undefined && points.length < 16 ? "medium" : "high", decoded)
}

const variation = ({ before, points }: Run): Verdict => {
  const only = points.length === 1 ? points[0]! : undefined
  if (only !== undefined) {
    if ((only === 0xfe0e || only === 0xfe0f) && (isEmoji(before) || !isLetter(before))) return stays
    if (only >= 0xe0100 && isHan(before)) return stays
    if (only < 0xfe00 && isMongolian(before)) return stays
    if (only >= 0xfe00 && only < 0xfe0e && before >= 0x2200) return stays
  }
  const decoded = decodeVariations(points)
  return stripped("variation", decoded !== undefined || points.length >= 8 ? "high" : "medium", decoded)
}

/** Characters that begin a terminal's escape sequence, move its cursor or change its character set. */
const terminalControl = /[\b\u000e\u000f\u001b\u0080-\u009f]/

const verdict = (run: Run, whole: Direction, as: "metadata" | "result"): Verdict => {
  switch (run.kind) {
    case "tags":
      return tags(run)
    case "bidi":
      return whole.hasIsolatesOnly && whole.isRightToLeft ? stays : stripped("bidi", "high")
    case "mark":
      return whole.isRightToLeft && run.points.length <= 2 ? stays : stripped("bidi", "low")
    case "zero-width":
      return zeroWidth(run)
    case "operator":
      return invisible(run.points)
    case "filler":
      return run.points.length === 1 && isHangul(run.before) ? stays : stripped("filler", "medium")
    case "blank":
      return found("filler", "low")
    case "soft-hyphen":
      // one after a letter marks where a line may break
      return run.points.length === 1 && isLetter(run.before)
        ? stripped("zero-width", "low")
        : invisible(run.points)
    case "joiner":
      return isMongolian(run.before) ? stays : stripped("zero-width", "low")
    case "variation":
      return variation(run)
    case "annotation":
      // text taken from a document has one of these where a picture was
      return stripped("annotation", run.points.every((point) => point === 0xfffc) ? "low" : "medium")
    case "control": {
      const isGrave = terminalControl.test(run.text) || as === "metadata"
      return found("control", isGrave ? "medium" : "low", UntrustedText.escape(run.text))
    }
    case "private-use":
      return found("private-use", "low")
    case "noncharacter":
    case "surrogate":
      return found(run.kind, "low", "\ufffd".repeat(run.points.length))
  }
}

/** True if all isolates are closed on their line and nothing overrides the direction of letters. */
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

/** Words of ASCII, Greek, Cyrillic, Armenian and Cherokee letters; a shorter word may be a formula. */
const longWords = /[A-Za-z\u0370-\u058f\u13a0-\u13f5]{4,}/g

/** The words that mix letters of ASCII with letters that look the same. */
const mixedWords = (text: string): ReadonlyArray<RegExpExecArray> =>
  /[\u0370-\u058f\u13a0-\u13f5]/.test(text)
    ? Array.from(text.matchAll(longWords)).filter(([word]) =>
      /[A-Za-z]/.test(word) && /[^A-Za-z]/.test(word) && asciiWord(word) !== undefined
    )
    : []

/**
 * Removes what hides and escapes control characters. Characters that a script or a picture needs stay: joiners of Persian
 * and Hindi, sequences of emoji, variants of Han characters. A text with nothing to change is returned unchanged. Names
 * and descriptions (`metadata`) are judged more strictly than results.
 */
export const clean = (
  text: string,
  as: "metadata" | "result"
): { readonly text: string; readonly findings: ReadonlyArray<Finding> } => {
  const findings: Array<Finding> = []
  const note = (finding: Finding): void => {
    if (findings.length < mostFindings) findings.push(finding)
  }
  for (const { index: at } of mixedWords(text)) {
    note({ kind: "confusable", level: as === "metadata" ? "high" : "medium", at, count: 1, decoded: undefined })
  }
  if (!mayHide(text)) return { text, findings }

  const whole = { isRightToLeft: hasRightToLeft(text), hasIsolatesOnly: hasIsolatesOnly(text) }
  let cleaned = ""
  let kept = 0
  let before = -1
  let marks = 0
  let surplus = -1
  const replace = (from: number, to: number, instead: string): void => {
    cleaned += text.slice(kept, from) + instead
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
    for (let next: number | undefined = point; next !== undefined && kindOf(next) === kind;) {
      points.push(next)
      end += width(next)
      next = text.codePointAt(end)
    }
    const after = text.codePointAt(end) ?? -1
    const { found, instead } = verdict({ kind, points, before, after, text: text.slice(at, end) }, whole, as)
    if (found !== undefined) note({ ...found, at, count: points.length })
    if (instead === undefined) before = points.at(-1)!
    else replace(at, end, instead)
    at = end
  }
  closeMarks(text.length)
  return { text: kept === 0 ? text : cleaned + text.slice(kept), findings }
}

/** A cleaned title or description for a model, with a note of how much was left out. */
export function brief(text: string, limit: number): string
export function brief(text: string | undefined, limit: number): string | undefined
export function brief(text: string | undefined, limit: number): string | undefined {
  if (text === undefined) return undefined
  // hidden characters may fill half of it
  const seen = clean(text.slice(0, 2 * limit), "metadata").text
  if (seen.length <= limit && text.length <= 2 * limit) return seen
  const end = (seen.codePointAt(limit - 1) ?? 0) > 0xffff ? limit - 1 : limit
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

/** A cleaned schema or other JSON; the same object if nothing hides in it, because callers cache by identity. */
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
