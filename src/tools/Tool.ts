/** Tools as their server declares them, decoded leniently and one by one. */
import * as Either from "effect/Either"
import { isObject, type JsonObject } from "../json/Json.ts"
import { walk } from "../json/schema.ts"
import * as UntrustedText from "../text/UntrustedText.ts"
import { declarations } from "./paramHeaders.ts"

/** Hints; those of an untrusted server are not to be relied on. */
export interface Annotations {
  readonly title?: string | undefined
  readonly readOnlyHint?: boolean | undefined
  readonly destructiveHint?: boolean | undefined
  readonly idempotentHint?: boolean | undefined
  readonly openWorldHint?: boolean | undefined
}

export interface Tool {
  /**
   * 1 to 128 characters: letters of ASCII, digits, `_ - . / : @ +` and single blanks between them, the first a letter, a
   * digit or one of `_ . / @`.
   */
  readonly name: string
  readonly title: string | undefined
  readonly description: string | undefined
  /** Always an object schema; `type: "object"` is added where the server omits it. */
  readonly inputSchema: JsonObject
  readonly outputSchema: JsonObject | undefined
  readonly annotations: Annotations
  /** Whether the tool runs as a task of the session era. */
  readonly taskSupport: "forbidden" | "optional" | "required"
  /** The definition as it came, unknown fields included. */
  readonly raw: JsonObject
}

/** A tool that cannot be offered. It costs the server's other tools nothing. */
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

export interface ToolList {
  readonly tools: ReadonlyArray<Tool>
  readonly rejected: ReadonlyArray<RejectedTool>
  /** The server's hint for how long the list is fresh, in milliseconds. */
  readonly ttlMs: number | undefined
  readonly cacheScope: "public" | "private" | undefined
}

/** The labels of a tool in its `_meta`: at the top, or where FastMCP writes them. */
export interface Metadata {
  readonly category: string | undefined
  readonly tags: ReadonlyArray<string>
  readonly version: string | undefined
}

const objectOf = (value: unknown): Readonly<Record<string, unknown>> => isObject(value) ? value : {}

const isText = (value: unknown): value is string => typeof value === "string"

export const metadata = ({ raw }: Pick<Tool, "raw">): Metadata => {
  const meta = objectOf(raw["_meta"])
  const sources = [meta, objectOf(meta["fastmcp"]), objectOf(meta["_fastmcp"])]
  const first = (key: string) => sources.map((source) => source[key]).find(isText)
  const tags = sources.map((source) => source["tags"]).find((value) => Array.isArray(value)) ?? []
  return { category: first("category"), tags: tags.filter(isText), version: first("version") }
}

const uiOf = ({ raw }: Pick<Tool, "raw">) => objectOf(objectOf(raw["_meta"])["ui"])

/** True if only apps may call it, so that no model is offered it: MCP Apps, `_meta.ui.visibility` without `model`. */
export const isAppOnly = (tool: Pick<Tool, "raw">): boolean => {
  const { visibility } = uiOf(tool)
  return Array.isArray(visibility) && !visibility.includes("model")
}

/** The `ui://` resource that renders its results, if any: MCP Apps, `_meta.ui.resourceUri`. */
export const uiResource = (tool: Pick<Tool, "raw">): string | undefined => text(uiOf(tool)["resourceUri"])

export interface DecodeOptions {
  /** Bytes of one tool's schemas. */
  readonly maxSchemaBytes: number
  /** Whether a tool with wrong `x-mcp-header` annotations is rejected (stateless era over HTTP). */
  readonly paramHeaders: boolean
}

type Fault = readonly [reason: RejectedTool["reason"], detail: string]

// other scripts have letters that look like these, and other signs have a meaning in rules, shells, prompts or markup
const legalName = /^[\w./@][\w./:@+-]*(?: [\w./:@+-]+)*$/

const illegalCharacter = /[^\w./:@+ -]/u

const reservedNames: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"])

const maxName = 128

const nameFault = (name: string): Fault | undefined => {
  if (reservedNames.has(name)) return ["name-reserved", "the name is a property of every object"]
  if (name.trim() === "") return ["name-empty", "the name is empty"]
  if (name.length > maxName) return ["name-too-long", `the name has more than ${maxName} characters`]
  if (legalName.test(name)) return undefined
  const [found] = illegalCharacter.exec(name) ?? []
  if (found === undefined) {
    return [
      "name-characters",
      "a name begins with a letter, a digit or one of _ . / @, and has only single spaces between words"
    ]
  }
  // by its number, because it may look like a legal one
  const number = `U+${found.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}`
  return ["name-characters", `a name has only ASCII letters, digits, spaces and _ - . / : @ +, not ${number}`]
}

