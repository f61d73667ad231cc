/**
 * JSON written in one way only: keys in order, numbers by value. What says the same is written alike, and nothing else.
 *
 * @internal
 */

/** Of these fields of a schema JSON Schema says that the order means nothing, and some servers give another each time. */
const unordered: ReadonlySet<string> = new Set(["required", "type"])

/** Below these a schema has values, whose order means something. */
const literals: ReadonlySet<string> = new Set(["const", "default", "enum", "examples"])

/** An array or an object that is being written. */
interface Open {
  readonly keys: ReadonlyArray<string> | undefined
  readonly values: ReadonlyArray<unknown>
  readonly isSchema: boolean
  /** How many of its values have been begun. */
  at: number
}

const isText = (value: unknown): value is string => typeof value === "string"

const scalar = (value: unknown): string => {
  // JSON has a way to write these that is read back as the same, and `JSON.stringify` does not know it
  if (value === Infinity) return "1e999"
  if (value === -Infinity) return "-1e999"
  return JSON.stringify(value) ?? "null"
}

/**
 * The elements of an array in the order that counts.
 *
 * @internal
 */
export const elements = (
  key: string | undefined,
  value: ReadonlyArray<unknown>,
  isSchema: boolean
): ReadonlyArray<unknown> =>
  isSchema && key !== undefined && unordered.has(key) && value.every(isText) ? value.toSorted() : value

/**
 * Whether what is below a key of a schema is a schema still.
 *
 * @internal
 */
export const staysSchema = (key: string): boolean => !literals.has(key)

/**
 * The fields that are there, in order.
 *
 * @internal
 */
export const fields = (value: object): ReadonlyArray<readonly [string, unknown]> =>
  Object.entries(value)
    .filter(([, each]) => each !== undefined)
    .toSorted(([one], [other]) => one < other ? -1 : 1)

/**
 * Step by step and not by recursion: a server may nest its definitions as deep as it likes.
 *
 * @internal
 */
export const canonical = (value: unknown, isSchema = false, key?: string): string => {
  let text = ""
  const open: Array<Open> = []
  const begin = (value: unknown, isSchema: boolean, key: string | undefined): void => {
    if (Array.isArray(value)) {
      text += "["
      open.push({ keys: undefined, values: elements(key, value, isSchema), isSchema, at: 0 })
    } else if (typeof value === "object" && value !== null) {
      text += "{"
      const own = value as { readonly [key: string]: unknown } // only its own keys are asked for
      const keys = Object.keys(own).filter((key) => own[key] !== undefined).toSorted()
      open.push({ keys, values: keys.map((key) => own[key]), isSchema, at: 0 })
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
