import { assert, describe, it } from "@effect/vitest"
import { Either } from "effect"
import * as FastCheck from "effect/FastCheck"
import { toObject } from "../../src/json/Json.ts"
import { runs } from "../support/runs.ts"

const at = (value: unknown, maxNodes = 1_000) => Either.merge(toObject({ value }, maxNodes, "arguments"))

describe("toObject", () => {
  it("copies every JSON value within the limit of nodes", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.jsonValue({ maxDepth: 5 }), (value) => {
        assert.deepStrictEqual(at(value, 100_000), { value })
      }),
      { numRuns: runs(2000) }
    )
    assert.strictEqual(
      JSON.stringify(at({ a: undefined, b: new Date(0) })),
      `{"value":{"b":"1970-01-01T00:00:00.000Z"}}`
    )
    const own: unknown = JSON.parse(`{"__proto__":{"a":1}}`)
    assert.strictEqual(JSON.stringify(at(own)), `{"value":{"__proto__":{"a":1}}}`)
  })

  it("says where a value is not JSON", () => {
    const path = "arguments/value"
    assert.deepStrictEqual(at({ a: [1, { b: Number.NaN }] }), { path: `${path}/a/1/b`, detail: "NaN is not JSON" })
    assert.deepStrictEqual(at({ a: 1n }), { path: `${path}/a`, detail: "a bigint is not JSON" })
    assert.deepStrictEqual(at([() => 1]), { path: `${path}/0`, detail: "a function is not JSON" })
    assert.deepStrictEqual(at(Symbol("x")), { path, detail: "a symbol is not JSON" })
  })

  it("judges and returns what toJSON gives to JSON.stringify, and calls it once", () => {
    const path = "arguments/value"
    const giving = (value: unknown) => ({ toJSON: () => value })
    assert.deepStrictEqual(at({ a: giving(Number.NaN) }), { path: `${path}/a`, detail: "NaN is not JSON" })
    assert.deepStrictEqual(at([giving({ b: 1n })]), { path: `${path}/0/b`, detail: "a bigint is not JSON" })
    assert.deepStrictEqual(at({ a: giving(undefined), b: giving({ toJSON: "a text" }) }), {
      value: { a: undefined, b: { toJSON: "a text" } }
    })
    let calls = 0
    const recording = { toJSON: (key: string) => `${key}:${++calls}` }
    assert.deepStrictEqual(at({ a: recording, b: [recording] }), { value: { a: "a:1", b: ["0:2"] } })
    const nested = (): unknown => ({ toJSON: () => ({ inner: nested() }) })
    assert.match(JSON.stringify(at(nested())), /nested more than/)
    const throwing = {
      toJSON: () => {
        throw new Error("no")
      }
    }
    assert.deepStrictEqual(at(throwing), {
      path: "arguments",
      detail: "one of its getters or toJSON methods threw an error"
    })
  })

  it("refuses cyclic values and those over the limit", () => {
    const cyclic: { [key: string]: unknown } = {}
    cyclic["self"] = [cyclic]
    assert.match(JSON.stringify(at(cyclic)), /cyclic/)
    assert.match(JSON.stringify(at({ a: [1, 2, 3] }, 4)), /larger than the message limit/)
    assert.deepStrictEqual(at({ a: [1, 2, 3] }, 5), { value: { a: [1, 2, 3] } })
    // sparse, and refused before its items are visited
    const sparse: Array<unknown> = []
    sparse.length = 2 ** 32 - 1
    assert.match(JSON.stringify(at(sparse)), /larger than the message limit/)
  })

  it("refuses a value that is not an object", () => {
    for (const value of [undefined, null, 1, "x", [1], new Date(0), { toJSON: () => [] }]) {
      assert.deepStrictEqual(
        toObject(value, 10, "arguments"),
        Either.left({ path: "arguments", detail: "not an object" })
      )
    }
    assert.deepStrictEqual(toObject({ toJSON: () => ({ a: 1 }) }, 10, "arguments"), Either.right({ a: 1 }))
  })
})
