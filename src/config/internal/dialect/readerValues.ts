/**
 * The parts of an entry as texts, lists and times: each reader takes what hosts take, notes what it had to change, and
 * fails the entry where a value cannot mean what it should.
 *
 * @internal
 */
import type * as ConfigDocument from "../../ConfigDocument.ts"
import type * as ConfigEntry from "../../ConfigEntry.ts"
import type * as ConfigIssue from "../../ConfigIssue.ts"
import * as Interpolation from "../../Interpolation.ts"
import type * as Table from "./dialects/table.ts"
import * as Explain from "./explain.ts"
import { isList, isTable } from "./values.ts"

/** @internal */
export interface Fault {
  readonly kind: ConfigIssue.EntryFault
  readonly at: string | undefined
  readonly detail: string | undefined
}

/**
 * The notes on one entry while it is read.
 *
 * @internal
 */
export interface Reading extends Table.Notes {
  readonly table: Table.HostTable
  readonly warnings: Array<ConfigEntry.EntryWarning>
  readonly fault: () => Fault | undefined
  /** The inputs it asks for. */
  readonly inputs: Set<string>
}

/** @internal */
export const reading = (table: Table.HostTable, strict: boolean): Reading => {
  const warnings: Array<ConfigEntry.EntryWarning> = []
  let fault: Fault | undefined
  let rejected = false
  const fail: Reading["fail"] = (kind, at, detail) => {
    fault ??= { kind, at, detail }
  }
  return {
    table,
    warnings,
    inputs: new Set(),
    fault: () => fault,
    warn: (kind, at, detail) => {
      warnings.push({ kind, ...(at === undefined ? {} : { at }), ...(detail === undefined ? {} : { detail }) })
    },
    reject: (kind, at) => {
      if (strict) fail(kind, at)
      // it is said once, whatever the number of reasons
      else if (!rejected) warnings.push({ kind: "host-would-reject", detail: Explain.reason(kind, table.host, at) })
      rejected = true
    },
    fail
  }
}

/** @internal */
export const isScalar = (value: ConfigDocument.Value | undefined): value is string | number | bigint | boolean =>
  typeof value === "string" || typeof value === "boolean" || typeof value === "bigint" ||
  (typeof value === "number" && Number.isFinite(value))

/**
 * A text, where nothing else will do.
 *
 * @internal
 */
export const text = (to: Reading, value: ConfigDocument.Value, at: string): string => {
  if (typeof value === "string") return value
  to.fail("invalid-type", at, "a text is expected")
  return ""
}

/**
 * A text, also if it was written without quotes.
 *
 * @internal
 */
export const scalar = (to: Reading, value: ConfigDocument.Value, at: string): string => {
  if (typeof value === "string") return value
  if (isScalar(value) && to.table.closed !== true) {
    to.warn("coerced", at)
    return String(value)
  }
  to.fail("invalid-type", at, "a text is expected")
  return ""
}

/** @internal */
export const texts = (to: Reading, value: ConfigDocument.Value, at: string): ReadonlyArray<string> => {
  if (isList(value)) return value.map((item, index) => scalar(to, item, `${at}.${index}`))
  to.fail("invalid-type", at, "a list of texts is expected")
  return []
}

/**
 * Names, in a list or with spaces between.
 *
 * @internal
 */
export const words = (to: Reading, value: ConfigDocument.Value, at: string): ReadonlyArray<string> =>
  typeof value === "string" ? value.split(/\s+/).filter((word) => word !== "") : texts(to, value, at)

/**
 * Names in a list; `*` for all of them may stand alone.
 *
 * @internal
 */
export const names = (to: Reading, value: ConfigDocument.Value, at: string): ReadonlyArray<string> =>
  value === "*" ? ["*"] : texts(to, value, at)

/**
 * Anything but a clear yes or no is a fault: a mistyped `disabled` must not start a server.
 *
 * @internal
 */
