/**
 * A tool as its server declares it, decoded leniently and one by one.
 *
 * @since 0.1.0
 */
import * as JsonRpc from "../transport/JsonRpc.ts"
import * as internal from "./internal/decodeTool.ts"

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
  /**
   * 1 to 128 characters: letters of ASCII, digits, `_ - . / : @ +` and single blanks between them, the first a letter, a
   * digit or one of `_ . / @`.
   */
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

const uiOf = ({ raw }: Pick<Tool, "raw">): Readonly<Record<string, unknown>> => {
  const meta = raw["_meta"]
  const ui = JsonRpc.isObject(meta) ? meta["ui"] : undefined
  return JsonRpc.isObject(ui) ? ui : {}
}

/**
 * True if only apps may call it, so that no model is offered it: MCP Apps, `_meta.ui.visibility` without `model`.
 *
 * @since 0.1.0
 * @category guards
 */
export const isAppOnly = (tool: Pick<Tool, "raw">): boolean => {
  const { visibility } = uiOf(tool)
  return Array.isArray(visibility) && !visibility.includes("model")
}

/**
 * The `ui://` resource that renders its results, if any: MCP Apps, `_meta.ui.resourceUri`.
 *
 * @since 0.1.0
 * @category combinators
 */
export const uiResource = (tool: Pick<Tool, "raw">): string | undefined => {
  const { resourceUri } = uiOf(tool)
  return typeof resourceUri === "string" ? resourceUri : undefined
}

/**
 * What `decodeAll` needs to know.
 *
 * @since 0.1.0
 * @category models
 */
export interface DecodeOptions {
  /** Bytes of one tool's schemas. */
  readonly maxSchemaBytes: number
  /** Whether a tool whose `x-mcp-header` annotations are wrong must be dropped (stateless era over HTTP). */
  readonly paramHeaders: boolean
}

/**
 * Decodes the items of a `tools/list`, each alone: one that cannot be offered is told apart and costs no other, and of
 * tools with one name the first wins. No schema is compiled.
 *
 * @since 0.1.0
 * @category constructors
 */
export const decodeAll = (
  items: ReadonlyArray<unknown>,
  options: DecodeOptions
): Pick<ToolList, "tools" | "rejected"> => {
  const tools: Array<Tool> = []
  const rejected: Array<RejectedTool> = []
  const names = new Set<string>()
  for (const item of items) {
    const decoded = internal.decodeTool(item, options)
    if (decoded._tag === "Rejected") rejected.push(decoded.rejected)
    else if (names.has(decoded.tool.name)) {
      rejected.push(internal.reject(decoded.tool.name, "duplicate", "another tool has this name").rejected)
    } else {
      names.add(decoded.tool.name)
      tools.push(decoded.tool)
    }
  }
  return { tools, rejected }
}
