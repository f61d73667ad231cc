/**
 * What of a tool is pinned, and its fingerprints.
 *
 * Everything is, fields that nobody knows yet included: a definition is handed on as it came, and a later protocol may
 * give a field its meaning. Only `icons` are not. No model and no gate reads them, and their addresses change by
 * themselves where they are signed or name a build.
 *
 * @internal
 */
import { canonicalJson, sha256 } from "../../../json/canonical.ts"
import type * as Tool from "../../Tool.ts"

/** @internal */
export interface Fingerprints {
  readonly whole: string
  /** Of everything but the annotations, which what is kept between runs does not have. */
  readonly bare: string
}

const schemas: ReadonlySet<string> = new Set(["inputSchema", "outputSchema"])

/**
 * Whether a field of a definition is a schema.
 *
 * @internal
 */
export const isSchema = (field: string): boolean => schemas.has(field)

/**
 * The fields of a definition that are pinned.
 *
 * @internal
 */
export const pinned = (raw: Tool.Tool["raw"]): ReadonlyArray<readonly [string, unknown]> =>
  Object.entries(raw).filter(([field, value]) => field !== "icons" && value !== undefined)

/**
 * A definition as it is kept to be compared with.
 *
 * @internal
 */
export const written = (raw: Tool.Tool["raw"]): string => canonicalJson(Object.fromEntries(pinned(raw)))

const hashOf = (parts: ReadonlyArray<string>): string => `sha256:${sha256(JSON.stringify(parts))}`

const calculated = (tool: Tool.Tool): Fingerprints => {
  const body = pinned(tool.raw)
    .filter(([field]) => field !== "annotations")
    .map(([field, value]) => `${JSON.stringify(field)}:${canonicalJson(value, isSchema(field))}`)
    .toSorted()
  // what is made of a definition is what gates and models read, so it counts even where it is not what the text says
  const { annotations, description, inputSchema, name, outputSchema, raw, taskSupport, title } = tool
  const read = canonicalJson({ name, title, description, taskSupport })
  const made = [[inputSchema, raw["inputSchema"]], [outputSchema, raw["outputSchema"]]].map(([schema, given]) =>
    schema === given ? "" : canonicalJson(schema, true)
  )
  const bare = hashOf(["tool", ...body, read, ...made])
  const said = raw["annotations"] === undefined ? "" : canonicalJson(raw["annotations"])
  return { bare, whole: hashOf([bare, said, canonicalJson(annotations)]) }
}

const known = new WeakMap<Tool.Tool, Fingerprints>()

/** @internal */
export const fingerprints = (tool: Tool.Tool): Fingerprints => {
  const before = known.get(tool)
  if (before !== undefined) return before
  const now = calculated(tool)
  known.set(tool, now)
  return now
}
