/**
 * The result of a tool call: decoded once, leniently, part by part. Unknown kinds of content are kept.
 *
 * @since 0.1.0
 */
import type * as Either from "effect/Either"
import type * as JsonRpc from "../transport/JsonRpc.ts"
import type * as Transport from "../transport/Transport.ts"
import * as internal from "./internal/decodeResult.ts"

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

/**
 * What `decode` needs to know.
 *
 * @since 0.1.0
 * @category models
 */
export interface DecodeOptions {
  readonly era: Transport.Era
  /** Whether a result may be a question, for somebody else to answer. */
  readonly passInput?: boolean | undefined
}

/**
 * Where a result breaks the protocol.
 *
 * @since 0.1.0
 * @category models
 */
export interface Fault {
  readonly path: string
  readonly detail: string
}

/**
 * Decodes the result of `tools/call`. Only content that is no list, or in the stateless era a kind of result that was
 * not asked for, is a fault; a part that is not understood is `Unknown`.
 *
 * @since 0.1.0
 * @category constructors
 */
export const decode: (
  raw: JsonRpc.JsonObject,
  options: DecodeOptions
) => Either.Either<ToolResult, Fault> = internal.decodeResult

/**
 * Decodes one part of a result or of a prompt's message.
 *
 * @since 0.1.0
 * @category constructors
 */
export const decodeContent: (part: unknown) => Content = internal.decodeContent
