/** One file of a host: its document, its servers, and the issues of both with their lines. */
import * as Effect from "effect/Effect"
import * as ConfigIssue from "./ConfigIssue.ts"
import * as Dialect from "./Dialect.ts"
import * as Document from "./document.ts"
import * as Locate from "./locate.ts"
import { locationsNamed } from "./paths.ts"
import type { Item } from "./readEntry.ts"
import * as Reader from "./reader.ts"

export interface Options extends Omit<Dialect.Context, "path" | "position"> {
  /** The id of the host; an unknown one is read as the native format. */
  readonly host: string
  readonly path?: string | undefined
  /** Default: by the ending of the path, or what is usual for the host. */
  readonly format?: Document.Format | undefined
}

export interface ConfigFile extends Omit<Dialect.Decoded, "issues"> {
  readonly document: Document.Document
  /** Of the file and of its entries, with their lines. */
  readonly issues: ReadonlyArray<ConfigIssue.ConfigIssue>
}

/** A file of which nothing can be used. */
export const nothing: ConfigFile = {
  ...Reader.nothing,
  document: { root: undefined, issues: [], position: () => undefined },
  issues: []
}

/** The pointer to the servers in files of that name, where the host has one for all of them. */
const usualPointer = (dialect: Dialect.Dialect, path: string): ReadonlyArray<string> | undefined => {
  const places = locationsNamed(dialect, path)
  const [first] = places
  // a pointer that depends on the workspace is given by the caller
  const isFixed = first?.pointer?.every((part) => !part.includes("{")) === true
  return isFixed && places.every(({ pointer }) => pointer !== undefined) ? first?.pointer : undefined
}

/** Reads a file. It never fails: faults are issues. */
export const decode = (bytes: Uint8Array, options: Options): Effect.Effect<ConfigFile> => {
  const format = formatOf(options)
  return Effect.map(Document.decoder(new Set([format])), (decode) => read(decode(bytes, format), options))
}

const formatOf = ({ format, host, path = "" }: Options): Document.Format =>
  format ?? Locate.formatOf(path, (Dialect.find(host) ?? Dialect.native).format)

/** What a document says as a file of its host. */
export const read = (document: Document.Document, { host, path, pointer, ...options }: Options): ConfigFile => {
  const dialect = Dialect.find(host) ?? Dialect.native
  const context: Dialect.Context = {
    ...options,
    path,
    pointer: pointer ?? (path === undefined ? undefined : usualPointer(dialect, path)),
    position: document.position
  }
  const about = { provider: dialect.host, scope: context.scope, path }
  const { issues: faults, position, root } = document
  const ofDocument = faults.map((issue) => judged(dialect, context, issue))
  const isBroken = root === undefined || ofDocument.some(({ severity }) => severity === "error")
  const decoded = isBroken ? Reader.nothing : Reader.decode(dialect, root, context)
  // an empty file has one issue
  const isEmpty = ofDocument.some(({ kind }) => kind === "empty-file")
  const ofDialect = decoded.issues.filter(({ kind }) => !(isEmpty && kind === "no-servers"))
  const ofFile = [...ofDocument, ...ofDialect].map(({ at, column, detail, kind, line, severity }) => {
    const way = line !== undefined || at === undefined || root === undefined ? [] : wayTo(root, at, "/")
    const place = way.length === 0 ? { line, column } : position(way)
    return ConfigIssue.make({ ...about, ...place }, severity, kind, { at, detail })
  })
  const ofItem = (item: Item): ReadonlyArray<ConfigIssue.ConfigIssue> => {
    if (item._tag === "Patch" || item._tag === "Given") return []
    const severity = item._tag === "Invalid" ? "error" : "warning"
    const { pointer } = item.provenance
    return (item._tag === "Invalid" ? [item] : item.warnings).map(({ at, detail, kind }) => {
      const way = at === undefined ? [] : wayIn(item.raw, at)
      const place = position([...pointer, ...way]) ?? position(pointer)
      return ConfigIssue.make({ ...about, server: item.name, ...place }, severity, kind, { at, detail })
    })
  }
  return { ...decoded, document, issues: [...ofFile, ...decoded.items.flatMap(ofItem)] }
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
  const isRoot = Reader.rootKeys(dialect, context).includes(issue.at)
  return isRoot || (!issue.at.includes("/") && !Reader.isShared(dialect, context))
    ? { ...issue, kind: "duplicate-root-key", severity: "error" }
    : issue
}

/** Headers and variables are found by their names in any table of the entry. */
const wayIn = (raw: Document.Value, at: string): Document.Pointer => {
  const way = wayTo(raw, at, ".")
  if (way.length > 0) return way
  const [key] = Array.from(Document.table(raw)).find(([, held]) => Document.table(held).has(at)) ?? []
  return key === undefined ? [] : [key, at]
}

/** The keys on the way to a part, which is written as one text; a key may contain the separator. */
const wayTo = (value: Document.Value, at: string, between: string): Document.Pointer => {
  if (Document.isTable(value) && value.has(at)) return [at]
  // names of fields are short, so a long one is not split
  for (let end = at.indexOf(between); end < 64; end = at.indexOf(between, end + 1)) {
    const name = end === -1 ? at : at.slice(0, end)
    const key = Document.isList(value) && /^\d+$/.test(name) ? Number(name) : name
    const held = Document.member(value, key)
    if (held !== undefined) return [key, ...(end === -1 ? [] : wayTo(held, at.slice(end + 1), between))]
    if (end === -1) break
  }
  return []
}
