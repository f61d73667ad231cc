/** The first two steps of discovery: which files there are, and what each holds. */
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import { sha256 } from "../json/canonical.ts"
import { nearest } from "../text/nearest.ts"
import type * as ConfigDiscovery from "./ConfigDiscovery.ts"
import * as File from "./ConfigFile.ts"
import { type About, issueOf } from "./ConfigFile.ts"
import type * as ConfigFiles from "./ConfigFiles.ts"
import type * as ConfigIssue from "./ConfigIssue.ts"
import * as Dialect from "./Dialect.ts"
import * as Document from "./document.ts"
import { isList, isText, table } from "./document.ts"
import * as Variables from "./environmentVariables.ts"
import { tables } from "./fields.ts"
import type * as FieldSchema from "./fieldSchema.ts"
import * as Interpolation from "./Interpolation.ts"
import * as Locate from "./locate.ts"
import type * as Merge from "./merge.ts"
import type { Item } from "./readEntry.ts"
import * as Reader from "./reader.ts"
import * as Scope from "./Scope.ts"
import type * as ServerConfig from "./ServerConfig.ts"
import * as ServerPolicy from "./ServerPolicy.ts"

type Issue = ConfigIssue.ConfigIssue

/** One file: a layer of servers, and what stands beside them. */
export interface Read extends Merge.Layer {
  readonly source: Locate.Source
  readonly path: string
  readonly document: Document.Document
  readonly decoded: Dialect.Decoded
  readonly policies: ReadonlyArray<ServerPolicy.Policy>
  readonly issues: ReadonlyArray<Issue>
  /** The file has changed and cannot be used, so its last good content is. */
  readonly isStale: boolean
}

/** What a file holds. */
interface Content extends Pick<Read, "document" | "decoded" | "items" | "exclusive"> {
  readonly digest: string
  readonly issues: ReadonlyArray<Issue>
  /** What was removed from the entries, because their file has no right to it. */
  readonly removed: ReadonlyArray<Issue>
}

const nothing: Content = {
  digest: "",
  document: { root: undefined, issues: [], position: () => undefined },
  decoded: Reader.nothing,
  items: [],
  exclusive: false,
  issues: [],
  removed: []
}

/** The words with which a host approves less than it would without them. */
const stricter: ReadonlySet<string> = new Set(["prompt", "ask", "deny", "never"])

const restricted = Object.entries<FieldSchema.Row>({ ...tables["streamable-http"], ...tables.stdio }).flatMap((
  [key, { restrictedTo }]
) => restrictedTo === undefined ? [] : [[key, restrictedTo] as const])

/** An entry without what its origin has no right to, and warnings of what was removed. */
export const withRights = (
  entry: ServerConfig.Entry,
  origin: Scope.Origin,
  approval: ReadonlyMap<string, string> = new Map()
): { readonly entry: ServerConfig.Entry; readonly warnings: ReadonlyArray<ConfigIssue.EntryWarning> } => {
  const rights = Scope.rights(origin)
  const fields = new Map<string, unknown>(Object.entries(entry))
  const taken = restricted.filter(([key, right]) => !rights[right] && (fields.get(key) ?? false) !== false)
  const hostile = rights.loaderVariables ? [] : Array.from(entry.env?.keys() ?? []).filter(Variables.isHostile)
  const loosens = Array.from(approval.values()).some((mode) => !stricter.has(mode))
  const warnings: ReadonlyArray<ConfigIssue.EntryWarning> = [
    ...taken.map(([at]) => ({ kind: "ignored-in-project", at }) as const),
    ...(!rights.approveTools && loosens ? [{ kind: "ignored-in-project", at: "approval" } as const] : []),
    ...hostile.map((name) => ({ kind: "env-dropped", at: `env.${name}` }) as const)
  ]
  if (warnings.length === 0) return { entry, warnings }
  for (const [key] of taken) fields.delete(key)
  const env = new Map(Array.from(entry.env ?? []).filter(([name]) => !hostile.includes(name)))
  if (env.size === 0) fields.delete("env")
  else fields.set("env", env)
  // the fields that are left are those of the entry
  return { entry: Object.fromEntries(fields) as unknown as ServerConfig.Entry, warnings }
}

const policyTable = ({ root }: Document.Document): Document.Table => table(root?.get("policy"))

/** An administrator who lists servers means these and no others, unless the file says otherwise. */
const isExclusive = (
  { dialect, policyOnly, scope }: Locate.Source,
  { decoded, document }: Pick<Read, "decoded" | "document">
): boolean => {
  if (scope !== "managed" || policyOnly || dialect.host !== "native") return false
  const exclusive = policyTable(document).get("exclusive")
  if (exclusive === false) return false
  // any other value was meant as a limit
  return exclusive !== undefined || decoded.items.length > 0 ||
    document.root?.has("mcpServers") === true || document.root?.has("mcp_servers") === true
}

