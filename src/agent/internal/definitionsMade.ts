/**
 * Each schema is made once, however many turns a model takes: the definitions of a tool that does not change have the same
 * schema each time.
 *
 * @internal
 */
import type * as JsonRpc from "../../transport/JsonRpc.ts"
import * as Root from "./definitionsRoot.ts"
import * as Plain from "./definitionsSchema.ts"
import * as Strict from "./definitionsStrict.ts"

const once = <A>(make: (schema: JsonRpc.JsonObject) => A): (schema: JsonRpc.JsonObject) => A => {
  const made = new WeakMap<JsonRpc.JsonObject, { readonly value: A }>()
  return (schema) => {
    const known = made.get(schema)
    if (known !== undefined) return known.value
    const value = make(schema)
    made.set(schema, { value })
    return value
  }
}

const referring = once((schema) => Root.make(Plain.make(schema, { inline: false })))

const inlined = once((schema) => Root.make(Plain.make(schema, { inline: true })))

/** @internal */
export const plain = (schema: JsonRpc.JsonObject, { inline }: Plain.Options): JsonRpc.JsonObject =>
  inline ? inlined(schema) : referring(schema)

/** @internal */
export const strict = once((schema) => Strict.make(inlined(schema)))
