/**
 * The keys of an entry by what they mean, so that each part of a server is read from all the keys that may hold it.
 *
 * @internal
 */
import type * as ConfigDocument from "../../ConfigDocument.ts"
import * as Table from "./dialects/table.ts"
import * as Values from "./readerValues.ts"
import { isText } from "./values.ts"

/**
 * A key of the entry, what it means and what it holds.
 *
 * @internal
 */
export interface Use {
  readonly key: string
  readonly value: ConfigDocument.Value
  readonly field: Table.Field
}

const isOtherMode = (value: ConfigDocument.Value): boolean => isText(value) && value !== "oauth"

/** The login values that only mean a header. */
const byHeaders: ReadonlySet<unknown> = new Set(["bearer", "header", "headers", "none", "static", "token"])

/**
 * Warns of a field that the host applies and this runtime does not.
 *
 * @internal
 */
export const tellLacking = (
  to: Pick<Table.Notes, "warn">,
  { lacking, mode, ofPrograms, unless }: Table.Field,
  key: string,
  value: ConfigDocument.Value,
  transport: Table.Transport
): void => {
  const what = mode === true && !byHeaders.has(value) ? Table.otherLogin : lacking
  if (what === undefined || (ofPrograms === true && transport !== "stdio")) return
  if (unless?.some((one) => one === value) !== true) to.warn("not-honoured", key, what)
}

/** @internal */
export type Uses = ReadonlyMap<Table.Meaning, ReadonlyArray<Use>>

/**
 * The keys of an entry by what they mean.
 *
 * @internal
 */
export const uses = (
  to: Values.Reading,
  written: ConfigDocument.Table,
  own: { readonly field: (key: string) => Table.Field | undefined }
): {
  readonly known: Uses
  readonly extra: ConfigDocument.Table
  readonly unknown: ReadonlyArray<string>
} => {
  const known = new Map<Table.Meaning, Array<Use>>()
  const extra = new Map<string, ConfigDocument.Value>()
  const unknown: Array<string> = []
  for (const [key, value] of written) {
    const field = own.field(key)
    if (field === undefined && to.table.closed === true) to.fail("unknown-key", key)
    else if (field?.is === "refused") to.fail("unsupported-field", key)
    else if (field === undefined || field.is === "extra" || (field.mode === true && isOtherMode(value))) {
      extra.set(key, value)
      if (field === undefined) unknown.push(key)
    } else if (field.is !== "ignored") {
      // a line for a shell stays to be seen as it was written, whatever words are taken from it
      if (field.is === "headersLine") extra.set(key, value)
      const found = known.get(field.is)
      if (found === undefined) known.set(field.is, [{ key, value, field }])
      else found.push({ key, value, field })
    }
  }
  return { known, extra, unknown }
}

const none: ReadonlyArray<Use> = []

/** @internal */
export const say = (to: Values.Reading, { field, key }: Use): void => {
  if (field.deprecated === true) to.warn("deprecated", key, field.instead && `write ${field.instead}`)
  if (field.foreign === true) to.reject("unknown-key", key)
}

/**
 * All keys of a meaning, in the order of the entry.
 *
 * @internal
 */
export const all = (to: Values.Reading, from: Uses, meaning: Table.Meaning): ReadonlyArray<Use> => {
  const found = from.get(meaning)
  if (found === undefined) return none
  for (const use of found) say(to, use)
  return found
}

/**
 * The first key of a meaning; that others of the same meaning do not count is said.
 *
 * @internal
 */
export const one = (to: Values.Reading, from: Uses, meaning: Table.Meaning): Use | undefined => {
  const found = from.get(meaning)
  const first = found?.[0]
  if (found === undefined || first === undefined) return undefined
  say(to, first)
  for (let at = 1; at < found.length; at++) to.warn("unused-field", found[at]!.key)
  return first
}

/**
 * Whether there is a key of one of these meanings, which most entries do not have.
 *
 * @internal
 */
export const some = (from: Uses, meanings: ReadonlyArray<Table.Meaning>): boolean =>
  meanings.some((meaning) => from.has(meaning))

/**
 * The name of a variable, as it can stand in a template.
 *
 * @internal
 */
export const variableName = (to: Values.Reading, value: ConfigDocument.Value, at: string): string => {
  const name = Values.text(to, value, at)
  if (!/^[^\s=${}:|\u0000]+$/.test(name)) to.fail("invalid-value", at)
  return name
}
