/**
 * Private keys in their armour, whole or cut off, and as the parts of an object.
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

const lines = /private-lines: \d{1,3}(?:\s|\\[rn]){1,4}([0-9A-Za-z+/=\s\\]{16,32768})/iy

/**
 * The lines that PuTTY says of that they are private, where it says so at `at`.
 *
 * @internal
 */
export const findLines = (text: string, at: number): { readonly at: number; readonly end: number } | undefined => {
  lines.lastIndex = at
  const found = lines.exec(text)
  const secret = found?.[1]?.replace(/\s*private$|\s+$/i, "")
  if (found === null || secret === undefined) return undefined
  const from = at + found[0].length - found[1]!.length
  return { at: from, end: from + secret.length }
}

/** As far as an object with all parts of a large key goes. */
const longestObject = 8 * 1024

/** What only the owner of a key has of it: of curves and RSA `d`, of RSA its primes too, and of what is shared `k`. */
const part = /"(?:d|p|q|dp|dq|qi|k)\\?"\s{0,4}:\s{0,4}\\?"([0-9A-Za-z_-]{16,2048})/g

/**
 * The private parts of the key in JSON (JWK) of which `at` is the kind, and where it ends. It begins nowhere before
 * `after`, so that no part of a text is looked at twice.
 *
 * @internal
 */
export const findParts = (
  text: string,
  at: number,
  after: number
): { readonly parts: ReadonlyArray<{ readonly at: number; readonly end: number }>; readonly end: number } => {
  const begin = Math.max(after, at - longestObject)
  const from = begin + Math.max(0, text.slice(begin, at).lastIndexOf("{"))
  const behind = text.slice(at, at + longestObject)
  const close = behind.indexOf("}")
  const end = at + (close < 0 ? behind.length : close)
  const parts = Array.from(text.slice(from, end).matchAll(part), (found) => {
    const end = from + found.index + found[0].length
    return { at: end - found[1]!.length, end }
  })
  return { parts, end }
}
