/**
 * @internal
 */

/** For each length of a beginning, how much of the piece its end begins again: so a search never goes back. */
const restarts = (piece: string): Int32Array => {
  const table = new Int32Array(piece.length)
  let length = 0
  for (let at = 1; at < piece.length; at++) {
    while (length > 0 && piece.charCodeAt(at) !== piece.charCodeAt(length)) length = table[length - 1]!
    if (piece.charCodeAt(at) === piece.charCodeAt(length)) length += 1
    table[at] = length
  }
  return table
}

/** Where the piece ends in the text, in the first place at or after `from`; -1 if nowhere. */
const endOf = (piece: string, table: Int32Array, text: string, from: number): number => {
  let length = 0
  for (let at = from; at < text.length; at++) {
    while (length > 0 && text.charCodeAt(at) !== piece.charCodeAt(length)) length = table[length - 1]!
    if (text.charCodeAt(at) === piece.charCodeAt(length)) length += 1
    if (length === piece.length) return at + 1
  }
  return -1
}

/**
 * Makes a pattern ready that fits whole texts: `*` is any run of characters, and everything else is itself (an address
 * has question marks). Takes time in proportion to the text, whatever the pattern, because both may be foreign.
 *
 * @internal
 */
export const wildcard = (pattern: string): (text: string) => boolean => {
  const pieces = pattern.split("*")
  const first = pieces[0]!
  if (pieces.length === 1) return (text) => text === first
  const last = pieces.at(-1)!
  const middle = pieces.slice(1, -1).filter((piece) => piece !== "").map((piece) => ({ piece, table: restarts(piece) }))
  return (text) => {
    if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false
    const end = text.length - last.length
    let at = first.length
    for (const { piece, table } of middle) {
      at = endOf(piece, table, text, at)
      if (at === -1 || at > end) return false
    }
    return true
  }
}

const ascii = /^[\u0000-\u007f]*$/

/**
 * Folds case. Converts to upper case first, because `ẞ` and `ß`, or `Σ`, `σ` and `ς`, are equal only after that.
 *
 * @internal
 */
export const caseFolded = (text: string): string =>
  ascii.test(text) ? text.toLowerCase() : text.toLowerCase().toUpperCase().toLowerCase().replaceAll("ς", "σ")
