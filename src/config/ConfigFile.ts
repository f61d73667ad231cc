/** One file of a host: its document, its servers, and the issues of both with their lines. */
import * as Effect from "effect/Effect"
import * as ConfigIssue from "./ConfigIssue.ts"
import * as Dialect from "./Dialect.ts"
import * as Document from "./document.ts"
import { formatOf } from "./locate.ts"
import { nameOfFile, pathsOf } from "./paths.ts"
import type { Item } from "./readEntry.ts"
import * as Reader from "./reader.ts"
import type * as Scope from "./Scope.ts"

export interface Options {
  /** Whose file it is, by id (`claude-code`) or as the dialect itself. */
  readonly host: string | Dialect.Dialect
  readonly scope: Scope.Scope
  /** Who could have written it; default: what is usual for the scope. */
  readonly origin?: Scope.Origin | undefined
  readonly path?: string | undefined
  /** Default: by the ending of the path, or what is usual for the host. */
  readonly format?: Document.Format | undefined
  /** Where in the document the servers are; default: where the host has them in a file of that name. */
  readonly pointer?: ReadonlyArray<string> | undefined
  /** Whether what the host itself would not take is an error. */
  readonly strict?: boolean | undefined
  readonly limits?: Partial<Document.Limits> | undefined
}

export interface ConfigFile {
  readonly document: Document.Document
  readonly decoded: Dialect.Decoded
  /** Of the file and of its entries, with their lines. */
  readonly issues: ReadonlyArray<ConfigIssue.ConfigIssue>
}

const usualOrigin: { readonly [S in Scope.Scope]: Scope.Origin } = {
  managed: "system",
  session: "code",
  local: "workspace",
  project: "workspace",
  user: "home",
  plugin: "plugin"
}

export interface About {
  readonly provider: string
  readonly scope: Scope.Scope
  readonly path?: string | undefined
  readonly server?: string | undefined
  readonly line?: number | undefined
}

export const issueOf = (
  { line, path, provider, scope, server }: About,
  severity: ConfigIssue.ConfigIssue["severity"],
  kind: ConfigIssue.Kind,
  { at, detail }: { readonly at?: string | undefined; readonly detail?: string | undefined } = {}
): ConfigIssue.ConfigIssue => ({
  kind,
  severity,
  provider,
  scope,
  path,
  server,
  at,
  line,
  message: ConfigIssue.explain(kind, { host: provider, server, at, detail })
})

/** The pointer to the servers in files of that name, where the host has one for all of them. */
const usualPointer = (dialect: Dialect.Dialect, path: string | undefined): ReadonlyArray<string> | undefined => {
  if (path === undefined) return undefined
  const name = nameOfFile(path)
  const places = dialect.locations.filter((location) => pathsOf(location).some((one) => nameOfFile(one) === name))
  const [first] = places
  // a pointer that depends on the workspace is given by the caller
  const isFixed = first?.pointer?.every((part) => !part.includes("{")) === true
  return isFixed && places.every(({ pointer }) => pointer !== undefined) ? first?.pointer : undefined
}

const dialectOf = ({ host }: Options): Dialect.Dialect =>
  typeof host === "string" ? Dialect.find(host) ?? Dialect.native : host

/** Reads a file. It never fails: faults are issues. An unknown host is read as the native format. */
export const decode = (bytes: Uint8Array, options: Options): Effect.Effect<ConfigFile> => {
  const { limits, origin, path, pointer, scope, strict } = options
  const dialect = dialectOf(options)
  const context = {
    scope,
    origin: origin ?? usualOrigin[scope],
    path,
    pointer: pointer ?? usualPointer(dialect, path),
    strict
  }
  const format = options.format ?? formatOf(path ?? "", dialect.format)
  return Effect.map(Document.decode(bytes, format, limits), (document) => join(dialect, context, document))
}

const join = (
  dialect: Dialect.Dialect,
  context: Dialect.Context,
  document: Document.Document
): ConfigFile => {
  const ofDocument = document.issues.map((issue) => judged(dialect, context, issue))
  const isBroken = document.root === undefined || ofDocument.some(({ severity }) => severity === "error")
  const decoded = isBroken || document.root === undefined
    ? Reader.nothing
    : Reader.decode(dialect, document.root, context)
  // an empty file has one issue
  const isEmpty = ofDocument.some(({ kind }) => kind === "empty-file")
  const ofDialect = decoded.issues.filter(({ kind }) => !(isEmpty && kind === "no-servers"))
  const issues = [
    ...[...ofDocument, ...ofDialect].map((issue) => ofFile(dialect, context, issue, document)),
    ...decoded.items.flatMap((item) => ofItem(dialect, context, item, document))
  ]
  return { document, decoded, issues }
}

