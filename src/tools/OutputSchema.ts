/**
 * Judges structured results by the output schema that a tool declares, without ever fetching anything, running code
 * made from the schema, or holding the event loop.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as UntrustedText from "../text/UntrustedText.ts"
import type * as JsonRpc from "../transport/JsonRpc.ts"
import { begin } from "./internal/schema/evaluate.ts"
import { type Path, Unchecked } from "./internal/schema/evaluation.ts"
import { measure } from "./internal/schema/measure.ts"

/**
 * What is known of a value: it fits, it does not (`path` is a JSON pointer), or the schema cannot be used, and why.
 *
 * @since 0.1.0
 * @category models
 */
export type Verdict =
  | { readonly _tag: "Valid" }
  | { readonly _tag: "Invalid"; readonly path: string; readonly detail: string }
  | { readonly _tag: "Unchecked"; readonly reason: string }

/**
 * A schema made ready; it is synchronous and bounded, and it never throws.
 *
 * @since 0.1.0
 * @category models
 */
export interface OutputSchema {
  readonly check: (value: JsonRpc.Json) => Verdict
}

const valid: Verdict = { _tag: "Valid" }

const dialects: ReadonlyMap<unknown, { readonly refsAlone: boolean }> = new Map([
  [undefined, { refsAlone: false }],
  ["https://json-schema.org/draft/2020-12/schema", { refsAlone: false }],
  ["https://json-schema.org/draft/2019-09/schema", { refsAlone: false }],
  ["http://json-schema.org/draft-07/schema", { refsAlone: true }],
  ["http://json-schema.org/draft-06/schema", { refsAlone: true }]
])

const dialectOf = (schema: JsonRpc.JsonObject) => {
  const uri = schema["$schema"]
  return dialects.get(typeof uri === "string" ? uri.replace(/#$/, "") : uri)
}

// Set by measurement: about 50 ms of judging on a slow core, whatever the schema.
const maxSteps = 1_000_000

const maxPatterns = 64

type Matcher = ((text: string) => boolean) | undefined

/**
 * The patterns of one schema, each compiled when a value first meets it.
 */
const matching = (compile: (pattern: string) => Matcher) => {
  const matchers = new Map<string, Matcher>()
  return (pattern: string, text: string): boolean => {
    let matcher = matchers.get(pattern)
    if (matcher === undefined) {
      matcher = matchers.size < maxPatterns ? compile(pattern) : undefined
      if (matcher === undefined) throw new Unchecked("a pattern in it is not supported")
      matchers.set(pattern, matcher)
    }
    return matcher(text)
  }
}

/**
 * Makes a schema ready. One that cannot be used safely is no failure: each of its verdicts is `Unchecked`.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (schema: JsonRpc.JsonObject): Effect.Effect<OutputSchema> =>
  Effect.suspend(() => {
    const dialect = dialectOf(schema)
    if (dialect === undefined) return Effect.succeed(unusable("its dialect is not supported"))
    const { patterns, unevaluated } = mentions(schema)
    if (!patterns) return Effect.succeed(over(schema, { ...dialect, track: unevaluated, matches: never }))
    return Effect.map(
      Effect.promise(() => import("./internal/schema/linearPattern.ts")),
      ({ compile }) => over(schema, { ...dialect, track: unevaluated, matches: matching(compile) })
    )
  })

const never = (): never => {
  throw new Unchecked("a pattern in it is out of place")
}

const unusable = (reason: string): OutputSchema => ({ check: () => ({ _tag: "Unchecked", reason }) })

/**
 * Which of the keywords that need preparation occur anywhere in a schema, or in something that only looks like one.
 */
const mentions = (schema: JsonRpc.JsonObject): { readonly patterns: boolean; readonly unevaluated: boolean } => {
  let patterns = false
  let unevaluated = false
  const pending: Array<object> = [schema]
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    for (const [key, value] of Object.entries(node)) {
      if (key === "pattern" || key === "patternProperties") patterns = true
      else if (key === "unevaluatedProperties" || key === "unevaluatedItems") unevaluated = true
      if (typeof value === "object" && value !== null) pending.push(value)
    }
  }
  return { patterns, unevaluated }
}

const pointer = (path: Path | undefined): string => {
  let text = ""
  for (let at = path; at !== undefined; at = at.parent) {
    text = `/${String(at.key).slice(0, 64).replaceAll("~", "~0").replaceAll("/", "~1")}${text}`
  }
  return text
}

const over = (
  schema: JsonRpc.JsonObject,
  options: Omit<Parameters<typeof begin>[1], "steps">
): OutputSchema => ({
  check: (value) => {
    const on = begin(schema, { ...options, steps: Math.min(maxSteps, measure(value)) })
    try {
      if (on.evaluate(schema, value, undefined, undefined)) return valid
    } catch (error) {
      // Anything else is the stack's end, reached through values nested thousands deep.
      return { _tag: "Unchecked", reason: error instanceof Unchecked ? error.message : "the value is nested too deep" }
    }
    return {
      _tag: "Invalid",
      path: pointer(on.fault?.path),
      detail: UntrustedText.excerpt(on.fault?.detail ?? "", 256)
    }
  }
})
