/** The texts of results, as callers may have them. */
import * as Effect from "effect/Effect"
import type * as OutputGuard from "../../../safety/OutputGuard.ts"
import * as JsonRpc from "../../../transport/JsonRpc.ts"
import type * as McpServe from "../../McpServe.ts"
import type * as McpServer from "../../McpServer.ts"
import { objectOf } from "../exchange.ts"
import * as Extensions from "./extensions.ts"

type Source = OutputGuard.Source
type Caller = Pick<McpServer.Caller, "capabilities">

/** @internal */
export interface Texts {
  readonly text: (text: string, source: Source) => Effect.Effect<string>
  /** The content of a result or of a message, part by part; a part of an unknown kind stays as it is. */
  readonly content: (
    content: JsonRpc.Json | undefined,
    source: Source,
    caller: Caller
  ) => Effect.Effect<JsonRpc.Json | undefined>
  /** One part of it. */
  readonly part: (part: JsonRpc.Json, source: Source, caller: Caller) => Effect.Effect<JsonRpc.Json>
  /**
   * The contents of the resource that `source.tool` names: the URI that was asked for, not one that the server claims.
   */
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

  /** An app's page in a result keeps all its characters, but only for a caller that shows it instead of reading it. */
  const embedded = (resource: JsonRpc.JsonObject, source: Source, { capabilities }: Caller) => {
    const { mimeType, uri } = resource
    const isPage = typeof uri === "string" && Extensions.isPage(uri) &&
      typeof mimeType === "string" && mimeType.startsWith("text/html")
    return isPage && Extensions.hasApps(capabilities) ? Effect.succeed(resource) : worded(resource, source)
  }

  const part: Texts["part"] = (part, source, caller) => {
    const one = objectOf(part)
    const { resource, type } = one
    if (type === "text") return worded(one, source)
    return type === "resource" && JsonRpc.isObject(resource)
      ? Effect.map(embedded(objectOf(resource), source, caller), (resource) => ({ ...one, resource }))
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
    content: (content, source, caller) => each(content, (one: JsonRpc.Json) => part(one, source, caller)),
    contents: (contents, source) =>
      Extensions.isPage(source.tool)
        ? Effect.succeed(contents)
        : each(
          contents,
          (one: JsonRpc.Json) => JsonRpc.isObject(one) ? worded(objectOf(one), source) : Effect.succeed(one)
        )
  }
}
