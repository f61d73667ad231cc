/**
 * Judges values by JSON Schemas (2020-12, 2019-09, draft-07, draft-06) within a bounded number of steps, without fetching
 * anything, running code made from a schema, or holding the event loop.
 *
 * A schema is interpreted as it stands, because compiling takes 0.3 ms or more per subschema (0.4 s for one real tool of
 * 1,000 subschemas), and the time of generated code cannot be bounded.
 */
import * as Effect from "effect/Effect"
import * as UntrustedText from "../text/UntrustedText.ts"
import { isObject, type Json, type JsonObject } from "./Json.ts"
import type { Evaluation, Path, Seen } from "./keywords.ts"
import { emptySeen, fail, keywords, mergeSeen, spend, Unchecked, unevaluated, unsupportedPattern } from "./keywords.ts"
import { pointer, walk } from "./schema.ts"

/** The value fits; it does not (`path` is a JSON pointer); or the schema cannot be used, and why. */
export type Verdict =
  | { readonly _tag: "Valid" }
  | { readonly _tag: "Invalid"; readonly path: string; readonly detail: string }
  | { readonly _tag: "Unchecked"; readonly reason: string }

/** A schema made ready. `check` is synchronous and bounded, and never throws. */
export interface JsonSchema {
  readonly check: (value: Json) => Verdict
}

/** By `$schema`: whether `$ref` hides the keywords beside it. */
const dialects: ReadonlyMap<unknown, boolean> = new Map([
  [undefined, false],
  ["https://json-schema.org/draft/2020-12/schema", false],
  ["https://json-schema.org/draft/2019-09/schema", false],
  ["http://json-schema.org/draft-07/schema", true],
  ["http://json-schema.org/draft-06/schema", true]
])

// Set by measurement: about 50 ms of judging on a slow core, whatever the schema.
const maxSteps = 1_000_000

const maxDepth = 256

const maxPatterns = 64

/** The steps that judging a value may take: generous for honest schemas, and linear in the value whatever the schema. */
const stepsFor = (value: Json): number => {
  let nodes = 1
  let characters = typeof value === "string" ? value.length : 0
  if (typeof value === "object" && value !== null) {
    walk(value, (key, item) => {
      nodes++
      for (const text of [key, item]) if (typeof text === "string") characters += text.length
      return true
    })
  }
  return Math.min(maxSteps, 20_000 + 50 * nodes + 4 * characters)
}

const evaluateAll = (
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
  return seen === undefined ||
    unevaluated.every(([key, keyword]) =>
      schema[key] === undefined || keyword(on, schema[key], value, schema, path, seen)
    )
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
  if (schema === false) return fail(on, path, "no value is allowed here")
  if (!isObject(schema)) throw new Unchecked("a part of it is not a schema")
  if (schema !== on.root && typeof schema["$id"] === "string") throw new Unchecked("a part of it has its own $id")
  // a chain of references that leads nowhere ends here too
  if (++on.depth > maxDepth) throw new Unchecked(`its references are nested deeper than ${maxDepth} levels`)
  const seen = on.track ? emptySeen() : undefined
  const holds = on.refsAlone && schema["$ref"] !== undefined
    ? keywords.get("$ref")!(on, schema["$ref"], value, schema, path, seen)
    : evaluateAll(on, schema, value, path, seen)
  on.depth--
  if (holds && seen !== undefined && parent !== undefined) mergeSeen(parent, seen)
  return holds
}

const pointerTo = (path: Path | undefined): string =>
  path === undefined ? "" : pointer(pointerTo(path.parent), String(path.key).slice(0, 64))

type Matcher = ((text: string) => boolean) | undefined

/** The patterns of one schema, each compiled when a value first meets it. */
const matching = (compile: (pattern: string) => Matcher): Evaluation["matches"] => {
  const matchers = new Map<string, Matcher>()
  return (pattern, text) => {
    if (!matchers.has(pattern)) {
      if (matchers.size >= maxPatterns) return undefined
      matchers.set(pattern, compile(pattern))
    }
    return matchers.get(pattern)?.(text)
  }
}

const judge = (schema: Pick<Evaluation, "root" | "refsAlone" | "track" | "matches">): JsonSchema => ({
  check: (value) => {
    const on: Evaluation = {
      ...schema,
      evaluate: (schema, value, path, seen) => evaluate(on, schema, value, path, seen),
      steps: stepsFor(value),
      depth: 0,
      exact: 0,
      assumed: false,
      fault: undefined
    }
    try {
      if (on.evaluate(on.root, value, undefined, undefined)) {
        return on.assumed ? { _tag: "Unchecked", reason: unsupportedPattern } : { _tag: "Valid" }
      }
    } catch (error) {
      if (error instanceof Unchecked) return { _tag: "Unchecked", reason: error.message }
      throw error
    }
    return {
      _tag: "Invalid",
      path: pointerTo(on.fault?.path),
      detail: UntrustedText.excerpt(on.fault?.detail ?? "", 256)
    }
  }
})

const foreign: JsonSchema = { check: () => ({ _tag: "Unchecked", reason: "its dialect is not supported" }) }

/** Makes a schema ready. One that cannot be used safely is no failure: each of its verdicts is `Unchecked`. */
export const make = (schema: JsonObject): Effect.Effect<JsonSchema> =>
  Effect.suspend(() => {
    const uri = schema["$schema"]
    const refsAlone = dialects.get(typeof uri === "string" ? uri.replace(/#$/, "") : uri)
    if (refsAlone === undefined) return Effect.succeed(foreign)
    let patterns = false
    let track = false
    walk(schema, (key) => {
      patterns ||= key === "pattern" || key === "patternProperties"
      track ||= key === "unevaluatedProperties" || key === "unevaluatedItems"
      return !patterns || !track
    })
    const ready = (compile: (pattern: string) => Matcher): JsonSchema =>
      judge({ root: schema, refsAlone, track, matches: matching(compile) })
    return patterns
      ? Effect.map(Effect.promise(() => import("./linearPattern.ts")), ({ compile }) => ready(compile))
      : Effect.succeed(ready(() => undefined))
  })
