/**
 * A look at a TOML text before it is parsed: how deep it goes, how much there is, and where its tables and keys begin,
 * none of which the parser tells. It takes the text for TOML; where it is not, the parser says so.
 *
 * @internal
 */
import type * as ConfigDocument from "../../ConfigDocument.ts"

/** @internal */
export interface Survey {
  readonly depth: number
  /** Where it is deepest. */
  readonly deepest: number
  /** Parts of names, and commas: about as much as there are entries. */
  readonly entries: number
  /** The most characters in a row that are neither in quotes nor a separator. */
  readonly longest: number
  /** Where tables and keys begin, by `pathOf`; not what is inside of values. */
  readonly places: () => ReadonlyMap<string, number>
}

interface Statement {
  readonly kind: "table" | "list" | "key"
  readonly keys: ReadonlyArray<string>
  readonly offset: number
}

const below = (path: string, key: string | number): string => `${path}\0${typeof key}:${key}`

/** @internal */
export const pathOf = (pointer: ConfigDocument.Pointer): string => pointer.reduce(below, "")

/** Where a text in quotes ends that begins here, or the end of the line or file if it does not. */
const endOfQuoted = (text: string, from: number): number => {
  const quote = text[from]!
  const isLong = text.startsWith(quote.repeat(3), from)
  let at = from + (isLong ? 3 : 1)
  for (; at < text.length; at++) {
    const char = text[at]
    if (char === "\\" && quote === "\"") at++
    else if (char === "\n" && !isLong) return at
    else if (char === quote) {
      if (!isLong) return at + 1
      if (text.startsWith(quote.repeat(3), at)) {
        at += 3
        // one or two quotes at the end are part of the text
        for (let more = 0; more < 2 && text[at] === quote; more++) at++
        return at
      }
    }
  }
  return text.length
}

const afterComment = (text: string, from: number): number => {
  const end = text.indexOf("\n", from)
  return end === -1 ? text.length : end
}

const isSpace = (char: string | undefined): boolean => char === " " || char === "\t"
const isBreak = (char: string | undefined): boolean => char === "\n" || char === "\r"

/** What a name in quotes stands for, if that is easily said. */
const unquoted = (quoted: string): string => quoted.includes("\\") ? quoted : quoted.slice(1, -1)

/** @internal */
export const survey = (text: string): Survey => {
  const statements: Array<Statement> = []
  let at = 0
  let depth = 0
  let deepest = 0
  let entries = 0
  let longest = 0

  const deeper = (to: number) => {
    if (to <= depth) return
    depth = to
    deepest = at
  }

  const word = (isEnd: (char: string) => boolean): string => {
    const from = at
    while (at < text.length && !isEnd(text[at]!)) at++
    longest = Math.max(longest, at - from)
    return text.slice(from, at)
  }

  /** The parts of a name, up to what cannot be one. */
  const keys = (): ReadonlyArray<string> => {
    const parts: Array<string> = []
    for (;;) {
      while (isSpace(text[at])) at++
      const char = text[at]
      if (char === "\"" || char === "'") {
        const end = endOfQuoted(text, at)
        parts.push(unquoted(text.slice(at, end)))
        at = end
      } else parts.push(word((char) => isSpace(char) || isBreak(char) || ".=]\"'#".includes(char)))
      entries++
      while (isSpace(text[at])) at++
      if (text[at] !== ".") return parts
      at++
    }
  }

  /** Over a value, to the end of its last line. */
  const value = (outside: number): void => {
    let open = 0
    while (at < text.length) {
      const char = text[at]!
      if (char === "\"" || char === "'") at = endOfQuoted(text, at)
      else if (char === "#") at = afterComment(text, at)
      else if (isBreak(char) && open <= 0) return
      else if (char === "[" || char === "{") {
        at++
        deeper(outside + ++open)
      } else if (char === "]" || char === "}") {
        at++
        open--
      } else if (char === "," || char === "=") {
        at++
        entries++
      } else if (isSpace(char) || isBreak(char)) at++
      else word((char) => isSpace(char) || isBreak(char) || ",=[]{}\"'#".includes(char))
    }
  }

  let table = 0
  while (at < text.length) {
    const char = text[at]!
    if (isSpace(char) || isBreak(char)) at++
    else if (char === "#") at = afterComment(text, at)
    else {
      const offset = at
      const header = text.startsWith("[[", at) ? 2 : char === "[" ? 1 : 0
      at += header
      const name = keys()
      statements.push({ kind: header === 2 ? "list" : header === 1 ? "table" : "key", keys: name, offset })
      // the document is a table too, and an entry of a list of tables is one more
      if (header > 0) table = name.length + header
      deeper(header > 0 ? table : Math.max(table, 1) + name.length - 1)
      if (header === 0 && text[at] === "=") at++
      value(Math.max(table, 1) + name.length - 1)
    }
  }

  return { depth, deepest, entries, longest, places: () => placesOf(statements) }
}

const placesOf = (statements: ReadonlyArray<Statement>): ReadonlyMap<string, number> => {
  const places = new Map<string, number>()
  const lengths = new Map<string, number>()
  let table = ""

  /** The path of a name: through a list of tables it goes by the last of them. */
  const resolve = (from: string, keys: ReadonlyArray<string>, offset: number): string => {
    let path = from
    for (const key of keys) {
      path = below(path, key)
      if (!places.has(path)) places.set(path, offset)
      const length = lengths.get(path)
      if (length !== undefined) path = below(path, length - 1)
    }
    return path
  }

  for (const { keys, kind, offset } of statements) {
    if (kind === "key") resolve(table, keys, offset)
    else if (kind === "table") table = resolve("", keys, offset)
    else {
      const list = below(resolve("", keys.slice(0, -1), offset), keys.at(-1) ?? "")
      const length = lengths.get(list) ?? 0
      lengths.set(list, length + 1)
      if (length === 0) places.set(list, offset)
      table = below(list, length)
      places.set(table, offset)
    }
  }
  return places
}
