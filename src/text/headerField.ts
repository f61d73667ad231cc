/** HTTP header fields (RFC 9110): valid names and values, `Retry-After` and `WWW-Authenticate`. */
import * as Duration from "effect/Duration"
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import * as UntrustedText from "./UntrustedText.ts"

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const value = /^[\t\u0020-\u007e\u0080-\u00ff]*$/
const plain = /^[\u0021-\u007e](?:[\t\u0020-\u007e]*[\u0021-\u007e])?$/

export const isName = (text: string): boolean => token.test(text)
export const isValue = (text: string): boolean => value.test(text)

/** Encodes a text as a header value: unchanged if safe, else with the base64 sentinel of SEP-2243. */
export const encode = (text: string): string =>
  plain.test(text) && !(text.startsWith("=?base64?") && text.endsWith("?="))
    ? text
    : `=?base64?${Encoding.encodeBase64(text)}?=`

/** Decodes a header value; `undefined` if the sentinel has invalid base64. */
export const decode = (value: string): string | undefined =>
  value.startsWith("=?base64?") && value.endsWith("?=")
    ? Either.getOrUndefined(Encoding.decodeBase64String(value.slice("=?base64?".length, -"?=".length)))
    : value

// Retry-After

/** The three forms of a date in HTTP; `Date.parse` alone reads `-5` and `1.5` as dates. */
const httpDate = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6},? [\w :-]{10,40}$/

/** `Retry-After`: whole seconds, or an HTTP date. */
export const retryAfter = (header: string | undefined, now: number): Duration.Duration | undefined => {
  const text = header?.trim() ?? ""
  if (/^\d+$/.test(text)) return Duration.seconds(Number(text))
  if (!httpDate.test(text)) return undefined
  const date = Date.parse(text.endsWith(" GMT") ? text : `${text} GMT`)
  return Number.isNaN(date) ? undefined : Duration.millis(Math.max(0, date - now))
}

// WWW-Authenticate

/** The challenge of a `WWW-Authenticate` header: untrusted. */
export interface Challenge {
  /** In lower case. */
  readonly schemes: ReadonlyArray<string>
  readonly error: string | undefined
  /** The header itself, escaped and bounded. */
  readonly challenge?: string | undefined
  readonly resourceMetadata: string | undefined
  readonly scope: string | undefined
}

const longestChallenge = 8 * 1024
const parameter = /([a-z_]{1,32})=(?:"((?:[^"\\]|\\.)*)"|([^\s",]+))/gi
/** A challenge starts with a word that is not followed by `=`. */
const schemeName = /(?:^|,)\s*([a-z][a-z0-9-]{0,31})(?=\s+[a-z_]|\s*(?:,|$))/gi

export const challengeOf = (header: string | undefined): Challenge => {
  const text = (header ?? "").slice(0, longestChallenge)
  const parameters = new Map<string, string>()
  for (const [, name, quoted, token] of text.matchAll(parameter)) {
    const key = name!.toLowerCase()
    if (!parameters.has(key)) parameters.set(key, quoted?.replace(/\\(.)/g, "$1") ?? token!)
  }
  return {
    schemes: Array.from(text.matchAll(schemeName), ([, name]) => name!.toLowerCase()),
    error: parameters.get("error"),
    challenge: header === undefined ? undefined : UntrustedText.excerpt(text),
    resourceMetadata: parameters.get("resource_metadata"),
    scope: parameters.get("scope")
  }
}
