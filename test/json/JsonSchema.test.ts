import { assert, describe, it } from "@effect/vitest"
import { Ajv2020 } from "ajv/dist/2020.js"
import { Effect } from "effect"
import * as FastCheck from "effect/FastCheck"
import * as JsonSchema from "../../src/json/JsonSchema.ts"
import type * as JsonRpc from "../../src/transport/JsonRpc.ts"
import { costlyRuns, runs } from "../support/runs.ts"

const check = (schema: JsonRpc.JsonObject, value: JsonRpc.Json) =>
  Effect.map(JsonSchema.make(schema), (ready) => ready.check(value))

const verdict = (schema: JsonRpc.JsonObject, value: JsonRpc.Json) =>
  Effect.map(check(schema, value), ({ _tag }) => _tag)

const holds = (
  what: string,
  schema: JsonRpc.JsonObject,
  valid: ReadonlyArray<JsonRpc.Json>,
  invalid: ReadonlyArray<JsonRpc.Json>
) =>
  it.effect(what, () =>
    Effect.gen(function*() {
      for (const value of valid) assert.strictEqual(yield* verdict(schema, value), "Valid", JSON.stringify(value))
      for (const value of invalid) assert.strictEqual(yield* verdict(schema, value), "Invalid", JSON.stringify(value))
    }))

const unchecked = (what: string, schema: JsonRpc.JsonObject, value: JsonRpc.Json = {}) =>
  it.effect(what, () => Effect.map(verdict(schema, value), (tag) => assert.strictEqual(tag, "Unchecked")))

/** Each level refers to the next several times, so that judging it naively takes branches ** depth steps. */
const chain = (keyword: string, branches: number, depth: number): JsonRpc.JsonObject => ({
  type: "object",
  properties: { x: { $ref: "#/$defs/d0" } },
  $defs: Object.fromEntries([
    ...Array.from({ length: depth }, (_, i) => [
      `d${i}`,
      { [keyword]: Array.from({ length: branches }, () => ({ $ref: `#/$defs/d${i + 1}` })) }
    ]),
    [`d${depth}`, { type: "number" }]
  ])
})

/** Two seconds of this process, whatever else the machine does: far below what these take where they are not bounded. */
const settlesSoon = (schema: JsonRpc.JsonObject, value: JsonRpc.Json) =>
  Effect.gen(function*() {
    const ready = yield* JsonSchema.make(schema)
    const begun = process.cpuUsage()
    const given = ready.check(value)
    const { system, user } = process.cpuUsage(begun)
    assert.isBelow((user + system) / 1000, 2000)
    return given
  })

