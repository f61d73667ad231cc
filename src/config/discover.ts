/** From places to servers: locate, read, merge, decide, trust. */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import type * as ConfigDiscovery from "./ConfigDiscovery.ts"
import type * as ConfigFiles from "./ConfigFiles.ts"
import * as ConfigIssue from "./ConfigIssue.ts"
import * as Dialect from "./Dialect.ts"
import * as Fingerprint from "./Fingerprint.ts"
import * as Hazards from "./hazards.ts"
import * as Interpolation from "./Interpolation.ts"
import { programOfLine } from "./launcher.ts"
import * as Locate from "./locate.ts"
import * as Merge from "./merge.ts"
import { folderOf } from "./paths.ts"
import * as ReadFiles from "./readFiles.ts"
import * as Resolution from "./Resolution.ts"
import * as Scope from "./Scope.ts"
import type * as ServerConfig from "./ServerConfig.ts"
import * as ServerEntry from "./serverEntry.ts"
import * as ServerPolicy from "./ServerPolicy.ts"
import * as Templates from "./templates.ts"
import type * as Trust from "./Trust.ts"
import * as Access from "./variableAccess.ts"

/** What all servers of a discovery share. */
interface Around {
  readonly machine: Locate.Machine
  readonly options: ConfigDiscovery.Options
  readonly policies: ReadonlyArray<ServerPolicy.Policy>
  /** The invalid entries of files, which are reported already. */
  readonly reported: ReadonlySet<Scope.Provenance>
  readonly isEnabled: (name: string, enabled: boolean) => boolean
}

/** A server on its way: `decide` makes it, `trust` finishes the ones that have a candidate. */
interface Draft {
  readonly found: ConfigDiscovery.Found
  readonly issues: ReadonlyArray<ConfigIssue.ConfigIssue>
  readonly candidate?: Trust.Candidate
}

/** An entry that is made of several has the rights of the one with the fewest. */
const originOf = ({ provenance, sources }: Merge.Merged): Scope.Origin =>
  sources.find(({ origin }) => !Scope.rights(origin).start)?.origin ?? provenance.origin

const expansionOf = (
  merged: Merge.Merged,
  entry: ServerEntry.Entry,
  fingerprint: string,
  { options, machine: { home, platform, root } }: Around
): Scope.Expansion => {
  const { path, provider, scope } = merged.provenance
  const configDir = path === undefined ? root : folderOf(path)
  // relative paths of the workspace begin there, and those of other files at the file
  const isOfRoot = path === undefined || scope === "project" || scope === "local"
  const onlyEntryVariables = options.expandFrom === "entry" ||
    Dialect.find(provider)?.variables?.fromEntry?.includes(scope) === true
  return {
    origin: originOf(merged),
    grants: [],
    builtins: {
      projectDir: root,
      workspaceFolder: root,
      workspaceFolderBasename: root.replace(/^.*[\\/]/, ""),
      userHome: home,
      configDir,
      pathSeparator: platform === "win32" ? "\\" : "/",
      ...(scope === "plugin" ? { pluginRoot: configDir, pluginData: `${configDir}/data` } : undefined)
    },
    directory: isOfRoot ? root : configDir,
    root,
    fingerprint,
    ...(entry.transport !== "stdio" && entry.env !== undefined
      ? { entryVariables: new Map(Array.from(entry.env, ([name, text]) => [name, Redacted.make(text)])) }
      : undefined),
    ...(onlyEntryVariables ? { onlyEntryVariables } : undefined),
    ...(merged.inputs === undefined ? undefined : { inputs: merged.inputs })
  }
}

