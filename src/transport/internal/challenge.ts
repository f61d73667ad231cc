/** @internal */
import * as UntrustedText from "../../text/UntrustedText.ts"

/**
 * What a `WWW-Authenticate` header asks for.
 *
 * @internal
 */
export interface Challenge {
  /** In lower case. */
  readonly schemes: ReadonlyArray<string>
  readonly error: string | undefined
  readonly challenge: string | undefined
  readonly resourceMetadata: string | undefined
  readonly scope: string | undefined
}

/** What begins a challenge is a word that no `=` follows. */
const schemeName = /(?:^|,)\s*([a-z][a-z0-9-]{0,31})(?=\s+[a-z_]|\s*(?:,|$))/gi

const longest = 8 * 1024
const parameter = /([a-z_]{1,32})=(?:"((?:[^"\\]|\\.)*)"|([^\s",]+))/gi

/** @internal */
export const parse = (header: string | undefined): Challenge => {
  if (header === undefined) {
    return { schemes: [], error: undefined, challenge: undefined, resourceMetadata: undefined, scope: undefined }
  }
  const text = header.slice(0, longest)
  let resourceMetadata: string | undefined
  let scope: string | undefined
  let error: string | undefined
  for (const [, name, quoted, token] of text.matchAll(parameter)) {
    const value = quoted?.replace(/\\(.)/g, "$1") ?? token
    if (name?.toLowerCase() === "resource_metadata") resourceMetadata ??= value
    if (name?.toLowerCase() === "scope") scope ??= value
    if (name?.toLowerCase() === "error") error ??= value
  }
  const schemes = Array.from(text.matchAll(schemeName), ([, name]) => name!.toLowerCase())
  return { schemes, error, challenge: UntrustedText.excerpt(text), resourceMetadata, scope }
}
