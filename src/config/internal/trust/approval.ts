/**
 * An approval as it is kept: signed, so that nobody without the key can write one.
 *
 * @internal
 */
import * as Schema from "effect/Schema"
import { sha256 } from "../../../json/canonical.ts"
import * as Sealed from "../../Sealed.ts"
import type * as Trust from "../../Trust.ts"

const Approval = Schema.Struct({
  root: Schema.String,
  server: Schema.String,
  fingerprint: Schema.String,
  grants: Schema.Array(Schema.String),
  at: Schema.Number
})

/**
 * Where the approval of a server is.
 *
 * @internal
 */
export const placeOf = (
  { root, server }: Pick<Trust.Candidate, "root" | "server">
): ReadonlyArray<string> => [root, server]

/**
 * Under which the signature of an approval is kept that does not count any more.
 *
 * @internal
 */
export const voidKeyOf = (candidate: Pick<Trust.Candidate, "root" | "server">): string =>
  `void-${sha256(JSON.stringify(placeOf(candidate)))}`

/** @internal */
export const make = (
  store: Sealed.Options<typeof Approval.Type, typeof Approval.Encoded>["store"],
  key: Sealed.Key | undefined
): Sealed.Sealed<typeof Approval.Type> => Sealed.make({ store, key, kind: "approval", schema: Approval })
