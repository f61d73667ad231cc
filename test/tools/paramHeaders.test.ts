import { assert, describe, it } from "@effect/vitest"
import { Either } from "effect"
import { declarations, headersOf } from "../../src/tools/paramHeaders.ts"
import type * as JsonRpc from "../../src/transport/JsonRpc.ts"

const object = (properties: JsonRpc.JsonObject): JsonRpc.JsonObject => ({ type: "object", properties })

const headers = (schema: JsonRpc.JsonObject, args: JsonRpc.JsonObject) =>
  headersOf(Either.getOrThrowWith(declarations(schema), (reason) => new Error(reason)), args)

const wrong = (schema: JsonRpc.JsonObject) => assert.isTrue(Either.isLeft(declarations(schema)))

describe("x-mcp-header", () => {
  it("repeats texts, integers and booleans, at any depth of properties", () => {
    const schema = object({
      region: { type: "string", "x-mcp-header": "Region" },
      nested: object({
        count: { type: "integer", "x-mcp-header": "Count" },
        dry: { type: "boolean", "x-mcp-header": "Dry" }
      })
    })
    assert.deepStrictEqual(headers(schema, { region: "eu-1", nested: { count: 3, dry: false }, other: 1 }), {
      "Mcp-Param-Region": "eu-1",
      "Mcp-Param-Count": "3",
      "Mcp-Param-Dry": "false"
    })
  })

  it("leaves out what is absent, null, no primitive or beyond exact integers", () => {
    const schema = object(Object.fromEntries(
      ["a", "b", "c", "d", "e"].map((name) => [name, { type: "string", "x-mcp-header": name }])
    ))
    assert.isUndefined(headers(schema, { b: null, c: {}, d: 2 ** 60, e: Infinity }))
  })

  it("never reads what an object inherits", () => {
    const schema = object({ region: { type: "string", "x-mcp-header": "Region" } })
    assert.isUndefined(headers(schema, Object.create({ region: "inherited" })))
  })

  for (
    const [what, text, header] of [
      ["plain text as it is", "a b\tc", "a b\tc"],
      ["other characters in base64", "größe", "=?base64?Z3LDtsOfZQ==?="],
      ["the empty text in base64", "", "=?base64??="],
      ["space at an end in base64", " x", "=?base64?IHg=?="],
      ["line ends in base64", "a\r\nX: y", "=?base64?YQ0KWDogeQ==?="],
      ["what looks like base64 in base64", "=?base64?x?=", "=?base64?PT9iYXNlNjQ/eD89?="]
    ] as const
  ) {
    it(`writes ${what}`, () => {
      const schema = object({ a: { type: "string", "x-mcp-header": "A" } })
      assert.deepStrictEqual(headers(schema, { a: text }), { "Mcp-Param-A": header })
    })
  }

  it("must be a header name", () => {
    for (const name of ["", "a b", "a:b", "a\r\n", "ä", 7, null]) {
      wrong(object({ a: { type: "string", "x-mcp-header": name } }))
    }
  })

  it("must stand on a text, an integer or a boolean", () => {
    for (const type of ["number", "object", "array", "null", undefined, ["string"]]) {
      wrong(object({ a: { type, "x-mcp-header": "A" } }))
    }
  })

  it("must be used once, whatever its case", () => {
    wrong(object({ a: { type: "string", "x-mcp-header": "A" }, b: { type: "string", "x-mcp-header": "a" } }))
  })

  it("must not stand where a property is not reached by names alone", () => {
    const annotated = { type: "string", "x-mcp-header": "A" }
    wrong({ type: "object", "x-mcp-header": "A" })
    for (const keyword of ["items", "additionalProperties", "not", "if", "then", "else", "contains"]) {
      wrong(object({ a: { [keyword]: annotated } }))
      wrong(object({ a: { [keyword]: object({ b: annotated }) } }))
    }
    for (const keyword of ["allOf", "anyOf", "oneOf", "prefixItems"]) {
      wrong({ type: "object", [keyword]: [object({ a: annotated })] })
    }
    for (const keyword of ["$defs", "definitions", "patternProperties", "dependentSchemas"]) {
      wrong({ type: "object", [keyword]: { a: annotated } })
    }
  })
})
