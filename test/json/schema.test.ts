import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import type { Json } from "../../src/json/Json.ts"
import * as Schema from "../../src/json/schema.ts"
import { runs } from "../support/runs.ts"

describe("walk", () => {
  it("visits each field and each item once, with its position", () => {
    const seen: Array<string> = []
    Schema.walk({
      properties: { default: { type: "string" } },
      items: [{ enum: [{ items: 1 }] }],
      unknown: { $ref: "#" }
    }, (key, _, { depth, position }) => {
      seen.push(`${position}:${key}:${depth}`)
      return true
    })
    assert.sameMembers(seen, [
      "schema:properties:1",
      "schema:items:1",
      "schema:unknown:1",
      "schema:$ref:2",
      "map:default:2",
      "schema:type:3",
      "schema:0:2",
      "schema:enum:3",
      "data:0:4",
      "data:items:5"
    ])
  })

  it("stops as soon as a visit returns false", () => {
    let visits = 0
    Schema.walk({ a: {}, b: {}, c: {} }, () => ++visits < 2)
    assert.strictEqual(visits, 2)
  })

  it("reaches the end of a schema nested a hundred thousand levels deep", () => {
    let schema: object = { last: true }
    for (let at = 0; at < 100_000; at++) schema = { items: schema }
    let found = false
    Schema.walk(schema, (key) => {
      found ||= key === "last"
      return true
    })
    assert.isTrue(found)
  })
})

describe("subschemas", () => {
  it("are the values of keywords that hold schemas, and no data", () => {
    const found = Schema.subschemas({
      properties: { a: true },
      allOf: [{}, false],
      items: { type: "string" },
      default: { items: {} },
      title: "x"
    })
    assert.deepStrictEqual(found, [
      { keyword: "properties", name: "a", schema: true },
      { keyword: "allOf", name: undefined, schema: {} },
      { keyword: "allOf", name: undefined, schema: false },
      { keyword: "items", name: undefined, schema: { type: "string" } }
    ])
  })
})

describe("pointed", () => {
  it("follows the pointer of any value, whatever its keys are", () => {
    const encoded = (key: string | number): string =>
      encodeURIComponent(String(key).replaceAll("~", "~0").replaceAll("/", "~1"))
    const places = (value: Json, pointer: string): ReadonlyArray<readonly [pointer: string, value: Json]> => [
      [pointer, value],
      ...(Array.isArray(value)
        ? value.flatMap((item: Json, at) => places(item, `${pointer}/${at}`))
        : Schema.entriesOf(value).flatMap(([key, item]) => places(item, `${pointer}/${encoded(key)}`)))
    ]
    FastCheck.assert(
      FastCheck.property(FastCheck.jsonValue({ maxDepth: 3 }), (value) => {
        const root = JSON.parse(JSON.stringify(value)) as Json // read back as JSON
        for (const [pointer, item] of places(root, "#")) assert.strictEqual(Schema.pointed(root, pointer), item)
      }),
      { numRuns: runs(2000) }
    )
  })

  it("leads nowhere outside of the schema", () => {
    const root = { $id: "https://a/b", $defs: { x: { type: "string" } } }
    assert.strictEqual(Schema.pointed(root, "https://a/b#/$defs/x"), root.$defs.x)
    for (
      const ref of ["https://a/c", "#x", "other.json#/$defs/x", "#/$defs/y", "#/$defs/x/type/length/0", "#/toString"]
    ) {
      assert.isUndefined(Schema.pointed(root, ref), ref)
    }
    assert.isUndefined(Schema.localPointer(root, "https://a/c"))
  })
})