describe("JsonSchema keywords", () => {
  holds("type", { type: ["integer", "null"] }, [1, 1.0, null], [1.5, "1", true, [], {}])
  holds("nullable, as OpenAPI has it", { type: "string", nullable: true }, ["a", null], [1])
  holds("enum and const, by value", { enum: [{ a: [1, 2] }, "x", null] }, [{ a: [1, 2] }, "x", null], [
    { a: [2, 1] },
    "y"
  ])
  holds("const", { const: { a: 1, b: 2 } }, [{ b: 2, a: 1 }], [{ a: 1 }, { a: 1, b: 2, c: 3 }])
  holds("bounds of numbers", { minimum: 1, exclusiveMaximum: 3 }, [1, 2.9, "x"], [0.9, 3])
  holds("multipleOf, in decimal", { multipleOf: 0.1 }, [0.3, 1.1, 7], [0.35])
  holds("lengths, in characters", { minLength: 2, maxLength: 3 }, ["ab", "💩💩", "💩💩💩"], [
    "a",
    "💩",
    "💩💩💩💩",
    "abcd"
  ])
  holds("properties and required", { properties: { a: { type: "string" } }, required: ["a"] }, [{ a: "x" }, 1], [{}, {
    a: 1
  }])
  holds(
    "additionalProperties beside properties and patterns",
    {
      properties: { a: {} },
      patternProperties: { "^x-": { type: "number" } },
      additionalProperties: false
    },
    [{ a: 1, "x-b": 2 }],
    [{ b: 1 }, { "x-b": "s" }]
  )
  holds(
    "dependentRequired and dependentSchemas",
    {
      dependentRequired: { a: ["b"] },
      dependentSchemas: { c: { required: ["d"] } }
    },
    [{}, { a: 1, b: 1 }, { c: 1, d: 1 }],
    [{ a: 1 }, { c: 1 }]
  )
  holds("prefixItems and items", { prefixItems: [{ type: "string" }], items: { type: "number" } }, [["a", 1], []], [
    [1],
    ["a", "b"]
  ])
  holds("contains", { contains: { const: 1 }, minContains: 1, maxContains: 2 }, [[1], [1, 1, 2]], [[], [2], [1, 1, 1]])
  holds("uniqueItems, by value", { uniqueItems: true }, [[1, "1", { a: 1, b: 2 }, { a: 2, b: 1 }]], [
    [1, 1.0],
    [{ a: 1, b: 2 }, { b: 2, a: 1 }]
  ])
  holds(
    "allOf, anyOf, oneOf, not",
    {
      allOf: [{ minimum: 0 }],
      anyOf: [{ type: "integer" }, { const: 0.5 }],
      oneOf: [{ maximum: 10 }, { minimum: 8 }],
      not: { const: 3 }
    },
    [1, 0.5, 20],
    [-1, 0.7, 9, 3]
  )
  holds("if, then, else", { if: { type: "string" }, then: { minLength: 2 }, else: { type: "number" } }, ["ab", 1], [
    "a",
    []
  ])
  holds(
    "unevaluatedProperties, through what holds",
    {
      allOf: [{ properties: { a: {} } }],
      anyOf: [{ properties: { b: { type: "number" } }, required: ["b"] }, {}],
      unevaluatedProperties: false
    },
    [{ a: 1, b: 2 }],
    [{ c: 1 }, { b: "s" }]
  )
  holds("unevaluatedItems", { prefixItems: [true], contains: { const: 7 }, minContains: 0, unevaluatedItems: false }, [
    [1, 7]
  ], [[1, 2]])
  holds("a schema that refers to itself", {
    type: "object",
    properties: { child: { $ref: "#" } },
    additionalProperties: false
  }, [
    { child: { child: {} } }
  ], [{ child: { child: { other: 1 } } }])
  holds(
    "references of any shape that stay inside",
    {
      $id: "https://x/y",
      type: "object",
      properties: {
        a: { $ref: "#/$defs/a~1b" },
        b: { $ref: "https://x/y#/$defs/c%25d" },
        c: { $ref: "#/properties/a" }
      },
      $defs: { "a/b": { type: "string" }, "c%d": { type: "number" } }
    },
    [{ a: "s", b: 1, c: "s" }],
    [{ a: 1 }, { b: "s" }, { c: 1 }]
  )
  holds(
    "draft-07: tuples, dependencies, and references that stand alone",
    {
      $schema: "http://json-schema.org/draft-07/schema#",
      properties: {
        tuple: { items: [{ type: "string" }], additionalItems: false },
        alone: { $ref: "#/definitions/any", type: "number" }
      },
      dependencies: { a: ["b"], c: { required: ["d"] } },
      definitions: { any: {} }
    },
    [{ tuple: ["a"], alone: "text" }, { a: 1, b: 1 }],
    [{ tuple: [1] }, { tuple: ["a", 1] }, { a: 1 }, { c: 1 }]
  )
  holds(
    "names that are special elsewhere",
    JSON.parse(`{
    "properties": { "__proto__": { "type": "string" }, "constructor": { "type": "string" } }, "required": ["__proto__"]
  }`) as JsonRpc.JsonObject,
    [JSON.parse(`{"__proto__":"x"}`) as JsonRpc.Json],
    [{}, { constructor: 1 }]
  )
  holds("names that every object inherits", { properties: { a: {} } }, [{
    toString: 1,
    constructor: 2,
    hasOwnProperty: 3
  }], [])
  holds(
    "unevaluatedProperties, through all alternatives that hold",
    {
      anyOf: [{ properties: { a: {} } }, { properties: { b: {} } }],
      unevaluatedProperties: false
    },
    [{ a: 1, b: 1 }],
    [{ c: 1 }]
  )
  holds(
    "names that would be code elsewhere",
    {
      type: "object",
      properties: { "a';process.exit(1);//": { type: "string" }, "\u2028": {}, "${1+1}": { const: "`" } }
    },
    [{ "a';process.exit(1);//": "x" }],
    [{ "${1+1}": 2 }]
  )
  holds("unknown formats and keywords are nothing", { type: "string", format: "x-evil", "x-y": 1 }, ["anything"], [1])
})

