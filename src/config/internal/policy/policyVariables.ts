/**
 * @internal
 */
import * as Either from "effect/Either"
import * as UntrustedText from "../../../text/UntrustedText.ts"
import * as Interpolation from "../../Interpolation.ts"
import * as Scope from "../../Scope.ts"
import type * as ServerPolicy from "../../ServerPolicy.ts"
import { isAddressPattern } from "./address.ts"
import { type Fault, isClosed } from "./policyDocument.ts"

/** What can be looked up for a policy: a variable of the environment, and nothing else. */
const fill = (text: string, variable: (name: string) => string | undefined): string | undefined => {
  const { template } = Interpolation.canonical({ bare: true, env: true }, text)
  const value = Interpolation.resolve(
    template,
    (reference) => reference.kind === "env" ? { value: variable(reference.name) } : "forbidden"
  )
  return Either.getOrUndefined(value)
}

const filled = (
  matcher: ServerPolicy.Matcher,
  variable: (name: string) => string | undefined
): ServerPolicy.Matcher | undefined => {
  switch (matcher._tag) {
    case "Name":
    case "CommandLine": {
      const pattern = fill(matcher.pattern, variable)
      return pattern === undefined ? undefined : { ...matcher, pattern }
    }
    case "Url": {
      const pattern = fill(matcher.pattern, variable)
      return pattern === undefined || !isAddressPattern(pattern) ? undefined : { ...matcher, pattern }
    }
    case "Command": {
      const argv = matcher.argv.map((word) => fill(word, variable)).filter((word) => word !== undefined)
      return argv.length === matcher.argv.length ? { ...matcher, argv } : undefined
    }
    case "Program": {
      const command = fill(matcher.command, variable)
      return command === undefined ? undefined : { ...matcher, command }
    }
    case "Fingerprint":
      return matcher
  }
}

const words = (matcher: ServerPolicy.Matcher): ReadonlyArray<string> => {
  switch (matcher._tag) {
    case "Name":
    case "CommandLine":
    case "Url":
      return [matcher.pattern]
    case "Command":
      return matcher.argv
    case "Program":
      return [matcher.command]
    case "Fingerprint":
      return []
  }
}

/** @internal */
export const withVariables = (
  policy: ServerPolicy.Policy,
  variable: (name: string) => string | undefined
): { readonly policy: ServerPolicy.Policy; readonly invalid: ReadonlyArray<Fault> } => {
  const lookup = Scope.rights(policy.origin).environment ? variable : () => undefined
  const invalid: Array<Fault> = []
  const put = (matcher: ServerPolicy.Matcher, at: string): ReadonlyArray<ServerPolicy.Matcher> => {
    // what has no variable stays the very rule it is, so that it need not be made ready again
    if (!words(matcher).some((word) => word.includes("${"))) return [matcher]
    const known = filled(matcher, lookup)
    if (known !== undefined) return [known]
    invalid.push({ at, detail: "a variable of this rule has no value, or none that a rule may have" })
    return []
  }
  const allow = policy.allow.flatMap((matcher, at) => put(matcher, `policy/allow/${at}`))
  const deny = policy.deny.flatMap((matcher, at) => put(matcher, `policy/deny/${at}`))
  const ordered = policy.ordered.flatMap(({ action, matcher }, at) =>
    put(matcher, `policy/ordered/${at}`).map((matcher) => ({ action, matcher }))
  )
  const identities = policy.identities &&
    new Map(
      Array.from(policy.identities).flatMap(([name, matcher]) =>
        put(matcher, `policy/identities/${UntrustedText.excerpt(name, 64)}`).map((known) => [name, known] as const)
      )
    )
  return {
    policy: {
      ...policy,
      allow,
      deny,
      ordered,
      identities,
      broken: policy.broken || isClosed(policy.origin, policy.allow.length > 0 && allow.length === 0)
    },
    invalid
  }
}