/** True if an address or a header names a variable of the `env` of its entry, so that the `env` has an effect. */
const usesEnv = (item: Item | undefined): boolean => {
  if (item?._tag !== "Server" || item.entry.transport === "stdio") return false
  const { env, headers, url } = item.entry
  return [url, ...(headers?.values() ?? [])].flatMap(Interpolation.variables).some((name) => env?.has(name) === true)
}

const decode = (source: Locate.Source, path: string, bytes: Uint8Array, digest: string, strict: boolean) => {
  const { dialect, format, origin, pointer, scope } = source
  const about = { provider: dialect.host, scope, path }
  const contentOf = ({ issues, ...file }: File.ConfigFile): Content => {
    const byName = new Map(file.decoded.items.map((item) => [item.name, item]))
    const removed: Array<Issue> = []
    const items = file.decoded.items.map((whole) => {
      const line = file.document.position(whole.pointer)?.line
      const provenance = { provider: dialect.host, scope, origin, path, pointer: whole.pointer, line }
      if (whole._tag !== "Server") return { item: whole, provenance }
      const { entry, warnings } = withRights(whole.entry, origin, whole.approval)
      for (const { at, kind } of warnings) {
        removed.push(issueOf({ ...about, server: whole.name, line }, "warning", kind, { at }))
      }
      const item = warnings.length === 0 ? whole : { ...whole, entry, warnings: [...whole.warnings, ...warnings] }
      return { item, provenance }
    })
    const useful = issues.filter(({ at, kind, server }) =>
      kind !== "unused-field" || at !== "env" || !usesEnv(byName.get(server ?? ""))
    )
    return { ...file, digest, items, exclusive: isExclusive(source, file), issues: useful, removed }
  }
  return Effect.map(File.decode(bytes, { host: dialect, scope, origin, path, format, pointer, strict }), contentOf)
}

/** The policies of a file, and its rules that cannot be understood. */
const policyOf = (
  { dialect, origin, scope }: Locate.Source,
  content: Content,
  variable: (name: string) => string | undefined,
  strict: boolean
): { readonly policies: ReadonlyArray<ServerPolicy.Policy>; readonly invalid: ReadonlyArray<ServerPolicy.Fault> } => {
  // an unreadable file of an administrator could have held any rule, so nothing is allowed
  if (content === nothing && scope === "managed") {
    const rules = { allow: [], deny: [], ordered: [], identities: undefined }
    return {
      policies: [{ provider: dialect.host, scope, origin, ...rules, managedOnly: true, broken: true }],
      invalid: []
    }
  }
  if (content.decoded.policy === undefined) return { policies: [], invalid: [] }
  const { invalid, policy } = ServerPolicy.withVariables(content.decoded.policy, variable)
  return { policies: [strict ? { ...policy, requireIdentity: true } : policy], invalid }
}

export interface Asked extends Locate.Import {
  readonly by: Read | undefined
}

/** The hosts that the options import, and then those that files import. */
const askedBy = (options: ConfigDiscovery.Options, reads: ReadonlyArray<Read>): ReadonlyArray<Asked> => [
  ...options.imports.map((host): Asked => ({ host, isOfWorkspace: false, by: undefined })),
  ...reads.filter(({ source }) => source.isOwn).flatMap((by) =>
    (by.decoded.imports ?? []).map((host): Asked => ({
      host,
      isOfWorkspace: !Scope.rights(by.source.origin).start,
      by
    }))
  )
]

const unknownImport = ({ by, host }: Asked): ReadonlyArray<Issue> => {
  if (Locate.dialectsOf(host).length > 0) return []
  const about: About = by === undefined
    ? { provider: "code", scope: "session" }
    : { provider: by.provider, scope: by.scope, path: by.path, ...by.document.position(["imports"]) }
  const [near] = nearest(host, [...new Set(Dialect.all.map((dialect) => dialect.host)), Locate.everything])
  const detail = near === undefined ? host : `${host}; did you mean ${near}?`
  return [issueOf(about, "warning", "unknown-import", { at: "imports", detail })]
}

/** The files of one discovery. */
export interface Files {
  readonly reads: ReadonlyArray<Read>
  readonly issues: ReadonlyArray<Issue>
  /** Every path that was looked at, whether it exists or not. */
  readonly paths: ReadonlyArray<string>
}

/** How many files are read at the same time, and held until they are decoded. */
const together = 16

/** Bytes of a file that takes about 100 ms to decode. */
const large = 1024 * 1024

