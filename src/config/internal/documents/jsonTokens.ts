/**
 * The words and marks of JSON with comments, one after the other. Runs of characters are left to the system's own search,
 * which is many times quicker than a look at each.
 *
 * @internal
 */

/** @internal */
export type Kind =
  | "{"
  | "}"
  | "["
  | "]"
  | ","
  | ":"
  | "text"
  | "number"
  | "null"
  | "true"
  | "false"
  | "comment"
  | "unknown"
  | "end"

/** @internal */
export interface Tokens {
  /** Goes on to the next one. Behind one that is broken or unknown there is nothing that means anything. */
  readonly next: () => Kind
  /** Where the token begins. */
  readonly offset: () => number
  /** What a text stands for, or a number as it is written. */
  readonly value: () => string
  /** A text that was written with escapes may hold halves of characters. */
  readonly isEscaped: () => boolean
  /** A text, number or comment that is not as it has to be, or does not end. */
  readonly isBroken: () => boolean
}

const marks: ReadonlySet<string> = new Set<Kind>(["{", "}", "[", "]", ",", ":"])
const isMark = (char: string): char is "{" | "}" | "[" | "]" | "," | ":" => marks.has(char)

const words: ReadonlySet<string> = new Set<Kind>(["null", "true", "false"])
const isWord = (text: string): text is "null" | "true" | "false" => words.has(text)

/** A text with escapes, which the system reads many times quicker than a look at each; nothing if it is none. */
const unescaped = (text: string): string | undefined => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === "string" ? value : undefined
  } catch {
    return undefined
  }
}

const backslash = 0x5c

const wholeNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[Ee][-+]?\d+)?$/

/** @internal */
export const make = (text: string): Tokens => {
  const space = /[ \t\r\n]*/y
  // up to the end of a text, or to what needs a look
  const plain = /[^"\\\u0000-\u001f]*/y
  const digits = /-?(?:0|[1-9]\d*)(?:\.\d*)?(?:[Ee][-+]?\d*)?/y
  const word = /[^ \t\r\n{}[\]":,/]*/y
  const line = /[^\r\n]*/y
  let at = 0
  let offset = 0
  let value = ""
  let isEscaped = false
  let isBroken = false

  /** Where that ends which fits from here on. */
  const endOf = (pattern: RegExp): number => {
    pattern.lastIndex = at
    return pattern.test(text) ? pattern.lastIndex : at
  }

  const broken = (kind: Kind): Kind => {
    isBroken = true
    return kind
  }

  /** Where the text ends that begins at `from`: at a quote with an even number of backslashes before it. */
  const close = (from: number): number => {
    for (let end = text.indexOf("\"", from + 1); end !== -1; end = text.indexOf("\"", end + 1)) {
      let first = end
      while (text.charCodeAt(first - 1) === backslash) first--
      if ((end - first) % 2 === 0) return end
    }
    return -1
  }

  const quoted = (): Kind => {
    const from = at
    at++
    const plainEnd = endOf(plain)
    const char = text.charAt(plainEnd)
    isEscaped = char === "\\"
    const end = isEscaped ? close(from) : char === "\"" ? plainEnd : -1
    const read = end === -1 ? undefined : isEscaped ? unescaped(text.slice(from, end + 1)) : text.slice(at, end)
    if (read === undefined) return broken("text")
    value = read
    at = end + 1
    return "text"
  }

  const comment = (): Kind => {
    if (text.charAt(at + 1) === "/") {
      at = endOf(line)
      return "comment"
    }
    if (text.charAt(at + 1) !== "*") return "unknown"
    const end = text.indexOf("*/", at + 2)
    if (end === -1) return broken("comment")
    at = end + 2
    return "comment"
  }

  const number = (): Kind => {
    const end = endOf(digits)
    if (end === at) return "unknown"
    value = text.slice(at, end)
    at = end
    return wholeNumber.test(value) ? "number" : broken("number")
  }

  const next = (): Kind => {
    offset = at = endOf(space)
    if (at >= text.length) return "end"
    const char = text.charAt(at)
    if (isMark(char)) {
      at++
      return char
    }
    if (char === "\"") return quoted()
    if (char === "/") return comment()
    if (char === "-" || (char >= "0" && char <= "9")) return number()
    value = text.slice(at, endOf(word))
    at += value.length
    return isWord(value) ? value : "unknown"
  }

  return {
    next,
    offset: () => offset,
    value: () => value,
    isEscaped: () => isEscaped,
    isBroken: () => isBroken
  }
}
