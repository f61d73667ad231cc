/**
 * Private keys in their armour, whole or cut off.
 *
 * @internal
 */

const head = /-----BEGIN (?:[A-Z0-9]{2,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----/y

const longest = 32 * 1024

/** What the lines of a key are made of, and line breaks, written out or not. */
const body = /[0-9A-Za-z+/=\s\\:,.-]{0,32768}/y

/**
 * The place of the key whose armour begins at `at`.
 *
 * @internal
 */
export const find = (text: string, at: number): { readonly at: number; readonly end: number } | undefined => {
  head.lastIndex = at
  const begun = head.exec(text)
  if (begun === null) return undefined
  const from = at + begun[0].length
  const foot = text.slice(from, from + longest).indexOf("-----END ")
  if (foot >= 0) {
    const close = text.slice(from + foot + 9, from + foot + 80).indexOf("-----")
    return { at, end: close < 0 ? Math.min(text.length, from + foot + 80) : from + foot + 9 + close + 5 }
  }
  body.lastIndex = from
  const lines = body.exec(text)?.[0] ?? ""
  return lines.trim().length < 16 ? undefined : { at, end: from + lines.length }
}
