/** The calls that a gateway allows if no rule covers them and the client does not support elicitation. */
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import type * as ConfigDiscovery from "../config/ConfigDiscovery.ts"
import * as ServerConfig from "../config/ServerConfig.ts"
import * as PermissionRule from "../safety/PermissionRule.ts"
import * as ShellWords from "../text/shellWords.ts"
import * as UntrustedText from "../text/UntrustedText.ts"
import type * as Command from "./Command.ts"

export const Unattended = Schema.Struct({
  /**
   * `approved`: calls that are approved at the terminal of the gateway. `read-only`: read-only tools of trusted servers.
   * Both also allow what `allow` covers.
   */
  allows: Schema.Literal("approved", "read-only", "everything"),
  trusted: Schema.Array(Schema.String),
  /** The rules of --allow. */
  allow: Schema.Array(Schema.String),
  /** Options that would allow more. */
  options: Schema.Array(Schema.String)
})

export type Unattended = typeof Unattended.Type

export const of = (
  { isSet, values }: Command.Invocation,
  { configs }: ConfigDiscovery.Discovery,
  isAttended: boolean
): Unattended => {
  const isOpen = isSet("caller-decides")
  const usable = configs.filter(({ blocked, enabled }) => blocked === undefined && enabled !== false)
  const patterns = usable.flatMap(({ name: server }) => {
    const tool = `${server}/*`
    // the name of a server may have characters that are not valid in a rule
    const rule = PermissionRule.parse({ decision: "allow", tool })
    const isRule = Either.isRight(rule) && rule.right.matches({ kind: "tool", server, name: "any" })
    return isRule && !values("allow").includes(tool) ? [`--allow ${ShellWords.quote(tool)}`] : []
  })
  return {
    allows: isOpen ? "everything" : isAttended ? "approved" : "read-only",
    trusted: usable.filter(ServerConfig.isTrusted).map(({ name }) => name),
    allow: values("allow"),
    options: isOpen ? [] : [...patterns, "--caller-decides"]
  }
}

const maxListed = 5

const listed = (names: ReadonlyArray<string>): string => UntrustedText.listed(names, maxListed)

/** What is printed at the start. */
export const banner = ({ allow, allows, options, trusted }: Unattended): ReadonlyArray<string> => {
  if (allows === "everything") {
    return ["Calls that no rule covers are allowed (--caller-decides): the client must ask its user before each call."]
  }
  const byRule = allow.length === 0 ? [] : [`calls allowed by ${listed(allow)}`]
  const allowed = [...(trusted.length === 0 ? [] : [`read-only tools of ${listed(trusted)}`]), ...byRule]
  const otherwise = allows === "approved"
    ? `For clients without elicitation, this terminal asks${allow.length === 0 ? "" : `, except for ${byRule.join()}`}.`
    : allowed.length === 0
    ? "For clients without elicitation, all such calls are denied, because no server is trusted."
    : `For clients without elicitation, only these are allowed: ${allowed.join(", and ")}.`
  return [
    "For calls that no rule covers, the client is asked to confirm with its user (elicitation).",
    otherwise,
    `To allow more, add ${options.slice(0, -1).slice(0, maxListed).concat(options.slice(-1)).join(" or ")}.`
  ]
}
