/** What `mcp-runtime config` shows: what was found where. */
import * as Schema from "effect/Schema"
import type * as ConfigDiscovery from "../config/ConfigDiscovery.ts"
import * as Scope from "../config/Scope.ts"
import * as Rules from "./configRules.ts"
import * as IssueShape from "./issueShape.ts"
import type * as Screen from "./Screen.ts"

const From = Schema.Struct({
  provider: Schema.String,
  scope: Schema.String,
  path: Schema.NullOr(Schema.String),
  line: Schema.NullOr(Schema.Number)
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
    /** What may be done with it; nothing has been started. */
    state: Schema.Literal("ready", "disabled", "denied", "untrusted", "invalid"),
    why: Schema.NullOr(Schema.String),
    transport: Schema.NullOr(Schema.String),
    from: From,
    /** The entries of the same name that do not count. */
    shadows: Schema.Array(From),
    /** The entries it is put together from, where that is more than one. */
    sources: Schema.Array(From),
    sameAs: Schema.NullOr(Schema.String),
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

const states = {
  Ready: "ready",
  Disabled: "disabled",
  Denied: "denied",
  Untrusted: "untrusted",
  Invalid: "invalid"
} as const

const whyOf = ({ state }: ConfigDiscovery.Found): string | null => {
  switch (state._tag) {
    case "Denied":
      return state.decision
    case "Untrusted":
      return state.why
    case "Invalid":
      return state.kind
    default:
      return null
  }
}

const from = ({ line, path, provider, scope }: Scope.Provenance): typeof From.Type => ({
  provider,
  scope,
  path: path ?? null,
  line: line ?? null
})

export const of = (
  { files, issues, permissions, policies, servers }: ConfigDiscovery.Discovery
): typeof Found.Type => ({
  files: files.map(({ path, provider, scope, servers }) => ({ path, provider, scope, servers })),
  servers: servers.map((found) => ({
    name: found.name,
    state: states[found.state._tag],
    why: whyOf(found),
    transport: found.config?.transport ?? found.entry?.transport ?? null,
    from: from(found.provenance),
    shadows: found.shadows.map(from),
    sources: found.sources.map(from),
    sameAs: found.sameAs ?? null,
    fingerprint: found.fingerprint
  })),
  issues: issues.map(IssueShape.of),
  policies: policies.map((policy) => ({
    provider: policy.provider,
    scope: policy.scope,
    says: Rules.policy(policy)
  })),
  permissions: permissions.map((input) => ({
    decision: input.decision,
    rule: Rules.rule(input),
    source: input.source ?? "code"
  }))
})

const styles: Record<ConfigDiscovery.State["_tag"], Screen.Style> = {
  Ready: "good",
  Disabled: "weak",
  Denied: "warning",
  Untrusted: "warning",
  Invalid: "bad"
}

const titled = (title: string, lines: ReadonlyArray<Screen.Line>): ReadonlyArray<Screen.Line> =>
  lines.length === 0 ? [] : ["", [{ text: title, style: "strong" }], ...lines]

const place = (label: string, at: Scope.Provenance): Screen.Line => [
  { text: `    ${label} `, style: "weak" },
  Scope.format(at)
]

const server = (found: ConfigDiscovery.Found): ReadonlyArray<Screen.Line> => {
  const why = whyOf(found)
  const transport = found.config?.transport ?? found.entry?.transport
  return [
    [
      "  ",
      { text: found.name, style: "strong" },
      "  ",
      { text: `${states[found.state._tag]}${why === null ? "" : ` (${why})`}`, style: styles[found.state._tag] },
      ...(transport === undefined ? [] : [`  ${transport}`])
    ],
    place("from", found.provenance),
    ...found.sources.filter(({ path }) => path !== found.provenance.path).map((one) => place("laid over", one)),
    ...found.shadows.map((one) => place("in the place of", one)),
    ...(found.sameAs === undefined ? [] : [[{ text: "    the same as ", style: "weak" } as const, found.sameAs]])
  ]
}

/** For people: nothing in a line that could not wrap, so that paths are whole at any width. */
export const lines = (discovery: ConfigDiscovery.Discovery): ReadonlyArray<Screen.Line> => {
  const { files, issues, permissions, policies, servers } = discovery
  const counted = IssueShape.count(issues)
  const all = [
    ...titled(
      "Files",
      files.flatMap(({ path, provider, scope, servers, stale }): ReadonlyArray<Screen.Line> => [
        `  ${path}`,
        [{
          text: `    ${provider}, ${scope}: ${servers} ${servers === 1 ? "server" : "servers"}${
            stale ? ", stale" : ""
          }`,
          style: "weak"
        }]
      ])
    ),
    ...Scope.order.flatMap((scope) =>
      titled(
        `Servers of scope ${scope}`,
        servers.filter(({ provenance }) => provenance.scope === scope).flatMap(server)
      )
    ),
    ...titled(`Issues (${counted})`, IssueShape.lines(issues)),
    ...titled(
      "Policies",
      policies.flatMap((policy) => {
        const says = Rules.policy(policy)
        return says.map((text) => `  ${policy.provider} (${policy.scope}) ${text}`)
      })
    ),
    ...titled(
      "Rules on tools",
      permissions.map((input): Screen.Line => [
        "  ",
        { text: input.decision.padEnd(5), style: input.decision === "deny" ? "bad" : "plain" },
        ` ${Rules.rule(input)}`,
        { text: ` (${input.source ?? "code"})`, style: "weak" }
      ])
    )
  ]
  return all.slice(1)
}