describe("JsonSchema verdicts", () => {
  it.effect("names the place of the violation as a JSON pointer", () =>
    Effect.map(
      check({ properties: { "a/b": { items: { type: "string" } } } }, { "a/b": ["x", 1] }),
      (given) =>
        assert.deepStrictEqual(given, { _tag: "Invalid", path: "/a~1b/1", detail: "expected string, got number" })
    ))

  it.effect("stays short and visible, whatever the server calls its properties", () =>
    Effect.map(check({ additionalProperties: false }, { [`\u001b[31m${"x".repeat(10_000)}`]: 1 }), (given) => {
      assert(given._tag === "Invalid")
      assert.isBelow(given.detail.length, 400)
      assert.notInclude(given.detail, "\u001b")
    }))

  it.effect("does not change the value: no defaults, no coercion", () =>
    Effect.gen(function*() {
      const value = { a: "false" }
      const schema = { properties: { a: { type: "boolean" }, b: { default: { x: 1 } } } }
      assert.strictEqual(yield* verdict(schema, value), "Invalid")
      assert.deepStrictEqual(value, { a: "false" })
    }))

  it.effect("judges each tool by its own schema, even if two have one $id", () =>
    Effect.gen(function*() {
      const a = yield* JsonSchema.make({ $id: "https://x/y", required: ["a"] })
      const b = yield* JsonSchema.make({ $id: "https://x/y", required: ["b"] })
      assert.strictEqual(a.check({ a: 1 })._tag, "Valid")
      assert.strictEqual(b.check({ a: 1 })._tag, "Invalid")
    }))
})

describe("JsonSchema without a verdict", () => {
  unchecked("a dialect that is not known is not fetched", { $schema: "https://attacker.example/meta.json" })
  unchecked("a reference that leads outside", { $ref: "other.json" })
  unchecked("a reference that leads nowhere", { $ref: "#/$defs/nothing" })
  unchecked("references in a circle", {
    $ref: "#/$defs/a",
    $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } }
  })
  unchecked("dynamic references", { $dynamicAnchor: "a", $dynamicRef: "#a" })
  unchecked("an $id within", { properties: { a: { $id: "https://z", $ref: "#/x" } } }, { a: 1 })
  unchecked("a keyword of an older draft", { minimum: 1, exclusiveMinimum: true }, 1)
  unchecked("an empty enum", { enum: [] })
  unchecked("keywords that are malformed", { required: "a" })
  unchecked("a pattern that is malformed", { pattern: "(" }, "x")
  unchecked("a pattern with lookahead", { pattern: "^(?!x)" }, "x")
  it.effect("judges the rest of a value beside a pattern with lookahead", () =>
    Effect.gen(function*() {
      const name = { type: "string", pattern: "^(?!x)" }
      const properties = { name, age: { type: "integer" } }
      assert.strictEqual(yield* verdict({ properties }, { name: "a", age: 1 }), "Unchecked")
      assert.strictEqual(yield* verdict({ properties }, { name: "a", age: "old" }), "Invalid")
      assert.strictEqual(yield* verdict({ anyOf: [name, { type: "null" }] }, 5), "Invalid")
      // where the pattern could count against the value, nothing is known
      for (const schema of [{ not: name }, { oneOf: [name, true] }, { if: name, then: false }]) {
        assert.strictEqual(yield* verdict({ ...schema, type: "string" }, "a"), "Unchecked")
      }
      assert.strictEqual(yield* verdict({ contains: name, maxContains: 1 }, ["a", "b"]), "Unchecked")
      assert.strictEqual(yield* verdict({ patternProperties: { "^(?!x)": { type: "null" } } }, { a: 1 }), "Unchecked")
    }))
  unchecked("a pattern with a back reference", { pattern: "(a)\\1" }, "aa")
  unchecked("a pattern with a named back reference", { pattern: "(?<y>a)\\k<y>" }, "aa")
  unchecked("a pattern with an empty class", { pattern: "[]a]" }, "a")
  unchecked("a pattern with an escape that only RE2 has", { pattern: "\\Aa" }, "a")
  it.effect("gives the reason", () =>
    Effect.map(
      check({ $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/a" } } }, {}),
      (given) =>
        assert.deepStrictEqual(given, { _tag: "Unchecked", reason: "its references are nested deeper than 256 levels" })
    ))
  unchecked("a pattern that is huge", { pattern: "a{1,1000000}" }, "a")
})

