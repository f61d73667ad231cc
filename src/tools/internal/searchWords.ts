/**
 * Texts as words, in a form in which a query and what it means can meet.
 *
 * @internal
 */

/** What is behind this in a run of letters is not looked at: nobody types more, and blobs are no words. */
const longest = 40

const anyRun = /[\p{L}\p{M}\p{N}]+/gu
const foreign = /[^\u0000-\u007f]/
const accents = /[\u0300-\u036f]/g
const part = /[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^A-Za-z0-9]+/g
const capital = /^[A-Z]/
const digits = /^[0-9]+$/
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u

/** Scripts without spaces between words are read in pairs of characters. */
const pairs = (text: string): ReadonlyArray<string> => {
  const points = Array.from(text)
  return points.length < 3 ? [text] : points.slice(1).map((point, at) => points[at]! + point)
}

/**
 * The words of a stretch, in lower case. A name in camel case is its parts. In prose, where it begins with a capital it
 * is a brand, and one word. With digits in it, and with two parts, it is one word as well: `k8s`, `JavaScript`.
 *
 * @internal
 */
export const split = (stretch: string, prose: boolean): ReadonlyArray<string> => {
  const text = stretch.slice(0, longest)
  const whole = text.toLowerCase()
  if (foreign.test(text)) return unspaced.test(text) ? pairs(whole) : [whole]
  const parts = text.match(part)
  if (parts === null || parts.length < 2) return [whole]
  const words = [whole]
  for (const name of parts) {
    if (name.length > 1 && !digits.test(name)) words.push(name.toLowerCase())
  }
  if (words.length <= parts.length) return words
  if (prose && capital.test(text)) return [whole]
  return parts.length === 2 ? words : words.slice(1)
}

/** Digits and letters of English, by their codes. */
const isPlain = Uint8Array.from({ length: 128 }, (_, code) => /[A-Za-z0-9]/.test(String.fromCharCode(code)) ? 1 : 0)

/**
 * Is told of a stretch by where it is, and by a number that the same stretch always has.
 *
 * @internal
 */
export type See<A> = (text: string, from: number, to: number, hash: number) => A

const hashed = (hash: number, code: number): number => (Math.imul(hash, 31) + code) | 0

/** The last bits say least of a product, and they are the ones that are used. */
const mixed = (hash: number): number => hash ^ (hash >>> 15)

const tell = (run: string, isEnough: See<boolean>): boolean => {
  let hash = 0
  for (let at = 0; at < run.length; at++) hash = hashed(hash, run.charCodeAt(at))
  return isEnough(run, 0, run.length, mixed(hash))
}

/** What takes the place of one character is seldom longer than this. */
const spelledOut = 16

/** A stretch that is not all English, without accents: there may be several in it. */
const tellForeign = (stretch: string, isEnough: See<boolean>): boolean => {
  const text = stretch.normalize("NFKD").replace(accents, "").normalize("NFC").slice(0, 2 * stretch.length + spelledOut)
  for (const run of text.match(anyRun) ?? []) {
    if (tell(run, isEnough)) return true
  }
  return false
}

const space = 32

/**
 * Tells of the stretches of letters and digits in a text, without accents, until that is enough. What is not English is
 * looked at closely, which takes a hundred times as long, and the English around it is not: nothing joins across what
 * stands between words.
 *
 * @internal
 */
export const eachRun = (text: string, isEnough: See<boolean>): void => {
  let from = -1
  let hash = 0
  let isForeign = false
  const { length } = text
  for (let at = 0; at <= length; at++) {
    const code = at < length ? text.charCodeAt(at) : space
    if (code > 127) {
      isForeign = true
      if (from < 0) from = at
    } else if (isPlain[code] === 1) {
      if (from < 0) from = at
      hash = hashed(hash, code)
    } else if (from >= 0) {
      if (isForeign ? tellForeign(text.slice(from, at), isEnough) : isEnough(text, from, at, mixed(hash))) return
      from = -1
      hash = 0
      isForeign = false
    }
  }
}
