/**
 * Tables as the text of a file. Written here and not by the parsers' packages, because a name such as `__proto__` is
 * written like any other, and nothing has to be loaded for it.
 *
 * @internal
 */
import type * as ConfigDocument from "../../ConfigDocument.ts"

type Value = ConfigDocument.Value
type Table = ConfigDocument.Table

const isTable = (value: Value): value is Table => value instanceof Map

const block = (open: string, parts: ReadonlyArray<string>, close: string, indent: string): string =>
  parts.length === 0 ? open + close : `${open}\n${indent}  ${parts.join(`,\n${indent}  `)}\n${indent}${close}`

/** Written in digits it would be an exact integer, which is another value. */
const inexact = (number: number): string | undefined =>
  Number.isInteger(number) && !Number.isSafeInteger(number) ? number.toExponential() : undefined

const jsonValue = (value: Value, indent: string): string => {
  const inner = `${indent}  `
  if (isTable(value)) {
    return block("{", Array.from(value, ([key, of]) => `${JSON.stringify(key)}: ${jsonValue(of, inner)}`), "}", indent)
  }
  if (Array.isArray(value)) return block("[", value.map((of) => jsonValue(of, inner)), "]", indent)
  if (typeof value === "number") return inexact(value) ?? JSON.stringify(value)
  return typeof value === "bigint" ? String(value) : JSON.stringify(value)
}

/** @internal */
export const json = (document: Table): string => `${jsonValue(document, "")}\n`

/** TOML has no halves of characters, and its escapes are those of JSON, but for two characters that JSON does not escape. */
const tomlText = (text: string): string =>
  JSON.stringify(text.replaceAll(/[\ud800-\udfff]/gu, "\ufffd")).replaceAll("\u007f", "\\u007F")

const tomlKey = (key: string): string => /^[A-Za-z0-9_-]+$/.test(key) ? key : tomlText(key)

const tomlNumber = (number: number): string =>
  Number.isNaN(number)
    ? "nan"
    : Number.isFinite(number)
    ? inexact(number) ?? String(number)
    : number > 0
    ? "inf"
    : "-inf"

const tomlValue = (value: Exclude<Value, null>): string => {
  if (isTable(value)) {
    const parts = tomlEntries(value).map(([key, of]) => `${tomlKey(key)} = ${tomlValue(of)}`)
    return parts.length === 0 ? "{}" : `{ ${parts.join(", ")} }`
  }
  if (value instanceof Date) return value.toISOString()
  if (typeof value === "string") return tomlText(value)
  if (typeof value === "number") return tomlNumber(value)
  if (typeof value === "boolean" || typeof value === "bigint") return String(value)
  return `[${value.filter((of) => of !== null).map(tomlValue).join(", ")}]`
}

/** There is no null in TOML: what is null is not there. */
const tomlEntries = (table: Table): ReadonlyArray<readonly [string, Exclude<Value, null>]> => {
  const entries: Array<readonly [string, Exclude<Value, null>]> = []
  for (const [key, value] of table) if (value !== null) entries.push([key, value])
  return entries
}

/** Two levels of tables have headers, the servers and their maps; what is below is written in one line. */
const tomlTable = (table: Table, path: ReadonlyArray<string>): ReadonlyArray<string> => {
  const entries = tomlEntries(table)
  const tables = entries.filter(([, value]) => isTable(value) && path.length < 3)
  const lines = entries.filter(([, value]) => !isTable(value) || path.length >= 3).map(([key, value]) =>
    `${tomlKey(key)} = ${tomlValue(value)}`
  )
  const header = path.length === 0 || (lines.length === 0 && tables.length > 0)
    ? []
    : [`[${path.map(tomlKey).join(".")}]`]
  const own = [...header, ...lines]
  return [
    ...(own.length === 0 ? [] : [own.join("\n")]),
    ...tables.flatMap(([key, value]) => isTable(value) ? tomlTable(value, [...path, key]) : [])
  ]
}

/** @internal */
export const toml = (document: Table): string => `${tomlTable(document, []).join("\n\n")}\n`