it.effect("JsonSchema judges a value that is nested thousands deep", () =>
  Effect.gen(function*() {
    assert.strictEqual(yield* verdict({ uniqueItems: true }, deep(20_000)), "Valid")
    assert.strictEqual(yield* verdict({ const: deep(20_000) }, deep(20_000)), "Valid")
    assert.strictEqual(yield* verdict({ enum: [deep(20_001)] }, deep(20_000)), "Invalid")
  }))

function deep(depth: number): JsonRpc.Json {
  let value: JsonRpc.Json = [1]
  for (let i = 0; i < depth; i++) value = [value]
  return value
}

describe("JsonSchema step budget", () => {
  for (
    const [keyword, branches, depth] of [["anyOf", 2, 22], ["oneOf", 2, 24], ["allOf", 3, 16], [
      "anyOf",
      2,
      60
    ]] as const
  ) {
    it.effect(`a chain of ${keyword}, ${branches} wide and ${depth} deep, is given up`, () =>
      Effect.map(
        settlesSoon(chain(keyword, branches, depth), { x: keyword === "anyOf" ? "s" : 1 }),
        ({ _tag }) => assert.strictEqual(_tag, "Unchecked")
      ))
  }

  it.effect("gives up on a value that makes a recursive schema exponential", () =>
    Effect.gen(function*() {
      const branch = { properties: { c: { $ref: "#" } }, required: ["z"] }
      let value: JsonRpc.Json = {}
      for (let i = 0; i < 60; i++) value = { c: value }
      const given = yield* settlesSoon({ type: "object", anyOf: [branch, branch] }, value)
      assert.strictEqual(given._tag, "Unchecked")
    }))

  for (const pattern of ["^(a+)+$", "^(a|aa)+$", "(.*a){20}!!", "^(\\w+\\.?)+@", "(x+x+)+y", "^(?:(?:a*)*)*$"]) {
    it.effect(`the pattern ${pattern} is matched in linear time`, () =>
      Effect.map(
        settlesSoon({ pattern }, `${"a".repeat(50_000)}!`),
        ({ _tag }) => assert.strictEqual(_tag, "Invalid")
      ))
  }

  it.effect("matches patterns of property names in linear time", () =>
    Effect.map(
      settlesSoon({ patternProperties: { "^(a+)+$": { type: "string" } } }, { [`${"a".repeat(30)}!`]: 1 }),
      ({ _tag }) => assert.strictEqual(_tag, "Valid")
    ))

  it.effect("compares fifty thousand unique objects in linear time, or not at all", () =>
    Effect.map(
      settlesSoon({ uniqueItems: true }, Array.from({ length: 50_000 }, (_, i) => ({ i }))),
      ({ _tag }) => assert.notStrictEqual(_tag, "Invalid")
    ))

  it.effect("judges a large valid value", () =>
    Effect.gen(function*() {
      const row = Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`k${i}`, i % 2 === 0 ? i : "text"]))
      const schema = {
        items: {
          type: "object",
          properties: Object.fromEntries(Object.entries(row).map(([key, value]) => [key, { type: typeof value }])),
          required: Object.keys(row),
          additionalProperties: false
        }
      }
      const rows: Array<JsonRpc.JsonObject> = Array.from({ length: 10_000 }, () => row)
      assert.strictEqual((yield* settlesSoon(schema, rows))._tag, "Valid")
      const given = yield* settlesSoon(schema, [...rows, { ...row, k3: 3 }])
      assert(given._tag === "Invalid")
      assert.strictEqual(given.path, "/10000/k3")
    }))
})

