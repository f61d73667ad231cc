/** The result of a tool call: decoded once, leniently, part by part. Unknown kinds of content are kept. */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import { isObject, type Json, type JsonObject } from "../json/Json.ts"
import * as McpError from "../McpError.ts"
import type * as Transport from "../transport/Transport.ts"

/** One part of a result; `raw` is the part as it came. */
export type Content =
  | { readonly _tag: "Text"; readonly text: string; readonly raw: JsonObject }
  | { readonly _tag: "Image"; readonly data: string; readonly mimeType: string; readonly raw: JsonObject }
  | { readonly _tag: "Audio"; readonly data: string; readonly mimeType: string; readonly raw: JsonObject }
  | { readonly _tag: "Resource"; readonly resource: JsonObject; readonly raw: JsonObject }
  | { readonly _tag: "ResourceLink"; readonly uri: string; readonly raw: JsonObject }
  | { readonly _tag: "Unknown"; readonly raw: Json }

export interface ToolResult {
  readonly content: ReadonlyArray<Content>
  readonly structuredContent: Json | undefined
  readonly isError: boolean
  readonly meta: JsonObject | undefined
  /** The result as it came. */
  readonly raw: JsonObject
}

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

/** The text of all `Text` parts, joined by line breaks. */
export const text = ({ content }: Pick<ToolResult, "content">): string =>
  content.flatMap((part) => part._tag === "Text" ? [part.text] : []).join("\n")

/** Decodes the structured content, or the text as JSON if there is none. */
export const json = <A, I, R>(
  schema: Schema.Schema<A, I, R>
): (result: Pick<ToolResult, "content" | "structuredContent">) => Effect.Effect<A, ParseResult.ParseError, R> => {
  const ofValue = Schema.decodeUnknown(schema)
  const ofText = Schema.decodeUnknown(Schema.parseJson(schema))
  return (result) => result.structuredContent === undefined ? ofText(text(result)) : ofValue(result.structuredContent)
}

/** Fails with `ToolError` if the tool reported failure: `mcp.callTool(…).pipe(Effect.flatMap(ToolResult.orFail))`. */
export const orFail = <
  Result extends ToolResult & { readonly metadata: { readonly serverName: string; readonly toolName: string } }
>(result: Result): Effect.Effect<Result, McpError.ToolError> => {
  if (!result.isError) return Effect.succeed(result)
  const { serverName: server, toolName: tool } = result.metadata
  return Effect.fail(new McpError.ToolError({ server, tool, detail: text(result), result }))
}

/** Decodes one part of a result or of a prompt's message. A part that is not understood is `Unknown`. */
export const decodeContent = (part: unknown): Content => {
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
 * `resultType` that was not asked for.
 */
export const decode = (raw: JsonObject, options: DecodeOptions): Either.Either<ToolResult, Fault> => {
  const { _meta: meta, content, isError, resultType, structuredContent } = raw
  const isQuestion = options.passInput === true && resultType === "input_required"
  if (options.era === "stateless" && resultType !== undefined && resultType !== "complete" && !isQuestion) {
    return Either.left({ path: "/resultType", detail: "a kind of result that was not asked for" })
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
