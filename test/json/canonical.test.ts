import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { createHash } from "node:crypto"
import { canonicalJson, sha256 } from "../../src/json/canonical.ts"
import { isObject } from "../../src/json/Json.ts"
import { runs } from "../support/runs.ts"

const json = FastCheck.jsonValue({ maxDepth: 4 })

/** The same value with the keys of each object in reverse order. */
const reversed = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(reversed)
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).toReversed().map(([key, item]) => [key, reversed(item)]))
}

describe("canonicalJson", () => {
  it("does not depend on the order of keys, and reads back as the same value", () => {
    FastCheck.assert(
      FastCheck.property(json, (value) => {
        const text = canonicalJson(value)
        assert.strictEqual(canonicalJson(reversed(value)), text)
        assert.deepStrictEqual(JSON.parse(text), JSON.parse(JSON.stringify(value)))
      }),
      { numRuns: runs(5000) }
    )
  })

  it("differs for values that differ", () => {
    FastCheck.assert(
      FastCheck.property(json, json, (one, other) => {
        if (canonicalJson(one) !== canonicalJson(other)) return
        assert.deepStrictEqual(JSON.parse(JSON.stringify(one)), JSON.parse(JSON.stringify(other)))
      }),
      { numRuns: runs(5000) }
    )
    for (const [one, other] of [[[1, 2], [2, 1]], ["1", 1], [{}, []], [null, "null"], [Infinity, null], [[[]], []]]) {
      assert.notStrictEqual(canonicalJson(one), canonicalJson(other))
    }
  })

  it("leaves undefined fields out", () => {
    assert.strictEqual(canonicalJson({ b: undefined, a: [1, { d: undefined, c: "x" }] }), "{\"a\":[1,{\"c\":\"x\"}]}")
  })

  it("sorts the lists of a schema whose order means nothing, and no others", () => {
    const schema = (required: ReadonlyArray<string>, choices: ReadonlyArray<string>) =>
      canonicalJson({ properties: { a: { type: required, enum: choices, default: { required } } } }, true)
    assert.notStrictEqual(schema(["b", "a"], ["x"]), schema(["a", "b"], ["x"]))
    assert.strictEqual(
      canonicalJson({ required: ["b", "a"], items: { type: ["null", "array"] } }, true),
      canonicalJson({ items: { type: ["array", "null"] }, required: ["a", "b"] }, true)
    )
    assert.notStrictEqual(canonicalJson({ enum: ["a", "b"] }, true), canonicalJson({ enum: ["b", "a"] }, true))
    assert.notStrictEqual(canonicalJson({ required: ["a", "b"] }), canonicalJson({ required: ["b", "a"] }))
  })

  it("writes values nested a hundred thousand levels deep", () => {
    let value: unknown = 1
    for (let at = 0; at < 100_000; at++) value = at % 2 === 0 ? [value] : { a: value }
    assert.isTrue(canonicalJson(value).endsWith("]}"))
  })
})

describe("sha256", () => {
  it("is the digest of a text or of bytes in hexadecimal", () => {
    assert.strictEqual(sha256("abc"), createHash("sha256").update("abc").digest("hex"))
    assert.strictEqual(sha256(new TextEncoder().encode("abc")), sha256("abc"))
  })
})
