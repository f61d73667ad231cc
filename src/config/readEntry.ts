/**
 * One entry of a file as an item: the server it means, and what is wrong with it.
 */
import * as Schema from "effect/Schema"
import { lookAlike } from "../text/lookAlike.ts"
import { nearest } from "../text/nearest.ts"
import * as ConfigIssue from "./ConfigIssue.ts"
import type * as Dialect from "./Dialect.ts"
import type * as Document from "./document.ts"
import { isList, isTable, type Table, type Value, without } from "./document.ts"
import * as Variables from "./environmentVariables.ts"
import { tables as rowsOf } from "./fields.ts"
import * as FieldSchema from "./fieldSchema.ts"
import { common, transportWords } from "./hosts.ts"
import * as Interpolation from "./Interpolation.ts"
import * as Quirks from "./quirks.ts"
import * as ReadFields from "./readFields.ts"
import * as Read from "./readValues.ts"
import * as Scope from "./Scope.ts"
import type * as ServerConfig from "./ServerConfig.ts"
import type * as ServerEntry from "./serverEntry.ts"

/**
 * One entry of a file after it was read.
 *
 * - `Server`: it can be used.
 * - `Invalid`: it cannot, and owns its name nevertheless, so that a weaker entry does not take its place.
 * - `Patch`: it only switches a server that a weaker file defines (OpenCode's `{"enabled": true}`).
 * - `Given`: it is no entry, but a configuration that the application gives in code.
 */
export type Item =
  & {
    readonly name: string
    readonly provenance: Scope.Provenance
    readonly raw: Value
    /** The questions of its file, if there are any. A file that several hosts read has other ones for each. */
    readonly inputs?: ReadonlyArray<Dialect.Input>
  }
  & (
    | {
      readonly _tag: "Server"
      readonly entry: ServerEntry.Entry
      /** Fields without effect here, as they were written. */
      readonly extra?: Table | undefined
      /** The host's words for how tools are approved, without effect here. */
      readonly approval?: ReadonlyMap<string, string> | undefined
      readonly warnings: ReadonlyArray<ConfigIssue.EntryWarning>
    }
    | {
      readonly _tag: "Invalid"
      readonly kind: ConfigIssue.EntryFault
      readonly at?: string | undefined
      readonly detail?: string | undefined
    }
    | { readonly _tag: "Patch"; readonly enabled: boolean }
    | { readonly _tag: "Given"; readonly config: ServerConfig.ServerConfig }
  )

/** The keys of the entries of a host. */
export interface Keys {
  readonly row: Dialect.Dialect
  readonly field: (key: string) => Dialect.Field | undefined
  /** The key that a misspelt one means, as a question. */
  readonly hint: (key: string) => string | undefined
}

/** Every field under its own name and its aliases. */
const everyField: Dialect.Fields = Object.fromEntries(
  Object.entries<FieldSchema.Row>({ ...rowsOf.stdio, ...rowsOf["streamable-http"] })
    .flatMap(([key, { aliases = [] }]) => [key, ...aliases].map((word) => [word, { is: key as Dialect.Meaning }]))
)

/** Different keys of a document that are compared with those of its host, which takes most of the time. */
const mostCompared = 256

const unhelpful: ReadonlySet<Dialect.Meaning> = new Set(["unknown", "ignored", "refused"])

/** The keys under one of the roots of a host. */
export const keysOf = (row: Dialect.Dialect, root = ""): Keys => {
  // the first that has a key counts
  const tables = [
    row.under?.[root]?.fields ?? {},
    row.fields ?? {},
    row.everyField === true ? everyField : {},
    row.closed === true ? {} : common
  ]
  const fieldOf = (key: string): Dialect.Field | undefined => tables.find((table) => Object.hasOwn(table, key))?.[key]
  const compared = new Map<string, string | undefined>()
  const meant = (written: string): string | undefined => {
    const helpful = Object.entries<Dialect.Field>(Object.assign({}, ...tables.toReversed()))
      .filter(([, { deprecated, foreign, is }]) => deprecated !== true && foreign !== true && !unhelpful.has(is))
    return fieldOf(written)?.instead ?? nearest(written, helpful.map(([key]) => key))[0]
  }
  return {
    row,
    field: (key) => {
      const field = fieldOf(key)
      return field?.is === "unknown" ? undefined : field
    },
    hint: (key) => {
      if (compared.size < mostCompared && !compared.has(key)) compared.set(key, meant(key))
      const word = compared.get(key)
      return word === undefined ? undefined : `is ${word} meant?`
    }
  }
}

