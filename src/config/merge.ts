/**
 * Many files as one list of servers: which file owns a name, and which files it shadows. Pure, and the same whatever the
 * order in which the files were read.
 */
import * as Order from "effect/Order"
import * as Redacted from "effect/Redacted"
import type * as Document from "./document.ts"
import { tables } from "./fields.ts"
import type * as FieldSchema from "./fieldSchema.ts"
import * as Interpolation from "./Interpolation.ts"
import { Login } from "./Login.ts"
import { login } from "./loginFields.ts"
import type { Item } from "./readEntry.ts"
import * as Scope from "./Scope.ts"
import type * as ServerConfig from "./ServerConfig.ts"

/** The entries of one file, and its precedence. */
export interface Layer {
  readonly provider: string
  readonly scope: Scope.Scope
  readonly path: string | undefined
  /** Among the files of one scope the lower number wins: the order of the providers, then of their files. */
  readonly rank: number
  /** How many folders above the current one it lies: the nearer wins. */
  readonly distance: number
  /** Whether its entries are laid over weaker ones of the same provider field by field (OpenCode, Kilo). */
  readonly deep: boolean
  /** Whether files of lower or equal precedence are ignored, even if this file is empty. */
  readonly exclusive: boolean
  readonly items: ReadonlyArray<LayerItem>
}

export interface LayerItem {
  readonly item: Item
  readonly provenance: Scope.Provenance
}

/** The server that a name stands for after the merge. */
export interface Merged {
  readonly name: string
  /** The entry that owns the name. An invalid or disabled entry owns it too. */
  readonly item: Item
  readonly provenance: Scope.Provenance
  /** The entries of the same name that do not count, the strongest first. */
  readonly shadows: ReadonlyArray<Scope.Provenance>
  /** The entries that were combined, the weakest first; empty where one entry is used alone. */
  readonly sources: ReadonlyArray<Scope.Provenance>
  /** Fields of a weaker layer that did not follow a changed address or command: `headers`, `oauth`, `env`. */
  readonly dropped: ReadonlyArray<string>
  /** The name of a stronger server that is equal but for its name. Only reported. */
  readonly sameAs: string | undefined
}

/** Strongest first, whatever the order of the input. */
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

