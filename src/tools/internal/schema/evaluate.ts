/**
 * Judges a value by a JSON Schema (2020-12, 2019-09, draft-07, draft-06) within a bounded number of steps.
 *
 * The schema is read as it stands: no code is generated from a server's text, nothing is compiled but patterns, and
 * what is never reached costs nothing. A schema compiler was measured at 0.3 ms and more per subschema, so that one
 * real tool (1 000 subschemas) stopped the event loop for 0.4 s, and its generated code cannot be bounded.
 *
 * @internal
 */
import * as JsonRpc from "../../../transport/JsonRpc.ts"
import { applicators } from "./applicators.ts"
import { arrays, unevaluatedItems } from "./arrays.ts"
import {
  emptySeen,
  type Evaluation,
  fail,
  type Keyword,
  mergeSeen,
  type Path,
  type Seen,
  spend,
  Unchecked
} from "./evaluation.ts"
import { objects, unevaluatedProperties } from "./objects.ts"
import { scalars } from "./scalars.ts"

const keywords: ReadonlyMap<string, Keyword> = new Map([...scalars, ...arrays, ...objects, ...applicators])

const maxDepth = 256

/** @internal */
export interface Options {
  /** Whether `$ref` hides the keywords beside it, as it did up to draft-07. */
  readonly refsAlone: boolean
  /** Whether `unevaluatedProperties` or `unevaluatedItems` occur. */
  readonly track: boolean
  readonly matches: (pattern: string, text: string) => boolean
  readonly steps: number
}

/** @internal */
export const begin = (root: unknown, options: Options): Evaluation => {
  const on: Evaluation = {
    root,
    refsAlone: options.refsAlone,
    track: options.track,
    matches: options.matches,
    evaluate: (schema, value, path, seen) => evaluate(on, schema, value, path, seen),
    steps: options.steps,
    depth: 0,
    fault: undefined
  }
  return on
}

const evaluate = (
  on: Evaluation,
  schema: unknown,
  value: unknown,
  path: Path | undefined,
  parent: Seen | undefined
): boolean => {
  spend(on, 1)
  if (schema === true) return true
  if (schema === false) return fail(on, path, "nothing is allowed here")
  if (!JsonRpc.isObject(schema)) throw new Unchecked("a part of it is no schema")
  if (schema !== on.root && typeof schema["$id"] === "string") throw new Unchecked("a part of it has an $id of its own")
  // A chain of references that never gets anywhere ends here too.
  if (++on.depth > maxDepth) throw new Unchecked(`it leads deeper than ${maxDepth} levels`)
  const seen = on.track ? emptySeen() : undefined
  const holds = on.refsAlone && schema["$ref"] !== undefined
    ? keywords.get("$ref")!(on, schema["$ref"], value, schema, path, seen)
    : all(on, schema, value, path, seen)
  on.depth--
  if (holds && seen !== undefined && parent !== undefined) mergeSeen(parent, seen)
  return holds
}

const all = (
  on: Evaluation,
  schema: { readonly [key: string]: unknown },
  value: unknown,
  path: Path | undefined,
  seen: Seen | undefined
): boolean => {
  const keys = Object.keys(schema)
  spend(on, keys.length / 8)
  for (const key of keys) {
    const keyword = keywords.get(key)
    if (keyword === undefined || schema[key] === undefined) continue
    spend(on, 1)
    if (!keyword(on, schema[key], value, schema, path, seen)) return false
  }
  if (seen === undefined) return true
  const { unevaluatedItems: items, unevaluatedProperties: properties } = schema
  return (items === undefined || unevaluatedItems(on, items, value, schema, path, seen)) &&
    (properties === undefined || unevaluatedProperties(on, properties, value, schema, path, seen))
}
