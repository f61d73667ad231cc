/**
 * The values of one entry. A reader takes what hosts write, notes what it had to change, and fails the entry where a value
 * cannot mean what it should.
 */
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as HeaderField from "../text/headerField.ts"
import * as ConfigIssue from "./ConfigIssue.ts"
import type * as Dialect from "./Dialect.ts"
import { isList, isTable, scalar as scalarOf, type Value } from "./document.ts"
import * as FieldSchema from "./fieldSchema.ts"
import { otherLogin } from "./hosts.ts"
import * as Interpolation from "./Interpolation.ts"
import * as Limits from "./Limits.ts"
import * as RemoteHeaders from "./remoteHeaders.ts"
import type * as ServerEntry from "./serverEntry.ts"

/** Why an entry cannot be used. Thrown at the first fault, and caught by the reader of the entry. */
export class Fault extends Error {
  readonly kind: ConfigIssue.EntryFault
  readonly at: string | undefined
  readonly detail: string | undefined
  constructor(kind: ConfigIssue.EntryFault, at?: string, detail?: string) {
    super(kind)
    this.kind = kind
    this.at = at
    this.detail = detail
  }
}

/** One entry while it is read: the row of its host, and the notes on it. */
export class Reading {
  readonly row: Dialect.Dialect
  readonly warnings: Array<ConfigIssue.EntryWarning> = []
  readonly #strict: boolean
  #isRejected = false

  constructor(row: Dialect.Dialect, strict: boolean) {
    this.row = row
    this.#strict = strict
  }

  warn(kind: ConfigIssue.Warning, at?: string, detail?: string): void {
    this.warnings.push({ kind, at, detail })
  }

