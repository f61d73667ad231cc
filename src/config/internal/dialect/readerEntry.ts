/**
 * One entry of a file as an item: which server it means, and what is wrong with it.
 *
 * @internal
 */
import type * as ConfigDocument from "../../ConfigDocument.ts"
import type * as ConfigEntry from "../../ConfigEntry.ts"
import type * as ConfigIssue from "../../ConfigIssue.ts"
import type * as Dialect from "../../Dialect.ts"
import * as Quirks from "../../quirks.ts"
import * as Scope from "../../Scope.ts"
import * as Table from "./dialects/table.ts"
import * as Explain from "./explain.ts"
import * as Checks from "./readerChecks.ts"
import * as Hints from "./readerHints.ts"
import * as Parts from "./readerParts.ts"
import * as Uses from "./readerUses.ts"
import * as Values from "./readerValues.ts"
import { isList, isTable } from "./values.ts"

/**
 * A table, with its fields where they are found at once.
 *
 * @internal
 */
export interface Host {
  readonly table: Table.HostTable
  readonly field: (key: string) => Table.Field | undefined
  /** Made when the first key is not known. */
  readonly hints: () => Hints.Hints
}

const common: ReadonlyMap<string, Table.Field> = new Map(Object.entries(Table.common))

/** @internal */
export const host = (table: Table.HostTable): Host => {
  const isClosed = table.closed === true
  const own: ReadonlyMap<string, Table.Field> = new Map(Object.entries(table.fields ?? {}))
  let hints: Hints.Hints | undefined
  return {
    table,
    field: (key) => {
      const field = own.get(key) ?? (isClosed ? undefined : common.get(key))
      return field?.is === "unknown" ? undefined : field
    },
    hints: () => hints ??= Hints.make(isClosed ? { ...table.fields } : { ...Table.common, ...table.fields })
  }
}

