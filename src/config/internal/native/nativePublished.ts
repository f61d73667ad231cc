/**
 * @internal
 */
import * as JSONSchema from "effect/JSONSchema"
import { document } from "./nativeDocument.ts"

/** What the generator says of itself is no help to anybody, and its ids would be addresses of other files. */
const isNoise = (key: string, value: unknown): boolean =>
  (key === "$id" || key === "title" || key === "description") && typeof value === "string" &&
  /^(\/schemas\/|unknown$|a string matching|a non empty|a string at|an integer$|int$|\w+\(.*\)$)/.test(value)

const readable = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(readable)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, inner]) => !isNoise(key, inner))
      .map(([key, inner]) =>
        key === "patternProperties" ? ["additionalProperties", readable(inner[""])] : [key, readable(inner)]
      )
  )
}

/** @internal */
export const published = (): object => {
  const { $schema, ...rest } = JSONSchema.make(document, { target: "jsonSchema2020-12" })
  return { $schema, $id: "urn:effect-mcp-runtime:mcp-client:1", ...Object(readable(rest)) }
}
