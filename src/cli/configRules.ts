/** Policies and rules on tools, in words. */
import type * as ServerPolicy from "../config/ServerPolicy.ts"
import type * as PermissionRule from "../safety/PermissionRule.ts"

export const matcher = (of: ServerPolicy.Matcher): string => {
  switch (of._tag) {
    case "Name":
      return `servers called ${of.pattern}`
    case "Command":
      return `the command ${of.argv.join(" ")}`
    case "CommandLine":
      return `commands like ${of.pattern}`
    case "Program":
      return `the program ${of.pattern}`
    case "Url":
      return `addresses like ${of.pattern}`
    case "Fingerprint":
      return of.pattern
  }
}

export const policy = (of: ServerPolicy.Policy): ReadonlyArray<string> => [
  ...(of.broken ? ["allows nothing, because it could not be read"] : []),
  ...of.deny.map((one) => `denies ${matcher(one)}`),
  ...of.ordered.map(({ action, matcher: one }) =>
    `${action === "allow" ? "then allows" : "then denies"} ${matcher(one)}`
  ),
  ...(of.allow.length === 0 ? [] : [`allows only ${of.allow.map(matcher).join(", or ")}`]),
  ...(of.requireIdentity === true ? ["allows nothing by its name alone"] : []),
  ...(of.managedOnly ? ["makes the lists of others void"] : []),
  ...Array.from(of.identities ?? [], ([name, one]) => `binds the name ${name} to ${matcher(one)}`)
]

/** The rule as it is written in one line. */
export const rule = ({ args, server, tool }: PermissionRule.Input): string => {
  const named = server === undefined ? tool : `${server}/${tool}`
  const given = Object.entries(args ?? {}).map(([name, pattern]) => `${name}=${pattern}`)
  return given.length === 0 ? named : `${named}(${given.join(", ")})`
}