const words: ReadonlyMap<string, Table.Transport> = new Map([
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

const isTransport = (word: string): word is Table.Transport =>
  word === "stdio" || word === "streamable-http" || word === "sse" || word === "ws" || word === "auto"

/** The transport that an entry names, if it names one. */
const named = (to: Values.Reading, uses: Uses.Uses): Table.Transport | undefined => {
  let said: Table.Transport | undefined
  for (const { key, value } of Uses.all(to, uses, "type")) {
    const word = Values.text(to, value, key)
    if (to.fault() !== undefined) return undefined
    const { onlyWords, words: own } = to.table
    const meaning: Table.Transport | ConfigIssue.EntryFault | undefined =
      onlyWords !== undefined && !onlyWords.includes(word)
        ? undefined
        : own !== undefined && Object.hasOwn(own, word)
        ? own[word]
        : words.get(word.toLowerCase())
    if (meaning === undefined) to.fail("unknown-transport", key)
    else if (!isTransport(meaning)) to.fail(meaning)
    else if (said !== undefined && said !== meaning) to.fail("ambiguous-transport", key)
    else said = meaning
  }
  return said
}

/** Which transport an entry means. */
const transport = (to: Values.Reading, uses: Uses.Uses, hint: string | undefined): Table.Transport => {
  const said = named(to, uses)
  const { prefers, typeRequired, typeless } = to.table
  const hasCommand = uses.has("command")
  const hasUrl = uses.has("url")
  if (said === undefined) {
    if (hasCommand && hasUrl && prefers === undefined) to.fail("ambiguous-transport")
    else if (!hasCommand && !hasUrl) to.fail("missing-transport", undefined, hint)
    const isRemote = hasUrl && !(hasCommand && prefers === "command")
    if (typeRequired !== undefined && (isRemote || typeRequired.for === "all")) {
      if (typeRequired.is === "fault") to.fail("missing-type", "type")
      else to.reject("missing-type", "type")
    }
    return isRemote ? Parts.firstUrl(to, uses)?.field.transport ?? typeless ?? "auto" : "stdio"
  }
  const [isThere, other, key] = said === "stdio" ? [hasCommand, hasUrl, "command"] : [hasUrl, hasCommand, "url"]
  if (!isThere) to.fail(other ? "transport-mismatch" : "missing-transport", key, other ? undefined : hint)
  return said
}

const onlyStdio: ReadonlySet<Table.Meaning> = new Set([
  "command",
  "args",
  "env",
  "envNames",
  "envSecrets",
  "withoutEnv",
  "envFile",
  "inheritEnv",
  "cwd"
])

const onlyRemote: ReadonlySet<Table.Meaning> = new Set([
  "url",
  "headers",
  "headerVariables",
  "bearer",
  "bearerVariable",
  "headersCommand",
  "headersLine",
  "oauth"
])

const isEmpty = (value: ConfigDocument.Value): boolean =>
  value === false || (isList(value) && value.length === 0) || (isTable(value) && value.size === 0)

/** Says which fields belong to the transport that the entry does not have. */
const unused = (to: Values.Reading, uses: Uses.Uses, isStdio: boolean): void => {
  const others = isStdio ? onlyRemote : onlyStdio
  for (const [meaning, found] of uses) {
    if (!others.has(meaning)) continue
    for (const { key, value } of found) {
      const { mixing } = to.table
      if (mixing === "host-would-reject") to.reject("unsupported-field", key)
      else if (mixing !== undefined) to.fail(mixing, key)
      if (meaning === "command" || meaning === "url" || !isEmpty(value)) to.warn("unused-field", key)
    }
  }
}

/** The fields of a nested transport, as if they were not nested. */
const flat = (to: Values.Reading, entry: ConfigDocument.Table, { field }: Host): ConfigDocument.Table => {
  for (const [key, value] of entry) {
    if (field(key)?.is !== "type" || !isTable(value)) continue
    if (to.table.nested !== true) to.reject("invalid-type", key)
    const outer = Array.from(entry).filter(([name]) => name !== key)
    return new Map([...outer, ...value])
  }
  return entry
}

const isSwitch = (field: Table.Field | undefined): boolean => field?.is === "enabled" || field?.is === "disabled"

/**
 * Reads one entry. Whatever it is, it is an item.
 *
 * @internal
 */
export const read = (
  own: Host,
  at: { readonly name: string; readonly pointer: ConfigDocument.Pointer; readonly missingName?: boolean },
  raw: ConfigDocument.Value,
  context: Dialect.Context,
  inputs: Set<string>
): ConfigEntry.Item => {
  const base = { name: at.name, pointer: at.pointer, raw }
  const to = Values.reading(own.table, context.strict === true)
  const invalid = (fault: Values.Fault): ConfigEntry.Item => ({
    _tag: "Invalid",
    ...base,
    kind: fault.kind,
    ...(fault.at === undefined ? {} : { at: fault.at }),
    ...(fault.detail === undefined ? {} : { detail: fault.detail })
  })
  if (at.missingName === true) {
    to.fail(isTable(raw) ? "missing-name" : "not-an-object")
  } else Checks.name(to, at.name)
  if (!isTable(raw)) to.fail("not-an-object")
  const before = to.fault()
  if (before !== undefined || !isTable(raw)) return invalid(before ?? notAnObject)
  for (const key of raw.keys()) if (Values.isReserved(key)) to.fail("reserved-key", key)
  const { prepare } = own.table
  const written = flat(to, prepare === undefined ? raw : Quirks.prepare[prepare](raw, to, context), own)
  if (
    own.table.patch === true && written.size > 0 &&
    Array.from(written.keys()).every((key) => isSwitch(own.field(key)))
  ) {
    const enabled = Parts.enabled(to, Uses.uses(to, written, own).known)
    const fault = to.fault()
    return fault === undefined ? { _tag: "Patch", ...base, enabled } : invalid(fault)
  }
  const entry = server(to, at.name, written, own)
  if (!Scope.rights(context.origin).environment) Checks.confidential(to, entry)
  const fault = to.fault()
  if (fault !== undefined) return invalid(fault)
  for (const id of to.inputs) inputs.add(id)
  return { _tag: "Server", name: at.name, pointer: at.pointer, raw, entry, warnings: to.warnings }
}

const notAnObject: Values.Fault = { kind: "not-an-object", at: undefined, detail: undefined }

/** Where so much is unknown, no single key is misspelt. */
const maxHints = 8

const hint = ({ hints }: Host, key: string): string | undefined => {
  const meant = Hints.meant(hints(), key)
  return meant === undefined ? undefined : `is ${meant} meant?`
}

/** What may be why an entry does not say the first thing of all. */
const misspelt = (own: Host, unknown: ReadonlyArray<string>): string | undefined => {
  const few = unknown.slice(0, maxHints)
  const key = few.find((key) => Hints.meant(own.hints(), key) !== undefined) ?? few[0]
  if (key === undefined) return undefined
  const meant = hint(own, key)
  const what = `the key ${Explain.shownKey(key)} is not known`
  return meant === undefined ? what : `${what}: ${meant}`
}

const server = (
  to: Values.Reading,
  name: string,
  written: ConfigDocument.Table,
  own: Host
): ConfigEntry.ConfigEntry => {
  const { extra, known, unknown } = Uses.uses(to, written, own)
  const enabled = Parts.enabled(to, known)
  const said = transport(to, known, misspelt(own, unknown))
  unused(to, known, said === "stdio")
  const target = said === "stdio" ? Parts.stdio(to, known) : Parts.remote(to, known, said)
  if (to.table.stdioOnly === true && said !== "stdio") to.reject("transport-mismatch", "command")
  const rest = Parts.common(to, known)
  for (const [key, value] of extra) {
    const field = own.field(key)
    if (field !== undefined) Uses.tellLacking(to, field, key, value, said)
  }
  for (const [at, key] of unknown.entries()) to.warn("unknown-key", key, at < maxHints ? hint(own, key) : undefined)
  return { name, ...target, enabled, ...rest, ...(extra.size === 0 ? {} : { extra }) }
}
