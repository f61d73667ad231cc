/**
 * Joins a document and the dialect of its host.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import type * as ConfigDocument from "../../ConfigDocument.ts"
import type * as ConfigFile from "../../ConfigFile.ts"
import * as ConfigIssue from "../../ConfigIssue.ts"
import * as Dialect from "../../Dialect.ts"
import * as Document from "../../document.ts"
import type { Item } from "../../readEntry.ts"
import type * as Scope from "../../Scope.ts"
import * as internal from "../dialect/dialect.ts"
import { isList, isTable } from "../dialect/values.ts"

const usualOrigin: { readonly [S in Scope.Scope]: Scope.Origin } = {
  managed: "system",
  session: "code",
  local: "workspace",
  project: "workspace",
  user: "home",
  plugin: "plugin"
}

const formatOf = (dialect: Dialect.Dialect, path: string | undefined): ConfigDocument.Format => {
  const ending = /\.([a-z]+)$/i.exec(path ?? "")?.[1]?.toLowerCase()
  if (ending === "toml" || ending === "jsonc" || ending === "yaml") return ending
  if (ending === "yml") return "yaml"
  if (ending === "json") return dialect.format === "jsonc" ? "jsonc" : "json"
  return dialect.format
}

const nameOf = (path: string): string => path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1)

const isPaths = (path: Dialect.Location["path"]): path is ReadonlyArray<string> => Array.isArray(path)

/** Where the host has its servers in files of that name, if that is not where it has them elsewhere. */
const usualPointer = (dialect: Dialect.Dialect, path: string | undefined): ReadonlyArray<string> | undefined => {
  if (path === undefined) return undefined
  const name = nameOf(path)
  const places = dialect.locations.filter(({ path }) =>
    (typeof path === "string" ? [path] : isPaths(path) ? path : Object.values(path).flat())
      .some((one: string) => nameOf(one) === name)
  )
  const [first] = places
  // what depends on the workspace is said by whoever knows it
  const isFixed = first?.pointer?.every((part) => !part.includes("{")) === true
  return isFixed && places.every(({ pointer }) => pointer !== undefined) ? first?.pointer : undefined
}

const dialectOf = ({ host }: ConfigFile.Options): Dialect.Dialect =>
  typeof host === "string" ? Dialect.find(host) ?? internal.native : host

/** @internal */
export const decode = (bytes: Uint8Array, options: ConfigFile.Options): Effect.Effect<ConfigFile.ConfigFile> => {
  const { limits, origin, path, pointer, scope, strict } = options
  const dialect = dialectOf(options)
  const context = {
    scope,
    origin: origin ?? usualOrigin[scope],
    path,
    pointer: pointer ?? usualPointer(dialect, path),
    strict
  }
  const format = options.format ?? formatOf(dialect, path)
  return Effect.map(Document.decode(bytes, format, limits), (document) => join(dialect, context, document))
}

const nothing: Dialect.Decoded = {
  items: [],
  issues: [],
  inputs: [],
  undeclaredInputs: [],
  policy: undefined,
  imports: undefined
}

const join = (
  dialect: Dialect.Dialect,
  context: Dialect.Context,
  document: ConfigDocument.ConfigDocument
): ConfigFile.ConfigFile => {
  const ofDocument = document.issues.map((issue) => judged(dialect, context, issue))
  const isBroken = document.root === undefined || ofDocument.some(({ severity }) => severity === "error")
  const decoded = isBroken || document.root === undefined ? nothing : dialect.decode(document.root, context)
  // of a file without anything in it, one thing is said
  const isEmpty = ofDocument.some(({ kind }) => kind === "empty-file")
  const ofDialect = decoded.issues.filter(({ kind }) => !(isEmpty && kind === "no-servers"))
  const issues = [
    ...[...ofDocument, ...ofDialect].map((issue) => ofFile(dialect, context, issue, document)),
    ...decoded.items.flatMap((item) => ofItem(dialect, context, item, document))
  ]
  return { document, decoded, issues }
}

/**
 * What a document's issue is in a file of this host. Two maps of servers in one file are a fault: a person who reviews it
 * sees the first, and a parser takes the last.
 */
