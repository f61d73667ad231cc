/**
 * One entry of a file as an item: the server it means, and what is wrong with it.
 */
import * as Schema from "effect/Schema"
import { isOneEdit } from "../text/nearest.ts"
import * as ConfigIssue from "./ConfigIssue.ts"
import type * as Dialect from "./Dialect.ts"
import type * as Document from "./document.ts"
import { isList, isTable, isText, without } from "./document.ts"
import { tables as rowsOf } from "./fields.ts"
import * as FieldSchema from "./fieldSchema.ts"
import * as HostRow from "./hostRow.ts"
import { lookAlike } from "./lookAlike.ts"
import * as Quirks from "./quirks.ts"
import * as ReadFields from "./readFields.ts"
import * as Read from "./readValues.ts"
import * as Scope from "./Scope.ts"
import type * as ServerConfig from "./ServerConfig.ts"

type Table = Document.Table
type Value = Document.Value

/** Made when it is first needed: of most hosts there is no file. */
export const once = <A extends object>(make: () => A): () => A => {
  let made: A | undefined
  return () => made ??= make()
}

/**
 * One entry of a file after it was read.
 *
 * - `Server`: it can be used.
 * - `Invalid`: it cannot, and owns its name nevertheless, so that a weaker entry does not take its place.
 * - `Patch`: it only switches a server that a weaker file defines (OpenCode's `{"enabled": true}`).
 * - `Given`: it is no entry, but a configuration that the application gives in code.
 */
