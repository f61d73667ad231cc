/**
 * Reads a document by the row of its host: where its servers are, and one item for each, whatever is wrong with it.
 */
import type * as ConfigIssue from "./ConfigIssue.ts"
import type * as Dialect from "./Dialect.ts"
import type * as Document from "./document.ts"
import {
  isList,
  isTable,
  isText,
  list,
  partAt,
  scalar,
  type Table,
  table,
  tables,
  type Value,
  without
} from "./document.ts"
import { locationsNamed, nameOfFile } from "./paths.ts"
import * as PolicyWords from "./policyWords.ts"
import * as Quirks from "./quirks.ts"
import { type Item, itemOf, keysOf } from "./readEntry.ts"
import type * as Scope from "./Scope.ts"

const usual: ReadonlyArray<ReadonlyArray<string>> = [["mcpServers"]]

/** The keys under which other hosts have their servers. */
const foreign = ["mcpServers", "servers", "mcp_servers", "context_servers", "amp.mcpServers", "mcp"]

const isIn = (scopes: boolean | ReadonlyArray<Scope.Scope> | undefined, scope: Scope.Scope): boolean =>
  typeof scopes === "object" ? scopes.includes(scope) : scopes === true

/** Whether a file has settings other than servers. */
export const isShared = ({ shared }: Dialect.Dialect, { pointer = [], scope }: Dialect.Context): boolean =>
  isIn(shared, scope) || pointer.length > 0

/** The ways from the top of a document to its servers. */
const waysOf = ({ roots }: Dialect.Dialect, { pointer }: Dialect.Context): ReadonlyArray<ReadonlyArray<string>> =>
  pointer === undefined ? roots ?? usual : [pointer]

/** The keys at the top of a document that lead to servers. */
export const rootKeys = (row: Dialect.Dialect, context: Dialect.Context): ReadonlyArray<string> =>
  waysOf(row, context).flatMap((way) => way.slice(0, 1))

/** Whether a document is in a file that holds rules, and no servers. */
const isRules = (row: Dialect.Dialect, { path }: Dialect.Context): boolean =>
  path !== undefined && locationsNamed(row, path).some(({ policyOnly }) => policyOnly === true)

/** Whether a table looks like one server, rather than like a map of them. */
const isServer = (value: Value | undefined): boolean =>
  isTable(value) && (
    ["command", "url", "type"].some((key) => isText(value.get(key)) || isList(value.get(key))) ||
    ["enabled", "disabled"].some((key) => typeof value.get(key) === "boolean")
  )

/** Whether there are servers under a key, and nothing else. */
const holdsServers = (value: Value | undefined): boolean =>
  isTable(value) && value.size > 0 && Array.from(value.values()).every(isServer)

/** A part of a document that holds servers. */
interface Found {
  readonly way: ReadonlyArray<string>
  readonly servers: Value
  /** It is one server, and the way leads to it and not to a map of servers. */
  readonly isSingle?: boolean
}

type Report = (issue: Document.DocumentIssue) => void

/** Where the servers of a document are. */
const find = (row: Dialect.Dialect, root: Table, context: Dialect.Context, report: Report): ReadonlyArray<Found> => {
  const { path, pointer, scope, strict } = context
  const at = (way: ReadonlyArray<string>): ReadonlyArray<Found> => {
    const servers = partAt(root, way)
    return servers === undefined ? [] : [{ way, servers }]
  }
  const warn = (kind: "wrong-root-key" | "no-servers", at?: string): void => {
    const roots = (row.roots ?? usual).map((way) => way.join("."))
    // the last is the one that the host has always had, of those in the spelling of such files
    const right = roots.findLast((root) => root.includes("_") === (path?.endsWith(".toml") === true)) ?? roots.at(-1)
    report({ kind, severity: "warning", at, detail: right && `use ${right}` })
  }
  const found = waysOf(row, context).flatMap(at)
  if (found.length > 1 && row.firstRoot === true) {
    return found.filter(({ servers }) => !isServer(servers)).slice(0, 1)
  }
  if (found.length > 0) return found
  const isOfOthers = isShared(row, context)
  if (row.single === true && !isOfOthers && isServer(root)) {
    return [{ way: [], servers: new Map([[nameOfFile(path ?? "").replace(/\.[^.]*$/, ""), root]]), isSingle: true }]
  }
  const isBare = !isOfOthers && isIn(row.bare, scope)
  // most of a shared file is about something else, so every value under a key must be a server
  const isMap = (value: Value | undefined): boolean =>
    isOfOthers ? pointer === undefined && holdsServers(value) : isTable(value) && !(isBare && isServer(value))
  const other = foreign.find((key) => isMap(root.get(key)))
  if (other !== undefined) {
    // the servers under the key of another host, as a copied file has them: they are read, and the key is reported
    const inside = other === "mcp" ? partAt(root, ["mcp", "servers"]) : undefined
    warn("wrong-root-key", other)
    return strict === true ? [] : at(isTable(inside) && !isServer(inside) ? ["mcp", "servers"] : [other])
  }
  if (isBare) return [{ way: [], servers: without(root, "$schema") }]
  if (!isOfOthers && row.aside?.some((key) => root.has(key)) !== true) warn("no-servers")
  return []
}

