// How many tokens a text has, without a vocabulary. The text is cut where tokenizers cut it first: into words together
// with the blank before them, groups of three digits, and runs of signs. Each piece then counts as pieces of its kind do
// on average. The weights were fitted to o200k_base on prose, code, logs and data; `test/safety/Tokens.test.ts` says how
// far off they may be.

const other = 0
const blank = 1
const newline = 2
const digit = 3
const lower = 4
const upper = 5
const sign = 6

const kinds = new Uint8Array(128).map((_, code) => {
  if (code === 0x20 || code === 0x09) return blank
  if (code === 0x0a || code === 0x0d) return newline
  if (code >= 0x30 && code <= 0x39) return digit
  if (code >= 0x61 && code <= 0x7a) return lower
  if (code >= 0x41 && code <= 0x5a) return upper
  return sign
})

const kindOf = (code: number): number => code < 128 ? kinds[code]! : other

/** Words up to here mostly are one token, if they are words. */
const wordLength = 9

/** No word of a language that is written with these letters is much longer. */
const longest = 24

const letters = (length: number, capitals: number): number => {
  // Abbreviations and constants are cut finer than words, and what only looks like words finer still.
  if (capitals > 1) return capitals === length ? 0.4 + length * 0.27 : 0.3 + length * 0.58
  if (length <= wordLength) return 0.98
  return length <= longest ? 1 + (length - wordLength) * 0.17 : 3.5 + (length - longest) * 0.5
}

/** From the first code of a range up to the next, what one UTF-16 unit counts. */
const scripts: ReadonlyArray<readonly [from: number, weight: number]> = [
  [0x80, 1],
  [0xc0, 0.6],
  [0x250, 1],
  // marks that are put upon letters
  [0x300, 1.6],
  [0x370, 0.4],
  [0x400, 0.24],
  [0x530, 0.4],
  [0x600, 0.3],
  [0x700, 0.5],
  [0x900, 0.35],
  [0x1100, 0.8],
  [0x2000, 0.9],
  [0x3040, 0.62],
  [0x3100, 0.7],
  [0xa000, 1],
  [0xac00, 0.66],
  // half of a character outside the basic plane, mostly emoji
  [0xd800, 0.85],
  [0xe000, 1.2],
  [0xff00, 1]
]

/** By blocks of sixteen codes, since every range begins with one. */
const weights = new Float32Array(0x1000)
for (const [from, weight] of scripts) weights.fill(weight, from >> 4)

/**
 * About how many tokens, in one pass.
 *
 * @internal
 */
export const estimate = (text: string): number => {
  const { length } = text
  let tokens = 0
  let at = 0
  while (at < length) {
    const begin = at
    const code = text.charCodeAt(at)
    const kind = kindOf(code)
    switch (kind) {
      case lower:
      case upper: {
        let capitals = 0
        let seen = kind
        while (at < length) {
          const next = kindOf(text.charCodeAt(at))
          if (next !== lower && next !== upper) break
          // camelCase is two pieces
          if (next === upper && seen === lower) break
          if (next === upper) capitals++
          seen = next
          at++
        }
        tokens += letters(at - begin, capitals)
        break
      }
      case digit: {
        while (at < length && kindOf(text.charCodeAt(at)) === digit) at++
        tokens += Math.ceil((at - begin) / 3)
        break
      }
      case blank: {
        while (at < length && kindOf(text.charCodeAt(at)) === blank) at++
        const next = at < length ? kindOf(text.charCodeAt(at)) : newline
        // The last blank goes with the word, and to a digit it is one more piece
        const alone = next === digit || next === newline ? at - begin : at - begin - 1
        tokens += alone === 0 ? 0 : 1 + (alone >> 6)
        break
      }
      case newline: {
        while (at < length && kindOf(text.charCodeAt(at)) === newline) at++
        // The end of a line is one piece with the sign before it.
        const joined = begin > 0 && kindOf(text.charCodeAt(begin - 1)) === sign
        tokens += (joined ? 0 : 0.9) + ((at - begin) >> 5)
        break
      }
      case sign: {
        let changes = 0
        while (at < length && kindOf(text.charCodeAt(at)) === sign) {
          if (at > begin && text.charCodeAt(at) !== text.charCodeAt(at - 1)) changes++
          at++
        }
        tokens += 0.8 + changes * 0.35 + ((at - begin - changes) >> 6)
        break
      }
      default: {
        tokens += weights[code >> 4]!
        at++
      }
    }
  }
  return Math.ceil(tokens)
}