// one entry

/** The transport that an entry names, if it names one. */
const namedTransport = (to: Read.Reading, uses: Read.Uses): Dialect.Transport | undefined => {
  const { onlyWords, words = {} } = to.row
  let named: Dialect.Transport | undefined
  for (const { key, value } of Read.all(to, uses, "type")) {
    const word = Read.text(to, value, key)
    const common = onlyWords?.includes(word) === false ? undefined : transportWords.get(word.toLowerCase())
    const meaning = Object.hasOwn(words, word) ? words[word] : common
    if (meaning === undefined) to.fail("unknown-transport", key)
    if (meaning === "not-an-mcp-server") to.fail(meaning)
    if (named !== undefined && named !== meaning) to.fail("ambiguous-transport", key)
    named = meaning
  }
  return named
}

/** The key that an address is taken from. */
const firstUrl = ({ row }: Read.Reading, from: Read.Uses): Read.Use | undefined => {
  const found = from.get("url") ?? []
  if (row.urlsInOrder !== true) return found[0]
  const order = Object.keys(row.fields ?? {})
  const rank = ({ key }: Read.Use): number => order.includes(key) ? order.indexOf(key) : order.length
  return found.toSorted((a, b) => rank(a) - rank(b))[0]
}

const transportOf = (to: Read.Reading, uses: Read.Uses, hint: () => string | undefined): Dialect.Transport => {
  const named = namedTransport(to, uses)
  const { prefers, typeRequired, typeless } = to.row
  const hasCommand = uses.has("command")
  const hasUrl = uses.has("url")
  if (named !== undefined) {
    const [isThere, other, key] = named === "stdio" ? [hasCommand, hasUrl, "command"] : [hasUrl, hasCommand, "url"]
    if (!isThere) to.fail(other ? "transport-mismatch" : "missing-transport", key, other ? undefined : hint())
    return named
  }
  if (hasCommand && hasUrl && prefers === undefined) to.fail("ambiguous-transport")
  if (!hasCommand && !hasUrl) to.fail("missing-transport", undefined, hint())
  const isRemote = hasUrl && !(hasCommand && prefers === "command")
  if (typeRequired !== undefined && (isRemote || typeRequired.for === "all")) {
    if (typeRequired.is === "fault") to.fail("missing-type", "type")
    to.reject("missing-type", "type")
  }
  return isRemote ? firstUrl(to, uses)?.field.transport ?? typeless ?? "auto" : "stdio"
}

/** The fields that other words for them belong to. */
const otherWords: { readonly [M in Dialect.Meaning]?: Dialect.Meaning } = {
  envNames: "env",
  envSecrets: "env",
  headerVariables: "headers",
  bearer: "headers",
  headersLine: "headersCommand"
}

const isEmpty = (value: Value): boolean =>
  value === false || (isList(value) && value.length === 0) || (isTable(value) && value.size === 0)

/** Reports the fields that belong to the transport that the entry does not have. */
const noteUnused = (to: Read.Reading, uses: Read.Uses, isStdio: boolean): void => {
  const [own, other] = isStdio ? [rowsOf.stdio, rowsOf["streamable-http"]] : [rowsOf["streamable-http"], rowsOf.stdio]
  const { mixing } = to.row
  for (const [meaning, found] of uses) {
    const field = otherWords[meaning] ?? meaning
    if (Object.hasOwn(own, field) || !Object.hasOwn(other, field)) continue
    for (const { key, value } of found) {
      if (mixing === "host-would-reject") to.reject("unsupported-field", key)
      else if (mixing !== undefined) to.fail(mixing, key)
      if (meaning === "command" || meaning === "url" || !isEmpty(value)) to.warn("unused-field", key)
    }
  }
}

