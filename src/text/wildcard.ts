/** Patterns with `*`, matched in linear time, because pattern and text may be untrusted. */

/** A string, or an array of its code points. */
type Text = ArrayLike<string>

/** For each prefix of the piece, the length of its longest proper prefix that is a suffix too (Knuth, Morris, Pratt). */
const prefixTable = (piece: Text): Int32Array => {
  const table = new Int32Array(piece.length)
  for (let at = 1, length = 0; at < piece.length; at++) {
    while (length > 0 && piece[at] !== piece[length]) length = table[length - 1]!
    if (piece[at] === piece[length]) length += 1
    table[at] = length
  }
  return table
}

/** The end of the first occurrence at or after `from`, or -1. */
type Search = (text: Text, from: number) => number

const literal = (piece: Text): Search => {
  const table = prefixTable(piece)
  return (text, from) => {
    let length = 0
    for (let at = from; at < text.length; at++) {
      while (length > 0 && text[at] !== piece[length]) length = table[length - 1]!
      if (text[at] === piece[length]) length += 1
      if (length === piece.length) return at + 1
    }
    return -1
  }
}

const fitsAt = (piece: Text, text: Text, at: number, single: string | undefined): boolean => {
  for (let i = 0; i < piece.length; i++) if (piece[i] !== text[at + i] && piece[i] !== single) return false
  return true
}

const withSingles = (piece: Text, single: string): Search => (text, from) => {
  for (let at = from; at + piece.length <= text.length; at++) {
    if (fitsAt(piece, text, at, single)) return at + piece.length
  }
  return -1
}

/**
 * Compiles a pattern that must match the whole text: `*` matches any run of characters, all other characters are literal.
 * With `single: "?"` a question mark matches one character; a piece with one is searched in quadratic time.
 */
export const wildcard = (pattern: string, single?: "?"): (text: string) => boolean => {
  const units = (text: string): Text => single === undefined ? text : Array.from(text)
  const pieces = pattern.split("*").map(units)
  const first = pieces[0]!
  const last = pieces.at(-1)!
  const middle = pieces.slice(1, -1).filter((piece) => piece.length > 0).map((piece) =>
    single !== undefined && Array.from(piece).includes(single) ? withSingles(piece, single) : literal(piece)
  )
  const fixed = pieces.length === 1 ? first.length : first.length + last.length
  return (whole) => {
    const text = units(whole)
    if (pieces.length === 1 ? text.length !== fixed : text.length < fixed) return false
    const end = text.length - last.length
    if (!fitsAt(first, text, 0, single) || !fitsAt(last, text, end, single)) return false
    let at = first.length
    for (const search of middle) {
      at = search(text, at)
      if (at === -1 || at > end) return false
    }
    return true
  }
}
