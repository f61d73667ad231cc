/**
 * The root of a schema of arguments, as APIs want it: an object with properties, and no choice between schemas. The choice
 * becomes one object with the properties of all, which takes what any of them takes, and a sentence.
 *
 * @internal
 */
import { entriesOf, listOf, pointed, textsOf } from "../../json/schema.ts"
import * as JsonRpc from "../../transport/JsonRpc.ts"
import { fromEntries, same } from "./definitionsSchema.ts"

/** What must not stand at the root. */
const forbidden = new Set(["$ref", "allOf", "anyOf", "const", "enum", "not", "oneOf", "type"])

/** So deep may choices lie in each other, and so many may there be. */
const most = { depth: 16, parts: 1000 }

interface Part {
  readonly properties: Map<string, JsonRpc.Json>
  readonly required: ReadonlyArray<string>
  readonly description: string | undefined
}

const joined = (into: Map<string, JsonRpc.Json>, [name, schema]: readonly [string, JsonRpc.Json], by: string): void => {
  const before = into.get(name)
  if (before === undefined) into.set(name, schema)
  else if (!same(before, schema)) into.set(name, { [by]: [before, schema] })
}

/** @internal */
export const make = (schema: JsonRpc.JsonObject): JsonRpc.JsonObject => needed(object(schema))

const object = (schema: JsonRpc.JsonObject): JsonRpc.JsonObject => {
  let parts = 0

  const part = (value: JsonRpc.JsonObject, depth: number): Part => {
    const properties = new Map(entriesOf(value["properties"]))
    const required = new Set(textsOf(value["required"]))
    const notes: Array<string> = []
    let description = typeof value["description"] === "string" ? value["description"] : undefined
    const inner = (one: JsonRpc.Json): Part =>
      depth < most.depth && JsonRpc.isObject(one) && ++parts <= most.parts ? part(one, depth + 1) : nothing

    const ref = value["$ref"]
    const referred = typeof ref === "string" && ref !== "#" ? pointed(schema, ref) : undefined
    for (const all of [...(referred === undefined ? [] : [referred]), ...listOf(value["allOf"])].map(inner)) {
      for (const one of all.properties) joined(properties, one, "allOf")
      for (const name of all.required) required.add(name)
      description ??= all.description
    }
    for (const key of ["anyOf", "oneOf"]) {
      const branches = listOf(value[key]).map(inner).filter(({ properties, required }) =>
        properties.size > 0 || required.length > 0
      )
      if (branches.length === 0) continue
      const alternatives = new Map<string, JsonRpc.Json>()
      for (const branch of branches) {
        for (const one of branch.properties) joined(alternatives, one, "anyOf")
      }
      for (const one of alternatives) joined(properties, one, "allOf")
      const [first] = branches
      for (const name of first?.required ?? []) {
        if (branches.every((branch) => branch.required.includes(name))) required.add(name)
      }
      const wanted = branches.map((branch) => branch.required.filter((name) => !required.has(name)))
      if (wanted.some((names) => names.length > 0)) {
        notes.push(`Needed besides: ${wanted.map((names) => names.join(" and ") || "nothing").join(", or ")}.`)
      }
    }
    return {
      properties,
      required: [...required],
      description: notes.length === 0 ? description : [description, ...notes].filter(Boolean).join(" ")
    }
  }

  const { description, properties, required } = part(schema, 0)
  const rest = entriesOf(schema).filter(([key]) => !forbidden.has(key))
  // parts that each take nothing more would together take nothing at all
  const composed = ["$ref", "allOf", "anyOf", "oneOf"].some((key) => schema[key] !== undefined)
  return fromEntries([
    ["type", "object"],
    ...rest.filter(([key]) => !composed || !/^(additional|unevaluated)Properties$/.test(key)),
    ...(description === undefined ? [] : [["description", description] as const]),
    ["properties", fromEntries(properties)],
    ...(required.length === 0 ? [] : [["required", required] as const])
  ])
}

const nothing: Part = { properties: new Map(), required: [], description: undefined }

/** Without definitions that nothing leads to, which would cost a model its attention all the same. */
const needed = (schema: JsonRpc.JsonObject): JsonRpc.JsonObject => {
  const { $defs, definitions, ...rest } = schema
  const reached = new Set<string>()
  const follow = (value: JsonRpc.Json): void => {
    if (Array.isArray(value)) return listOf(value).forEach(follow)
    for (const [key, one] of entriesOf(value)) {
      if (key !== "$ref" || typeof one !== "string") follow(one)
      else if (!reached.has(one)) {
        reached.add(one)
        follow(pointed(schema, one) ?? null)
      }
    }
  }
  follow(rest)
  const left = (key: string, all: JsonRpc.Json | undefined) => {
    const kept = entriesOf(all).filter(([name]) => reached.has(`#/${key}/${name}`))
    return kept.length === 0 ? {} : { [key]: fromEntries(kept) }
  }
  return { ...rest, ...left("$defs", $defs), ...left("definitions", definitions) }
}
