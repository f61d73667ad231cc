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
  const parts = text.match(part) ?? []
  if (parts.length < 2) return [whole]
  const names = parts.filter((name) => name.length > 1 && !digits.test(name)).map((name) => name.toLowerCase())
  if (names.length < parts.length) return [whole, ...names]
  if (prose && /^[A-Z]/.test(text)) return [whole]
  return parts.length === 2 ? [whole, ...names] : names
}

/** Digits and letters of English, by their codes. */
const isPlain = Uint8Array.from({ length: 128 }, (_, code) => /[A-Za-z0-9]/.test(String.fromCharCode(code)) ? 1 : 0)

/**
 * Tells of the stretches of letters and digits in a text, without accents, until that is enough.
 *
 * @internal
 */
export const eachRun = (text: string, isEnough: (run: string) => boolean): void => {
  if (foreign.test(text)) {
    text.normalize("NFKD").replace(accents, "").normalize("NFC").slice(0, 2 * text.length).match(anyRun)?.some(isEnough)
    return
  }
  let from = -1
  for (let at = 0; at <= text.length; at++) {
    if (at < text.length && isPlain[text.charCodeAt(at)] === 1) {
      if (from < 0) from = at
    } else if (from >= 0) {
      if (isEnough(text.slice(from, at))) return
      from = -1
    }
  }
}
