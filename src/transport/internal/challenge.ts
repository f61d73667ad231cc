/** @internal */
import * as UntrustedText from "../../UntrustedText.ts"

/**
 * What a `WWW-Authenticate` header asks for.
 *
 * @internal
 */
export interface Challenge {
  readonly challenge: string | undefined
  readonly resourceMetadata: string | undefined
  readonly scope: string | undefined
}

const longest = 8 * 1024
const parameter = /([a-z_]{1,32})=(?:"((?:[^"\\]|\\.)*)"|([^\s",]+))/gi

/** @internal */
export const parse = (header: string | undefined): Challenge => {
  if (header === undefined) return { challenge: undefined, resourceMetadata: undefined, scope: undefined }
  const text = header.slice(0, longest)
  let resourceMetadata: string | undefined
  let scope: string | undefined
  for (const [, name, quoted, token] of text.matchAll(parameter)) {
    const value = quoted?.replace(/\\(.)/g, "$1") ?? token
    if (name?.toLowerCase() === "resource_metadata") resourceMetadata ??= value
    if (name?.toLowerCase() === "scope") scope ??= value
  }
  return { challenge: UntrustedText.excerpt(text), resourceMetadata, scope }
}
