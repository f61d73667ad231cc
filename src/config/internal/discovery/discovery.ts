/**
 * From files to servers: read, merge, ask the policies, ask for trust. Each step is a module of its own; this is their
 * order.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as ConfigDiscovery from "../../ConfigDiscovery.ts"
import type * as ConfigEntry from "../../ConfigEntry.ts"
import type * as ConfigFiles from "../../ConfigFiles.ts"
import type * as ConfigIssue from "../../ConfigIssue.ts"
import * as Dialect from "../../Dialect.ts"
import * as Merge from "../../Merge.ts"
import * as Resolution from "../../Resolution.ts"
import * as Scope from "../../Scope.ts"
import type * as ServerConfig from "../../ServerConfig.ts"
import * as ServerPolicy from "../../ServerPolicy.ts"
import type * as Trust from "../../Trust.ts"
import * as Filter from "./filter.ts"
import * as Given from "./given.ts"
import * as Imports from "./imports.ts"
import * as Layering from "./layering.ts"
import * as Preparing from "./preparing.ts"
import * as Reading from "./reading.ts"
import type { Place } from "./sources.ts"

/** @internal */
export interface Requirements {
  readonly options: ConfigDiscovery.Options
  readonly files: ConfigFiles.ConfigFiles["Type"]
  readonly trust: Trust.Trust["Type"]
  /** Where things are now. */
  readonly place: Effect.Effect<Place>
}

/** @internal */
export interface Discoverer {
  readonly discover: Effect.Effect<ConfigDiscovery.Discovery>
  /** Every path that was looked at last, there or not. */
  readonly paths: () => ReadonlyArray<string>
}

interface About {
  readonly at?: string | undefined
  readonly detail?: string | undefined
}

const issueOf = (
  { item, provenance }: Pick<Merge.Merged, "item" | "provenance">,
  severity: ConfigIssue.ConfigIssue["severity"],
  kind: ConfigIssue.Kind,
  about: About = {}
): ConfigIssue.ConfigIssue => ({
  kind,
  severity,
  provider: provenance.provider,
  scope: provenance.scope,
  path: provenance.path,
  server: item.name,
  at: about.at,
  line: provenance.line,
  message: Dialect.explain(kind, { host: provenance.provider, server: item.name, ...about })
})

interface Concluded {
  readonly found: ConfigDiscovery.Found
  readonly issues: ReadonlyArray<ConfigIssue.ConfigIssue>
}

/** Whether those deny it who may also allow, and not a workspace or a plugin, which could deny all there is. */
const isDeniedByRight = (
  config: ServerConfig.ServerConfig,
  fingerprint: string,
  policies: ReadonlyArray<ServerPolicy.Policy>
): boolean =>
  ServerPolicy.decide(
    policies.filter(({ origin }) => Scope.rights(origin).allow),
    ServerPolicy.subject(config, fingerprint)
  ) !== "allowed"

/** Field by field, because it is done by the thousand. */
const foundOf = (
  { fingerprint, merged: { name, provenance, sameAs, shadows, sources } }: Preparing.Prepared,
  state: ConfigDiscovery.State,
  entry?: ConfigEntry.ConfigEntry,
  config?: ServerConfig.ServerConfig
): ConfigDiscovery.Found => ({ name, state, entry, config, provenance, shadows, sources, sameAs, fingerprint })

const nothingToSay: Concluded["issues"] = []

const warningsOf = ({ hazards, merged }: Preparing.Prepared): Concluded["issues"] => {
  const { dropped } = merged
  if (dropped.length === 0 && hazards.length === 0) return nothingToSay
  return [
    ...dropped.length === 0 ? [] : [issueOf(merged, "warning", "not-inherited", { at: dropped.join(", ") })],
    ...hazards.map((hazard) => issueOf(merged, "warning", hazard.kind, hazard))
  ]
}

/** An entry of which nothing can be made, and the issue that says so, unless that has been said. */
const unusable = (
  prepared: Preparing.Prepared,
  kind: ConfigIssue.EntryFault,
  issue: ConfigIssue.ConfigIssue | undefined
): Concluded => ({
  found: foundOf(prepared, { _tag: "Invalid", kind }),
  issues: issue === undefined ? nothingToSay : [issue]
})

/** The part of a discovery that all servers share. */
interface Setting {
  readonly switches: Filter.Switches
  readonly policies: ReadonlyArray<ServerPolicy.Policy>
  /** The items of files. Reading a file has already reported their issues. */
  readonly read: ReadonlySet<ConfigEntry.Item>
  readonly environment: Place["variables"]
}