const nameOf = (value: Value): string | undefined => {
  const name = isTable(value) ? value.get("name") : undefined
  return isText(name) && name !== "" ? name : undefined
}

/** More than are ever configured, and few enough to be read in one go. */
const mostServers = 10_000

/** What is read of a document that cannot be used. */
export const nothing: Dialect.Decoded = {
  items: [],
  issues: [],
  inputs: [],
  policy: undefined,
  imports: undefined
}

const texts = (value: Value | undefined): ReadonlyArray<string> => list(value).filter(isText)

/** The questions (`inputs`) of a document. */
const inputsOf = (
  beside: Table,
  { choices, secret }: NonNullable<Dialect.Dialect["inputs"]>
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
  { off = [], on = [] }: NonNullable<Dialect.Dialect["switches"]>,
  root: Table,
  { pointer = [] }: Dialect.Context
): Dialect.Decoded["switches"] => {
  const beside = table(partAt(root, pointer.slice(0, -1)))
  const names = (keys: ReadonlyArray<string>) => keys.flatMap((key) => texts(beside.get(key)))
  return { off: names(off), on: names(on) }
}

/** The servers of a document, and its other parts. */
export const decode = (row: Dialect.Dialect, root: Table, context: Dialect.Context): Dialect.Decoded => {
  const rules = row.policy && PolicyWords.read(row.policy, root, { ...context, provider: row.host })
  const issues: Array<Document.DocumentIssue> = [
    ...(row.inspect === undefined ? [] : Quirks.inspect[row.inspect](root)),
    ...(rules?.issues ?? [])
  ]
  if (issues.some(({ severity }) => severity === "error")) return { ...nothing, issues }
  const report: Report = (issue) => void issues.push(issue)
  const found = isRules(row, context) ? [] : find(row, root, context, report)
  const broken = (kind: ConfigIssue.FileFault, about: Pick<Document.DocumentIssue, "at" | "detail">) => ({
    ...nothing,
    issues: [...issues, { kind, severity: "error" as const, ...about }]
  })
  const sizeOf = (servers: Value): number => isTable(servers) ? servers.size : list(servers).length
  if (found.reduce((sum, { servers }) => sum + sizeOf(servers), 0) > mostServers) {
    return broken("too-many-entries", { detail: `more than ${mostServers} servers` })
  }
  const items = new Map<string, Item>()
  const declared = new Map<string, Dialect.Input>()
  for (const { isSingle, servers, way } of found) {
    if (!isTable(servers) && !(isList(servers) && row.list === true)) {
      return broken("servers-not-a-map", { at: way.join("/") })
    }
    const keys = keysOf(row, way[0])
    const beside = partAt(root, way.slice(0, -1))
    for (const [key, raw] of servers.entries()) {
      const isListed = typeof key === "number"
      const name = isListed ? nameOf(raw) : key
      const at = { name, shown: name ?? `#${key}`, pointer: isSingle === true ? way : [...way, key], isListed, beside }
      // the later of two counts, as it does for the keys of a table
      if (items.has(at.shown)) report({ kind: "duplicate-name", severity: "warning", at: at.shown })
      items.set(at.shown, itemOf(keys, at, raw, context))
    }
    if (row.inputs === undefined || !isTable(beside)) continue
    for (const input of inputsOf(beside, row.inputs)) declared.set(input.id, input)
  }
  const inputs = Array.from(declared.values())
  return {
    items: Array.from(items.values(), (item) => inputs.length === 0 ? item : { ...item, inputs }),
    issues,
    inputs,
    policy: rules?.policy,
    permissions: rules?.permissions,
    switches: row.switches && switchesOf(row.switches, root, context),
    imports: row.imports === true && root.has("imports") ? texts(root.get("imports")) : undefined
  }
}