const judged = (
  dialect: Dialect.Dialect,
  context: Dialect.Context,
  issue: ConfigDocument.DocumentIssue
): ConfigDocument.DocumentIssue => {
  // the host would not read such a file at all
  if (issue.kind === "jsonc-in-strict-json" && context.strict === true) return { ...issue, severity: "error" }
  if (issue.kind !== "duplicate-key" || issue.at === undefined) return issue
  const keys = internal.rootKeys(dialect, context)
  const isTop = !issue.at.includes("/") || keys.includes(issue.at)
  return isTop && (keys.includes(issue.at) || !internal.isShared(dialect, context))
    ? { ...issue, kind: "duplicate-root-key", severity: "error" }
    : issue
}

const ofFile = (
  { host: provider }: Dialect.Dialect,
  { path, scope }: Dialect.Context,
  { at, detail, kind, line, severity }: ConfigDocument.DocumentIssue,
  document: ConfigDocument.ConfigDocument
): ConfigIssue.ConfigIssue => ({
  kind,
  severity,
  provider,
  scope,
  path,
  server: undefined,
  at: at && ConfigIssue.shownKey(at),
  line: line ?? (at === undefined || document.root === undefined ? undefined : lineAt(document, at)),
  message: Dialect.explain(kind, { host: provider, at, detail })
})

const ofItem = (
  { host: provider }: Dialect.Dialect,
  { path, scope }: Dialect.Context,
  item: Item,
  document: ConfigDocument.ConfigDocument
): ReadonlyArray<ConfigIssue.ConfigIssue> => {
  if (item._tag === "Patch" || item._tag === "Given") return []
  const issue = (
    severity: "error" | "warning",
    kind: ConfigIssue.Kind,
    at: string | undefined,
    detail: string | undefined
  ): ConfigIssue.ConfigIssue => ({
    kind,
    severity,
    provider,
    scope,
    path,
    server: item.name,
    at: at && ConfigIssue.shownKey(at),
    line: lineOf(document, item, at),
    message: Dialect.explain(kind, { host: provider, server: item.name, at, detail })
  })
  return item._tag === "Invalid"
    ? [issue("error", item.kind, item.at, item.detail)]
    : item.warnings.map(({ at, detail, kind }) => issue("warning", kind, at, detail))
}

const lineAt = (document: ConfigDocument.ConfigDocument, at: string): number | undefined => {
  const way = wayTo(document.root ?? null, at, "/")
  return way.length === 0 ? undefined : document.line(way)
}

/** The line of a field, or of the entry if there is no such field in it. */
const lineOf = (
  document: ConfigDocument.ConfigDocument,
  { pointer, raw }: Item,
  at: string | undefined
): number | undefined => {
  const way = at === undefined ? [] : wayIn(raw, at)
  return (way.length === 0 ? undefined : document.line([...pointer, ...way])) ?? document.line(pointer)
}

/** Headers and variables go by their own names, wherever in the entry they are. */
const wayIn = (raw: ConfigDocument.Value, at: string): ReadonlyArray<string | number> => {
  const way = wayTo(raw, at, ".")
  if (way.length > 0 || !isTable(raw)) return way
  for (const [key, held] of raw) if (isTable(held) && held.has(at)) return [key, at]
  return []
}

/** The way to a part that is written as one text, where the keys themselves may have what stands between them. */
const wayTo = (value: ConfigDocument.Value, at: string, between: string): ReadonlyArray<string | number> => {
  if (isList(value)) {
    const [index = "", ...rest] = at.split(between)
    const held = /^\d+$/.test(index) ? value[Number(index)] : undefined
    return held === undefined ? [] : [Number(index), ...wayTo(held, rest.join(between), between)]
  }
  if (!isTable(value)) return []
  if (value.has(at)) return [at]
  // our own fields are short: a long name is not taken apart
  for (let end = at.indexOf(between); end > 0 && end < 64; end = at.indexOf(between, end + 1)) {
    const key = at.slice(0, end)
    const held = value.get(key)
    if (held !== undefined) return [key, ...wayTo(held, at.slice(end + 1), between)]
  }
  return []
}