/**
 * The issue of a document as it counts for this host. Two maps of servers in one file are an error, because a reviewer
 * sees the first and a parser takes the last.
 */
const judged = (
  dialect: Dialect.Dialect,
  context: Dialect.Context,
  issue: Document.DocumentIssue
): Document.DocumentIssue => {
  // the host itself refuses such a file
  if (issue.kind === "jsonc-in-strict-json" && context.strict === true) return { ...issue, severity: "error" }
  if (issue.kind !== "duplicate-key" || issue.at === undefined) return issue
  const keys = Reader.rootKeys(dialect, context)
  const isTop = !issue.at.includes("/") || keys.includes(issue.at)
  return isTop && (keys.includes(issue.at) || !Reader.isShared(dialect, context))
    ? { ...issue, kind: "duplicate-root-key", severity: "error" }
    : issue
}

const ofFile = (
  { host: provider }: Dialect.Dialect,
  { path, scope }: Dialect.Context,
  { at, detail, kind, line, severity }: Document.DocumentIssue,
  document: Document.Document
): ConfigIssue.ConfigIssue => {
  const found = line ?? (at === undefined || document.root === undefined ? undefined : lineAt(document, at))
  const issue = issueOf({ provider, scope, path, line: found }, severity, kind, { at, detail })
  return { ...issue, at: at && ConfigIssue.shownKey(at) }
}

const ofItem = (
  { host: provider }: Dialect.Dialect,
  { path, scope }: Dialect.Context,
  item: Item,
  document: Document.Document
): ReadonlyArray<ConfigIssue.ConfigIssue> => {
  if (item._tag === "Patch" || item._tag === "Given") return []
  const issue = (
    severity: "error" | "warning",
    kind: ConfigIssue.Kind,
    at: string | undefined,
    detail: string | undefined
  ): ConfigIssue.ConfigIssue => ({
    ...issueOf({ provider, scope, path, server: item.name, line: lineOf(document, item, at) }, severity, kind, {
      at,
      detail
    }),
    at: at && ConfigIssue.shownKey(at)
  })
  return item._tag === "Invalid"
    ? [issue("error", item.kind, item.at, item.detail)]
    : item.warnings.map(({ at, detail, kind }) => issue("warning", kind, at, detail))
}

const lineAt = (document: Document.Document, at: string): number | undefined => {
  const way = wayTo(document.root ?? null, at, "/")
  return way.length === 0 ? undefined : document.line(way)
}

/** The line of a field, or of the entry if there is no such field in it. */
const lineOf = (
  document: Document.Document,
  { pointer, raw }: Item,
  at: string | undefined
): number | undefined => {
  const way = at === undefined ? [] : wayIn(raw, at)
  return (way.length === 0 ? undefined : document.line([...pointer, ...way])) ?? document.line(pointer)
}

/** Headers and variables are found by their names in any table of the entry. */
const wayIn = (raw: Document.Value, at: string): ReadonlyArray<string | number> => {
  const way = wayTo(raw, at, ".")
  if (way.length > 0 || !Document.isTable(raw)) return way
  for (const [key, held] of raw) if (Document.isTable(held) && held.has(at)) return [key, at]
  return []
}

/** The keys on the way to a part, which is written as one text; a key may contain the separator. */
const wayTo = (value: Document.Value, at: string, between: string): ReadonlyArray<string | number> => {
  if (Document.isList(value)) {
    const [index = "", ...rest] = at.split(between)
    const held = /^\d+$/.test(index) ? value[Number(index)] : undefined
    return held === undefined ? [] : [Number(index), ...wayTo(held, rest.join(between), between)]
  }
  if (!Document.isTable(value)) return []
  if (value.has(at)) return [at]
  // names of fields are short, so a long one is not split
  for (let end = at.indexOf(between); end > 0 && end < 64; end = at.indexOf(between, end + 1)) {
    const key = at.slice(0, end)
    const held = value.get(key)
    if (held !== undefined) return [key, ...wayTo(held, at.slice(end + 1), between)]
  }
  return []
}
