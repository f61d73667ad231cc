/** The output of `mcp-runtime config`. */
import * as Schema from "effect/Schema"
import type * as ConfigDiscovery from "../config/ConfigDiscovery.ts"
import * as Scope from "../config/Scope.ts"
import type * as ServerPolicy from "../config/ServerPolicy.ts"
import * as PermissionRule from "../safety/PermissionRule.ts"
import * as IssueShape from "./issueShape.ts"
import { counted } from "./layout.ts"
import { orNull } from "./orNull.ts"
import type * as Screen from "./Screen.ts"
import * as View from "./serverView.ts"

const From = Schema.Struct({
  provider: Schema.String,
  scope: Schema.String,
  path: orNull(Schema.String),
  line: orNull(Schema.Number)
})

/** The document of `config --json`. */
export const Found = Schema.Struct({
  files: Schema.Array(Schema.Struct({
    path: Schema.String,
    provider: Schema.String,
    scope: Schema.String,
    servers: Schema.Number
  })),
  servers: Schema.Array(Schema.Struct({
    name: Schema.String,
    /** The state before it is started. */
    state: Schema.Literal("waiting", "off", "needs approval", "failed"),
    why: orNull(Schema.String),
    transport: orNull(Schema.String),
    from: From,
    /** The entries of the same name that it overrides. */
    shadows: Schema.Array(From),
    /** The entries that were merged into it, if more than one. */
    sources: Schema.Array(From),
    sameAs: orNull(Schema.String),
    fingerprint: Schema.String
  })),
  issues: Schema.Array(IssueShape.Issue),
  policies: Schema.Array(Schema.Struct({
    provider: Schema.String,
    scope: Schema.String,
    says: Schema.Array(Schema.String)
  })),
  permissions: Schema.Array(Schema.Struct({
    decision: Schema.Literal("allow", "ask", "deny"),
    rule: Schema.String,
    source: Schema.String
  }))
})

const matchers = {
  Name: "servers named ",
  Command: "the command ",
  CommandLine: "commands matching ",
  Program: "the program ",
  Url: "URLs matching ",
  Fingerprint: ""
} as const

const matcherText = (matcher: ServerPolicy.Matcher): string =>
  matchers[matcher._tag] + ("argv" in matcher ? matcher.argv.join(" ") : matcher.pattern)

export const policyLines = (policy: ServerPolicy.Policy): ReadonlyArray<string> => [
  ...(policy.broken ? ["allows nothing, because it cannot be read"] : []),
  ...policy.deny.map((matcher) => `denies ${matcherText(matcher)}`),
  ...policy.ordered.map(({ action, matcher }) =>
    `then ${action === "allow" ? "allows" : "denies"} ${matcherText(matcher)}`
  ),
  ...(policy.allow.length === 0 ? [] : [`allows only ${policy.allow.map(matcherText).join(", or ")}`]),
  ...(policy.requireIdentity === true ? ["does not allow servers by name alone"] : []),
  ...(policy.managedOnly ? ["overrides the lists of other policies"] : []),
  ...Array.from(policy.identities ?? [], ([name, matcher]) => `requires ${matcherText(matcher)} for the name ${name}`)
]

const whyOf = ({ state }: ConfigDiscovery.Found): string | undefined =>
  "decision" in state
    ? state.decision
    : "why" in state
    ? state.why
    : "kind" in state
    ? state.kind
    : state._tag === "Disabled"
    ? "disabled"
    : undefined

export const of = (discovery: ConfigDiscovery.Discovery): typeof Found.Type => ({
  ...discovery,
  servers: discovery.servers.map((found) => ({
    ...found,
    state: View.initial[found.state._tag],
    why: whyOf(found),
    transport: View.transportOf(found),
    from: found.provenance
  })),
  policies: discovery.policies.map((policy) => ({ ...policy, says: policyLines(policy) })),
  permissions: discovery.permissions.map((input) => ({
    ...input,
    rule: PermissionRule.format(input),
    source: input.source ?? "code"
  }))
})

const titled = (title: string, lines: ReadonlyArray<Screen.Line>): ReadonlyArray<Screen.Line> =>
  lines.length === 0 ? [] : ["", [{ text: title, style: "strong" }], ...lines]

const place = (label: string, at: Scope.Provenance): Screen.Line => [
  { text: `    ${label} `, style: "weak" },
  Scope.format(at)
]

const server = (found: ConfigDiscovery.Found): ReadonlyArray<Screen.Line> => {
  const { name, provenance, sameAs, shadows, sources } = found
  const span = View.span(View.initial[found.state._tag])
  const why = whyOf(found)
  const text = why === undefined ? span.text : `${span.text} (${why})`
  return [
    ["  ", { text: name, style: "strong" }, "  ", { ...span, text }, `  ${View.transportOf(found) ?? ""}`.trimEnd()],
    place("from", provenance),
    ...sources.filter(({ path }) => path !== provenance.path).map((one) => place("merged with", one)),
    ...shadows.map((one) => place("overrides", one)),
    ...(sameAs === undefined ? [] : [[{ text: "    same as ", style: "weak" } as const, sameAs]])
  ]
}

/** Lines without columns, so that the terminal can wrap long paths. */
export const lines = (
  { files, issues, permissions, policies, servers }: ConfigDiscovery.Discovery
): ReadonlyArray<Screen.Line> =>
  [
    ...titled(
      "Files",
      files.flatMap(({ path, provider, scope, servers, stale }): ReadonlyArray<Screen.Line> => [
        `  ${path}`,
        [{ text: `    ${provider}, ${scope}: ${counted(servers, "server")}${stale ? ", stale" : ""}`, style: "weak" }]
      ])
    ),
    ...Scope.order.flatMap((scope) =>
      titled(
        `Servers (${scope} scope)`,
        servers.filter(({ provenance }) => provenance.scope === scope).flatMap(server)
      )
    ),
    ...titled(`Issues (${IssueShape.count(issues)})`, IssueShape.lines(issues)),
    ...titled(
      "Policies",
      policies.flatMap((policy) => policyLines(policy).map((text) => `  ${policy.provider} (${policy.scope}) ${text}`))
    ),
    ...titled(
      "Permission rules",
      permissions.map((input): Screen.Line => [
        "  ",
        { text: input.decision.padEnd(5), style: input.decision === "deny" ? "bad" : "plain" },
        ` ${PermissionRule.format(input)}`,
        { text: ` (${input.source ?? "code"})`, style: "weak" }
      ])
    )
  ].slice(1)
