import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Schema } from "effect"
import * as FastCheck from "effect/FastCheck"
import * as DecodeResult from "../../src/tools/decodeResult.ts"
import * as ToolResult from "../../src/tools/ToolResult.ts"
import type * as JsonRpc from "../../src/transport/JsonRpc.ts"
import { runs } from "../support/runs.ts"

const decode = (raw: JsonRpc.JsonObject, era: DecodeResult.DecodeOptions["era"] = "session") =>
  DecodeResult.decode(raw, { era })

const decoded = (raw: JsonRpc.JsonObject, era?: DecodeResult.DecodeOptions["era"]) =>
  Either.getOrThrowWith(decode(raw, era), ({ path }) => new Error(path))

const fault = (raw: JsonRpc.JsonObject, era?: DecodeResult.DecodeOptions["era"]) =>
  Either.getOrThrow(Either.flip(decode(raw, era))).path

describe("DecodeResult.decode", () => {
  it("tells the kinds of content apart and keeps each as it came", () => {
    const content: Array<JsonRpc.JsonObject> = [
      { type: "text", text: "hi", annotations: { priority: 1 } },
      { type: "image", data: "AAAA", mimeType: "image/png" },
      { type: "audio", data: "AAAA", mimeType: "audio/wav" },
      { type: "resource", resource: { uri: "a:b", text: "x" } },
      { type: "resource_link", uri: "a:b", name: "n" },
      { type: "hologram", data: 1 }
    ]
    const result = decoded({ content })
    assert.deepStrictEqual(
      result.content.map(({ _tag }) => _tag),
      ["Text", "Image", "Audio", "Resource", "ResourceLink", "Unknown"]
    )
    assert.deepStrictEqual(result.content.map(({ raw }) => raw), content)
  })

  it("keeps a part that lacks what its kind needs as Unknown, beside its siblings", () => {
    const result = decoded({
      content: [{ type: "text" }, { type: "image", data: "x" }, null, 7, { type: "text", text: "still here" }]
    })
    assert.deepStrictEqual(
      result.content.map(({ _tag }) => _tag),
      ["Unknown", "Unknown", "Unknown", "Unknown", "Text"]
    )
  })

  it("does not look into base64", () => {
    const part = decoded({ content: [{ type: "image", data: "not base64!", mimeType: "x" }] }).content[0]
    assert.strictEqual(part?._tag, "Image")
  })

  it("takes missing content for none", () => {
    assert.deepStrictEqual(decoded({}).content, [])
    assert.deepStrictEqual(decoded({ content: null }).content, [])
  })

  for (const content of ["text", 1, {}, true] as const) {
    it(`refuses the content ${JSON.stringify(content)}`, () => assert.strictEqual(fault({ content }), "/content"))
  }

  it("is an error only if the server says exactly that", () => {
    assert.isTrue(decoded({ isError: true }).isError)
    for (const isError of [false, null, "true", 1]) assert.isFalse(decoded({ isError }).isError)
  })

  it("takes any JSON value for structured content in the stateless era", () => {
    for (const structuredContent of [null, 0, false, "", [], {}]) {
      assert.strictEqual(decoded({ structuredContent }, "stateless").structuredContent, structuredContent)
    }
  })

  it("takes null for no structured content in the session era", () => {
    assert.isUndefined(decoded({ structuredContent: null }).structuredContent)
  })

  it("keeps the result as it came, with its meta", () => {
    const raw = { content: [], _meta: { "a/b": 1 }, future: [1] }
    assert.strictEqual(decoded(raw).raw, raw)
    assert.deepStrictEqual(decoded(raw).meta, { "a/b": 1 })
  })

  it("refuses a kind of result that was not requested, in the era that has kinds", () => {
    assert.strictEqual(fault({ resultType: "task" }, "stateless"), "/resultType")
    assert.isTrue(Either.isRight(decode({ resultType: "task" }, "session")))
    assert.isTrue(Either.isRight(decode({ resultType: "complete" }, "stateless")))
  })

  it("never throws and loses no part, whatever the parts are", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.array(FastCheck.jsonValue()), FastCheck.nat(), (parts, at) => {
        const position = at % (parts.length + 1)
        const good = { type: "text", text: "the good one" }
        // the cast: fast-check's JSON values are JSON
        const content = [...parts.slice(0, position), good, ...parts.slice(position)] as ReadonlyArray<JsonRpc.Json>
        const result = decoded({ content })
        assert.strictEqual(result.content.length, parts.length + 1)
        assert.deepStrictEqual(result.content[position], { _tag: "Text", text: "the good one", raw: good })
      }),
      { numRuns: runs(500) }
    )
  })
})

describe("ToolResult.text", () => {
  it("joins the text parts and leaves out the others", () => {
    const content = [{ type: "text", text: "a" }, { type: "image", data: "AAAA", mimeType: "image/png" }]
    assert.strictEqual(ToolResult.text(decoded({ content: [...content, { type: "text", text: "b" }] })), "a\nb")
    assert.strictEqual(ToolResult.text(decoded({ content: [] })), "")
  })
})

describe("ToolResult.json", () => {
  const Weather = Schema.Struct({ city: Schema.String, at: Schema.Date })
  const encoded = { city: "Bern", at: "2026-01-01T00:00:00.000Z" }
  const weather = { city: "Bern", at: new Date("2026-01-01T00:00:00.000Z") }

  it.effect("decodes the structured content before the text", () =>
    Effect.gen(function*() {
      const result = decoded({ content: [{ type: "text", text: "no JSON" }], structuredContent: encoded })
      assert.deepStrictEqual(yield* ToolResult.json(Weather)(result), weather)
    }))

  it.effect("decodes the text as JSON if there is no structured content", () =>
    Effect.gen(function*() {
      const result = decoded({ content: [{ type: "text", text: JSON.stringify(encoded) }] })
      assert.deepStrictEqual(yield* ToolResult.json(Weather)(result), weather)
    }))

  it.effect("fails with ParseError for a value of another shape and for a text that is not JSON", () =>
    Effect.gen(function*() {
      const results = [
        { content: [], structuredContent: { city: 1 } },
        { content: [{ type: "text", text: "sunny" }] },
        { content: [] }
      ]
      for (const result of results) {
        assert.strictEqual((yield* Effect.flip(ToolResult.json(Weather)(decoded(result))))._tag, "ParseError")
      }
    }))
})

describe("ToolResult.orFail", () => {
  const metadata = { serverName: "weather", toolName: "forecast" }

  it.effect("gives the result back unless the tool reported failure", () =>
    Effect.gen(function*() {
      const good = { ...decoded({ content: [] }), metadata }
      assert.strictEqual(yield* ToolResult.orFail(good), good)
      const bad = { ...decoded({ content: [{ type: "text", text: "no such city" }], isError: true }), metadata }
      const error = yield* Effect.flip(ToolResult.orFail(bad))
      assert.deepInclude(error, { _tag: "ToolError", server: "weather", tool: "forecast", detail: "no such city" })
      assert.strictEqual(error.result, bad)
    }))
})