  /** The host itself would reject the entry: a fault if the reader is strict, otherwise one warning for all reasons. */
  reject(kind: ConfigIssue.EntryFault, at?: string): void {
    if (this.#strict) this.fail(kind, at)
    if (!this.#isRejected) this.warn("host-would-reject", undefined, ConfigIssue.reason(kind, this.row.host, at))
    this.#isRejected = true
  }

  fail(kind: ConfigIssue.EntryFault, at?: string, detail?: string): never {
    throw new Fault(kind, at, detail)
  }
}

/** A key of the entry, what it means and what it holds. */
export interface Use {
  readonly key: string
  readonly value: Value
  readonly field: Dialect.Field
}

/** The keys of an entry by what they mean. */
export type Uses = ReadonlyMap<Dialect.Meaning, ReadonlyArray<Use>>

/** Notes an older or a foreign word. */
export const noteWord = (to: Reading, { field, key }: Use): void => {
  if (field.deprecated === true) to.warn("deprecated", key, field.instead && `use ${field.instead}`)
  if (field.foreign === true) to.reject("unknown-key", key)
}

/** All keys of a meaning, in the order of the entry. */
export const all = (to: Reading, from: Uses, ...meanings: ReadonlyArray<Dialect.Meaning>): ReadonlyArray<Use> => {
  const found = meanings.flatMap((meaning) => from.get(meaning) ?? [])
  for (const use of found) noteWord(to, use)
  return found
}

/** The first key of one meaning with a usable value; the others are reported. */
export const first = <A>(
  to: Reading,
  uses: ReadonlyArray<Use> | undefined,
  read: (use: Use) => A | undefined
): A | undefined => {
  let found: A | undefined
  for (const use of uses ?? []) {
    if (found === undefined) {
      noteWord(to, use)
      found = read(use)
    } else to.warn("unused-field", use.key)
  }
  return found
}

/** The login values that only mean a header. */
const byHeaders: ReadonlySet<unknown> = new Set(["bearer", "header", "headers", "none", "static", "token"])

/** Warns of a field that the host applies and this runtime does not. */
export const noteLacking = (
  to: Reading,
  { lacking, mode, ofPrograms, unless }: Dialect.Field,
  key: string,
  value: Value,
  transport: Dialect.Transport
): void => {
  const what = mode === true && !byHeaders.has(value) ? otherLogin : lacking
  if (what === undefined || (ofPrograms === true && transport !== "stdio")) return
  if (unless?.some((one) => one === value) !== true) to.warn("not-honoured", key, what)
}

// values

/** A text, where nothing else will do. */
export const text = (to: Reading, value: Value, at: string): string =>
  typeof value === "string" ? value : to.fail("invalid-type", at, "expected a string")

/** A text, also if it was written without quotes. */
export const scalar = (to: Reading, value: Value, at: string): string => {
  const written = Number.isFinite(value) || typeof value !== "number" ? scalarOf(value) : undefined
  if (written === undefined || typeof value === "string" || to.row.closed === true) return text(to, value, at)
  to.warn("coerced", at)
  return written
}

export const texts = (to: Reading, value: Value, at: string): ReadonlyArray<string> =>
  isList(value)
    ? value.map((item, index) => scalar(to, item, `${at}.${index}`))
    : to.fail("invalid-type", at, "expected a list of strings")

/** Names in a list; `*` for all of them may stand alone. */
export const names = (to: Reading, value: Value, at: string): ReadonlyArray<string> =>
  value === "*" ? ["*"] : texts(to, value, at)

/** Anything but a clear yes or no is a fault: a mistyped `disabled` must not start a server. */
export const flag = (to: Reading, value: Value, at: string): boolean => {
  if (typeof value === "boolean") return value
  if (value !== "true" && value !== "false") to.fail("invalid-type", at, "expected true or false")
  to.warn("coerced", at)
  return value === "true"
}

const wholeNumber = (most: number) => (to: Reading, value: Value, at: string): number => {
  const number = typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : value
  if (typeof number !== "number" || !Number.isInteger(number) || number < 1 || number > most) {
    to.fail("invalid-value", at, `expected a number from 1 to ${most}`)
  }
  if (number !== value) to.warn("coerced", at)
  return number
}

const hour = 3600

/** Milliseconds. An invalid one is left out with a warning: it is no reason to lose the server. */
const time = (to: Reading, value: Value, at: string, { unit, zeroIsOff }: Dialect.Field): number | undefined => {
  const isDigits = typeof value === "string" && /^\s*\d+(\.\d+)?\s*$/.test(value)
  const written = typeof value === "string" && !isDigits && unit === undefined
    ? Option.getOrUndefined(Option.map(Duration.decodeUnknown(value), Duration.toMillis))
    : undefined
  const number = isDigits || typeof value === "bigint" ? Number(value) : written ?? value
  if (number === 0 && zeroIsOff === true) return Duration.toMillis(Limits.defaults.toolTimeout)
  if (typeof number !== "number" || !(number > 0) || number > Number.MAX_SAFE_INTEGER / 1000) {
    to.warn("invalid-timeout", at)
    return undefined
  }
  if (isDigits) to.warn("coerced", at)
  // a word that says its unit is believed; one that does not is often copied from a host with another unit
  const saysUnit = written !== undefined || /(ms|sec|seconds)$/i.test(at)
  if (!saysUnit && (unit === "s" ? number > hour : number < 1000)) {
    to.warn("timeout-suspicious", at, unit === "s" ? "it is in seconds" : "it is in milliseconds")
  }
  return Math.max(1, Math.round(unit === "s" ? number * 1000 : number))
}

/** More than any program can be started with. */
const mostEntries = 50_000

export const entries = (to: Reading, value: Value, at: string): ReadonlyArray<readonly [string, Value]> => {
  if (!isTable(value)) to.fail("invalid-type", at, "expected an object of names and values")
  if (value.size > mostEntries) to.fail("invalid-value", at, `more than ${mostEntries} entries`)
  for (const key of value.keys()) if (FieldSchema.reserved.includes(key)) to.fail("reserved-key", `${at}.${key}`)
  return Array.from(value)
}

/** A text as a template in the canonical syntax. */
export const template = (to: Reading, written: string, part: Dialect.Part, at: string): string => {
  if (!/[$%{!`]/.test(written)) return written
  const { variables } = to.row
  const known = variables?.in?.includes(part) === false ? {} : variables?.syntax ?? {}
  // what a program prints is a value of the environment or of a header; elsewhere an exclamation mark is only that
  const isMark = known.bang === true && part !== "env" && part !== "headers"
  const { template, warnings } = Interpolation.canonical(isMark ? { ...known, bang: false } : known, written)
  for (const kind of warnings) to.warn(kind, at)
  return template
}

// the rules for programs, variables, headers and addresses of any origin

// eslint-disable-next-line no-control-regex
const lineBreak = /[\u0000\r\n]/

export const noteWhitespace = (to: Reading, written: string, at: string): void => {
  if (written !== written.trim()) to.warn("whitespace", at)
}

/** A path on another machine: to look there is enough to send Windows' credentials. */
const isElsewhere = (path: string): boolean => /^\s*[\\/]([\\/]|\?\?[\\/])/.test(path)

export const checkProgram = (to: Reading, written: string, at: string): void => {
  if (written.trim() === "") to.fail("empty-command", at)
  if (lineBreak.test(written) || isElsewhere(written)) to.fail("invalid-value", at)
  noteWhitespace(to, written, at)
}

export const argument = (to: Reading, written: string, part: "args" | "headers", at: string): string =>
  lineBreak.test(written) ? to.fail("invalid-value", at) : template(to, written, part, at)

const path = (part: "envFile" | "cwd") => (to: Reading, value: Value, at: string): string => {
  const written = text(to, value, at)
  if (written.trim() === "" || lineBreak.test(written) || isElsewhere(written)) to.fail("invalid-value", at)
  return template(to, written, part, at)
}

export const checkVariable = (to: Reading, name: string, written: string): void => {
  if (name === "" || /[=\u0000]/.test(name) || written.includes("\u0000")) to.fail("invalid-env", name)
}

/** The name of a variable, as a template can refer to it. */
export const variableName = (to: Reading, value: Value, at: string): string => {
  const name = text(to, value, at)
  return /^[^\s=${}:|\u0000]+$/.test(name) ? name : to.fail("invalid-value", at)
}

/** Headers that no configuration sets: they frame a request, or belong to one hop of its way. */
export const ownHeaders: ReadonlyArray<string> =
  ("connection content-length expect host keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer " +
    "transfer-encoding upgrade").split(" ")

export const checkHeader = (to: Reading, name: string, written: string, at: string): void => {
  const lower = name.toLowerCase()
  if (
    !HeaderField.isName(name) || ownHeaders.includes(lower) || /^(mcp|sec-websocket)-/.test(lower) ||
    !HeaderField.isValue(written.trim()) || /[^\u0000-\u00ff]/.test(written)
  ) to.fail("invalid-header", name)
  noteWhitespace(to, written, at)
}

/** Longer than any address, and short enough to be parsed in no time. */
const longestAddress = 65_536

/** A beginning that already says which host is asked. */
const startsWithHost = /^[a-z]+:\/\/[^/?#]+[/?#]/i

/** An address with `x` in place of its variables, and how it begins: `undefined` if a variable says where it leads. */
const standIn = (template: string) => {
  const parts = Interpolation.parse(template.trim())
  const begin = parts[0]
  if (typeof begin !== "string") return undefined
  const isWhole = parts.length === 1
  const stand = parts.map((part) => typeof part === "string" ? part : "x").join("")
  const url = URL.canParse(stand) ? new URL(stand) : undefined
  return { begin, isWhole, url, hasHost: isWhole || startsWithHost.test(begin) }
}

/** Checks an address as far as it is known before its variables are, and gives the transport that it has. */
export const address = (
  to: Reading,
  template: string,
  at: string,
  transport: Exclude<Dialect.Transport, "stdio">
): Exclude<Dialect.Transport, "stdio"> => {
  const trimmed = template.trim()
  if (trimmed === "") to.fail("empty-url", at)
  if (lineBreak.test(trimmed) || trimmed.length > longestAddress) to.fail("invalid-url", at)
  noteWhitespace(to, template, at)
  const stand = standIn(trimmed)
  if (stand === undefined) return transport
  const { begin, hasHost, isWhole, url } = stand
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(begin)?.[1]?.toLowerCase() ?? to.fail("invalid-url", at)
  const family = /^(http|ws)s?$/.exec(scheme)?.[1] ?? to.fail("unsupported-url-scheme", at)
  if (isWhole && url === undefined) to.fail("invalid-url", at)
  const decided = transport === "auto" && family === "ws" ? "ws" : transport
  if ((family === "ws") !== (decided === "ws")) to.fail("transport-mismatch", at)
  if (url === undefined) return decided
  if (url.username !== "" || url.password !== "") to.warn("url-userinfo")
  if (RemoteHeaders.isClear(url) && hasHost) {
    if (to.row.encrypted === true) to.fail("insecure-url", at)
    to.warn("insecure-url")
  }
  return decided
}

/** Fails an entry of a stranger that would send credentials in the clear, as far as its address is known. */
export const checkConfidential = (to: Reading, entry: ServerEntry.Entry): void => {
  const stand = entry.transport === "stdio" ? undefined : standIn(entry.url)
  if (entry.transport === "stdio" || stand?.url === undefined || !stand.hasHost) return
  const isSent = stand.url.username !== "" || stand.url.password !== "" || RemoteHeaders.hasCredentials(entry)
  if (isSent && RemoteHeaders.isClear(stand.url)) to.fail("insecure-url", "url", "credentials would be sent to it")
}

// fields that are read by their schema alone

type Read = (to: Reading, value: Value, at: string, field: Dialect.Field) => unknown

const word = (to: Reading, schema: Schema.Schema.Any, written: string, at: string): string =>
  Schema.is(schema as Schema.Schema<unknown>)(written) ? written : to.fail("invalid-value", at)

const readers: ReadonlyMap<Schema.Schema.Any, Read> = new Map<Schema.Schema.Any, Read>([
  [FieldSchema.Text, scalar],
  [FieldSchema.Flag, flag],
  [FieldSchema.Time, time],
  [FieldSchema.Count, wholeNumber(Number.MAX_SAFE_INTEGER)],
  [FieldSchema.Port, wholeNumber(65_535)],
  [FieldSchema.Folder, path("cwd")],
  [FieldSchema.EnvFile, path("envFile")],
  [FieldSchema.Inherited, (to, value, at) => isList(value) ? texts(to, value, at) : flag(to, value, at)],
  [FieldSchema.ProxyAddress, (to, value, at) => word(to, FieldSchema.ProxyAddress, text(to, value, at), at)],
  [
    FieldSchema.Scopes,
    (to, value, at) =>
      typeof value === "string" ? value.split(/\s+/).filter((word) => word !== "") : texts(to, value, at)
  ]
])

/** Whether a field has one value, which its schema says how to read: one of a few words, or one of `readers`. */
export const isPlain = (schema: Schema.Schema.Any): boolean => readers.has(schema) || "literals" in schema

/** A field that is read by its schema alone; one of a few words by the words, of which hosts may have others. */
export const readField = (
  to: Reading,
  schema: Schema.Schema.Any,
  value: Value,
  at: string,
  field: Dialect.Field,
  words: FieldSchema.Row["words"] = {}
): unknown => {
  const read = readers.get(schema)
  if (read !== undefined) return read(to, value, at, field)
  const written = text(to, value, at)
  return word(to, schema, Object.hasOwn(words, written) ? words[written]! : written, at)
}