/** The fields of a nested transport, as if they were not nested. */
const flat = (to: Read.Reading, entry: Table, { field }: Keys): Table => {
  for (const [key, value] of entry) {
    if (field(key)?.is !== "type" || !isTable(value)) continue
    if (to.row.nested !== true) to.reject("invalid-type", key)
    return new Map([...without(entry, key), ...value])
  }
  return entry
}

/** The keys of an entry by what they mean. */
const usesOf = (to: Read.Reading, written: Table, { field: fieldOf }: Keys) => {
  const known = new Map<Dialect.Meaning, Array<Read.Use>>()
  const extra = new Map<string, Value>()
  const unknown: Array<string> = []
  const put = (use: Read.Use): void => {
    const found = known.get(use.field.is)
    if (found === undefined) known.set(use.field.is, [use])
    else found.push(use)
  }
  for (const [key, value] of written) {
    const field = fieldOf(key)
    if (field === undefined && to.row.closed === true) to.fail("unknown-key", key)
    if (field?.is === "refused") to.fail("unsupported-field", key)
    if (field === undefined) unknown.push(key)
    const isOtherMode = field?.mode === true && typeof value === "string" && value !== "oauth"
    const isExtra = field === undefined || field.is === "extra" || isOtherMode
    // keeps the command line as it was written, although words are taken from it
    if (isExtra || field.is === "headersLine") extra.set(key, value)
    if (isExtra || field.is === "ignored") continue
    if (field.is !== "timeouts") put({ key, value, field })
    else if (!isTable(value)) put({ key, value, field: { ...field, is: "requestTimeout" } })
    else {
      for (const part of ["startup", "request"] as const) {
        const time = value.get(part)
        if (time !== undefined) put({ key: `${key}.${part}`, value: time, field: { ...field, is: `${part}Timeout` } })
      }
    }
  }
  return { known, extra, unknown }
}

/** Whether an entry is enabled. An entry that contradicts itself is disabled. */
const enabledOf = (to: Read.Reading, from: Read.Uses): boolean => {
  const switches = Read.all(to, from, "enabled", "disabled").map(({ field, key, value }) =>
    Read.flag(to, value, key) === (field.is === "enabled")
  )
  if (new Set(switches).size > 1) to.warn("conflicting-enabled")
  return !switches.includes(false)
}

/** The program and its arguments, which some hosts write as one list. */
const programOf = (to: Read.Reading, from: Read.Uses) => {
  const [command = "", ...words] = Read.first(to, from.get("command"), ({ key, value }) => {
    const [program = "", ...rest] = (isList(value) ? value : [value]).map((word) => Read.text(to, word, key))
    Read.checkProgram(to, program, key)
    return [
      Read.template(to, program, "command", key),
      ...rest.map((word, index) => Read.argument(to, word, "args", `${key}.${index + 1}`))
    ]
  }) ?? []
  const args = Read.all(to, from, "args").flatMap(({ key, value }) =>
    Read.texts(to, value, key).map((word, index) => Read.argument(to, word, "args", `${key}.${index}`))
  )
  return { transport: "stdio" as const, command, args: [...words, ...args] }
}

const addressOf = (to: Read.Reading, from: Read.Uses, said: Exclude<Dialect.Transport, "stdio">) => {
  const use = firstUrl(to, from) ?? to.fail("missing-transport", "url")
  Read.noteWord(to, use)
  const written = Read.text(to, use.value, use.key)
  for (const other of from.get("url") ?? []) {
    if (other === use || other.value === written) continue
    if (to.row.urlsInOrder !== true) to.fail("ambiguous-url")
    to.warn("unused-field", other.key)
  }
  const url = Read.template(to, written, "url", use.key)
  return { transport: Read.address(to, url, use.key, said), url }
}

