/** Reads configuration files, and turns each into a layer to merge and the policy beside it. */
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import { sha256 } from "../json/canonical.ts"
import { nearest } from "../text/nearest.ts"
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

/** One file, as far as it could be read. */
export interface Read {
  readonly source: Locate.Source
  readonly path: string
  readonly document: Document.Document
  readonly decoded: Dialect.Decoded
  readonly issues: ReadonlyArray<Issue>
  /** There is a file, and nothing of it can be used. */
  readonly isFailed: boolean
  /** The file has changed and cannot be used, so its last good content is. */
  readonly isStale: boolean
}

const aboutOf = ({ path, source }: Pick<Read, "path" | "source">): About => ({
  provider: source.dialect.host,
  scope: source.scope,
  path
})

const nothing: Pick<Read, "document" | "decoded"> = {
  document: { root: undefined, issues: [], line: () => undefined },
  decoded: Reader.nothing
}

/** True if an address or a header names a variable of the `env` of its entry, so that the `env` has an effect. */
const usesEnv = (item: Item | undefined): boolean => {
  if (item?._tag !== "Server" || item.entry.transport === "stdio") return false
  const { env, headers, url } = item.entry
  return [url, ...(headers?.values() ?? [])].flatMap(Interpolation.variables).some((name) => env?.has(name) === true)
}

/** How many files are read at the same time, and held until they are decoded. */
const together = 16

/** Bytes of a file that takes about 100 ms to decode. */
const large = 1024 * 1024

/** A file that is read in two ways is remembered for each. */
const keyOf = ({ dialect, pointer, scope }: Locate.Source, path: string): string =>
  [dialect.host, scope, ...(pointer ?? []), path].join("\0")

/** Whether files of one key count the same among the others. */
const isSame = (one: Locate.Source, other: Locate.Source): boolean =>
  one.rank === other.rank && one.distance === other.distance && one.isOwn === other.isOwn &&
  one.origin === other.origin && one.isNamed === other.isNamed && one.exclusive === other.exclusive &&
  one.policyOnly === other.policyOnly

/** Reads files. It remembers the last good content of each while the file is there, and decodes no content twice. */
export const reading = (files: ConfigFiles.ConfigFiles["Type"]) => {
  const good = new Map<string, Read & { readonly digest: string }>()

  const decoded = (
    source: Locate.Source,
    path: string,
    content: ConfigFiles.Content | ConfigFiles.Refused | undefined,
    strict: boolean
  ) =>
    Effect.gen(function*() {
      const key = keyOf(source, path)
      const last = good.get(key)
      const read = { source, path, isFailed: false, isStale: false }
      const failed = (issues: ReadonlyArray<Issue>): Read => ({
        ...read,
        document: (last ?? nothing).document,
        decoded: (last ?? nothing).decoded,
        issues,
        isFailed: last === undefined,
        isStale: last !== undefined
      })
      if (content === undefined) {
        good.delete(key)
        const issue = () => issueOf(aboutOf(read), "error", "unreadable", { detail: "there is no such file" })
        return source.isNamed ? { ...read, ...nothing, issues: [issue()], isFailed: true } : undefined
      }
      if (content._tag === "Refused") return failed([issueOf(aboutOf(read), "error", content.kind, content)])
      const digest = sha256(content.bytes)
      if (last?.digest === digest) return isSame(last.source, source) ? last : { ...last, source }
      const { dialect, format, origin, pointer, scope } = source
      const options = { host: dialect, scope, origin, path, format, pointer, strict }
      const { issues, ...file } = yield* File.decode(content.bytes, options)
      if (issues.some(({ server, severity }) => severity === "error" && server === undefined)) return failed(issues)
      const items = new Map(file.decoded.items.map((item) => [item.name, item]))
      const useful = issues.filter(({ at, kind, server }) =>
        kind !== "unused-field" || at !== "env" || !usesEnv(items.get(server ?? ""))
      )
      const now = { ...read, ...file, issues: useful, digest }
      good.set(key, now)
      return now
    })

  return (sources: ReadonlyArray<Locate.Source>, root: string, strict: boolean): Effect.Effect<ReadonlyArray<Read>> =>
    Effect.gen(function*() {
      const present = yield* files.present(sources.map(({ path }) => path))
      const isThere = ({ isNamed, path }: Locate.Source) => isNamed || present.has(path)
      for (const source of sources) if (!isThere(source)) good.delete(keyOf(source, source.path))
      const there = sources.filter(isThere)
      const matches = yield* files.expandAll(there.flatMap(({ path }) => path.includes("*") ? [path] : []))
      const wanted = there.flatMap((source) =>
        (matches.get(source.path) ?? [source.path]).map((path) => ({ source, path }))
      )
      for (const { source: { format } } of wanted) Document.preload(format)
      const reads: Array<Read> = []
      for (const some of Arr.chunksOf(wanted, together)) {
        const contents = yield* files.readAll(some.map(({ path, source: { origin } }) => ({ path, origin, root })))
        for (const [at, { path, source }] of some.entries()) {
          const content = contents[at]
          const read = yield* decoded(source, path, content, strict)
          if (read !== undefined) reads.push(read)
          if (content?._tag === "Content" && content.bytes.length > large) yield* Effect.yieldNow()
        }
      }
      return reads
    })
}

