import { assert, describe, it } from "@effect/vitest"
import * as Describe from "../../src/json/describe.ts"
import type { JsonObject } from "../../src/json/Json.ts"
import { samples } from "../support/runs.ts"

const refs = (count: number): ReadonlyArray<JsonObject> => Array.from({ length: count }, () => ({ $ref: "#" }))

describe("describe", () => {
  it("bounds the alternatives of a schema whose references multiply", () => {
    for (const keyword of ["anyOf", "oneOf", "allOf"]) {
      const schema = { [keyword]: refs(40) }
      const count = Describe.alternatives(schema, schema).length
      assert.isTrue(count > 0 && count < 100_000, `${keyword}: ${count}`)
    }
  })

  // without a bound, each of these takes minutes or exhausts the memory
  it("bounds the work for large schemas whose parts are copied for each alternative", () => {
    const many = <A>(count: number, f: (at: number) => A) => Array.from({ length: count }, (_, at) => f(at))
    const record = (count: number) => Object.fromEntries(many(count, (at) => [`p${at}`, {}]))
    const same = many(20_000, () => ({ $ref: "#/$defs/a" }))
    const schemas: ReadonlyArray<JsonObject> = [
      { ...record(40_000), anyOf: many(20_000, () => ({})) },
      { properties: record(30_000), anyOf: many(20_000, () => ({})) },
      { required: many(40_000, String), anyOf: many(20_000, () => ({})) },
      { allOf: many(30_000, (at) => ({ required: [`p${at}`] })) },
      { allOf: many(20_000, (at) => ({ properties: { [`p${at}`]: {} } })) },
      { $defs: { a: { const: "x".repeat(400_000) } }, anyOf: same },
      { $defs: { a: { type: many(40_000, (at) => `t${at}`) } }, anyOf: same }
    ]
    for (const schema of samples(schemas)) {
      assert.isAtMost(Describe.typeText(schema, schema).length, 1_000_000)
      Describe.parameters(schema)
    }
  })

  it("keeps the alternatives of a long flat list", () => {
    const schema = { oneOf: Array.from({ length: 3_000 }, (_, value) => ({ const: value })) }
    assert.deepStrictEqual(Describe.alternatives(schema, schema).map(Describe.choices).at(-1), [2_999])
  })

  it("ends the type of an array of itself with an ellipsis", () => {
    const schema = { type: "array", items: { $ref: "#" } }
    assert.strictEqual(Describe.typeText(schema, schema), "…[][][][][][]")
  })

  it("bounds the type of arrays whose alternatives multiply", () => {
    const schema = { type: "array", items: { anyOf: refs(40) } }
    assert.isTrue(Describe.typeText(schema, schema).startsWith("("))
  })

  it("writes nested arrays whole", () => {
    const nested = (levels: number): JsonObject =>
      levels === 0 ? { type: "number" } : { type: "array", items: nested(levels - 1) }
    assert.strictEqual(Describe.typeText({}, nested(4)), "number[][][][]")
  })
})
