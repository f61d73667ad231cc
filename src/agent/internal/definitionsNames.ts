/**
 * Names that an API takes, and the way back from them.
 *
 * @internal
 */
import { entriesOf, textsOf } from "../../json/schema.ts"
import * as ToolName from "../../tools/ToolName.ts"
import type * as JsonRpc from "../../transport/JsonRpc.ts"
import type * as ToolHandler from "../ToolHandler.ts"
import { fromEntries } from "./definitionsSchema.ts"

/**
 * Tools by the names that the API takes. Those that it does not take are made anew, of characters that every API takes.
 *
 * @internal
 */
export const tools = (
  definitions: ReadonlyArray<ToolHandler.Definition>,
  pattern: RegExp
): ReadonlyMap<string, ToolHandler.Definition> => {
  const named = new Map<string, ToolHandler.Definition>()
  for (const definition of definitions) {
    if (pattern.test(definition.name)) named.set(definition.name, definition)
  }
  for (const definition of definitions) {
    if (pattern.test(definition.name)) continue
    const server = definition.server ?? "tool"
    let name = ToolName.qualify(server, definition.name, "double")
    for (let at = 2; named.has(name); at++) name = ToolName.qualify(server, `${definition.name} ${at}`, "double")
    named.set(name, definition)
  }
  return named
}

/** Anthropic's rule for the names of properties at the root. */
const property = /^[a-zA-Z0-9_.-]{1,64}$/

/**
 * A schema whose properties have names that Anthropic takes, and what each was called before.
 *
 * @internal
 */
export const properties = (
  schema: JsonRpc.JsonObject
): { readonly schema: JsonRpc.JsonObject; readonly before: ReadonlyMap<string, string> } => {
  const all = entriesOf(schema["properties"])
  if (all.every(([name]) => property.test(name))) return { schema, before: new Map() }
  const taken = new Set(all.flatMap(([name]) => property.test(name) ? [name] : []))
  const before = new Map<string, string>()
  const after = new Map<string, string>()
  for (const [name] of all) {
    if (property.test(name)) continue
    const base = name.replaceAll(/[^a-zA-Z0-9_.-]/g, "_").slice(0, 60) || "_"
    let fresh = base
    for (let at = 2; taken.has(fresh); at++) fresh = `${base.slice(0, 58)}_${at}`
    taken.add(fresh)
    before.set(fresh, name)
    after.set(name, fresh)
  }
  const renamed = (name: string): string => after.get(name) ?? name
  return {
    before,
    schema: {
      ...schema,
      properties: fromEntries(all.map(([name, one]) => [renamed(name), one])),
      ...(schema["required"] === undefined ? {} : { required: textsOf(schema["required"]).map(renamed) })
    }
  }
}
