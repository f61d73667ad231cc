/**
 * Credentials before the host of an address: `https://user:password@host`.
 *
 * @internal
 */
import * as SecretValue from "./secretValue.ts"

const longest = 1024

const authorityEnds = /[\s/?#"'`<>\\|]|$/

/**
 * The place of the credential, of the address whose `://` stands at `at`.
 *
 * @internal
 */
export const find = (text: string, at: number): { readonly at: number; readonly end: number } | undefined => {
  const from = at + 3
  const rest = text.slice(from, from + longest)
  const authority = rest.slice(0, authorityEnds.exec(rest)?.index ?? rest.length)
  const host = authority.lastIndexOf("@")
  if (host <= 0) return undefined
  const colon = authority.indexOf(":")
  const begin = colon >= 0 && colon < host ? colon + 1 : 0
  const secret = authority.slice(begin, host)
  const isSecret = begin > 0 ? SecretValue.isMadeUp(secret) : secret.length >= 16 && SecretValue.isGiven(secret)
  return isSecret ? { at: from + begin, end: from + host } : undefined
}
