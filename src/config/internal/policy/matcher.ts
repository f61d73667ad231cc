/**
 * @internal
 */
import { caseFolded } from "../../../text/unicode.ts"
import { wildcard } from "../../../text/wildcard.ts"
import type * as ServerPolicy from "../../ServerPolicy.ts"
import { type Address, address, addressPattern } from "./address.ts"

/**
 * A subject with what several rules want to know of it.
 *
 * @internal
 */
export interface Seen extends ServerPolicy.Subject {
  readonly line: string | undefined
  readonly address: Address | undefined
}

/** @internal */
export const see = (subject: ServerPolicy.Subject): Seen => ({
  ...subject,
  line: subject.argv?.join(" "),
  address: subject.url === undefined ? undefined : address(subject.url)
})

/** @internal */
export type Side = "allow" | "deny"

type Fits = (seen: Seen) => boolean

const digest = (fingerprint: string): string => fingerprint.replace(/^sha256:/, "")

const make = (matcher: ServerPolicy.Matcher, side: Side): Fits => {
  switch (matcher._tag) {
    case "Name": {
      // like a `deny` on tools, this one ignores case
      const folded = side === "deny" ? caseFolded : (text: string) => text
      const fits = wildcard(folded(matcher.pattern))
      return ({ name }) => fits(folded(name))
    }
    case "Command": {
      const { argv } = matcher
      return (seen) => seen.argv?.length === argv.length && argv.every((word, at) => word === seen.argv?.[at])
    }
    case "CommandLine": {
      const fits = wildcard(matcher.pattern)
      return ({ line }) => line !== undefined && fits(line)
    }
    case "Program":
      return ({ argv }) => argv?.[0] === matcher.command
    case "Url": {
      const fits = addressPattern(matcher.pattern, side)
      return ({ address, url }) => url !== undefined && fits(url, address)
    }
    case "Fingerprint": {
      const wanted = digest(matcher.fingerprint)
      return ({ fingerprint }) => fingerprint !== undefined && digest(fingerprint) === wanted
    }
  }
}

/** Thousands of servers are held against the same rules, so each is made ready once. */
const ready: { readonly [S in Side]: WeakMap<ServerPolicy.Matcher, Fits> } = {
  allow: new WeakMap(),
  deny: new WeakMap()
}

/** @internal */
export const matches = (matcher: ServerPolicy.Matcher, side: Side, seen: Seen): boolean => {
  const known = ready[side].get(matcher)
  if (known !== undefined) return known(seen)
  const fits = make(matcher, side)
  ready[side].set(matcher, fits)
  return fits(seen)
}
