/**
 * Many files as one list of servers: which file owns a name, and which files it shadows. Pure, and the same whatever the
 * order in which the files were read.
 */
import * as Order from "effect/Order"
import * as Redacted from "effect/Redacted"
import * as Dialect from "./Dialect.ts"
import type * as Document from "./document.ts"
import { tables } from "./fields.ts"
import type * as FieldSchema from "./fieldSchema.ts"
import * as Interpolation from "./Interpolation.ts"
import { Login } from "./Login.ts"
import { login } from "./loginFields.ts"
import { absolute, folderOf } from "./paths.ts"
import type { Item } from "./readEntry.ts"
import * as Scope from "./Scope.ts"
import type * as ServerConfig from "./ServerConfig.ts"
import type * as ServerEntry from "./serverEntry.ts"

/** The entries of one file, and its precedence. */
export interface Layer {
  readonly provider: string
  readonly scope: Scope.Scope
  readonly path: string | undefined
  /** Among the files of one scope the lower number wins: the order of the providers, then of their files. */
  readonly rank: number
  /** How many folders above the current one it lies: the nearer wins. */
  readonly distance: number
  /** Whether files of lower or equal precedence are ignored, even if this file is empty. */
  readonly exclusive: boolean
  readonly items: ReadonlyArray<Item>
}

/** The entry that owns a name after the merge. An invalid or disabled entry owns it too. */
export type Merged = Exclude<Item, { readonly _tag: "Patch" }> & Standing

/** What the merge says about an entry. */
interface Standing {
  /** The entries of the same name that do not count, the strongest first. */
  readonly shadows: ReadonlyArray<Scope.Provenance>
  /** The entries that were combined, the weakest first; empty where one entry is used alone. */
  readonly sources: ReadonlyArray<Scope.Provenance>
  /** Fields of a weaker layer that did not follow a changed address or command: `headers`, `oauth`, `env`. */
  readonly dropped: ReadonlyArray<string>
  /** The name of a stronger server that is equal but for its name. Only reported. */
  readonly sameAs: string | undefined
}

/** Highest priority first, regardless of the order of the input. */
const strength = (self: Layer, that: Layer): number =>
  Scope.compare(self.scope, that.scope) ||
  self.distance - that.distance ||
  self.rank - that.rank ||
  Order.string(self.provider, that.provider) ||
  Order.string(self.path ?? "", that.path ?? "")

/** Without the layers that an exclusive one rules out: all but the stronger ones, and the exclusive ones of its scope. */
const effective = (layers: ReadonlyArray<Layer>): ReadonlyArray<Layer> => {
  const exclusive = layers.find((layer) => layer.exclusive)
  if (exclusive === undefined) return layers
  return layers.filter((layer) => {
    const compared = Scope.compare(layer.scope, exclusive.scope)
    return compared < 0 || compared === 0 && layer.exclusive
  })
}

// one entry over another

type Fields = { readonly [Key in string]: unknown }
type Rows = { readonly [Key in string]: FieldSchema.Row }

const rowsOf = ({ transport }: ServerEntry.Entry): Rows => tables[transport === "auto" ? "streamable-http" : transport]

/** Whether the file itself has the field, because the reader fills in a default. */
const setsEnabled = (raw: Document.Value): boolean =>
  raw instanceof Map && ["enabled", "disabled", "isDisabled"].some((key) => raw.has(key))

const isEqual = (one: unknown, other: unknown): boolean =>
  Array.isArray(one) && Array.isArray(other)
    ? one.length === other.length && one.every((part, at) => part === other[at])
    : one === other

const isTable = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !(value instanceof Map) && !Array.isArray(value)

/** Whether both entries have the same target: the same program in the same folder, or the same address and login. */
const isSameTarget = (rows: Rows, weak: Fields, strong: Fields): boolean =>
  Object.entries(rows).every(([key, { overlay, required, schema }]) => {
    const [below, above] = [weak[key], strong[key]]
    if (overlay === "target") return isEqual(below, above) || (above === undefined && required !== true)
    return schema !== Login || !isTable(below) || !isTable(above) ||
      isSameTarget(login, below, above)
  })

/** Whether the weaker entry has a value that the stronger one does not replace. */
const isLost = (below: unknown, above: unknown): boolean =>
  below instanceof Map
    ? Array.from(below.keys()).some((key) => !(above instanceof Map && above.has(key)))
    : below !== undefined && below !== false && above === undefined

