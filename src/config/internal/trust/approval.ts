/**
 * An approval as it is kept: signed, so that nobody without the key can write one.
 *
 * @internal
 */
import * as Either from "effect/Either"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { sha256 } from "../../../internal/sha256.ts"
import type * as Trust from "../../Trust.ts"
import * as TrustKey from "./trustKey.ts"

const Kept = Schema.parseJson(Schema.Struct({
  version: Schema.Literal(1),
  root: Schema.String,
  server: Schema.String,
  fingerprint: Schema.String,
  grants: Schema.Array(Schema.String),
  at: Schema.Number,
  /** No two approvals are the same, not even of the same thing at the same time. */
  nonce: Schema.String,
  mac: Schema.String
}))

/** @internal */
export type Approval = Omit<typeof Kept.Type, "version" | "mac">

/** @internal */
export type Signed = typeof Kept.Type

type Place = Pick<Trust.Candidate, "root" | "server">

/** Names and paths are not for everybody who can list the keys. */
const keyed = (what: string) => ({ root, server }: Place): string => `${what}-${sha256(JSON.stringify([root, server]))}`

/** @internal */
export const keyOf = keyed("approval")

/**
 * Under which the signature of an approval is kept that does not count any more.
 *
 * @internal
 */
export const voidKeyOf = keyed("void")

/**
 * Under which what was found in place of an approval is kept.
 *
 * @internal
 */
export const asideKeyOf = keyed("aside")

/** One way to write all that is signed, which no two approvals share. */
const text = ({ at, fingerprint, grants, nonce, root, server }: Approval): string =>
  JSON.stringify(["approval", 1, root, server, fingerprint, grants, at, nonce])

const encodeKept = Schema.encodeSync(Kept)
const decodeKept = Schema.decodeUnknownEither(Kept)

/** @internal */
export const encode = (key: Redacted.Redacted, approval: Approval): string =>
  encodeKept({ version: 1, ...approval, mac: TrustKey.sign(key, text(approval)) })

/**
 * Nothing, if it is not an approval of this server that was signed with this key.
 *
 * @internal
 */
export const decode = (key: Redacted.Redacted | undefined, kept: string, place: Place): Signed | undefined => {
  const decoded = decodeKept(kept)
  if (Either.isLeft(decoded) || key === undefined) return undefined
  const approval = decoded.right
  if (approval.root !== place.root || approval.server !== place.server) return undefined
  return TrustKey.isSigned(key, text(approval), approval.mac) ? approval : undefined
}