describe("JsonSchema patterns", () => {
  for (
    const pattern of [
      "^\\s+$",
      "^\\S+$",
      "^[\\s\\S]*$",
      "^[\\s,]+$",
      "^.$",
      "^[^/]+\\/x$",
      "^[\\w-]+$",
      "\\bfoo\\b",
      "^\\d{2,4}$",
      "^\\u0041$",
      "^[a-c\\-z]+$",
      "^(?:a|b)*?c$",
      "^\\.$",
      "^$"
    ]
  ) {
    it.effect(pattern, () =>
      Effect.gen(function*() {
        const expression = new RegExp(pattern, "u")
        const texts = [
          "",
          " ",
          "\u00a0",
          "\u000b\t\n",
          "a",
          "-",
          "\r",
          "\u2028",
          "\n",
          "a b",
          "ab,c",
          ", ",
          "foo",
          "a foo b",
          "xfoo",
          "123",
          "12345",
          "A",
          "abc",
          "a-z",
          "ababc",
          ".",
          "x/x",
          "ab/x"
        ]
        for (const text of texts) {
          assert.strictEqual(
            yield* verdict({ pattern }, text),
            expression.test(text) ? "Valid" : "Invalid",
            JSON.stringify(text)
          )
        }
      }))
  }
})

const distinct = (members: ReadonlyArray<unknown>) =>
  Array.from(new Map(members.map((member) => [JSON.stringify(member), member])).values())

const schemas = FastCheck.letrec<{ schema: unknown; object: JsonRpc.JsonObject }>((tie) => {
  const key = FastCheck.constantFrom("a", "b", "c")
  const small = FastCheck.nat(3)
  const inner = tie("schema")
  const several = FastCheck.array(inner, { minLength: 1, maxLength: 3 })
  const named = FastCheck.dictionary(key, inner, { maxKeys: 3 })
  const keywords: ReadonlyArray<readonly [string, FastCheck.Arbitrary<unknown>]> = [
    ["type", FastCheck.constantFrom("object", "array", "string", "number", "integer", "null", "boolean")],
    ["enum", FastCheck.array(FastCheck.jsonValue({ maxDepth: 1 }), { minLength: 1, maxLength: 3 }).map(distinct)],
    ["const", FastCheck.constantFrom<Array<unknown>>(null, 1, "a", [1], { a: 1 })],
    ["minimum", small],
    ["maximum", small],
    ["multipleOf", FastCheck.constantFrom(1, 2)],
    ["minLength", small],
    ["maxLength", small],
    ["pattern", FastCheck.constantFrom("^a", "b$", "^[ab]*$")],
    ["properties", named],
    ["patternProperties", FastCheck.dictionary(FastCheck.constantFrom("^a", "b"), inner, { maxKeys: 2 })],
    ["additionalProperties", inner],
    ["propertyNames", inner],
    ["required", FastCheck.uniqueArray(key)],
    ["minProperties", small],
    ["maxProperties", small],
    ["dependentRequired", FastCheck.dictionary(key, FastCheck.uniqueArray(key), { maxKeys: 2 })],
    ["dependentSchemas", named],
    ["prefixItems", several],
    ["items", inner],
    ["contains", inner],
    ["minItems", small],
    ["maxItems", small],
    ["uniqueItems", FastCheck.boolean()],
    ["allOf", several],
    ["anyOf", several],
    ["oneOf", several],
    ["not", inner],
    ["if", inner],
    ["then", inner],
    ["else", inner],
    // not unevaluatedProperties and unevaluatedItems: ajv counts what branches of oneOf have seen that do not hold
    ["$ref", FastCheck.constantFrom("#/$defs/d", "#/$defs/e")]
  ]
  const keyword = FastCheck.oneof(
    ...keywords.map(([name, operand]) => FastCheck.tuple(FastCheck.constant(name), operand))
  )
  return {
    schema: FastCheck.oneof({ maxDepth: 3 }, FastCheck.boolean(), tie("object")),
    // the cast: made of JSON
    object: FastCheck.array(keyword, { maxLength: 4, size: "max" }).map((given) =>
      Object.fromEntries(given) as JsonRpc.JsonObject
    )
  }
})

