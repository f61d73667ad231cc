/**
 * Reads a document by the row of its host: where its servers are, and one item for each, whatever is wrong with it.
 */
import type * as ConfigIssue from "./ConfigIssue.ts"
import type * as Dialect from "./Dialect.ts"
import type * as Document from "./document.ts"
import { isList, isTable, isText, list, scalar, table, tables, without } from "./document.ts"
import type * as HostRow from "./hostRow.ts"
import { nameOfFile, pathsOf } from "./paths.ts"
import * as PolicyWords from "./policyWords.ts"
import * as Quirks from "./quirks.ts"
import { type Host, hostOf, type Item, itemOf, once } from "./readEntry.ts"
import type * as Scope from "./Scope.ts"

type Table = Document.Table
type Value = Document.Value

const usual: ReadonlyArray<ReadonlyArray<string>> = [["mcpServers"]]

/** The keys under which other hosts have their servers. */
const foreign = ["mcpServers", "servers", "mcp_servers", "context_servers", "amp.mcpServers", "mcp"]

const isIn = (scopes: boolean | ReadonlyArray<Scope.Scope> | undefined, scope: Scope.Scope): boolean =>
  typeof scopes === "object" ? scopes.includes(scope) : scopes === true

/** Whether a file has other settings beside the servers. */
const isShared = (table: HostRow.HostTable, context: Dialect.Context): boolean =>
  isIn(table.shared, context.scope) || (context.pointer !== undefined && context.pointer.length > 0)

/** Whether a document is in a file that holds rules, and no servers. */
const isRules = ({ locations }: HostRow.HostTable, { path: place }: Dialect.Context): boolean =>
  place !== undefined &&
  locations.some((location) =>
    location.policyOnly === true && pathsOf(location).some((rules) => nameOfFile(rules) === nameOfFile(place))
  )

const waysOf = (table: HostRow.HostTable, context: Dialect.Context): ReadonlyArray<ReadonlyArray<string>> =>
  context.pointer === undefined ? table.roots ?? usual : [context.pointer]

const walk = (root: Table, way: ReadonlyArray<string>): Value | undefined => {
  let value: Value | undefined = root
  for (const key of way) {
    if (!isTable(value)) return undefined
    value = value.get(key)
  }
  return value
}

/** Whether a table looks like one server, rather than like a map of them. */
const isServer = (value: Value | undefined): boolean =>
  isTable(value) && (
    ["command", "url", "type"].some((key) => {
      const held = value.get(key)
      return typeof held === "string" || isList(held)
    }) || ["enabled", "disabled"].some((key) => typeof value.get(key) === "boolean")
  )

interface Place {
  readonly way: ReadonlyArray<string>
  readonly servers: Value
  /** It is one server, and the way leads to it and not to a map of servers. */
  readonly isSingle?: boolean
}

/** The name of a file without its folders and its ending. */
const fileName = (path: string | undefined): string => /([^/\\]*?)(\.[^./\\]*)?$/.exec(path ?? "")?.[1] ?? ""

type Report = (issue: Document.DocumentIssue) => void

const warn = (
  report: Report,
  kind: "wrong-root-key" | "no-servers",
  table: HostRow.HostTable,
  { path }: Dialect.Context,
  at?: string
): void => {
  const roots = (table.roots ?? usual).map((way) => way.join("."))
  // the last is the one that the host has always had, of those in the spelling of such files
  const right = roots.findLast((root) => root.includes("_") === (path?.endsWith(".toml") === true)) ?? roots.at(-1)
  report({ kind, severity: "warning", at, detail: right && `it is ${right}` })
}

/** Whether there are servers under a key, and nothing else. */
const holdsServers = (value: Value | undefined): boolean =>
  isTable(value) && value.size > 0 && Array.from(value.values()).every(isServer)

/** Where the servers of a document are. */
const find = (
  table: HostRow.HostTable,
  root: Table,
  context: Dialect.Context,
  report: Report
): ReadonlyArray<Place> => {
  /** The servers under the key of another host, as a copied file has them: they are read, and the key is reported. */
  const misplaced = (other: string): ReadonlyArray<Place> => {
    const inside = walk(root, ["mcp", "servers"])
    const way = other === "mcp" && isTable(inside) && !isServer(inside) ? ["mcp", "servers"] : [other]
    warn(report, "wrong-root-key", table, context, other)
    return context.strict === true ? [] : [{ way, servers: walk(root, way) ?? null }]
  }
  const places = waysOf(table, context).flatMap((way): ReadonlyArray<Place> => {
    const servers = walk(root, way)
    return servers === undefined ? [] : [{ way, servers }]
  })
  if (places.length > 1 && table.firstRoot === true) {
    return places.filter(({ servers }) => !isServer(servers)).slice(0, 1)
  }
  if (places.length > 0) return places
  if (isShared(table, context)) {
    // most of such a file is about something else, so every value under the key must be a server
    const other = context.pointer === undefined ? foreign.find((key) => holdsServers(root.get(key))) : undefined
    return other === undefined ? [] : misplaced(other)
  }
  if (table.single === true && isServer(root)) {
    return [{ way: [], servers: new Map([[fileName(context.path), root]]), isSingle: true }]
  }
  const isBare = isIn(table.bare, context.scope)
  const other = foreign.find((key) => isTable(root.get(key)) && !(isBare && isServer(root.get(key))))
  if (other !== undefined) return misplaced(other)
  if (isBare) return [{ way: [], servers: without(root, "$schema") }]
  if (table.aside?.some((key) => root.has(key)) !== true) warn(report, "no-servers", table, context)
  return []
}