const policyTable = ({ document }: Read): Document.Table => table(document.root?.get("policy"))

/**
 * The hosts that an administrator or a person lets be read, by `policy.providers` of a native file. What an administrator
 * has written for a host is left out only by an administrator.
 */
export const permitted = (reads: ReadonlyArray<Read>): (read: Read) => boolean => {
  const lists = reads.flatMap((read) => {
    const { dialect, isOwn, origin, scope } = read.source
    const providers = isOwn && dialect.host === "native" && Scope.rights(origin).allow
      ? policyTable(read).get("providers")
      : undefined
    // a value that is no list was meant as a limit
    return providers === undefined ? [] : [{ scope, hosts: isList(providers) ? providers.filter(isText) : [] }]
  })
  return ({ source: { dialect: { host }, scope } }) =>
    host === "native" ||
    lists.every((list) =>
      list.hosts.some((one) => Locate.isOf(host, one)) || (scope === "managed" && list.scope !== "managed")
    )
}

export interface Asked extends Locate.Import {
  readonly by: Read | undefined
}

export const unknownImport = ({ by, host }: Asked): ReadonlyArray<Issue> => {
  if (Locate.dialectsOf(host).length > 0) return []
  const about = by === undefined
    ? { provider: "code", scope: "session" as const }
    : { ...aboutOf(by), line: by.document.line(["imports"]) }
  const [near] = nearest(host, [...new Set(Dialect.all.map((dialect) => dialect.host)), Locate.everything])
  const detail = near === undefined ? host : `${host}; did you mean ${near}?`
  return [issueOf(about, "warning", "unknown-import", { at: "imports", detail })]
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

/** An administrator who lists servers means these and no others, unless the file says otherwise. */
const isExclusive = (read: Read): boolean => {
  const { decoded, document, source } = read
  if (source.exclusive) return true
  if (source.scope !== "managed" || source.policyOnly || source.dialect.host !== "native") return false
  const exclusive = policyTable(read).get("exclusive")
  if (exclusive === false) return false
  // any other value was meant as a limit
  return exclusive !== undefined || decoded.items.length > 0 ||
    document.root?.has("mcpServers") === true || document.root?.has("mcp_servers") === true
}

export const layerOf = (read: Read, issues: Array<Issue>): Merge.Layer => {
  const { decoded, document, path, source } = read
  const { dialect, distance, origin, rank, scope } = source
  return {
    provider: dialect.host,
    scope,
    path,
    rank,
    distance,
    deep: dialect.merge === "deep",
    exclusive: isExclusive(read),
    items: decoded.items.map((whole) => {
      const line = document.line(whole.pointer)
      const provenance = { provider: dialect.host, scope, origin, path, pointer: whole.pointer, line }
      if (whole._tag !== "Server") return { item: whole, provenance }
      const { entry, warnings } = withRights(whole.entry, origin, whole.approval)
      for (const { at, kind } of warnings) {
        issues.push(issueOf({ ...aboutOf(read), server: whole.name, line }, "warning", kind, { at }))
      }
      const item = warnings.length === 0 ? whole : { ...whole, entry, warnings: [...whole.warnings, ...warnings] }
      return { item, provenance }
    })
  }
}

export const policiesOf = (
  read: Read,
  variable: (name: string) => string | undefined,
  strict: boolean,
  issues: Array<Issue>
): ReadonlyArray<ServerPolicy.Policy> => {
  const { decoded, isFailed, source: { dialect, origin, scope } } = read
  // an unreadable file of an administrator could have held any rule, so nothing is allowed
  if (isFailed && scope === "managed") {
    const rules = { allow: [], deny: [], ordered: [], identities: undefined }
    return [{ provider: dialect.host, scope, origin, ...rules, managedOnly: true, broken: true }]
  }
  if (decoded.policy === undefined) return []
  const { invalid, policy } = ServerPolicy.withVariables(decoded.policy, variable)
  for (const fault of invalid) issues.push(issueOf(aboutOf(read), "warning", "invalid-policy", fault))
  return [strict ? { ...policy, requireIdentity: true } : policy]
}