/** What consent shows of an entry, and what it grants. */
const candidateOf = (
  { entry, extra, name, provenance, warnings }: Extract<Merge.Merged, { readonly _tag: "Server" }>,
  config: ServerConfig.ServerConfig,
  { fingerprint = "", inputs = [], builtins, root = "" }: Scope.Expansion,
  hazards: ReadonlyArray<Hazards.Hazard>
): Trust.Candidate => {
  const references = Templates.texts(config).flatMap(({ template }) => Interpolation.references(template))
  const variables = references.flatMap(({ kind, name }) =>
    kind === "env" && !Object.hasOwn(builtins, name) ? [name] : []
  )
  // `MCP_INPUT_*` and `MCP_SECRET_*`
  const answers = references.flatMap((reference) => Access.answeredBy(reference) ?? [])
  const lacking = warnings.flatMap(({ at, detail, kind }) =>
    kind === "not-honoured" && detail !== undefined ? [{ kind, at, detail }] : []
  )
  return {
    root,
    server: name,
    fingerprint,
    entry,
    extra,
    provenance,
    variables: [...new Set([...variables, ...answers])],
    inputs: inputs.filter(({ id }) => references.some(({ name }) => name === id)),
    hazards: [...hazards, ...lacking]
  }
}

/** The configuration of an owner of a name, its state as far as it does not depend on trust, and its issues. */
const decide = (around: Around) => (merged: Merge.Merged): Draft => {
  const { dropped, name, provenance, sameAs, shadows, sources } = merged
  const { machine, policies } = around
  const about = { ...provenance, server: name }
  const error = (kind: ConfigIssue.EntryFault, why?: ConfigIssue.Detail) => ConfigIssue.make(about, "error", kind, why)
  const fingerprint = merged._tag === "Given"
    ? Fingerprint.of(merged.config)
    : Fingerprint.entry(merged, sources.length === 0 ? [provenance] : sources, machine.root)
  const base = { name, provenance, shadows, sources, sameAs, fingerprint }
  const invalid = (kind: ConfigIssue.EntryFault, issue: ConfigIssue.ConfigIssue): Draft => ({
    found: { ...base, state: { _tag: "Invalid", kind }, entry: undefined, config: undefined },
    issues: around.reported.has(provenance) ? [] : [issue]
  })
  if (merged._tag === "Invalid") return invalid(merged.kind, error(merged.kind))
  const server = merged._tag === "Server" ? merged : undefined
  const entry = server?.entry
  const expansion = entry && expansionOf(merged, entry, fingerprint, around)
  const made = merged._tag === "Given"
    ? Either.right({ ...merged.config, provenance })
    : ServerEntry.ofEntry(merged.entry, { expansion, provenance })
  if (Either.isLeft(made)) {
    const { detail, path } = made.left
    return invalid("invalid-value", error("invalid-value", { at: path, detail }))
  }
  const enabled = around.isEnabled(name, made.right.enabled !== false)
  const config = made.right.enabled === enabled ? made.right : { ...made.right, enabled }
  const program = entry?.transport === "stdio" ? programOfLine(entry.command, entry.args) : undefined
  const warnings = [
    ...(dropped.length === 0 ? [] : [ConfigIssue.make(about, "warning", "not-inherited", { at: dropped.join(", ") })]),
    ...(program === undefined
      ? []
      : [ConfigIssue.make(about, "warning", "command-line", { at: "command", detail: `put only "${program}" there` })])
  ]
  const rights = Scope.rights(originOf(merged))
  const subject = ServerPolicy.subject(config, fingerprint)
  const decision = ServerPolicy.decide(policies, subject)
  if (decision !== "allowed") {
    // a file or a policy of the workspace must not keep an application from starting
    const isByRight = Scope.rights(provenance.origin).start &&
      ServerPolicy.decide(policies.filter(({ origin }) => Scope.rights(origin).allow), subject) !== "allowed"
    const needed = `it needs a rule about its ${"url" in config ? "url" : "command"}`
    const detail = ServerPolicy.isByNameAlone(policies, subject)
      ? `only its name is allowed, and any server can have that name: ${needed}`
      : undefined
    const blocked = { ...config, ...(isByRight ? {} : { required: false }), blocked: "denied" } as const
    return {
      found: { ...base, state: { _tag: "Denied", decision }, entry, config: blocked },
      issues: [...warnings, error("policy-denied", { detail })]
    }
  }
  // a plugin was approved when it was installed, so only the overrides that its command line hides are reported
  const hazards = entry === undefined || rights.loaderVariables
    ? []
    : Hazards.hazards(entry, merged.inputs)
      .filter(({ kind }) => !rights.start || kind === "launch-override")
  return {
    found: { ...base, state: { _tag: enabled ? "Ready" : "Disabled" }, entry, config },
    issues: warnings.concat(hazards.map((hazard) => ConfigIssue.make(about, "warning", hazard.kind, hazard))),
    ...(server === undefined || expansion === undefined || rights.start
      ? undefined
      : { candidate: candidateOf(server, config, expansion, hazards) })
  }
}