/** The state of a server after policies and trust were asked. */
const conclude = (
  prepared: Preparing.Prepared,
  verdict: Trust.Verdict | undefined,
  { environment, policies, read, switches }: Setting
): Concluded => {
  const { config, decision, fingerprint, merged } = prepared
  const { item, provenance } = merged
  if (item._tag === "Invalid") {
    // what was not invalid in any file became so by being put together, and nobody has said it yet
    return unusable(prepared, item.kind, read.has(item) ? undefined : issueOf(merged, "error", item.kind))
  }
  if (item._tag === "Patch" || config === undefined) {
    return unusable(prepared, "missing-transport", issueOf(merged, "error", "missing-transport"))
  }
  if (Either.isLeft(config)) {
    const { detail, path } = config.left
    return unusable(prepared, "invalid-value", issueOf(merged, "error", "invalid-value", { at: path, detail }))
  }
  const warnings = warningsOf(prepared)
  const { entry } = item
  const enabled = Filter.isEnabled(switches, entry)
  const given = config.right.enabled === enabled ? config.right : { ...config.right, enabled }
  if (decision !== "allowed") {
    // whoever could not have let it start cannot keep an application from starting either
    const mayBeRequired = Scope.rights(provenance.origin).start && isDeniedByRight(given, fingerprint, policies)
    const denied = { ...given, ...(mayBeRequired ? {} : { required: false }), blocked: "denied" } as const
    const detail = ServerPolicy.isByNameAlone(policies, ServerPolicy.subject(given, fingerprint))
      ? `only its name is allowed, which any server can have: it needs a rule about its ${
        "url" in given ? "url" : "command"
      }`
      : undefined
    return {
      found: foundOf(prepared, { _tag: "Denied", decision }, entry, denied),
      issues: [...warnings, issueOf(merged, "error", "policy-denied", { detail })]
    }
  }
  // what nobody has agreed to stays blocked even if it is disabled, so that enabling it is not enough
  if (verdict?._tag === "Pending") {
    const state = enabled ? { _tag: "Untrusted", why: verdict.why } as const : { _tag: "Disabled" } as const
    // a workspace that nobody trusts cannot keep an application from starting either
    const blocked = { ...given, required: false, blocked: "untrusted" } as const
    return { found: foundOf(prepared, state, entry, blocked), issues: warnings }
  }
  const { expansion } = given
  const granted = verdict === undefined || expansion === undefined
    ? given
    : { ...given, expansion: { ...expansion, grants: verdict.grants } }
  const unset = enabled ? Resolution.unset(granted, environment) : []
  return {
    found: foundOf(prepared, { _tag: enabled ? "Ready" : "Disabled" }, entry, granted),
    issues: unset.length === 0
      ? warnings
      : [...warnings, ...unset.map((about) => issueOf(merged, "error", "variable-unset", about))]
  }
}

/** @internal */
export const make = ({ files, options, place, trust }: Requirements): Discoverer => {
  const reader = Reading.make(files)
  let paths: ReadonlyArray<string> = []

  const discover = Effect.gen(function*() {
    const here = yield* place
    const { issues: importIssues, reads, sources } = yield* Imports.read(reader, here, options)
    paths = sources.map(({ path }) => path)
    const { issues: layerIssues, layers, policies } = Layering.layered(reads, here.started, options.strict)
    const around: Preparing.Around = {
      place: here,
      policies,
      given: options.servers,
      places: new Map(),
      inputs: new Map(reads.map(({ decoded, path }) => [path, decoded.inputs]))
    }
    const merged = Merge.merge([...layers, Given.layer(options.servers)])
    const prepared = merged.map((one) => Preparing.prepare(one, around))

    const candidates = prepared.flatMap(({ candidate }) => candidate ?? [])
    const verdicts = yield* trust.review(candidates)
    const verdictOn = new Map(candidates.map((candidate, at) => [candidate, verdicts[at]]))

    const setting: Setting = {
      switches: Filter.switches(options, reads),
      policies,
      read: new Set(reads.flatMap(({ decoded }) => decoded.items)),
      environment: here.variables
    }
    const concluded = prepared.map((one) =>
      conclude(one, one.candidate === undefined ? undefined : verdictOn.get(one.candidate), setting)
    )
    const servers = concluded.map(({ found }) => found).filter((found) => !Filter.isHidden(options, found))
    return {
      servers,
      issues: [
        ...importIssues,
        ...reads.flatMap(({ issues }) => issues),
        ...layerIssues,
        ...concluded.flatMap(({ issues }) => issues)
      ],
      files: reads.map(({ decoded, path, source, stale }) => ({
        provider: source.dialect.host,
        scope: source.scope,
        path,
        servers: decoded.items.length,
        stale
      })),
      policies,
      permissions: reads.flatMap(({ decoded }) => decoded.permissions ?? []),
      configs: servers.flatMap(({ config }) => config ?? [])
    }
  })

  return { discover, paths: () => paths }
}