/** Reads files. It remembers the last good content of each while the file exists, and decodes no content twice. */
export const reading = (files: ConfigFiles.ConfigFiles["Type"]) => {
  let before: ReadonlyMap<string, Content> = new Map()
  return Effect.fnUntraced(function*(place: Locate.Place, options: ConfigDiscovery.Options) {
    const now = new Map<string, Content>()

    const readOne = Effect.fnUntraced(
      function*(source: Locate.Source, path: string, found: ConfigFiles.Content | ConfigFiles.Refused | undefined) {
        const { dialect, distance, origin, pointer = [], rank, scope } = source
        const about = { provider: dialect.host, scope, path }
        // a file that is read in two ways is remembered for each
        const key = [dialect.host, scope, origin, ...pointer, path].join("\0")
        const read = (content: Content, issues: ReadonlyArray<Issue>, isStale = false): Read => {
          const { invalid, policies } = policyOf(source, content, place.started, options.strict)
          const misunderstood = invalid.map((fault) => issueOf(about, "warning", "invalid-policy", fault))
          return {
            provider: dialect.host,
            scope,
            path,
            rank,
            distance,
            deep: dialect.merge === "deep",
            exclusive: source.exclusive || content.exclusive,
            items: content.items,
            source,
            document: content.document,
            decoded: content.decoded,
            policies,
            issues: [...issues, ...content.removed, ...misunderstood],
            isStale
          }
        }
        if (found === undefined) {
          const detail = "there is no such file"
          return source.isNamed ? read(nothing, [issueOf(about, "error", "unreadable", { detail })]) : undefined
        }
        const last = before.get(key)
        const failed = (issues: ReadonlyArray<Issue>): Read => {
          if (last === undefined) return read(nothing, issues)
          now.set(key, last)
          return read(last, issues, true)
        }
        if (found._tag === "Refused") return failed([issueOf(about, "error", found.kind, found)])
        const digest = sha256(found.bytes)
        const content = last?.digest === digest
          ? last
          : yield* decode(source, path, found.bytes, digest, options.strict)
        const { issues } = content
        if (issues.some(({ server, severity }) => severity === "error" && server === undefined)) return failed(issues)
        now.set(key, content)
        return read(content, issues)
      }
    )

    const readAll = Effect.fnUntraced(function*(sources: ReadonlyArray<Locate.Source>) {
      const found = yield* files.find(sources.map(({ path }) => path))
      const wanted = sources.flatMap((source) => {
        const paths = found.get(source.path) ?? []
        // a file that the options name is missed
        return (paths.length === 0 && source.isNamed ? [source.path] : paths).map((path) => ({ source, path }))
      })
      for (const { source: { format } } of wanted) Document.preload(format)
      const reads: Array<Read> = []
      for (const some of Arr.chunksOf(wanted, together)) {
        const contents = yield* files.readAll(
          some.map(({ path, source: { origin } }) => ({ path, origin, root: place.root }))
        )
        for (const [at, { path, source }] of some.entries()) {
          const content = contents[at]
          const read = yield* readOne(source, path, content)
          if (read !== undefined) reads.push(read)
          if (content?._tag === "Content" && content.bytes.length > large) yield* Effect.yieldNow()
        }
      }
      return reads
    })

    const early = Locate.locate(place, options, askedBy(options, []))
    const first = yield* readAll(early)
    const asked = askedBy(options, first)
    const sources = asked.length === options.imports.length ? early : Locate.locate(place, options, asked)
    const second = sources === early ? [] : yield* readAll(sources.slice(early.length))
    before = now
    const reads = [...first, ...second].filter(permitted(first))
    const found: Files = {
      reads,
      issues: [...asked.flatMap(unknownImport), ...reads.flatMap(({ issues }) => issues)],
      paths: sources.map(({ path }) => path)
    }
    return found
  })
}

/**
 * The hosts that an administrator or a person lets be read, by `policy.providers` of a native file. What an administrator
 * has written for a host is left out only by an administrator.
 */
const permitted = (reads: ReadonlyArray<Read>): (read: Read) => boolean => {
  const lists = reads.flatMap(({ document, scope, source: { dialect, isOwn, origin } }) => {
    const providers = isOwn && dialect.host === "native" && Scope.rights(origin).allow
      ? policyTable(document).get("providers")
      : undefined
    // a value that is no list was meant as a limit
    return providers === undefined ? [] : [{ scope, hosts: isList(providers) ? providers.filter(isText) : [] }]
  })
  return ({ provider, scope }) =>
    provider === "native" ||
    lists.every((list) =>
      list.hosts.some((one) => Locate.isOf(provider, one)) || (scope === "managed" && list.scope !== "managed")
    )
}