// Trust

/** A draft with the status on it. Until it is approved it stays blocked, even while it is disabled. */
const trusted = (
  { found, issues }: Draft,
  status: Trust.Status | undefined,
  environment: Locate.Machine["variables"]
): Draft => {
  const { config, provenance, state } = found
  if (config === undefined || config.blocked !== undefined) return { found, issues }
  if (status?._tag === "Pending") {
    const blocked = { ...config, required: false, blocked: "untrusted" } as const
    const untrusted = state._tag === "Ready" ? { _tag: "Untrusted", why: status.why } as const : state
    return { found: { ...found, state: untrusted, config: blocked }, issues }
  }
  const { expansion } = config
  const granted = status === undefined || expansion === undefined
    ? config
    : { ...config, expansion: { ...expansion, grants: status.grants } }
  const unset = state._tag === "Ready" ? Resolution.unset(granted, environment) : []
  const about = { ...provenance, server: found.name }
  return {
    found: { ...found, config: granted },
    issues: issues.concat(unset.map((one) => ConfigIssue.make(about, "error", "variable-unset", one)))
  }
}

const isHidden = ({ hide }: ConfigDiscovery.Options, found: ConfigDiscovery.Found): boolean =>
  hide.names?.includes(found.name) === true ||
  hide.providers?.some((host) => Locate.isOf(found.provenance.provider, host)) === true ||
  hide.where?.(found) === true

export interface Requirements {
  readonly options: () => ConfigDiscovery.Options
  readonly files: ConfigFiles.ConfigFiles["Type"]
  readonly trust: Trust.Trust["Type"]
  readonly machine: Effect.Effect<Locate.Machine>
}

/** A discovery, with every path that was looked at, whether it exists or not. */
export const make = ({ files: disk, options: current, machine: described, trust }: Requirements) => {
  const read = ReadFiles.reading(disk)
  return Effect.gen(function*() {
    const [options, machine] = [current(), yield* described]
    const { files, issues, paths } = yield* read(machine, options)
    const policies = files.flatMap(({ policy }) => policy ?? [])
    const items = files.flatMap(({ items }) => items)
    // every file may disable, and those of the workspace may not enable
    const off = new Set([...options.disable, ...files.flatMap(({ switches }) => switches?.off ?? [])])
    const enabling = files.filter(({ origin }) => Scope.rights(origin).start)
    const on = new Set([...options.enable, ...enabling.flatMap(({ switches }) => switches?.on ?? [])])
    const around: Around = {
      machine,
      options,
      policies,
      reported: new Set(items.filter(({ _tag }) => _tag === "Invalid").map(({ provenance }) => provenance)),
      isEnabled: (name, enabled) => !off.has(name) && (enabled || on.has(name))
    }
    const drafts = Merge.merge([...files, Merge.ofCode(options.servers)]).map(decide(around))
    const candidates = drafts.flatMap(({ candidate }) => candidate ?? [])
    const reviewed = yield* trust.review(candidates)
    const statuses = new Map(reviewed.map(({ candidate, status }) => [candidate, status]))
    const decided = drafts.map((draft) =>
      trusted(draft, draft.candidate && statuses.get(draft.candidate), machine.variables)
    )
    const servers = decided.map(({ found }) => found).filter((found) => !isHidden(options, found))
    const discovery: ConfigDiscovery.Discovery = {
      servers,
      issues: [...issues, ...decided.flatMap(({ issues }) => issues)],
      files: files.map(({ isStale, items, path, provider, scope }) => ({
        provider,
        scope,
        path,
        servers: items.length,
        stale: isStale
      })),
      policies,
      permissions: files.flatMap(({ permissions = [] }) => permissions),
      configs: servers.flatMap(({ config }) => config ?? [])
    }
    return { discovery, paths }
  })
}
