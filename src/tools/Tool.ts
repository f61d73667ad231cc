/**
 * A tool as its server declares it, decoded leniently and one by one.
 *
 * @since 0.1.0
 */
import type * as JsonRpc from "../transport/JsonRpc.ts"

/**
 * What a tool says of itself. Hints of an untrusted server are only hints.
 *
 * @since 0.1.0
 * @category models
 */
export interface Annotations {
  readonly title?: string | undefined
  readonly readOnlyHint?: boolean | undefined
  readonly destructiveHint?: boolean | undefined
  readonly idempotentHint?: boolean | undefined
  readonly openWorldHint?: boolean | undefined
}

/**
 * @since 0.1.0
 * @category models
 */
export interface Tool {
  readonly name: string
  readonly title: string | undefined
  readonly description: string | undefined
  /** Always an object schema; `type: "object"` is added where the server left it out. */
  readonly inputSchema: JsonRpc.JsonObject
  readonly outputSchema: JsonRpc.JsonObject | undefined
  readonly annotations: Annotations
  /** Whether the tool runs as a task of the session era. */
  readonly taskSupport: "forbidden" | "optional" | "required"
  /** The definition as it came, unknown fields included. */
  readonly raw: JsonRpc.JsonObject
}

/**
 * A tool that cannot be offered, and why. The server's other tools are unharmed.
 *
 * @since 0.1.0
 * @category models
 */
export interface RejectedTool {
  /** Escaped and bounded. */
  readonly name: string
  readonly reason:
    | "malformed"
    | "name-empty"
    | "name-too-long"
    | "name-characters"
    | "name-reserved"
    | "duplicate"
    | "schema-malformed"
    | "schema-too-large"
    | "schema-too-deep"
    | "schema-remote-ref"
    | "header-annotation"
  readonly detail: string
}

/**
 * @since 0.1.0
 * @category models
 */
export interface ToolList {
  readonly tools: ReadonlyArray<Tool>
  readonly rejected: ReadonlyArray<RejectedTool>
  /** How long the server says the list may be kept, in milliseconds. */
  readonly ttlMs: number | undefined
  readonly cacheScope: "public" | "private" | undefined
}