const rowsOf = ({ transport }: ServerConfig.Entry): Rows => tables[transport === "auto" ? "streamable-http" : transport]

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
const overVariables = (weak: ServerConfig.StdioEntry, strong: ServerConfig.StdioEntry): Fields => {
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
const overlay = (weak: ServerConfig.Entry, strong: ServerConfig.Entry, raw: Document.Value) => {
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
  return { entry: entry as unknown as ServerConfig.Entry, dropped, isSame }
}

const isRelative = (path: string): boolean => !/^(?:[\\/~]|[A-Za-z]:[\\/]|\$\{)/.test(path)

/**
 * Resolves the relative paths of an entry from the folder of its file, before it is combined with entries of other folders:
 * a program beside a person's file must not become one of the workspace.
 */
const anchored = (entry: ServerConfig.Entry, { path, scope }: Scope.Provenance): ServerConfig.Entry => {
  // paths of the workspace begin at the workspace, whichever of its files they are in
  if (entry.transport !== "stdio" || path === undefined || scope === "project" || scope === "local") return entry
  const folder = Interpolation.literal(path.replace(/[\\/][^\\/]*$/, ""))
  const from = (to: string): string => isRelative(to) ? `${folder}/${to.replace(/^\.[\\/]/, "")}` : to
  return {
    ...entry,
    command: /[\\/]/.test(entry.command) ? from(entry.command) : entry.command,
    ...(entry.cwd === undefined ? {} : { cwd: from(entry.cwd) }),
    ...(entry.envFile === undefined ? {} : { envFile: from(entry.envFile) })
  }
}

// one name

interface Claim extends LayerItem {
  readonly layer: Layer
}

type Owned = Omit<Merged, "sameAs" | "name">

interface Combined {
  readonly item: Item
  /** The claims that were combined, the weakest first. */
  readonly parts: ReadonlyArray<Claim>
  readonly dropped: ReadonlyArray<string>
}

/** Combines the next stronger claim with the result of the weaker ones. An invalid entry hides all of them. */
const combine = (below: Combined | undefined, claim: Claim): Combined => {
  const alone: Combined = { item: claim.item, parts: [claim], dropped: [] }
  const [weak, strong] = [below?.item, claim.item]
  if (below === undefined || weak === undefined || strong._tag === "Invalid") return alone
  const parts = [...below.parts, claim]
  // the raw entries of all claims, because the fingerprint that a person approves covers each of them
  const place = { name: strong.name, pointer: strong.pointer, raw: parts.map(({ item }) => item.raw) }
  if (strong._tag === "Patch") {
    const item: Item = weak._tag === "Server"
      ? { ...weak, ...place, entry: { ...weak.entry, enabled: strong.enabled } }
      : weak._tag === "Patch"
      ? { ...strong, ...place }
      : { ...weak, ...place }
    return { ...below, parts, item }
  }
  if (strong._tag !== "Server") return alone
  if (weak._tag === "Patch") {
    const enabled = setsEnabled(strong.raw) ? strong.entry.enabled : weak.enabled
    return { item: { ...strong, ...place, entry: { ...strong.entry, enabled } }, parts, dropped: [] }
  }
  if (weak._tag !== "Server") return alone
  const { dropped, entry, isSame } = overlay(weak.entry, strong.entry, strong.raw)
  const extra = new Map([...(weak.extra ?? []), ...(strong.extra ?? [])])
  const approval = isSame ? strong.approval ?? weak.approval : strong.approval
  const item: Item = {
    _tag: "Server",
    ...place,
    entry,
    ...(extra.size === 0 ? {} : { extra }),
    ...(approval === undefined ? {} : { approval }),
    warnings: [...weak.warnings, ...strong.warnings]
  }
  return { item, parts, dropped: [...new Set([...below.dropped, ...dropped])] }
}

const anchor = (claim: Claim): Claim =>
  claim.item._tag === "Server"
    ? { ...claim, item: { ...claim.item, entry: anchored(claim.item.entry, claim.provenance) } }
    : claim

/** The strongest entry has the name. Where its host merges fields, the host's weaker entries are combined with it. */
const owned = (claims: readonly [Claim, ...ReadonlyArray<Claim>]): Owned => {
  const [owner] = claims
  const combinable = claims.filter(({ layer }) => layer.deep && layer.provider === owner.layer.provider)
  const combined = owner.layer.deep
    ? (combinable.length > 1 ? combinable.map(anchor) : combinable).reduceRight<Combined | undefined>(
      combine,
      undefined
    )
    : undefined
  const parts = combined?.parts ?? [owner]
  const item = combined?.item ?? owner.item
  const made = new Set(parts.map(({ provenance }) => provenance))
  return {
    // a patch without a weaker entry has no command and no address
    item: item._tag === "Patch"
      ? { _tag: "Invalid", kind: "missing-transport", name: item.name, pointer: item.pointer, raw: item.raw }
      : item,
    provenance: owner.provenance,
    shadows: claims.map(({ provenance }) => provenance).filter((provenance) => !made.has(provenance)),
    sources: parts.length > 1 ? parts.map(({ provenance }) => provenance) : [],
    dropped: combined?.dropped ?? []
  }
}

/** Sorted by code units, because a locale would make the order depend on the machine. */
const sorted = (fields: ReadonlyMap<string, unknown> | undefined, name: (name: string) => string) =>
  Array.from(fields ?? [], ([key, value]) => [name(key), Redacted.isRedacted(value) ? Redacted.value(value) : value])
    .toSorted(([one], [other]) => String(one) < String(other) ? -1 : 1)

/** An address can be written in many ways: with a dot after the host, with a part behind # that is never sent. */
const address = (url: string): string => {
  if (url.includes("${") || !URL.canParse(url)) return url
  const parsed = new URL(url)
  parsed.hash = ""
  parsed.hostname = parsed.hostname.replace(/\.$/, "")
  return parsed.href
}

/** What an item starts or reaches, and as whom: equal texts for servers that differ in nothing but name and use. */
const identity = (item: Item): string | undefined => {
  if (item._tag === "Patch" || item._tag === "Invalid") return undefined
  const server = item._tag === "Given" ? item.config : item.entry
  return JSON.stringify(
    "url" in server
      ? [
        server.transport,
        address(server.url),
        sorted(server.headers, (name) => name.toLowerCase()),
        sorted("env" in server ? server.env : undefined, String),
        server.headersCommand,
        server.oauth === false ? false : server.oauth?.clientId
      ]
      : [
        server.transport,
        server.command,
        server.args ?? [],
        sorted(server.env, String),
        "withoutEnv" in server ? server.withoutEnv : undefined,
        "cwd" in server ? server.cwd : undefined,
        "envFile" in server ? server.envFile : undefined
      ]
  )
}

/** By name, in the order of their first appearance from the strongest layer down. */
export const merge = (layers: ReadonlyArray<Layer>): ReadonlyArray<Merged> => {
  const claims = new Map<string, [Claim, ...Array<Claim>]>()
  for (const layer of effective(layers.toSorted(strength))) {
    for (const { item, provenance } of layer.items) {
      const claim = { item, provenance, layer }
      const others = claims.get(item.name)
      if (others === undefined) claims.set(item.name, [claim])
      else others.push(claim)
    }
  }
  const first = new Map<string, string>()
  return Array.from(claims, ([name, of]): Merged => {
    const winner = owned(of)
    const id = identity(winner.item)
    const sameAs = id === undefined ? undefined : first.get(id)
    if (id !== undefined && sameAs === undefined) first.set(id, name)
    return { name, ...winner, sameAs }
  })
}

/** The servers that an application gives in code: stronger than all files but the administrator's. */
export const ofCode = (servers: ReadonlyArray<ServerConfig.ServerConfig>): Layer => ({
  provider: "code",
  scope: "session",
  path: undefined,
  rank: -1,
  distance: 0,
  deep: false,
  exclusive: false,
  items: servers.map((config, at) => ({
    item: { _tag: "Given", name: config.name, pointer: [at], raw: null, config },
    provenance: { provider: "code", scope: "session", origin: "code", path: undefined, pointer: [at], line: undefined }
  }))
})
