/**
 * What was read, as layers to merge, and the policies beside them.
 *
 * @internal
 */
import type * as ConfigDocument from "../../ConfigDocument.ts"
import type * as ConfigEntry from "../../ConfigEntry.ts"
import type * as ConfigIssue from "../../ConfigIssue.ts"
import * as Dialect from "../../Dialect.ts"
import type * as Merge from "../../Merge.ts"
import * as ServerPolicy from "../../ServerPolicy.ts"
import type { Read } from "./reading.ts"
import * as Rights from "./rights.ts"
import type { Source } from "./sources.ts"

/** @internal */
export interface Layered {
  readonly layers: ReadonlyArray<Merge.Layer>
  readonly policies: ReadonlyArray<ServerPolicy.Policy>
  readonly issues: ReadonlyArray<ConfigIssue.ConfigIssue>
}

const isTable = (value: ConfigDocument.Value | undefined): value is ConfigDocument.Table => value instanceof Map

/** Administrators who list servers mean these and no others, unless they say otherwise. */
const isExclusive = ({ decoded, document, source }: Read): boolean => {
  if (source.exclusive) return true
  if (source.scope !== "managed" || source.policyOnly || source.dialect.host !== "native") return false
  const policy = document.root?.get("policy")
  const exclusive = isTable(policy) ? policy.get("exclusive") : undefined
  if (exclusive === false) return false
  // what was meant as a limit stays one, if it is written wrongly
  return exclusive !== undefined || decoded.items.length > 0 ||
    document.root?.has("mcpServers") === true || document.root?.has("mcp_servers") === true
}

/** What cannot be read of an administrator's file could be a rule, so nothing is allowed. */
const closed = ({ dialect, origin, scope }: Source): ServerPolicy.Policy => ({
  provider: dialect.host,
  scope,
  origin,
  allow: [],
  deny: [],
  ordered: [],
  managedOnly: true,
  identities: undefined,
  broken: true
})

const issueOf = (
  { path, source }: Read,
  kind: ConfigIssue.Kind,
  about: { readonly at?: string | undefined; readonly detail?: string | undefined },
  place: { readonly server: string | undefined; readonly line: number | undefined } = {
    server: undefined,
    line: undefined
  }
): ConfigIssue.ConfigIssue => ({
  kind,
  severity: "warning",
  provider: source.dialect.host,
  scope: source.scope,
  path,
  server: place.server,
  at: about.at,
  line: place.line,
  message: Dialect.explain(kind, { host: source.dialect.host, server: place.server, ...about })
})

/** Takes from an entry what its origin has no right to. */
const limited = (
  read: Read,
  item: ConfigEntry.Item
): readonly [ConfigEntry.Item, ReadonlyArray<ConfigIssue.ConfigIssue>] => {
  if (item._tag !== "Server") return [item, []]
  const { entry, warnings } = Rights.withRights(item.entry, read.source.origin)
  const issues = warnings.map(({ at, kind }) =>
    issueOf(read, kind, { at }, { server: item.name, line: read.document.line(item.pointer) })
  )
  return [entry === item.entry ? item : { ...item, entry, warnings: [...item.warnings, ...warnings] }, issues]
}

/** @internal */
export const layered = (
  reads: ReadonlyArray<Read>,
  variable: (name: string) => string | undefined,
  strict: boolean
): Layered => {
  const issues: Array<ConfigIssue.ConfigIssue> = []
  const layers = reads.map((read): Merge.Layer => {
    const { decoded, document, path, source } = read
    return {
      provider: source.dialect.host,
      scope: source.scope,
      path,
      rank: source.rank,
      distance: source.distance,
      deep: source.dialect.merge === "deep",
      exclusive: isExclusive(read),
      items: decoded.items.map((whole) => {
        const [item, dropped] = limited(read, whole)
        issues.push(...dropped)
        return {
          item,
          provenance: {
            provider: source.dialect.host,
            scope: source.scope,
            origin: source.origin,
            path,
            pointer: item.pointer,
            line: document.line(item.pointer)
          }
        }
      })
    }
  })
  const policies = reads.flatMap((read) => {
    const { decoded, failed, source } = read
    if (failed && source.scope === "managed") return [closed(source)]
    if (decoded.policy === undefined) return []
    const { invalid, policy } = ServerPolicy.withVariables(decoded.policy, variable)
    for (const { at, detail } of invalid) issues.push(issueOf(read, "invalid-policy", { at, detail }))
    return [strict ? { ...policy, requireIdentity: true } : policy]
  })
  return { layers, policies, issues }
}
