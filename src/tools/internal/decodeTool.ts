import { walk } from "../../json/schema.ts"
import * as UntrustedText from "../../text/UntrustedText.ts"
import * as JsonRpc from "../../transport/JsonRpc.ts"
import { declarations } from "../paramHeaders.ts"
import type * as Tool from "../Tool.ts"
import { nameFault } from "./nameFault.ts"

/** @internal */
export interface Options {
  readonly maxSchemaBytes: number
  /** Whether a tool whose `x-mcp-header` annotations are wrong must be dropped. */
  readonly paramHeaders: boolean
}

/** @internal */
export interface Rejected {
  readonly _tag: "Rejected"
  readonly rejected: Tool.RejectedTool
}

/** @internal */
export type Decoded = Rejected | { readonly _tag: "Tool"; readonly tool: Tool.Tool }

/** @internal */
export const reject = (name: string, reason: Tool.RejectedTool["reason"], detail: string): Rejected => ({
  _tag: "Rejected",
  rejected: { name: UntrustedText.excerpt(name, 64), reason, detail: UntrustedText.excerpt(detail, 256) }
})

// levels of JSON; a subschema takes one or two of them, so this is some 64 levels of subschemas
const maxDepth = 128

const remote = /^(?:[a-z][a-z0-9+.-]*:|\/\/)/i

const isOwnId = (schema: object, ref: string): boolean =>
  "$id" in schema && typeof schema.$id === "string" && ref.startsWith(`${schema.$id}#`)

type Fault = readonly [reason: Tool.RejectedTool["reason"], detail: string]

/** The first fault of schemas of a tool, together of at most so many bytes, and whether one has `x-mcp-header`. */
const inspect = (
  schemas: ReadonlyArray<JsonRpc.JsonObject>,
  maxBytes: number
): { readonly fault: Fault | undefined; readonly isAnnotated: boolean } => {
  let bytes = 0
  let fault: Fault | undefined
  let isAnnotated = false
  for (const schema of schemas) {
    walk(schema, (key, value, { depth, position, value: holder }) => {
      bytes += (typeof key === "string" ? key.length + 4 : 3) + (typeof value === "string" ? value.length + 2 : 0)
      if (bytes > maxBytes) fault = ["schema-too-large", `more than ${maxBytes} bytes`]
      else if (depth >= maxDepth && typeof value === "object" && value !== null) {
        fault = ["schema-too-deep", `nested more than ${maxDepth} levels`]
      } else if (position === "schema") {
        isAnnotated ||= key === "x-mcp-header"
        if (key === "$ref" && typeof value === "string" && remote.test(value) && !isOwnId(holder, value)) {
          fault = ["schema-remote-ref", value]
        }
      }
      return fault === undefined
    })
    if (fault !== undefined) break
  }
  return { fault, isAnnotated }
}

/** @internal */
export const decodeTool = (raw: unknown, options: Options): Decoded => {
  if (!JsonRpc.isObject(raw)) return reject("", "malformed", "a tool that is no object")
  const name = raw["name"]
  if (typeof name !== "string") return reject("", "malformed", "a tool without a name")
  const fault = nameFault(name)
  if (fault !== undefined) return reject(name, fault.reason, fault.detail)

  const inputSchema = objectSchema(raw["inputSchema"])
  if (inputSchema === undefined) return reject(name, "schema-malformed", "inputSchema does not describe an object")
  const output = raw["outputSchema"]
  const outputSchema = JsonRpc.isObject(output) ? output as JsonRpc.JsonObject : undefined // parsed from JSON

  const { fault: schemaFault, isAnnotated } = inspect(
    outputSchema === undefined ? [inputSchema] : [inputSchema, outputSchema],
    options.maxSchemaBytes
  )
  if (schemaFault !== undefined) return reject(name, ...schemaFault)
  if (options.paramHeaders && isAnnotated) {
    const declared = declarations(inputSchema)
    if (declared._tag === "Left") return reject(name, "header-annotation", declared.left)
  }
  return {
    _tag: "Tool",
    tool: {
      name,
      title: text(raw["title"]),
      description: text(raw["description"]),
      inputSchema,
      outputSchema,
      annotations: annotations(raw["annotations"]),
      taskSupport: taskSupport(raw["execution"]),
      raw: raw as JsonRpc.JsonObject // parsed from JSON
    }
  }
}

const text = (value: unknown): string | undefined => typeof value === "string" ? value : undefined

/**
 * Servers leave out `type`, the whole schema, or allow `null` beside the object; none of that changes what may be sent.
 */
const objectSchema = (schema: unknown): JsonRpc.JsonObject | undefined => {
  if (schema === undefined || schema === null || schema === true) return { type: "object" }
  if (!JsonRpc.isObject(schema)) return undefined
  const known = schema as JsonRpc.JsonObject // parsed from JSON
  const type = known["type"]
  if (type === "object") return known
  return type === undefined || type === null || (Array.isArray(type) && type.includes("object"))
    ? { ...known, type: "object" }
    : undefined
}

const none: Tool.Annotations = {}

const annotations = (raw: unknown): Tool.Annotations => {
  if (!JsonRpc.isObject(raw)) return none
  return {
    title: text(raw["title"]),
    readOnlyHint: hint(raw["readOnlyHint"]),
    destructiveHint: hint(raw["destructiveHint"]),
    idempotentHint: hint(raw["idempotentHint"]),
    openWorldHint: hint(raw["openWorldHint"])
  }
}

const hint = (value: unknown): boolean | undefined => typeof value === "boolean" ? value : undefined

const taskSupport = (execution: unknown): Tool.Tool["taskSupport"] => {
  const support = JsonRpc.isObject(execution) ? execution["taskSupport"] : undefined
  return support === "optional" || support === "required" ? support : "forbidden"
}
