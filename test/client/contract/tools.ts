import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { type Cell, era, type It, Opened, textOf } from "./cell.ts"

const named = [
  "add",
  "add_prompt",
  "add_resource",
  "add_tool",
  "add_wrongly",
  "big",
  "cancelled",
  "chatter",
  "client",
  "echo",
  "elicit",
  "fail",
  "kinds",
  "mirrored",
  "no_type",
  "progress",
  "roots",
  "roots_changes",
  "sample",
  "sandbox",
  "slow",
  "started",
  "touch"
]

const many = Array.from({ length: 12 }, (_, n) => `many_${String(n).padStart(2, "0")}`)

/** Tools and their calls. */
export const tools = (it: It, cell: Cell): void => {
  it.effect("lists the tools of all pages", () =>
    Effect.gen(function*() {
      const { session } = yield* Opened
      const { tools } = yield* session.tools
      // Another test of this session may have added tools in the meantime.
      const names = tools.map((tool) => tool.name).filter((name) => !name.startsWith("added_"))
      const expected = [...named, ...many, ...(cell.kind === "1.x" ? ["job"] : [])]
      assert.deepStrictEqual(names.toSorted(), expected.toSorted())
    }))

  it.effect("keeps a tool whose schema has no type, as an object", () =>
    Effect.gen(function*() {
      const { session } = yield* Opened
      const { tools } = yield* session.tools
      const odd = tools.find((tool) => tool.name === "no_type")
      assert.deepInclude(odd?.inputSchema, { type: "object", properties: { value: { type: "string" } } })
    }))

  it.effect("lists a tool that cannot be offered separately, with the reason", () =>
    Effect.gen(function*() {
      const { session } = yield* Opened
      const { rejected } = yield* session.tools
      assert.deepStrictEqual(
        rejected.map(({ name, reason }) => ({ name, reason })),
        [{ name: "broken", reason: "schema-malformed" }]
      )
    }))

  it.effect("keeps the annotations and metadata of a tool", () =>
    Effect.gen(function*() {
      const { session } = yield* Opened
      const { tools } = yield* session.tools
      const echo = tools.find((tool) => tool.name === "echo")
      assert.strictEqual(echo?.title, "Echo")
      assert.strictEqual(echo?.description, "The tool echo.")
      assert.deepInclude(echo?.annotations, { readOnlyHint: true, idempotentHint: true })
      assert.isDefined(tools.find((tool) => tool.name === "add")?.outputSchema)
    }))

  it.effect("calls a tool", () =>
    Effect.gen(function*() {
      const { session } = yield* Opened
      const result = yield* session.callTool("echo", { value: "héllo \u{1f600}\n" })
      assert.strictEqual(textOf(result), "héllo \u{1f600}\n")
      assert.isFalse(result.isError)
    }))

  it.effect("calls a tool before any list was asked for", () =>
    Effect.gen(function*() {
      const { session } = yield* Opened
      assert.strictEqual(textOf(yield* session.callTool("many_03")), "many_03")
    }))

  it.effect("returns structured content", () =>
    Effect.gen(function*() {
      const { session } = yield* Opened
      const result = yield* session.callTool("add", { a: 2, b: 3 })
      assert.deepStrictEqual(result.structuredContent, { sum: 5 })
      assert.strictEqual(textOf(result), "5")
    }))

  it.effect("refuses structured content that violates the tool's output schema", () =>
    Effect.gen(function*() {
      const { session } = yield* Opened
      yield* session.tools
      const error = yield* Effect.flip(session.callTool("add_wrongly", { a: 2, b: 3 }))
      assert.deepInclude(error, { _tag: "ProtocolViolation", reason: "tool-result" })
      assert.strictEqual(error.outcome, "executed")
    }))

  it.effect("keeps such content where the caller asks for it", () =>
    Effect.gen(function*() {
      const { session } = yield* Opened
      yield* session.tools
      const result = yield* session.callTool("add_wrongly", { a: 2, b: 3 }, { outputMismatch: "keep" })
      assert.deepStrictEqual(result.structuredContent, { sum: "23" })
    }))

  it.effect("returns the failure of a tool as a result", () =>
    Effect.gen(function*() {
      const { session } = yield* Opened
      const result = yield* session.callTool("fail", { why: "not today" })
      assert.isTrue(result.isError)
      assert.strictEqual(textOf(result), "not today")
    }))

  it.effect("decodes every kind of content, and keeps the metadata", () =>
    Effect.gen(function*() {
      const { session } = yield* Opened
      const result = yield* session.callTool("kinds")
      assert.deepStrictEqual(result.content.map((content) => content._tag), [
        "Text",
        "Image",
        "Audio",
        "Resource",
        "ResourceLink"
      ])
      assert.deepInclude(result.meta, { "peer/kept": true })
    }))

  it.effect("fails a call of an unknown tool with the server's answer", () =>
    Effect.gen(function*() {
      const { session } = yield* Opened
      const error = yield* Effect.flip(session.callTool("nobody"))
      assert.deepInclude(error, { _tag: "RemoteError", code: -32_602, outcome: "executed" })
    }))

  if (era(cell) === "stateless" && cell.transport === "streamable-http") {
    it.effect("mirrors an argument into the header that the tool's schema asks for", () =>
      Effect.gen(function*() {
        const { session } = yield* Opened
        yield* session.tools
        assert.strictEqual(textOf(yield* session.callTool("mirrored", { region: "eu west" })), "eu west")
      }))
  }

  if (era(cell) === "stateless") {
    it.effect("keeps the server's caching hints", () =>
      Effect.gen(function*() {
        const { session } = yield* Opened
        const { cacheScope, ttlMs } = yield* session.tools
        assert.deepStrictEqual({ cacheScope, ttlMs }, { cacheScope: "private", ttlMs: 0 })
      }))
  }
}