/** The fields that are read by their schema, one key each. */
const fieldsOf = (to: Read.Reading, from: Read.Uses, transport: Dialect.Transport): Record<string, unknown> => {
  const found: Record<string, unknown> = {}
  const own: FieldSchema.Rows = rowsOf[transport === "auto" ? "streamable-http" : transport]
  for (const [meaning, uses] of from) {
    const { schema, words } = Object.hasOwn(own, meaning) ? own[meaning]! : {}
    // `enabled` was read together with `disabled`
    if (schema === undefined || meaning === "enabled" || !Read.isPlain(schema)) continue
    const read = ({ field, key, value }: Read.Use) => Read.readField(to, schema, value, key, field, words)
    const value = Read.first(to, uses, read)
    if (value !== undefined) found[meaning] = value
  }
  return found
}

/** Where so much is unknown, no single key is misspelt. */
const maxHints = 8

/** A misspelt key that may be why an entry does not say how to reach the server. */
const misspelt = ({ hint }: Keys, unknown: ReadonlyArray<string>): string | undefined => {
  const few = unknown.slice(0, maxHints)
  const key = few.find((key) => hint(key) !== undefined) ?? few[0]
  if (key === undefined) return undefined
  const meant = hint(key)
  return `unknown key ${ConfigIssue.shownKey(key)}${meant === undefined ? "" : `: ${meant}`}`
}

const serverOf = (to: Read.Reading, name: string, written: Table, keys: Keys) => {
  const { extra, known, unknown } = usesOf(to, written, keys)
  const enabled = enabledOf(to, known)
  const said = transportOf(to, known, () => misspelt(keys, unknown))
  noteUnused(to, known, said === "stdio")
  const target = said === "stdio" ? programOf(to, known) : addressOf(to, known, said)
  const { withoutEnv, ...env } = ReadFields.environment(to, known)
  const ofTransport = said === "stdio" ? { withoutEnv } : {
    headers: ReadFields.headers(to, known),
    headersCommand: ReadFields.headersCommand(to, known),
    oauth: ReadFields.oauth(to, known)
  }
  if (to.row.stdioOnly === true && said !== "stdio") to.reject("transport-mismatch", "command")
  const { approval, tools } = ReadFields.tools(to, known)
  const others = fieldsOf(to, known, target.transport)
  const fields = { name, ...target, ...env, ...ofTransport, enabled, ...others, ...tools }
  for (const [key, value] of extra) Read.noteLacking(to, keys.field(key) ?? { is: "extra" }, key, value, said)
  for (const [at, key] of unknown.entries()) to.warn("unknown-key", key, at < maxHints ? keys.hint(key) : undefined)
  return {
    // each field was read by the reader of its schema
    entry: Object.fromEntries(
      Object.entries(fields).filter(([, value]) => value !== undefined)
    ) as unknown as ServerEntry.Entry,
    extra: extra.size === 0 ? undefined : extra,
    approval
  }
}

/** Warns of keys outside the entry that the host applies to this server and that have no effect here. */
const noteBeside = (to: Read.Reading, name: string, beside: Value | undefined, transport: Dialect.Transport): void => {
  const told = new Set(to.warnings.map(({ detail }) => detail))
  for (const [key, field] of Object.entries(to.row.beside ?? {})) {
    const value = isTable(beside) ? beside.get(key) : undefined
    const isAbout = field.byPrefix !== true ||
      (isTable(value) && Array.from(value.keys()).some((tool) => tool.startsWith(`${name}_`)))
    if (value === undefined || !isAbout || told.has(field.lacking)) continue
    Read.noteLacking(to, field, key, value, transport)
  }
}

const isServerName = Schema.is(FieldSchema.ServerName)

