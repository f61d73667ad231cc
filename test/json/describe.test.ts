import { assert, describe, it } from "@effect/vitest"
import * as Describe from "../../src/json/describe.ts"
import type { JsonObject } from "../../src/json/Json.ts"

const refs = (count: number): ReadonlyArray<JsonObject> => Array.from({ length: count }, () => ({ $ref: "#" }))

describe("describe", () => {
  it("bounds the alternatives of a schema whose references multiply", () => {
    for (const keyword of ["anyOf", "oneOf", "allOf"]) {
      const schema = { [keyword]: refs(40) }
      const count = Describe.alternatives(schema, schema).length
      assert.isTrue(count > 0 && count < 100_000, `${keyword}: ${count}`)
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
