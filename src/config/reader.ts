/**
 * Reads a document by the row of its host: where its servers are, and one item for each, whatever is wrong with it.
 */
import type * as Dialect from "./Dialect.ts"
import type * as Document from "./document.ts"
import { isList, isTable, isText, list, scalar, table, tables } from "./document.ts"
import type * as HostRow from "./hostRow.ts"
import * as PolicyWords from "./policyWords.ts"
import * as Quirks from "./quirks.ts"
import { type Host, hostOf, type Item, itemOf, once } from "./readEntry.ts"
import { noteLacking } from "./readValues.ts"
import type * as Scope from "./Scope.ts"

type Table = Document.Table
type Value = Document.Value

const usual: ReadonlyArray<ReadonlyArray<string>> = [["mcpServers"]]

/** The keys under which other hosts have their servers. */
const foreign = ["mcpServers", "servers", "mcp_servers", "context_servers", "amp.mcpServers", "mcp"]

const isIn = (scopes: boolean | ReadonlyArray<Scope.Scope> | undefined, scope: Scope.Scope): boolean =>
  typeof scopes === "object" ? scopes.includes(scope) : scopes === true

/**
 * Whether a file holds other settings too.
 */
const isShared = (table: HostRow.HostTable, context: Dialect.Context): boolean =>
  isIn(table.shared, context.scope) || (context.pointer !== undefined && context.pointer.length > 0)

const endOf = (path: string): string => path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1)

/** The names of the files that hold rules, and no servers. */
const rulesOf = (table: HostRow.HostTable): ReadonlySet<string> =>
  new Set(
    table.locations.filter(({ policyOnly }) => policyOnly === true)
      .flatMap(({ path }) => typeof path === "string" || isPaths(path) ? path : Object.values(path).flat())
      .map(endOf)
  )

const isPaths = (path: Dialect.Location["path"]): path is ReadonlyArray<string> => Array.isArray(path)

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

interface Found {
  readonly places: ReadonlyArray<Place>
  readonly issues: ReadonlyArray<Document.DocumentIssue>
}

const warning = (
  kind: "wrong-root-key" | "no-servers",
  table: HostRow.HostTable,
  { path }: Dialect.Context,
  at?: string
): ReadonlyArray<Document.DocumentIssue> => {
  const roots = (table.roots ?? usual).map((way) => way.join("."))
  // the last is the one that the host has always had, of those in the spelling of such files
  const right = roots.findLast((root) => root.includes("_") === (path?.endsWith(".toml") === true)) ?? roots.at(-1)
  return [{
    kind,
    severity: "warning",
    ...(at === undefined ? {} : { at }),
    ...(right && { detail: `it is ${right}` })
  }]
}

const none: Found = { places: [], issues: [] }

/** Whether there are servers under a key, and nothing else. */
const holdsServers = (value: Value | undefined): value is Table =>
  isTable(value) && value.size > 0 && Array.from(value.values()).every(isServer)

/**
 * The servers under the key of another host, in a file of which most is none of our business: only where there can be no
 * doubt.
 */
const misplaced = (table: HostRow.HostTable, root: Table, context: Dialect.Context): Found => {
  const other = foreign.find((key) => holdsServers(root.get(key)))
  if (other === undefined) return none
  const place = { way: [other], servers: root.get(other) ?? null }
  return { places: context.strict === true ? [] : [place], issues: warning("wrong-root-key", table, context, other) }
}

/** Where the servers of a document are. */
const find = (table: HostRow.HostTable, root: Table, context: Dialect.Context): Found => {
  const places = waysOf(table, context).flatMap((way): ReadonlyArray<Place> => {
    const servers = walk(root, way)
    return servers === undefined ? [] : [{ way, servers }]
  })
  if (places.length > 1 && table.firstRoot === true) {
    return { places: places.filter(({ servers }) => !isServer(servers)).slice(0, 1), issues: [] }
  }
  if (places.length > 0) return { places, issues: [] }
  if (isShared(table, context)) return context.pointer === undefined ? misplaced(table, root, context) : none
  if (table.single === true && isServer(root)) {
    return { places: [{ way: [], servers: new Map([[fileName(context.path), root]]), isSingle: true }], issues: [] }
  }
  const isBare = isIn(table.bare, context.scope)
  const other = foreign.find((key) => {
    const held = root.get(key)
    return isTable(held) && !(isBare && isServer(held))
  })
  if (other !== undefined) {
    // somebody put another host's file here: what it means is clear, and that the host does not see it is said
    const inside = other === "mcp" ? walk(root, ["mcp", "servers"]) : undefined
    const place = isTable(inside) && !isServer(inside)
      ? { way: [other, "servers"], servers: inside }
      : { way: [other], servers: root.get(other) ?? null }
    return { places: context.strict === true ? [] : [place], issues: warning("wrong-root-key", table, context, other) }
  }
  if (!isBare) {
    const isAside = table.aside?.some((key) => root.has(key)) === true
    return isAside ? none : { places: [], issues: warning("no-servers", table, context) }
  }
  const servers = new Map(Array.from(root).filter(([key]) => key !== "$schema"))
  return { places: [{ way: [], servers }], issues: [] }
}

const nameOf = (value: Value): string | undefined => {
  const name = isTable(value) ? value.get("name") : undefined
  return typeof name === "string" && name !== "" ? name : undefined
}

/**
 * A dialect from a table.
 */
