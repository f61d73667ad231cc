/**
 * Which rights are asked for.
 *
 * @internal
 */

/** What RFC 6749 lets a token be: nothing that a terminal would act on. */
const name = /^[\u0021\u0023-\u005b\u005d-\u007e]+$/

/** The tokens of a scope, each once, in the order in which they were first seen. */
const tokensOf = (scopes: ReadonlyArray<string | undefined>): ReadonlyArray<string> =>
  Array.from(new Set(scopes.flatMap((scope) => scope?.split(" ") ?? []).filter((token) => name.test(token))))

/** @internal */
export const union = (...scopes: ReadonlyArray<string | undefined>): string | undefined => {
  const tokens = tokensOf(scopes)
  return tokens.length === 0 ? undefined : tokens.join(" ")
}

/**
 * Whether the first has all that the second has.
 *
 * @internal
 */
export const covers = (scope: string | undefined, other: string | undefined): boolean => {
  const has = new Set(tokensOf([scope]))
  return tokensOf([other]).every((token) => has.has(token))
}

/** @internal */
export interface Wanted {
  /** What was asked for before in this login: more rights are added to those, and do not replace them. */
  readonly asked: string | undefined
  readonly configured: ReadonlyArray<string> | undefined
  /** What the server said when it refused. */
  readonly challenge: string | undefined
  /** What the resource, and the authorization server, say that there is. */
  readonly resource: ReadonlyArray<string> | undefined
  readonly issuer: ReadonlyArray<string> | undefined
  /** Whether a token that renews itself is of use. */
  readonly offline: boolean
}

const offlineAccess = "offline_access"

/**
 * What the server asks for, or else what was configured, or else all that the resource knows of; nothing, if nobody says
 * anything, which means whatever the authorization server thinks right.
 *
 * @internal
 */
export const select = ({ asked, challenge, configured, issuer, offline, resource }: Wanted): string | undefined => {
  const first = challenge ?? (configured === undefined ? resource?.join(" ") : undefined)
  const scope = union(asked, configured?.join(" "), first)
  return offline && issuer?.includes(offlineAccess) === true ? union(scope, offlineAccess) : scope
}
