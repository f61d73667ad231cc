/** The result of a tool call: decoded once, leniently, part by part. Unknown kinds of content are kept. */
import * as Effect from "effect/Effect"
import type * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import type { Json, JsonObject } from "../json/Json.ts"
import * as McpError from "../McpError.ts"

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