const checkName = (to: Read.Reading, name: string): void => {
  if (FieldSchema.reserved.includes(name)) to.fail("reserved-name")
  // a name that begins with a hyphen is an option on a command line
  if (name.startsWith("-") || !isServerName(name)) to.fail("invalid-name", undefined, lookAlike(name))
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(name)) to.warn("name-not-portable")
}

/** The words with which a host approves less than it would without them. */
const stricter: ReadonlySet<string> = new Set(["prompt", "ask", "deny", "never"])

const restricted = Object.entries<FieldSchema.Row>({ ...rowsOf["streamable-http"], ...rowsOf.stdio }).flatMap((
  [key, { restrictedTo }]
) => restrictedTo === undefined ? [] : [[key, restrictedTo] as const])

/** An entry without what its origin has no right to, and warnings of what was removed. */
export const withRights = (
  entry: ServerEntry.Entry,
  origin: Scope.Origin,
  approval: ReadonlyMap<string, string> = new Map()
): { readonly entry: ServerEntry.Entry; readonly warnings: ReadonlyArray<ConfigIssue.EntryWarning> } => {
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
  return { entry: Object.fromEntries(fields) as unknown as ServerEntry.Entry, warnings }
}

/** True if an address or a header names a variable of the `env` of its entry, so that the `env` has an effect. */
const usesEnv = (entry: ServerEntry.Entry): boolean =>
  entry.transport !== "stdio" &&
  [entry.url, ...(entry.headers?.values() ?? [])].flatMap(Interpolation.variables)
    .some((name) => entry.env?.has(name) === true)

interface At {
  /** Absent from an entry of a list without a name. */
  readonly name: string | undefined
  readonly shown: string
  readonly pointer: Document.Pointer
  readonly isListed: boolean
  /** What the map of servers is in. */
  readonly beside: Value | undefined
}

const read = (to: Read.Reading, keys: Keys, at: At, raw: Value, context: Dialect.Context) => {
  const name = at.name ?? to.fail(isTable(raw) ? "missing-name" : "not-an-object")
  checkName(to, name)
  if (!isTable(raw)) to.fail("not-an-object")
  for (const key of raw.keys()) if (FieldSchema.reserved.includes(key)) to.fail("reserved-key", key)
  const { patch, prepare } = to.row
  const listed = at.isListed ? without(raw, "name") : raw
  const written = flat(to, prepare === undefined ? listed : Quirks.prepare[prepare](listed, to, context), keys)
  const isSwitch = (key: string) => ["enabled", "disabled"].includes(keys.field(key)?.is ?? "")
  if (patch === true && written.size > 0 && Array.from(written.keys()).every(isSwitch)) {
    return { _tag: "Patch" as const, enabled: enabledOf(to, usesOf(to, written, keys).known) }
  }
  const server = serverOf(to, name, written, keys)
  const { origin, restricted } = context
  if (!Scope.rights(origin).environment) Read.checkConfidential(to, server.entry)
  noteBeside(to, name, at.beside, server.entry.transport)
  if (restricted !== true) return { _tag: "Server" as const, ...server, warnings: to.warnings }
  const { entry, warnings } = withRights(server.entry, origin, server.approval)
  const useful = to.warnings.filter(({ at, kind }) => kind !== "unused-field" || at !== "env" || !usesEnv(entry))
  return { _tag: "Server" as const, ...server, entry, warnings: [...useful, ...warnings] }
}

/** Reads one entry. Whatever it is, it is an item. */
export const itemOf = (keys: Keys, at: At, raw: Value, context: Dialect.Context): Item => {
  const { origin, path, position, scope } = context
  const line = position?.(at.pointer)?.line
  const provenance = { provider: keys.row.host, scope, origin, path, pointer: at.pointer, line }
  const base = { name: at.shown, provenance, raw }
  const to = new Read.Reading(keys.row, context.strict === true)
  try {
    return { ...base, ...read(to, keys, at, raw, context) }
  } catch (fault) {
    if (!(fault instanceof Read.Fault)) throw fault
    const { at, detail, kind } = fault
    return { _tag: "Invalid", ...base, kind, at, detail }
  }
}