const nameOf = (value: Value): string | undefined => {
  const name = isTable(value) ? value.get("name") : undefined
  return typeof name === "string" && name !== "" ? name : undefined
}

/** A dialect from a table. Its keys are looked up in maps that are made for its first document. */
export const make = (table: HostRow.HostTable): Dialect.Dialect => {
  const own = once(() => hostOf(table))
  const under = once(() =>
    new Map(
      Object.entries(table.under ?? {}).map(([root, { fields, variables = table.variables }]) =>
        [root, hostOf({ ...table, fields: { ...table.fields, ...fields }, variables })] as const
      )
    )
  )
  return {
    host: table.host,
    title: table.title,
    format: table.format,
    isShared: (context) => isShared(table, context),
    rootKeys: (context) => waysOf(table, context).flatMap((way) => way.slice(0, 1)),
    readsOnlyEntry: (scope) => table.variables?.fromEntry?.includes(scope) === true,
    withDefault: (name) => table.variables?.syntax.bare === true ? `\${${name}:-…}` : undefined,
    merge: table.merge ?? "whole",
    locations: table.locations,
    decode: (root, context) => decode(table, (key) => under().get(key) ?? own(), root, context)
  }
}

/** More than are ever configured, and few enough to be read in one go. */
const mostServers = 10_000

/** What is read of a document that cannot be used. */
export const nothing: Dialect.Decoded = {
  items: [],
  issues: [],
  inputs: [],
  undeclaredInputs: [],
  policy: undefined,
  imports: undefined
}

const texts = (value: Value | undefined): ReadonlyArray<string> => list(value).filter(isText)

/** The questions beside the servers. */
const inputsOf = (
  beside: Table,
  { choices, secret }: NonNullable<HostRow.HostTable["inputs"]>
): ReadonlyArray<Dialect.Input> =>
  tables(beside.get("inputs")).flatMap((input) => {
    const id = input.get("id")
    if (!isText(id) || id === "") return []
    const [description, options] = [input.get("description"), input.get(choices)]
    const fallback = scalar(input.get("default"))
    return [{
      id,
      ...(isText(description) ? { description } : {}),
      ...(input.get(secret) === true ? { secret: true } : {}),
      ...(fallback === undefined ? {} : { default: fallback }),
      ...(isList(options) ? { choices: texts(options) } : {})
    }]
  })

/** Where a location points into a document, its lists are beside the servers there. */
const switchesOf = (
  { off = [], on = [] }: NonNullable<HostRow.HostTable["switches"]>,
  root: Table,
  { pointer = [] }: Dialect.Context
): Dialect.Decoded["switches"] => {
  const beside = table(walk(root, pointer.slice(0, -1)))
  const names = (keys: ReadonlyArray<string>) => keys.flatMap((key) => texts(beside.get(key)))
  return { off: names(off), on: names(on) }
}

const decode = (
  table: HostRow.HostTable,
  hosts: (root: string) => Host,
  root: Table,
  context: Dialect.Context
): Dialect.Decoded => {
  const rules = table.policy && PolicyWords.read(table.policy, root, { ...context, provider: table.host })
  const issues: Array<Document.DocumentIssue> = [
    ...(table.inspect === undefined ? [] : Quirks.inspect[table.inspect](root)),
    ...(rules?.issues ?? [])
  ]
  if (issues.some(({ severity }) => severity === "error")) return { ...nothing, issues }
  const report: Report = (issue) => void issues.push(issue)
  const places = isRules(table, context) ? [] : find(table, root, context, report)
  const broken = (kind: ConfigIssue.FileFault, about: Pick<Document.DocumentIssue, "at" | "detail">) => ({
    ...nothing,
    issues: [...issues, { kind, severity: "error" as const, ...about }]
  })
  const sizeOf = (servers: Value): number => isTable(servers) ? servers.size : list(servers).length
  if (places.reduce((sum, { servers }) => sum + sizeOf(servers), 0) > mostServers) {
    return broken("too-many-entries", { detail: `more than ${mostServers} servers` })
  }
  const items = new Map<string, Item>()
  const asked = new Set<string>()
  const declared = new Map<string, Dialect.Input>()
  for (const { isSingle, servers, way } of places) {
    const keyed: Iterable<readonly [string | number, Value]> | undefined = isTable(servers)
      ? servers
      : isList(servers) && table.list === true
      ? servers.entries()
      : undefined
    if (keyed === undefined) return broken("servers-not-a-map", { at: way.join("/") })
    const host = hosts(way[0] ?? "")
    const beside = walk(root, way.slice(0, -1))
    for (const [key, raw] of keyed) {
      const isListed = typeof key === "number"
      const name = isListed ? nameOf(raw) : key
      const at = { name, shown: name ?? `#${key}`, pointer: isSingle === true ? way : [...way, key], isListed, beside }
      // the later of two counts, as it does for the keys of a table
      if (items.has(at.shown)) report({ kind: "duplicate-name", severity: "warning", at: at.shown })
      items.set(at.shown, itemOf(host, at, raw, context, asked))
    }
    if (table.inputs === undefined || !isTable(beside)) continue
    for (const input of inputsOf(beside, table.inputs)) declared.set(input.id, input)
  }
  return {
    items: Array.from(items.values()),
    issues,
    inputs: Array.from(declared.values()),
    undeclaredInputs: Array.from(asked).filter((id) => !declared.has(id)),
    policy: rules?.policy,
    permissions: rules?.permissions,
    switches: table.switches && switchesOf(table.switches, root, context),
    imports: table.imports === true && root.has("imports") ? texts(root.get("imports")) : undefined
  }
}
