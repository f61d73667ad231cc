import * as Either from "effect/Either"
import * as JsonRpc from "../../transport/JsonRpc.ts"
import type * as ToolResult from "../ToolResult.ts"

/** @internal */
export const decodeContent = (part: unknown): ToolResult.Content => {
  if (!JsonRpc.isObject(part)) return { _tag: "Unknown", raw: part as JsonRpc.Json } // parsed from JSON
  const raw = part as JsonRpc.JsonObject // parsed from JSON
  switch (raw["type"]) {
    case "text":
      if (typeof raw["text"] === "string") return { _tag: "Text", text: raw["text"], raw }
      break
    case "image":
    case "audio": {
      const { data, mimeType, type } = raw
      if (typeof data !== "string" || typeof mimeType !== "string") break
      return { _tag: type === "image" ? "Image" : "Audio", data, mimeType, raw }
    }
    case "resource":
      if (JsonRpc.isObject(raw["resource"])) {
        return { _tag: "Resource", resource: raw["resource"] as JsonRpc.JsonObject, raw } // parsed from JSON
      }
      break
    case "resource_link":
      if (typeof raw["uri"] === "string") return { _tag: "ResourceLink", uri: raw["uri"], raw }
      break
  }
  return { _tag: "Unknown", raw }
}

const nothing: ReadonlyArray<ToolResult.Content> = []

const decodeParts = (content: unknown): ReadonlyArray<ToolResult.Content> | undefined => {
  if (content === undefined || content === null) return nothing
  return Array.isArray(content) ? content.map(decodeContent) : undefined
}

/** @internal */
export const decodeResult = (
  raw: JsonRpc.JsonObject,
  options: ToolResult.DecodeOptions
): Either.Either<ToolResult.ToolResult, ToolResult.Fault> => {
  const resultType = raw["resultType"]
  const isQuestion = options.passInput === true && resultType === "input_required"
  if (options.era === "stateless" && resultType !== undefined && resultType !== "complete" && !isQuestion) {
    return Either.left({ path: "/resultType", detail: "a kind of result that was not asked for" })
  }
  const content = decodeParts(raw["content"])
  if (content === undefined) return Either.left({ path: "/content", detail: "`content` is not an array" })
  const structured = raw["structuredContent"]
  const meta = raw["_meta"]
  return Either.right({
    content,
    // In the session era only an object has a meaning, and servers write `null` for "none".
    structuredContent: structured === null && options.era === "session" ? undefined : structured,
    isError: raw["isError"] === true,
    meta: JsonRpc.isObject(meta) ? meta as JsonRpc.JsonObject : undefined, // parsed from JSON
    raw
  })
}