const values = FastCheck.letrec<{ value: JsonRpc.Json }>((tie) => ({
  value: FastCheck.oneof(
    { maxDepth: 3 },
    FastCheck.constantFrom<Array<JsonRpc.Json>>(null, true, false, 0, 1, 2, 3.5, "", "a", "ab", "💩"),
    FastCheck.array(tie("value"), { maxLength: 4 }),
    FastCheck.dictionary(FastCheck.constantFrom("a", "b", "c", "ab"), tie("value"), { maxKeys: 3 })
  )
})).value

describe("JsonSchema compared with ajv", () => {
  it.effect("comes to the same verdict as ajv for random schemas and values", () =>
    Effect.gen(function*() {
      const cases = FastCheck.sample(
        FastCheck.tuple(
          schemas.object,
          schemas.schema,
          schemas.schema,
          FastCheck.array(values, { minLength: 1, maxLength: 6 })
        ),
        { numRuns: costlyRuns(250), seed: 20_261_118 }
      )
      let judged = 0
      for (const [root, d, e, candidates] of cases) {
        // the casts: made of JSON
        const schema: JsonRpc.JsonObject = { ...root, $defs: { d: d as JsonRpc.Json, e: e as JsonRpc.Json } }
        const ajv = new Ajv2020({ strict: false, validateSchema: false, logger: false, meta: false, inlineRefs: false })
        const ready = yield* JsonSchema.make(schema)
        for (const value of candidates) {
          const ours = ready.check(value)
          if (ours._tag === "Unchecked") continue
          const theirs = ajv.validate(schema, value)
          judged++
          assert.strictEqual(ours._tag === "Valid", theirs, JSON.stringify({ schema, value, ours }))
        }
      }
      assert.isAbove(judged, costlyRuns(300))
    }), 30_000)

  it.effect("never throws, whatever the schema and the value are", () =>
    Effect.gen(function*() {
      const cases = FastCheck.sample(
        FastCheck.tuple(
          FastCheck.dictionary(
            FastCheck.constantFrom(
              "type",
              "enum",
              "properties",
              "items",
              "required",
              "allOf",
              "$ref",
              "pattern",
              "minimum",
              "if",
              "uniqueItems",
              "contains",
              "x"
            ),
            FastCheck.jsonValue()
          ),
          FastCheck.jsonValue()
        ),
        { numRuns: runs(1000), seed: 7 }
      )
      for (const [schema, value] of cases) {
        // the casts: fast-check's JSON values are JSON
        const ready = yield* JsonSchema.make(schema as JsonRpc.JsonObject)
        assert.include(["Valid", "Invalid", "Unchecked"], ready.check(value as JsonRpc.Json)._tag)
      }
    }))
})