export type Item =
  & { readonly name: string; readonly pointer: Document.Pointer; readonly raw: Value }
  & (
    | {
      readonly _tag: "Server"
      readonly entry: ServerConfig.Entry
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

/** A row, with its keys where they are found at once. */
export interface Host {
  readonly table: HostRow.HostTable
  readonly field: (key: string) => HostRow.Field | undefined
  /** The key that a misspelt one means, as a question. */
  readonly hint: (key: string) => string | undefined
}

const servers: ReadonlyMap<string, FieldSchema.Row> = new Map<string, FieldSchema.Row>(
  Object.entries<FieldSchema.Row>({ ...rowsOf.stdio, ...rowsOf["streamable-http"] })
)

/** Every field under its own name and its aliases. */
const everyField = (): HostRow.Fields =>
  Object.fromEntries(
    Array.from(servers).flatMap(([key, { aliases = [] }]) =>
      [key, ...aliases].map((word) => [word, { is: key as HostRow.Meaning }])
    )
  )

/** Without capitals and joining characters, which are what is most often wrong. */
const bare = (key: string): string => key.toLowerCase().replaceAll(/[-_.]/g, "")

/** Longer than any key that there is. */
const longestKey = 64

const hintsOf = (fields: HostRow.Fields): Host["hint"] => {
  const bareKeys = once(() =>
    new Map(
      Object.entries(fields).filter(([, { deprecated, foreign, is }]) =>
        deprecated !== true && foreign !== true && is !== "unknown" && is !== "ignored" && is !== "refused"
      ).map(([key]) => [bare(key), key])
    )
  )
  const meant = (written: string): string | undefined => {
    const [word, keys] = [bare(written), bareKeys()]
    const known = Object.hasOwn(fields, written) ? fields[written]?.instead : undefined
    // a short word is near to too many others
    if (known !== undefined || keys.has(word) || word.length < 4) return known ?? keys.get(word)
    for (const [bareKey, key] of keys) {
      if (isOneEdit(word, bareKey) || (word.length > 6 && bareKey.startsWith(word))) return key
    }
    return undefined
  }
  return (key) => {
    const word = key.length > longestKey ? undefined : meant(key)
    return word === undefined ? undefined : `is ${word} meant?`
  }
}

export const hostOf = (table: HostRow.HostTable): Host => {
  const common = table.closed === true ? {} : HostRow.common
  const fields: HostRow.Fields = { ...common, ...(table.everyField === true ? everyField() : {}), ...table.fields }
  const known = new Map(Object.entries(fields).filter(([, { is }]) => is !== "unknown"))
  return { table, field: (key) => known.get(key), hint: hintsOf(fields) }
}

// one entry

const words: ReadonlyMap<string, HostRow.Transport> = new Map([
  ["stdio", "stdio"],
  ["local", "stdio"],
  ["command", "stdio"],
  ["http", "streamable-http"],
  ["streamable-http", "streamable-http"],
  ["streamablehttp", "streamable-http"],
  ["streamable_http", "streamable-http"],
  ["sse", "sse"],
  ["ws", "ws"],
  ["websocket", "ws"],
  ["remote", "auto"],
  ["auto", "auto"]
])

const isTransport = (word: string): word is HostRow.Transport =>
  word === "stdio" || word === "streamable-http" || word === "sse" || word === "ws" || word === "auto"

/** The transport that an entry names, if it names one. */
const namedTransport = (to: Read.Reading, uses: Read.Uses): HostRow.Transport | undefined => {
  let named: HostRow.Transport | undefined
  for (const { key, value } of Read.all(to, uses, "type")) {
    const word = Read.text(to, value, key)
    if (to.fault() !== undefined) return undefined
    const { onlyWords, words: own } = to.table
    const meaning: HostRow.Transport | ConfigIssue.EntryFault | undefined =
      onlyWords !== undefined && !onlyWords.includes(word)
        ? undefined
        : own !== undefined && Object.hasOwn(own, word)
        ? own[word]
        : words.get(word.toLowerCase())
    if (meaning === undefined) to.fail("unknown-transport", key)
    else if (!isTransport(meaning)) to.fail(meaning)
    else if (named !== undefined && named !== meaning) to.fail("ambiguous-transport", key)
    else named = meaning
  }
  return named
}

/** The key that an address is taken from. */
const firstUrl = ({ table }: Read.Reading, from: Read.Uses): Read.Use | undefined => {
  const found = from.get("url") ?? []
  if (found.length < 2 || table.urlsInOrder !== true) return found[0]
  const order = Object.keys(table.fields ?? {})
  const rank = ({ key }: Read.Use): number => order.includes(key) ? order.indexOf(key) : order.length
  return found.toSorted((a, b) => rank(a) - rank(b))[0]
}

const transportOf = (to: Read.Reading, uses: Read.Uses, hint: string | undefined): HostRow.Transport => {
  const named = namedTransport(to, uses)
  const { prefers, typeRequired, typeless } = to.table
  const hasCommand = uses.has("command")
  const hasUrl = uses.has("url")
  if (named !== undefined) {
    const [isThere, other, key] = named === "stdio" ? [hasCommand, hasUrl, "command"] : [hasUrl, hasCommand, "url"]
    if (!isThere) to.fail(other ? "transport-mismatch" : "missing-transport", key, other ? undefined : hint)
    return named
  }
  if (hasCommand && hasUrl && prefers === undefined) to.fail("ambiguous-transport")
  else if (!hasCommand && !hasUrl) to.fail("missing-transport", undefined, hint)
  const isRemote = hasUrl && !(hasCommand && prefers === "command")
  if (typeRequired !== undefined && (isRemote || typeRequired.for === "all")) {
    if (typeRequired.is === "fault") to.fail("missing-type", "type")
    else to.reject("missing-type", "type")
  }
  return isRemote ? firstUrl(to, uses)?.field.transport ?? typeless ?? "auto" : "stdio"
}

/** The fields that other words for them belong to. */
const otherWords: ReadonlyMap<HostRow.Meaning, HostRow.Meaning> = new Map<HostRow.Meaning, HostRow.Meaning>([
  ["envNames", "env"],
  ["envSecrets", "env"],
  ["headerVariables", "headers"],
  ["bearer", "headers"],
  ["headersLine", "headersCommand"]
])

const isEmpty = (value: Value): boolean =>
  value === false || (isList(value) && value.length === 0) || (isTable(value) && value.size === 0)

/** Reports the fields that belong to the transport that the entry does not have. */
const noteUnused = (to: Read.Reading, uses: Read.Uses, isStdio: boolean): void => {
  const [own, other] = isStdio ? [rowsOf.stdio, rowsOf["streamable-http"]] : [rowsOf["streamable-http"], rowsOf.stdio]
  for (const [meaning, found] of uses) {
    const field = otherWords.get(meaning) ?? meaning
    if (Object.hasOwn(own, field) || !Object.hasOwn(other, field)) continue
    for (const { key, value } of found) {
      const { mixing } = to.table
      if (mixing === "host-would-reject") to.reject("unsupported-field", key)
      else if (mixing !== undefined) to.fail(mixing, key)
      if (meaning === "command" || meaning === "url" || !isEmpty(value)) to.warn("unused-field", key)
    }
  }
}

/** The fields of a nested transport, as if they were not nested. */
const flat = (to: Read.Reading, entry: Table, { field }: Host): Table => {
  for (const [key, value] of entry) {
    if (field(key)?.is !== "type" || !isTable(value)) continue
    if (to.table.nested !== true) to.reject("invalid-type", key)
    return new Map([...without(entry, key), ...value])
  }
  return entry
}

const isOtherMode = (value: Value): boolean => isText(value) && value !== "oauth"

/** The keys of an entry by what they mean. */
const usesOf = (to: Read.Reading, written: Table, { field: fieldOf }: Host) => {
  const known = new Map<HostRow.Meaning, Array<Read.Use>>()
  const extra = new Map<string, Value>()
  const unknown: Array<string> = []
  for (const [key, value] of written) {
    const field = fieldOf(key)
    if (field === undefined && to.table.closed === true) to.fail("unknown-key", key)
    else if (field?.is === "refused") to.fail("unsupported-field", key)
    else if (field === undefined || field.is === "extra" || (field.mode === true && isOtherMode(value))) {
      extra.set(key, value)
      if (field === undefined) unknown.push(key)
    } else if (field.is !== "ignored") {
      // a command line stays to be seen as it was written, whatever words are taken from it
      if (field.is === "headersLine") extra.set(key, value)
      const found = known.get(field.is)
      if (found === undefined) known.set(field.is, [{ key, value, field }])
      else found.push({ key, value, field })
    }
  }
  return { known, extra, unknown }
}

/** Whether an entry is enabled. An entry that contradicts itself is disabled. */
const enabledOf = (to: Read.Reading, from: Read.Uses): boolean => {
  const switches = Read.all(to, from, "enabled", "disabled").map(({ field, key, value }) =>
    Read.flag(to, value, key) === (field.is === "enabled")
  )
  const isOn = switches.every((on) => on)
  if (!isOn && switches.some((on) => on) && to.fault() === undefined) to.warn("conflicting-enabled")
  return isOn
}

/** The program and its arguments, which some hosts write as one list. */
const programOf = (to: Read.Reading, from: Read.Uses) => {
  const [command = "", ...words] = Read.first(to, from, "command", ({ key, value }) => {
    const [program = "", ...rest] = isList(value)
      ? value.map((item) => Read.text(to, item, key))
      : [Read.text(to, value, key)]
    return [
      Read.program(to, program, key),
      ...rest.map((word, index) => Read.argument(to, word, "args", `${key}.${index + 1}`))
    ]
  }) ?? []
  const args = Read.all(to, from, "args").flatMap(({ key, value }) =>
    Read.texts(to, value, key).map((word, index) => Read.argument(to, word, "args", `${key}.${index}`))
  )
  return { transport: "stdio" as const, command, args: [...words, ...args] }
}

const addressOf = (to: Read.Reading, from: Read.Uses, said: Exclude<HostRow.Transport, "stdio">) => {
  const use = firstUrl(to, from)
  if (use === undefined) return { transport: said, url: "" }
  Read.noteWord(to, use)
  const written = Read.text(to, use.value, use.key)
  for (const other of from.get("url") ?? []) {
    if (other === use || other.value === written) continue
    if (to.table.urlsInOrder === true) to.warn("unused-field", other.key)
    else to.fail("ambiguous-url")
  }
  if (to.fault() !== undefined) return { transport: said, url: "" }
  const url = Read.template(to, written, "url", use.key)
  return { transport: Read.address(to, url, use.key, said), url }
}

/** The fields that are read by their schema, one key each. */
const fieldsOf = (to: Read.Reading, from: Read.Uses, transport: HostRow.Transport): Record<string, unknown> => {
  const found: Record<string, unknown> = {}
  const own = rowsOf[transport === "auto" ? "streamable-http" : transport]
  for (const [key, { schema, words }] of servers) {
    // `enabled` was read together with `disabled`
    if (key === "enabled" || !Read.isPlain(schema) || !Object.hasOwn(own, key)) continue
    const value = Read.first(
      to,
      from,
      key as HostRow.Meaning,
      (use) => Read.readField(to, schema, use.value, use.key, use.field, words)
    )
    if (value !== undefined) found[key] = value
  }
  for (const { field, key, value } of Read.all(to, from, "timeouts")) {
    const set = (name: string, part: Value | undefined, at: string): void => {
      const time = part === undefined ? undefined : Read.readField(to, FieldSchema.Time, part, at, field)
      if (time !== undefined) found[name] ??= time
    }
    if (isTable(value)) {
      set("startupTimeout", value.get("startup"), `${key}.startup`)
      set("requestTimeout", value.get("request"), `${key}.request`)
    } else set("requestTimeout", value, key)
  }
  return found
}

/** Where so much is unknown, no single key is misspelt. */
const maxHints = 8

/** A misspelt key that may be why an entry does not say how to reach the server. */
const misspelt = ({ hint }: Host, unknown: ReadonlyArray<string>): string | undefined => {
  const few = unknown.slice(0, maxHints)
  const key = few.find((key) => hint(key) !== undefined) ?? few[0]
  if (key === undefined) return undefined
  const meant = hint(key)
  return `the key ${ConfigIssue.shownKey(key)} is not known${meant === undefined ? "" : `: ${meant}`}`
}

const serverOf = (to: Read.Reading, name: string, written: Table, own: Host) => {
  const { extra, known, unknown } = usesOf(to, written, own)
  const enabled = enabledOf(to, known)
  const said = transportOf(to, known, misspelt(own, unknown))
  noteUnused(to, known, said === "stdio")
  const target = said === "stdio" ? programOf(to, known) : addressOf(to, known, said)
  const { withoutEnv, ...env } = ReadFields.environment(to, known)
  const ofTransport = said === "stdio" ? { withoutEnv } : {
    headers: ReadFields.headers(to, known),
    headersCommand: ReadFields.headersCommand(to, known),
    oauth: ReadFields.oauth(to, known)
  }
  if (to.table.stdioOnly === true && said !== "stdio") to.reject("transport-mismatch", "command")
  const { approval, ...tools } = ReadFields.tools(to, known)
  const fields = {
    name,
    ...target,
    ...env,
    ...ofTransport,
    enabled,
    ...fieldsOf(to, known, target.transport),
    ...tools
  }
  for (const [key, value] of extra) {
    const field = own.field(key)
    if (field !== undefined) Read.noteLacking(to, field, key, value, said)
  }
  for (const [at, key] of unknown.entries()) to.warn("unknown-key", key, at < maxHints ? own.hint(key) : undefined)
  return {
    // each field was read by the reader of its schema
    entry: Object.fromEntries(
      Object.entries(fields).filter(([, value]) => value !== undefined)
    ) as unknown as ServerConfig.Entry,
    extra: extra.size === 0 ? undefined : extra,
    approval
  }
}

/** Warns of keys beside the servers that the host applies to this server and that have no effect here. */
const noteBeside = (
  to: Read.Reading,
  name: string,
  beside: Value | undefined,
  transport: HostRow.Transport,
  warnings: ReadonlyArray<ConfigIssue.EntryWarning>
): void => {
  const told = new Set(warnings.map(({ detail }) => detail))
  for (const [key, field] of Object.entries(to.table.beside ?? {})) {
    const value = isTable(beside) ? beside.get(key) : undefined
    const isAbout = field.byPrefix !== true ||
      (isTable(value) && Array.from(value.keys()).some((tool) => tool.startsWith(`${name}_`)))
    if (value === undefined || !isAbout || (field.lacking !== undefined && told.has(field.lacking))) continue
    Read.noteLacking(to, field, key, value, transport)
  }
}

const isServerName = Schema.is(FieldSchema.ServerName)

const checkName = (to: Read.Reading, name: string): void => {
  if (FieldSchema.reserved.includes(name)) to.fail("reserved-name")
  // a name that begins with a hyphen is an option on a command line
  else if (name.startsWith("-") || !isServerName(name)) to.fail("invalid-name", undefined, lookAlike(name))
  else if (!/^[A-Za-z0-9_-]{1,64}$/.test(name)) to.warn("name-not-portable")
}

const readingOf = (table: HostRow.HostTable, strict: boolean) => {
  const warnings: Array<ConfigIssue.EntryWarning> = []
  let fault: Read.Fault | undefined
  let rejected = false
  const to: Read.Reading = {
    table,
    inputs: new Set(),
    fault: () => fault,
    warn: (kind, at, detail) => {
      warnings.push({ kind, at, detail })
    },
    reject: (kind, at) => {
      if (strict) to.fail(kind, at)
      // reported once, whatever the number of reasons
      else if (!rejected) to.warn("host-would-reject", undefined, ConfigIssue.reason(kind, table.host, at))
      rejected = true
    },
    fail: (kind, at, detail) => {
      fault ??= { kind, at, detail }
    }
  }
  return { to, warnings }
}

interface At {
  /** Absent from an entry of a list without a name. */
  readonly name: string | undefined
  readonly shown: string
  readonly pointer: Document.Pointer
  readonly isListed: boolean
  /** What the map of servers is in. */
  readonly beside: Value | undefined
}

/** Reads one entry. Whatever it is, it is an item. */
export const itemOf = (own: Host, at: At, raw: Value, context: Dialect.Context, inputs: Set<string>): Item => {
  const base = { name: at.shown, pointer: at.pointer, raw }
  const { to, warnings } = readingOf(own.table, context.strict === true)
  const item = (): Item | undefined => {
    if (at.name === undefined) return void to.fail(isTable(raw) ? "missing-name" : "not-an-object")
    checkName(to, at.name)
    if (!isTable(raw)) to.fail("not-an-object")
    if (!isTable(raw) || to.fault() !== undefined) return undefined
    for (const key of raw.keys()) if (FieldSchema.reserved.includes(key)) to.fail("reserved-key", key)
    const { patch, prepare } = own.table
    const entry = at.isListed ? without(raw, "name") : raw
    const written = flat(to, prepare === undefined ? entry : Quirks.prepare[prepare](entry, to, context), own)
    const isSwitch = (key: string) => own.field(key)?.is === "enabled" || own.field(key)?.is === "disabled"
    if (patch === true && written.size > 0 && Array.from(written.keys()).every(isSwitch)) {
      return { _tag: "Patch", ...base, enabled: enabledOf(to, usesOf(to, written, own).known) }
    }
    const server = serverOf(to, at.name, written, own)
    if (!Scope.rights(context.origin).environment) Read.checkConfidential(to, server.entry)
    noteBeside(to, at.name, at.beside, server.entry.transport, warnings)
    return { _tag: "Server", ...base, ...server, warnings }
  }
  const read = item()
  const fault = to.fault()
  if (fault !== undefined || read === undefined) {
    return { _tag: "Invalid", ...base, ...(fault ?? { kind: "not-an-object" }) }
  }
  if (read._tag === "Server") { for (const id of to.inputs) inputs.add(id) }
  return read
}
