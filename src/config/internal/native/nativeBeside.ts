/**
 * What is wrong with the parts of a native document that stand beside the servers. They are read as far as they go.
 *
 * @internal
 */
import * as UntrustedText from "../../../text/UntrustedText.ts"
import type * as ConfigDocument from "../../ConfigDocument.ts"
import { isList, isTable, isText } from "../dialect/values.ts"

type Value = ConfigDocument.Value
type Issue = ConfigDocument.DocumentIssue

const useless = (at: string, detail: string): Issue => ({ kind: "unused-field", severity: "warning", at, detail })

const isChoices = (value: Value): boolean => isList(value) && value.every(isText)

/** The parts of a question, and what each has to be. */
const parts: ReadonlyMap<string, readonly [is: (value: Value) => boolean, expected: string]> = new Map([
  ["id", [(value: Value) => isText(value) && value !== "", "a text is expected here"]],
  ["description", [isText, "a text is expected here"]],
  ["secret", [(value: Value) => typeof value === "boolean", "true or false is expected here"]],
  ["default", [isText, "a text is expected here"]],
  ["choices", [isChoices, "a list of texts is expected here"]]
])

const ofInput = (value: Value, at: string): ReadonlyArray<Issue> => {
  if (!isTable(value)) return [useless(at, "a table with an id is expected here")]
  const found = Array.from(value).flatMap(([key, held]): ReadonlyArray<Issue> => {
    const place = `${at}/${UntrustedText.excerpt(key, 64)}`
    const part = parts.get(key)
    if (part === undefined) return [{ kind: "unknown-key", severity: "warning", at: place }]
    return part[0](held) ? [] : [useless(place, part[1])]
  })
  return value.has("id") ? found : [useless(at, "a table with an id is expected here"), ...found]
}

const each = (root: ConfigDocument.Table, key: string, of: (value: Value, at: string) => ReadonlyArray<Issue>) => {
  const value = root.get(key)
  if (value === undefined) return []
  if (!isList(value)) return [useless(key, "a list is expected here")]
  return value.flatMap((one, index) => of(one, `${key}/${index}`))
}

/** @internal */
export const faults = (root: ConfigDocument.Table): ReadonlyArray<Issue> => [
  ...each(root, "inputs", ofInput),
  ...each(root, "imports", (value, at) => isText(value) ? [] : [useless(at, "the id of a host is expected here")])
]
