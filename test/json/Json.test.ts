import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { argumentsFault, notJson } from "../../src/json/Json.ts"
import { runs } from "../support/runs.ts"

describe("notJson", () => {
  it("accepts every JSON value within the limit of nodes", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.jsonValue({ maxDepth: 5 }), (value) => {
        assert.isUndefined(notJson(value, 100_000, "arguments"))
      }),
      { numRuns: runs(2000) }
    )
    assert.isUndefined(notJson({ a: undefined, b: new Date(0) }, 10, "arguments"))
  })

  it("says where a value is not JSON", () => {
    const at = (value: unknown) => notJson(value, 1000, "arguments")
    assert.deepStrictEqual(at({ a: [1, { b: Number.NaN }] }), { path: "arguments/a/1/b", detail: "NaN is not JSON" })
    assert.deepStrictEqual(at({ a: 1n }), { path: "arguments/a", detail: "a bigint is not JSON" })
    assert.deepStrictEqual(at([() => 1]), { path: "arguments/0", detail: "a function is not JSON" })
    assert.deepStrictEqual(at(Symbol("x")), { path: "arguments", detail: "a symbol is not JSON" })
  })

  it("judges what toJSON gives to JSON.stringify", () => {
    const at = (value: unknown) => notJson(value, 1000, "arguments")
    const giving = (value: unknown) => ({ toJSON: () => value })
    assert.deepStrictEqual(at({ a: giving(Number.NaN) }), { path: "arguments/a", detail: "NaN is not JSON" })
    assert.deepStrictEqual(at({ a: [giving({ b: 1n })] }), {
      path: "arguments/a/0/b",
      detail: "a bigint is not JSON"
    })
    assert.isUndefined(at({ a: giving(undefined), b: giving({ toJSON: "a text" }), c: new Date(0) }))
    const keys: Array<string> = []
    const recording = { toJSON: (key: string) => keys.push(key) }
    assert.isUndefined(at({ a: recording, b: [recording] }))
    assert.deepStrictEqual(keys, ["a", "0"])
    const nested = (): unknown => ({ toJSON: () => ({ inner: nested() }) })
    assert.match(at(nested())?.detail ?? "", /nested more than/)
    const throwing = {
      toJSON: () => {
        throw new Error("no")
      }
    }
    assert.deepStrictEqual(at({ a: throwing }), {
      path: "arguments",
      detail: "a getter or a toJSON method of it has thrown"
    })
  })

  it("refuses cyclic values and those over the limit", () => {
    const cyclic: { [key: string]: unknown } = {}
    cyclic["self"] = [cyclic]
    assert.match(notJson(cyclic, 100_000, "arguments")?.detail ?? "", /cyclic/)
    assert.strictEqual(notJson({ a: [1, 2, 3] }, 3, "arguments")?.detail, "larger than the message limit")
    assert.isUndefined(notJson({ a: [1, 2, 3] }, 4, "arguments"))
  })
})

describe("argumentsFault", () => {
  it("refuses what is not an object", () => {
    for (const args of [undefined, null, 1, "x", [1], new Date(0), { toJSON: () => [] }]) {
      assert.deepStrictEqual(argumentsFault(args, 10), { path: "arguments", detail: "not an object" })
    }
    assert.isUndefined(argumentsFault({ a: 1 }, 10))
    assert.isUndefined(argumentsFault({ toJSON: () => ({ a: 1 }) }, 10))
  })
})