export const make = (table: HostRow.HostTable): Dialect.Dialect => {
  const own = once(() => hostsOf(table))
  const under = once(() =>
    new Map(
      Object.entries(table.under ?? {}).map(([root, { fields, variables }]) =>
        [
          root,
          hostsOf({ ...table, fields: { ...table.fields, ...fields }, variables: variables ?? table.variables })
        ] as const
      )
    )
  )
  const rules = once(() => rulesOf(table))
  return {
    host: table.host,
    title: table.title,
    format: table.format,
    isShared: (context) => isShared(table, context),
    rootKeys: (context) => waysOf(table, context).flatMap((way) => way.slice(0, 1)),
    withDefault: (name) => table.variables?.syntax.bare === true ? `\${${name}:-…}` : undefined,
    merge: table.merge ?? "whole",
    locations: table.locations,
    decode: (root, context) => decode(table, (key) => under().get(key) ?? own(), rules(), root, context)
  }
}

interface Hosts {
  readonly keyed: () => Host
  /** Its entries have their names in them. */
  readonly listed: () => Host
}

const hostsOf = (table: HostRow.HostTable): Hosts => ({
  keyed: once(() => hostOf(table)),
  listed: once(() => hostOf({ ...table, fields: { ...table.fields, name: { is: "name" } } }))
})

/** More than anybody has, and no more than can be looked into at once. */
const mostServers = 10_000

const nothing: Dialect.Decoded = {
  items: [],
  issues: [],
  inputs: [],
  undeclaredInputs: [],
  policy: undefined,
  imports: undefined
}

/** Warns of keys beside the servers that the host applies to this server and that have no effect here. */
const withBeside = (
  { beside: fields }: HostRow.HostTable,
  beside: Value | undefined,
  item: Item
): Item => {
  if (fields === undefined || !isTable(beside) || item._tag !== "Server") return item
  const warnings = [...item.warnings]
  const isAbout = (field: HostRow.Field, value: Value): boolean =>
    field.byPrefix !== true ||
    (isTable(value) && Array.from(value.keys()).some((key) => key.startsWith(`${item.name}_`)))
  for (const [key, field] of Object.entries(fields)) {
    const value = beside.get(key)
    const isTold = item.warnings.some(({ detail }) => detail !== undefined && detail === field.lacking)
    if (value === undefined || isTold || !isAbout(field, value)) continue
    const warn: HostRow.Notes["warn"] = (kind, at, detail) => warnings.push({ kind, at, detail })
    noteLacking({ warn }, field, key, value, item.entry.transport)
  }
  return warnings.length === item.warnings.length ? item : { ...item, warnings }
}

const texts = (value: Value | undefined): ReadonlyArray<string> => list(value).filter(isText)

/** The questions beside the servers. */
const inputsOf = (
  beside: Table,
  { choices, secret }: NonNullable<HostRow.HostTable["inputs"]>
): ReadonlyArray<Dialect.Input> =>
  tables(beside.get("inputs")).flatMap((input) => {
    const [id, description] = [input.get("id"), input.get("description")]
    const fallback = scalar(input.get("default"))
    if (!isText(id) || id === "") return []
    return [{
      id,
      ...(isText(description) ? { description } : {}),
      ...(input.get(secret) === true ? { secret: true } : {}),
      ...(fallback === undefined ? {} : { default: fallback }),
      ...(isList(input.get(choices)) ? { choices: texts(input.get(choices)) } : {})
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
  hosts: (root: string) => Hosts,
  policyFiles: ReadonlySet<string>,
  root: Table,
  context: Dialect.Context
): Dialect.Decoded => {
  const rules = table.policy && PolicyWords.read(table.policy, root, { ...context, provider: table.host })
  const inspected: ReadonlyArray<Document.DocumentIssue> = [
    ...(table.inspect === undefined ? [] : Quirks.inspect[table.inspect](root)),
    ...(rules?.issues ?? [])
  ]
  if (inspected.some(({ severity }) => severity === "error")) return { ...nothing, issues: inspected }
  const isRules = context.path !== undefined && policyFiles.has(endOf(context.path))
  const { issues: found, places } = isRules ? none : find(table, root, context)
  const issues = [...inspected, ...found]
  const count = places.reduce(
    (sum, { servers }) => sum + (isList(servers) ? servers.length : isTable(servers) ? servers.size : 0),
    0
  )
  if (count > mostServers) {
    return {
      ...nothing,
      issues: [...issues, { kind: "too-many-entries", severity: "error", detail: `more than ${mostServers} servers` }]
    }
  }
  const items = new Map<string, Item>()
  const asked = new Set<string>()
  const declared = new Map<string, Dialect.Input>()
  for (const { isSingle, servers, way } of places) {
    const isNamed = isList(servers) && table.list === true
    if (!isNamed && !isTable(servers)) {
      return { ...nothing, issues: [...issues, { kind: "servers-not-a-map", severity: "error", at: way.join("/") }] }
    }
    const keyed: Iterable<readonly [string | number, Value]> = isNamed
      ? servers.entries()
      : isTable(servers)
      ? servers
      : []
    const host = hosts(way[0] ?? "")
    const beside = walk(root, way.slice(0, -1))
    for (const [key, raw] of keyed) {
      const name = typeof key === "string" ? key : nameOf(raw)
      const at = {
        name: name ?? `#${key}`,
        pointer: isSingle === true ? way : [...way, key],
        missingName: name === undefined
      }
      // the later of two counts, as it does for the keys of a table
      if (items.has(at.name)) issues.push({ kind: "duplicate-name", severity: "warning", at: at.name })
      const item = itemOf(isNamed ? host.listed() : host.keyed(), at, raw, context, asked)
      items.set(at.name, withBeside(table, beside, item))
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