export const flag = (to: Reading, value: ConfigDocument.Value, at: string): boolean => {
  if (typeof value === "boolean") return value
  if (value === "true" || value === "false") {
    to.warn("coerced", at)
    return value === "true"
  }
  to.fail("invalid-type", at, "true or false is expected")
  return false
}

/** @internal */
export const port = (to: Reading, value: ConfigDocument.Value, at: string): number | undefined => {
  const number = typeof value === "string" && /^\d{1,5}$/.test(value) ? Number(value) : value
  if (typeof number !== "number" || !Number.isInteger(number) || number < 1 || number > 65_535) {
    to.fail("invalid-value", at, "a number from 1 to 65535 is expected")
    return undefined
  }
  if (number !== value) to.warn("coerced", at)
  return number
}

const hour = 3600

/**
 * Milliseconds. One that cannot be is left out, with a warning: it is no reason to lose the server.
 *
 * @internal
 */
export const time = (
  to: Reading,
  value: ConfigDocument.Value,
  at: string,
  field: Pick<Table.Field, "unit" | "zeroIsOff">
): number | undefined => {
  const number = typeof value === "string" && /^\s*\d+(\.\d+)?\s*$/.test(value)
    ? Number(value)
    : typeof value === "bigint"
    ? Number(value)
    : value
  const isZero = number === 0 && field.zeroIsOff === true
  if (typeof number !== "number" || !(number > 0 || isZero) || number > Number.MAX_SAFE_INTEGER / 1000) {
    to.warn("invalid-timeout", at)
    return undefined
  }
  if (typeof value === "string") to.warn("coerced", at)
  // a word that says its unit is believed; one that does not is what people get wrong when they copy
  const saysUnit = /(ms|sec|seconds)$/i.test(at)
  if (!saysUnit && !isZero && (field.unit === "s" ? number > hour : number < 1000)) {
    to.warn("timeout-suspicious", at, field.unit === "s" ? "it is in seconds" : "it is in milliseconds")
  }
  return isZero ? 0 : Math.max(1, Math.round(field.unit === "s" ? number * 1000 : number))
}

const reserved: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"])

/** @internal */
export const isReserved = (name: string): boolean => reserved.has(name)

/** More than any program can be started with. */
const mostEntries = 50_000

/** @internal */
export const entries = (
  to: Reading,
  value: ConfigDocument.Value,
  at: string
): ReadonlyArray<readonly [string, ConfigDocument.Value]> => {
  if (!isTable(value)) {
    to.fail("invalid-type", at, "a table of names and their values is expected")
    return []
  }
  if (value.size > mostEntries) {
    to.fail("invalid-value", at, `there are more than ${mostEntries} of them`)
    return []
  }
  for (const key of value.keys()) if (isReserved(key)) to.fail("reserved-key", `${at}.${key}`)
  return Array.from(value)
}

const mayHold = /[$%{!`]/

/** What a program prints is a value of the environment or of a header, and an exclamation mark elsewhere is only that. */
const syntaxIn = (part: Table.Part, syntax: Interpolation.Syntax): Interpolation.Syntax =>
  syntax.bang !== true || part === "env" || part === "headers" ? syntax : { ...syntax, bang: false }

/**
 * A text of a part as a template in the canonical syntax.
 *
 * @internal
 */
export const template = (to: Reading, written: string, part: Table.Part, at: string): string => {
  if (!mayHold.test(written)) return written
  const { variables } = to.table
  const known = variables !== undefined && (variables.in === undefined || variables.in.includes(part))
  const { template, warnings } = Interpolation.canonical(known ? syntaxIn(part, variables.syntax) : {}, written)
  for (const kind of warnings) to.warn(kind, at)
  if (template.includes("${input:")) {
    for (const piece of Interpolation.parse(template)) {
      if (typeof piece !== "string" && piece.kind === "input") to.inputs.add(piece.name)
    }
  }
  return template
}
