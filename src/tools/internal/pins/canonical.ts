/**
 * JSON written in one way only: keys in order, numbers by value. What says the same is written alike, and nothing else.
 *
 * @internal
 */

/** Of these fields of a schema JSON Schema says that the order means nothing, and some servers give another each time. */
const unordered: ReadonlySet<string> = new Set(["required", "type"])

/** Below these a schema has values, whose order means something. */
const literals: ReadonlySet<string> = new Set(["const", "default", "enum", "examples"])

/** What is still to be written: some text, and a value with its key, if it has one. */
interface Task {
  readonly text: string
  readonly next: { readonly key: string | undefined; readonly value: unknown } | undefined
  readonly isSchema: boolean
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
  const tasks: Array<Task> = []
  const begin = (value: unknown, isSchema: boolean, key: string | undefined): void => {
    if (Array.isArray(value)) {
      text += "["
      tasks.push({ text: "]", next: undefined, isSchema })
      const all = elements(key, value, isSchema)
      for (let at = all.length - 1; at >= 0; at--) {
        tasks.push({ text: at === 0 ? "" : ",", next: { key: undefined, value: all[at] }, isSchema })
      }
    } else if (typeof value === "object" && value !== null) {
      text += "{"
      tasks.push({ text: "}", next: undefined, isSchema })
      const all = fields(value)
      for (let at = all.length - 1; at >= 0; at--) {
        const [key, each] = all[at]!
        tasks.push({ text: at === 0 ? "" : ",", next: { key, value: each }, isSchema })
      }
    } else text += scalar(value)
  }
  begin(value, isSchema, key)
  for (let task = tasks.pop(); task !== undefined; task = tasks.pop()) {
    text += task.text
    if (task.next === undefined) continue
    const { key, value } = task.next
    if (key !== undefined) text += `${JSON.stringify(key)}:`
    begin(value, task.isSchema && (key === undefined || staysSchema(key)), key)
  }
  return text
}
