/**
 * The result of a tool call: decoded once, leniently, part by part. Unknown kinds of content are kept.
 *
 * @since 0.1.0
 */
import type * as JsonRpc from "../transport/JsonRpc.ts"

/**
 * @since 0.1.0
 * @category models
 */
export type Content =
  | { readonly _tag: "Text"; readonly text: string; readonly raw: JsonRpc.JsonObject }
  | { readonly _tag: "Image"; readonly data: string; readonly mimeType: string; readonly raw: JsonRpc.JsonObject }
  | { readonly _tag: "Audio"; readonly data: string; readonly mimeType: string; readonly raw: JsonRpc.JsonObject }
  | { readonly _tag: "Resource"; readonly resource: JsonRpc.JsonObject; readonly raw: JsonRpc.JsonObject }
  | { readonly _tag: "ResourceLink"; readonly uri: string; readonly raw: JsonRpc.JsonObject }
  | { readonly _tag: "Unknown"; readonly raw: JsonRpc.Json }

/**
 * @since 0.1.0
 * @category models
 */
export interface ToolResult {
  readonly content: ReadonlyArray<Content>
  readonly structuredContent: JsonRpc.Json | undefined
  readonly isError: boolean
  readonly meta: JsonRpc.JsonObject | undefined
  /** The result as it came. */
  readonly raw: JsonRpc.JsonObject
}
