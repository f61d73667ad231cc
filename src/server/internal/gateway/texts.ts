/**
 * The texts of results, as callers may have them.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import type * as OutputGuard from "../../../safety/OutputGuard.ts"
import * as JsonRpc from "../../../transport/JsonRpc.ts"
import type * as McpServe from "../../McpServe.ts"
import { objectOf } from "../exchange.ts"

type Source = OutputGuard.Source

/** @internal */
export interface Texts {
  readonly text: (text: string, source: Source) => Effect.Effect<string>
  /** The content of a result or of a message, part by part; a part of an unknown kind stays as it is. */
  readonly content: (content: JsonRpc.Json | undefined, source: Source) => Effect.Effect<JsonRpc.Json | undefined>
  /** One part of it. */
  readonly part: (part: JsonRpc.Json, source: Source) => Effect.Effect<JsonRpc.Json>
  /** What a resource holds. */
  readonly contents: (contents: JsonRpc.Json | undefined, source: Source) => Effect.Effect<JsonRpc.Json | undefined>
}

/** @internal */
export const make = (
  guard: OutputGuard.OutputGuard["Type"],
  output: McpServe.Options["output"]
): Texts => {
  const text: Texts["text"] = (text, source) =>
    output === "asis"
      ? Effect.succeed(text)
      : Effect.map(guard.renderText(text, source), (rendered) => output === "wrap" ? rendered.text : rendered.body)

  const worded = (one: JsonRpc.JsonObject, source: Source): Effect.Effect<JsonRpc.JsonObject> => {
    const { text: words } = one
    return typeof words === "string"
      ? Effect.map(text(words, source), (text) => text === words ? one : { ...one, text })
      : Effect.succeed(one)
  }

  /** A `ui://` resource is a page for a browser and not text for a model: its scripts must keep all their characters. */
  const held = (resource: JsonRpc.JsonObject, source: Source): Effect.Effect<JsonRpc.JsonObject> => {
    const { uri = source.kind === "resource" ? source.tool : undefined } = resource
    return typeof uri === "string" && uri.startsWith("ui://") ? Effect.succeed(resource) : worded(resource, source)
  }

  const part: Texts["part"] = (part, source) => {
    const one = objectOf(part)
    const { resource, type } = one
    if (type === "text") return worded(one, source)
    return type === "resource" && JsonRpc.isObject(resource)
      ? Effect.map(held(objectOf(resource), source), (resource) => ({ ...one, resource }))
      : Effect.succeed(part)
  }

  const each = (
    list: JsonRpc.Json | undefined,
    f: (item: JsonRpc.Json) => Effect.Effect<JsonRpc.Json>
  ): Effect.Effect<JsonRpc.Json | undefined> =>
    output === "asis" || !Array.isArray(list) ? Effect.succeed(list) : Effect.forEach(list, f)

  return {
    text,
    part,
    content: (content, source) => each(content, (one: JsonRpc.Json) => part(one, source)),
    contents: (contents, source) =>
      each(contents, (one: JsonRpc.Json) => JsonRpc.isObject(one) ? held(objectOf(one), source) : Effect.succeed(one))
  }
}
