/**
 * An address without what only those may know who use it: who they are, and the secrets in its query.
 *
 * @internal
 */
import * as SecretValue from "./secretValue.ts"

const parameters = (text: string, isSensitive: (name: string) => boolean): string =>
  text.split("&").map((pair) => {
    const at = pair.indexOf("=")
    if (at < 0 || at === pair.length - 1) return pair
    const name = pair.slice(0, at)
    return isSensitive(name) || isSensitive(decoded(name)) ? `${name}=${SecretValue.mark}` : pair
  }).join("&")

const decoded = (name: string): string => {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

/** In queries, words are credentials that are harmless names elsewhere. */
const ofQueries: ReadonlySet<string> = new Set(["code", "key", "sig", "state"])

/** @internal */
export const hidden = (
  address: string,
  isSensitive: (name: string) => boolean,
  text: (text: string) => string
): string => {
  const sensitive = (name: string): boolean => ofQueries.has(name.toLowerCase()) || isSensitive(name)
  const hash = address.indexOf("#")
  const [before, fragment] = hash < 0 ? [address, undefined] : [address.slice(0, hash), address.slice(hash + 1)]
  const mark = before.indexOf("?")
  const [place, query] = mark < 0 ? [before, undefined] : [before.slice(0, mark), before.slice(mark + 1)]
  const authority = place.indexOf("//") + 2
  const path = authority < 2 ? -1 : place.indexOf("/", authority)
  const host = authority < 2 ? "" : place.slice(authority, path < 0 ? place.length : path)
  const user = host.lastIndexOf("@")
  const plain = user < 0
    ? place
    : `${place.slice(0, authority)}${SecretValue.mark}${place.slice(authority + user)}`
  return text(
    plain + (query === undefined ? "" : `?${parameters(query, sensitive)}`) +
      (fragment === undefined ? "" : `#${parameters(fragment, sensitive)}`)
  )
}