const over = (below: unknown, above: unknown): unknown => {
  if (above === undefined) return below
  if (below instanceof Map && above instanceof Map) return new Map([...below, ...above])
  return isTable(below) && isTable(above) ? { ...below, ...above } : above
}

/** A variable is in one of the two lists only; the stronger entry decides in which. */
const overVariables = (weak: ServerEntry.StdioEntry, strong: ServerEntry.StdioEntry): Fields => {
  const taken = strong.withoutEnv ?? []
  const kept = Array.from(weak.env ?? []).filter(([name]) => !taken.includes(name))
  const env = new Map([...kept, ...(strong.env ?? [])])
  const withoutEnv = [...new Set([...(weak.withoutEnv ?? []).filter((name) => !strong.env?.has(name)), ...taken])]
  return {
    env: env.size === 0 ? undefined : env,
    withoutEnv: withoutEnv.length === 0 ? undefined : withoutEnv
  }
}

/**
 * Combines an entry with a weaker one, field by field. Credentials are kept only while the target is the same, because a
 * project must not get a person's token by changing an address.
 */
const overlay = (weak: ServerEntry.Entry, strong: ServerEntry.Entry, raw: Document.Value) => {
  const [below, above]: readonly [Fields, Fields] = [{ ...weak }, { ...strong }]
  const rows: Rows = { env: tables.stdio.env, ...rowsOf(weak), ...rowsOf(strong) }
  const isSame = (weak.transport === "stdio") === (strong.transport === "stdio") &&
    isSameTarget(rowsOf(strong), below, above)
  const follows = (key: string): boolean => isSame || (Object.hasOwn(rows, key) && rows[key]?.overlay === undefined)
  const merged: Fields = {
    ...above,
    ...Object.fromEntries(Object.keys(below).filter(follows).map((key) => [key, over(below[key], above[key])])),
    ...(isSame && weak.transport === "stdio" && strong.transport === "stdio" ? overVariables(weak, strong) : {}),
    enabled: setsEnabled(raw) ? strong.enabled : weak.enabled
  }
  const dropped = Object.keys(rows).filter((key) =>
    !isSame && rows[key]?.overlay === "credential" && isLost(below[key], above[key])
  )
  const entry = Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== undefined))
  // every value is of the field that it stands under
  return { entry: entry as unknown as ServerEntry.Entry, dropped }
}

/**
 * Resolves the relative paths of an entry from the folder of its file, before it is combined with entries of other folders:
 * a program beside a person's file must not become one of the workspace.
 */