// levels of JSON, of which a subschema takes one or two
const maxDepth = 128

const remoteRef = /^(?:[a-z][a-z0-9+.-]*:|\/\/)/i

const isOwnId = (schema: object, ref: string): boolean =>
  "$id" in schema && typeof schema.$id === "string" && ref.startsWith(`${schema.$id}#`)

/** The first fault of a tool's schemas, whose bytes count together, and whether one has `x-mcp-header`. */
const inspect = (
  schemas: ReadonlyArray<JsonObject>,
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
        if (key === "$ref" && typeof value === "string" && remoteRef.test(value) && !isOwnId(holder, value)) {
          fault = ["schema-remote-ref", value]
        }
      }
      return fault === undefined
    })
    if (fault !== undefined) break
  }
  return { fault, isAnnotated }
}

const text = (value: unknown): string | undefined => isText(value) ? value : undefined

const hint = (value: unknown): boolean | undefined => typeof value === "boolean" ? value : undefined

/** Servers omit `type` or the whole schema, or allow `null` beside the object, which changes nothing for a caller. */
const objectSchema = (schema: unknown): JsonObject | undefined => {
  if (schema === undefined || schema === null || schema === true) return { type: "object" }
  if (!isObject(schema)) return undefined
  const known = schema as JsonObject // parsed from JSON
  const type = known["type"]
  if (type === "object") return known
  return type === undefined || type === null || (Array.isArray(type) && type.includes("object"))
    ? { ...known, type: "object" }
    : undefined
}

const annotations = (raw: unknown): Annotations =>
  isObject(raw)
    ? {
      title: text(raw["title"]),
      readOnlyHint: hint(raw["readOnlyHint"]),
      destructiveHint: hint(raw["destructiveHint"]),
      idempotentHint: hint(raw["idempotentHint"]),
      openWorldHint: hint(raw["openWorldHint"])
    }
    : {}

const taskSupport = (execution: unknown): Tool["taskSupport"] => {
  const support = objectOf(execution)["taskSupport"]
  return support === "optional" || support === "required" ? support : "forbidden"
}

const rejection = (name: string, [reason, detail]: Fault): RejectedTool => ({
  name: UntrustedText.excerpt(name, 64),
  reason,
  detail: UntrustedText.excerpt(detail, 256)
})

const reject = (name: string, fault: Fault): Either.Either<never, RejectedTool> => Either.left(rejection(name, fault))

const decode = (raw: unknown, options: DecodeOptions): Either.Either<Tool, RejectedTool> => {
  if (!isObject(raw)) return reject("", ["malformed", "not an object"])
  const name = raw["name"]
  if (typeof name !== "string") return reject("", ["malformed", "`name` is not a string"])
  const fault = nameFault(name)
  if (fault !== undefined) return reject(name, fault)

  const inputSchema = objectSchema(raw["inputSchema"])
  if (inputSchema === undefined) {
    return reject(name, ["schema-malformed", "`inputSchema` does not describe an object"])
  }
  const output = raw["outputSchema"]
  const outputSchema = isObject(output) ? output as JsonObject : undefined // parsed from JSON
  const schemas = outputSchema === undefined ? [inputSchema] : [inputSchema, outputSchema]
  const { fault: schemaFault, isAnnotated } = inspect(schemas, options.maxSchemaBytes)
  if (schemaFault !== undefined) return reject(name, schemaFault)
  if (options.paramHeaders && isAnnotated) {
    const declared = declarations(inputSchema)
    if (Either.isLeft(declared)) return reject(name, ["header-annotation", declared.left])
  }
  return Either.right({
    name,
    title: text(raw["title"]),
    description: text(raw["description"]),
    inputSchema,
    outputSchema,
    annotations: annotations(raw["annotations"]),
    taskSupport: taskSupport(raw["execution"]),
    raw: raw as JsonObject // parsed from JSON
  })
}

/** Decodes the items of a `tools/list`, each alone. Of tools with one name the first is kept. No schema is compiled. */
export const decodeAll = (
  items: ReadonlyArray<unknown>,
  options: DecodeOptions
): Pick<ToolList, "tools" | "rejected"> => {
  const tools = new Map<string, Tool>()
  const rejected: Array<RejectedTool> = []
  for (const item of items) {
    const decoded = Either.filterOrLeft(
      decode(item, options),
      ({ name }) => !tools.has(name),
      ({ name }) => rejection(name, ["duplicate", "another tool has this name"])
    )
    if (Either.isRight(decoded)) tools.set(decoded.right.name, decoded.right)
    else rejected.push(decoded.left)
  }
  return { tools: Array.from(tools.values()), rejected }
}
