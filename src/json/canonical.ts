// @effect-diagnostics nodeBuiltinImport:off
// Identities and checksums are computed in pure code, and only Node's own hash is synchronous.
import { hash } from "node:crypto"

/** Keywords of a JSON Schema whose order means nothing; some servers send another order each time. */
const unordered: ReadonlySet<string> = new Set(["required", "type"])

/** Keywords of a JSON Schema that hold values, whose order means something. */
const literals: ReadonlySet<string> = new Set(["const", "default", "enum", "examples"])

const isString = (value: unknown): value is string => typeof value === "string"

/** The items of an array in canonical order. */
export const elements = (
  key: string | undefined,
  value: ReadonlyArray<unknown>,
  isSchema: boolean
): ReadonlyArray<unknown> =>
  isSchema && key !== undefined && unordered.has(key) && value.every(isString) ? value.toSorted() : value

/** Whether the value of a key of a schema is read as a schema too. */
export const staysSchema = (key: string): boolean => !literals.has(key)

/** The defined fields of an object in canonical order, which is that of UTF-16 code units. */
export const fields = (value: object): ReadonlyArray<readonly [string, unknown]> =>
  Object.entries(value)
    .filter(([, item]) => item !== undefined)
    .toSorted(([a], [b]) => a < b ? -1 : 1)

const scalar = (value: unknown): string => {
  // JSON.parse reads these back as infinity, which JSON.stringify would write as null
  if (value === Infinity) return "1e999"
  if (value === -Infinity) return "-1e999"
  return JSON.stringify(value) ?? "null"
}

/** An array or object whose items are being written. */
interface Open {
  readonly keys: ReadonlyArray<string> | undefined
  readonly values: ReadonlyArray<unknown>
  readonly isSchema: boolean
  at: number
}

/**
 * Writes a JSON value in one way only: equal values get equal texts, whatever the order of their keys. With `isSchema`,
 * lists of a schema whose order means nothing are sorted too; `key` is the field that holds the value. Iterative, because
 * a server may nest its values as deep as it likes.
 */
export const canonicalJson = (value: unknown, isSchema = false, key?: string): string => {
  let text = ""
  const open: Array<Open> = []
  const begin = (value: unknown, isSchema: boolean, key: string | undefined): void => {
    if (Array.isArray(value)) {
      text += "["
      open.push({ keys: undefined, values: elements(key, value, isSchema), isSchema, at: 0 })
    } else if (typeof value === "object" && value !== null) {
      text += "{"
      const entries = fields(value)
      open.push({ keys: entries.map(([key]) => key), values: entries.map(([, item]) => item), isSchema, at: 0 })
    } else text += scalar(value)
  }
  begin(value, isSchema, key)
  for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
    const { at, isSchema, keys, values } = top
    if (at === values.length) {
      text += keys === undefined ? "]" : "}"
      open.pop()
      continue
    }
    top.at++
    const key = keys?.[at]
    if (at > 0) text += ","
    if (key !== undefined) text += `${JSON.stringify(key)}:`
    begin(values[at], isSchema && (key === undefined || staysSchema(key)), key)
  }
  return text
}

/**
 * The SHA-256 of bytes or of a text, in hexadecimal. Write text from outside as JSON first, because UTF-8 makes unpaired
 * surrogates one and the same.
 */
export const sha256 = (content: string | Uint8Array): string => hash("sha256", content)