const anchored = (item: Item): Item => {
  const { path, scope } = item.provenance
  // paths of the workspace begin at the workspace, whichever of its files they are in
  if (item._tag !== "Server" || path === undefined || scope === "project" || scope === "local") return item
  const { entry } = item
  if (entry.transport !== "stdio") return item
  const folder = Interpolation.literal(folderOf(path))
  const from = (to: string): string => /^(?:~|\$\{)/.test(to) ? to : absolute(to, folder, undefined)
  return {
    ...item,
    entry: {
      ...entry,
      command: /[\\/]/.test(entry.command) ? from(entry.command) : entry.command,
      ...(entry.cwd === undefined ? {} : { cwd: from(entry.cwd) }),
      ...(entry.envFile === undefined ? {} : { envFile: from(entry.envFile) })
    }
  }
}

// one name

type Combined = Item & Standing

/** An entry that is combined with no other. */
const alone = <I extends Item>(item: I) => ({
  ...item,
  shadows: [],
  sources: [item.provenance],
  dropped: [],
  sameAs: undefined
})

/** Combines the next stronger entry with the result of the weaker ones. An invalid entry hides all of them. */
const combine = (weak: Combined | undefined, strong: Item): Combined => {
  const { name, provenance } = strong
  if (weak === undefined) return alone(strong)
  const both = { name, provenance, sources: [...weak.sources, provenance] }
  if (strong._tag === "Patch") {
    const { enabled } = strong
    if (weak._tag === "Patch") return { ...weak, ...both, enabled }
    return weak._tag === "Server" ? { ...weak, ...both, entry: { ...weak.entry, enabled } } : { ...weak, ...both }
  }
  if (strong._tag !== "Server") return alone(strong)
  if (weak._tag === "Patch") {
    const enabled = setsEnabled(strong.raw) ? strong.entry.enabled : weak.enabled
    return { ...alone(strong), ...both, entry: { ...strong.entry, enabled } }
  }
  if (weak._tag !== "Server") return alone(strong)
  const { dropped, entry } = overlay(weak.entry, strong.entry, strong.raw)
  const extra = new Map([...(weak.extra ?? []), ...(strong.extra ?? [])])
  return {
    ...alone(strong),
    ...both,
    entry,
    extra: extra.size === 0 ? undefined : extra,
    warnings: [...weak.warnings, ...strong.warnings],
    dropped: [...new Set([...weak.dropped, ...dropped])]
  }
}

/** The strongest entry has the name. Where its host merges fields, the host's weaker entries are combined with it. */
const owned = (claims: readonly [Item, ...ReadonlyArray<Item>]): Merged => {
  const [owner] = claims
  const { provider } = owner.provenance
  const isDeep = claims.length > 1 && Dialect.find(provider)?.merge === "deep"
  const combinable = isDeep ? claims.filter((item) => item.provenance.provider === provider) : [owner]
  const merged = (combinable.length > 1 ? combinable.map(anchored) : combinable)
    .reduceRight<Combined | undefined>(combine, undefined) ?? alone(owner)
  const made = new Set(merged.sources)
  const isCombined = made.size > 1
  return {
    // a patch without a weaker entry has no command and no address
    ...(merged._tag === "Patch" ? { ...merged, _tag: "Invalid", kind: "missing-transport" } : merged),
    // the raw entries of all, because the fingerprint that a person approves covers each of them
    raw: isCombined
      ? combinable.filter(({ provenance }) => made.has(provenance)).map(({ raw }) => raw).toReversed()
      : owner.raw,
    shadows: claims.map(({ provenance }) => provenance).filter((provenance) => !made.has(provenance)),
    sources: isCombined ? merged.sources : []
  }
}

/** A table as JSON, sorted by code units, because a locale would make the order depend on the machine. */
const plain = (fields: unknown, name = (name: string): string => name) =>
  fields instanceof Map
    ? Array.from(fields, ([key, value]) => [name(key), Redacted.isRedacted(value) ? Redacted.value(value) : value])
      .toSorted(([one], [other]) => String(one) < String(other) ? -1 : 1)
    : undefined

/** An address can be written in many ways: with a dot after the host, with a part behind # that is never sent. */
const address = (url: unknown): unknown => {
  if (typeof url !== "string" || url.includes("${") || !URL.canParse(url)) return url
  const parsed = new URL(url)
  parsed.hash = ""
  parsed.hostname = parsed.hostname.replace(/\.$/, "")
  return parsed.href
}

/** What an item starts or reaches, and as whom: equal texts for servers that differ in nothing but name and use. */
const identity = (item: Item): string | undefined => {
  if (item._tag === "Patch" || item._tag === "Invalid") return undefined
  const server: Fields = item._tag === "Given" ? { ...item.config } : { ...item.entry }
  const { args = [], command, cwd, env, envFile, headers, headersCommand, oauth, transport, url, withoutEnv } = server
  const login = isTable(oauth) ? oauth["clientId"] : oauth
  const names = plain(headers, (name) => name.toLowerCase())
  return JSON.stringify(
    [transport, address(url), names, plain(env), headersCommand, login, command, args, withoutEnv, cwd, envFile]
  )
}

/** By name, in the order of their first appearance from the strongest layer down. */
export const merge = (layers: ReadonlyArray<Layer>): ReadonlyArray<Merged> => {
  const claims = new Map<string, [Item, ...Array<Item>]>()
  for (const { items } of effective(layers.toSorted(strength))) {
    for (const item of items) {
      const others = claims.get(item.name)
      if (others === undefined) claims.set(item.name, [item])
      else others.push(item)
    }
  }
  const first = new Map<string, string>()
  return Array.from(claims.values(), (of): Merged => {
    const winner = owned(of)
    const id = identity(winner)
    const sameAs = id === undefined ? undefined : first.get(id)
    if (id !== undefined && sameAs === undefined) first.set(id, winner.name)
    return { ...winner, sameAs }
  })
}

/** The servers that an application gives in code: stronger than all files but the administrator's. */
export const ofCode = (servers: ReadonlyArray<ServerConfig.ServerConfig>): Layer => {
  const code = { provider: "code", scope: "session", path: undefined } as const
  return {
    ...code,
    rank: -1,
    distance: 0,
    exclusive: false,
    items: servers.map((config, at) => ({
      _tag: "Given",
      name: config.name,
      provenance: { ...code, origin: "code", pointer: [at], line: undefined },
      raw: null,
      config
    }))
  }
}
