/** Decodes results of tool calls, and the parts of a prompt's messages. */
import * as Either from "effect/Either"
import { isObject, type Json, type JsonObject } from "../json/Json.ts"
import type * as Transport from "../transport/Transport.ts"
import type * as ToolResult from "./ToolResult.ts"

export interface DecodeOptions {
  readonly era: Transport.Era
  /** Accepts a question (`input_required`), which the caller answers itself. */
  readonly passInput?: boolean | undefined
}

/** Where a result breaks the protocol. */
export interface Fault {
  readonly path: string
  readonly detail: string
}

/** Decodes one part of a result or of a prompt's message. A part that is not understood is `Unknown`. */
export const decodeContent = (part: unknown): ToolResult.Content => {
  // the casts: the part was parsed from JSON
  if (!isObject(part)) return { _tag: "Unknown", raw: part as Json }
  const raw = part as JsonObject
  const { data, mimeType, resource, text, type, uri } = raw
  if (type === "text" && typeof text === "string") return { _tag: "Text", text, raw }
  if ((type === "image" || type === "audio") && typeof data === "string" && typeof mimeType === "string") {
    return { _tag: type === "image" ? "Image" : "Audio", data, mimeType, raw }
  }
  if (type === "resource" && isObject(resource)) return { _tag: "Resource", resource, raw }
  if (type === "resource_link" && typeof uri === "string") return { _tag: "ResourceLink", uri, raw }
  return { _tag: "Unknown", raw }
}

/**
 * Decodes the result of `tools/call`. It fails only for content that is not an array and, in the stateless era, for a
 * `resultType` that was not requested.
 */
export const decode = (raw: JsonObject, options: DecodeOptions): Either.Either<ToolResult.ToolResult, Fault> => {
  const { _meta: meta, content, isError, resultType, structuredContent } = raw
  const isQuestion = options.passInput === true && resultType === "input_required"
  if (options.era === "stateless" && resultType !== undefined && resultType !== "complete" && !isQuestion) {
    return Either.left({ path: "/resultType", detail: "a kind of result that was not requested" })
  }
  const parts = content ?? []
  if (!Array.isArray(parts)) return Either.left({ path: "/content", detail: "`content` is not an array" })
  return Either.right({
    content: parts.map(decodeContent),
    // in the session era only an object has a meaning, and servers write `null` for "none"
    structuredContent: structuredContent === null && options.era === "session" ? undefined : structuredContent,
    isError: isError === true,
    meta: isObject(meta) ? meta : undefined,
    raw
  })
}
