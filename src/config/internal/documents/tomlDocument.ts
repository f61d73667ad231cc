/**
 * TOML, read by `smol-toml` and turned into maps.
 *
 * @internal
 */
import { parse as parseToml, TomlError } from "smol-toml"
import type * as ConfigDocument from "../../ConfigDocument.ts"
import { DocumentFault, lines, name, type Parse } from "./parsed.ts"
import { pathOf, survey } from "./tomlPlaces.ts"

/** Longer numbers take more than linear time to read; longer names are refused anyway. */
const maxWord = 1000

/** The most common mistake by far. */
const backslash = "a backslash in double quotes begins an escape: write paths in single quotes"

/** What the parser says, as far as it is known that it says nothing else: the words are for people only. */
const faults: ReadonlyMap<string, string> = new Map([
  ["trying to redefine an already defined table or value", "a table or key that is there twice"],
  ["invalid value", "a value that is none: texts need quotes"],
  ["each key-value declaration must be followed by an end-of-line", "a line that goes on where it should end"],
  ["illegal character in key", "a line that is neither a table nor a key with its value, or a key that needs quotes"],
  ["unexpected end of key", "a key without its end"],
  ["control characters are not allowed in strings", "a text without its end, or with a control character"],
  ["unrecognised escape sequence", backslash],
  ["expected comma or end of structure", "a comma or the end of a list or table is missing"],
  ["unfinished string", "a text without its end"],
  ["unfinished array", "a list without its end"],
  ["unfinished table", "a table without its end"]
])

const whatIsWrong = ({ message }: TomlError): string =>
  faults.get(/^Invalid TOML document: ([^\n]*)/.exec(message)?.[1] ?? "") ?? "no TOML"

const parsed = (text: string, maxDepth: number): object => {
  try {
    return parseToml(text, { integersAsBigInt: "asNeeded", maxDepth })
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    const line = text.split("\n", error.line)[error.line - 1] ?? ""
    // its message has the lines around the fault in it, and with them what may be secret
    const isPath = /".*\\.*"/.test(line.slice(0, maxWord))
    throw new DocumentFault("syntax", isPath ? backslash : whatIsWrong(error), error.line)
  }
}

/** @internal */
export const parse: Parse = (text, { maxDepth, maxEntries }) => {
  const lineAt = lines(text)
  const surveyed = survey(text)
  const tooMany = () => new DocumentFault("too-many-entries", `more than ${maxEntries}`)
  const tooDeep = () => new DocumentFault("nesting-too-deep", `more than ${maxDepth} levels`, lineAt(surveyed.deepest))
  if (surveyed.depth > maxDepth) throw tooDeep()
  if (surveyed.entries > maxEntries) throw tooMany()
  if (surveyed.longest > maxWord) {
    throw new DocumentFault("syntax", `more than ${maxWord} characters in a row that are neither quoted nor separated`)
  }

  let entries = 0
  const convert = (value: unknown, depth: number): ConfigDocument.Value => {
    switch (typeof value) {
      case "string":
      case "number":
      case "bigint":
      case "boolean":
        return value
    }
    if (value instanceof Date) return value
    if (depth > maxDepth) throw tooDeep()
    if (Array.isArray(value)) {
      entries += value.length
      if (entries > maxEntries) throw tooMany()
      return value.map((item) => convert(item, depth + 1))
    }
    const table = new Map<string, ConfigDocument.Value>()
    for (const [key, item] of Object.entries(value ?? {})) {
      if (++entries > maxEntries) throw tooMany()
      table.set(name(key, () => 1), convert(item, depth + 1))
    }
    return table
  }

  const root = convert(parsed(text, maxDepth), 1)
  let places: ReadonlyMap<string, number> | undefined
  return {
    root: root instanceof Map && root.size === 0 ? undefined : root,
    warnings: [],
    line: (pointer) => {
      if (pointer.length === 0) return 1
      places ??= surveyed.places()
      const offset = places.get(pathOf(pointer))
      return offset === undefined ? undefined : lineAt(offset)
    }
  }
}
