import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, TestClock } from "effect"
import * as FastCheck from "effect/FastCheck"
import * as McpClient from "../../src/client/McpClient.ts"
import type * as JsonRpc from "../../src/transport/JsonRpc.ts"
import * as Fake from "../support/fakeConnection.ts"

const tool = (name: string, more: JsonRpc.JsonObject = {}): JsonRpc.JsonObject => ({
  name,
  inputSchema: { type: "object" },
  ...more
})

const opened = (options: Fake.Options) =>
  Effect.gen(function*() {
    const connection = yield* Fake.make(options)
    return { connection, session: yield* McpClient.make(connection) }
  })

/** Pages by cursor; `undefined` is the first. */
const paged = (pages: (cursor: unknown, nth: number) => JsonRpc.JsonObject): Fake.Answer => (asked, nth) =>
  Effect.succeed(pages(asked.params?.["cursor"], nth))

describe("McpClient lists", () => {
  it.effect("sends no request before the list is read", () =>
    Effect.gen(function*() {
      const { connection } = yield* opened({})
      assert.deepStrictEqual(connection.asked, [])
    }))

  it.effect("gathers all pages, each asked for by the cursor before", () =>
    Effect.gen(function*() {
      const { connection, session } = yield* opened({
        answers: {
          "tools/list": paged((_, nth) => ({ tools: [tool(`t${nth}`)], ...(nth < 2 ? { nextCursor: `c${nth}` } : {}) }))
        }
      })
      const { tools } = yield* session.tools
      assert.deepStrictEqual(tools.map(({ name }) => name), ["t0", "t1", "t2"])
      assert.deepStrictEqual(connection.askedFor("tools/list").map(({ params }) => params), [
        undefined,
        { cursor: "c0" },
        { cursor: "c1" }
      ])
    }))

  it.effect("follows the empty cursor, which is a cursor like any other", () =>
    Effect.gen(function*() {
      const { session } = yield* opened({
        answers: {
          "tools/list": paged((cursor) =>
            cursor === undefined ? { tools: [tool("a")], nextCursor: "" } : { tools: [tool("b")] }
          )
        }
      })
      assert.strictEqual((yield* session.tools).tools.length, 2)
    }))

  it.effect("ends at a repeated cursor, without the page that the server sent twice", () =>
    Effect.gen(function*() {
      const { connection, session } = yield* opened({
        answers: { "tools/list": { tools: [tool("a"), tool("b")], nextCursor: "" } }
      })
      const { rejected, tools } = yield* session.tools
      assert.deepStrictEqual(tools.map(({ name }) => name), ["a", "b"])
      assert.deepStrictEqual(rejected, [])
      assert.strictEqual(connection.asked.length, 2)
    }))

  it.effect("ends at a repeated cursor with the items of the pages before it", () =>
    Effect.gen(function*() {
      const { session } = yield* opened({
        answers: { "tools/list": paged((_, nth) => ({ tools: [tool(`t${nth}`)], nextCursor: "same" })) }
      })
      assert.deepStrictEqual((yield* session.tools).tools.map(({ name }) => name), ["t0", "t1"])
    }))

  it.effect("fails after maxPages", () =>
    Effect.gen(function*() {
      const { connection, session } = yield* opened({
        answers: { "tools/list": paged((_, nth) => ({ tools: [], nextCursor: `c${nth}` })) }
      })
      const error = yield* Effect.flip(session.tools)
      assert(error._tag === "ProtocolViolation" && error.reason === "pagination")
      assert.deepStrictEqual([error.exceeds, error.pages, error.limit], ["pages", 100, 100])
      assert.strictEqual(connection.asked.length, 100)
    }))

  it.effect("takes exactly maxPages", () =>
    Effect.gen(function*() {
      const { session } = yield* opened({
        limits: { maxPages: 3 },
        answers: {
          "tools/list": paged((_, nth) => ({ tools: [tool(`t${nth}`)], ...(nth < 2 ? { nextCursor: `${nth}` } : {}) }))
        }
      })
      assert.strictEqual((yield* session.tools).tools.length, 3)
    }))

  it.effect("fails above maxItems, over all pages", () =>
    Effect.gen(function*() {
      const { session } = yield* opened({
        limits: { maxItems: 3 },
        answers: {
          "resources/list": paged((_, nth) => ({ resources: [{ uri: "a" }, { uri: "b" }], nextCursor: `${nth}` }))
        }
      })
      const error = yield* Effect.flip(session.resources)
      assert(error._tag === "ProtocolViolation" && error.reason === "pagination")
      assert.deepStrictEqual([error.exceeds, error.pages, error.limit], ["items", 2, 3])
    }))

  it.effect("fails on a cursor over maxCursorBytes, counted in bytes", () =>
    Effect.gen(function*() {
      for (const [nextCursor, reason] of [["ééé", "cursor-size"], ["eee", undefined]] as const) {
        const { session } = yield* opened({
          limits: { maxCursorBytes: 5 },
          answers: {
            "prompts/list": paged((cursor) => ({ prompts: [], ...(cursor === undefined ? { nextCursor } : {}) }))
          }
        })
        const error = yield* Effect.option(Effect.flip(session.prompts))
        assert.strictEqual(
          error._tag === "Some" && error.value._tag === "ProtocolViolation" && error.value.reason === "pagination"
            ? error.value.exceeds
            : undefined,
          reason
        )
      }
    }))

  it.effect("fails with the error of a page; there is no silent half of a list", () =>
    Effect.gen(function*() {
      const { session } = yield* opened({
        answers: {
          "tools/list": (_, nth) =>
            nth === 2
              ? Effect.fail(Fake.remoteError(-32601))
              : Effect.succeed({ tools: [tool(`t${nth}`)], nextCursor: `${nth}` })
        }
      })
      assert.strictEqual((yield* Effect.flip(session.tools))._tag, "RemoteError")
    }))

  it.effect("has one deadline for all pages together", () =>
    Effect.gen(function*() {
      const { session } = yield* opened({
        answers: {
          "tools/list": (_, nth) => Effect.delay(Effect.succeed({ tools: [], nextCursor: `${nth}` }), "20 seconds")
        }
      })
      const fiber = yield* Effect.fork(Effect.flip(session.tools))
      yield* TestClock.adjust("31 seconds")
      const error = yield* Fiber.join(fiber)
      assert(error._tag === "RequestTimeout")
      assert.deepStrictEqual([error.kind, error.operation], ["total", "tools/list"])
    }))

  it.effect("is empty if the server does not know the method", () =>
    Effect.gen(function*() {
      const { session } = yield* opened({})
      assert.deepStrictEqual((yield* session.tools).tools, [])
      assert.deepStrictEqual((yield* session.resources).items, [])
      assert.deepStrictEqual((yield* session.resourceTemplates).items, [])
      assert.deepStrictEqual((yield* session.prompts).items, [])
    }))

  it.effect("fails with any other error", () =>
    Effect.gen(function*() {
      const { session } = yield* opened({ answers: { "prompts/list": () => Effect.fail(Fake.remoteError(-32603)) } })
      assert.strictEqual((yield* Effect.flip(session.prompts))._tag, "RemoteError")
    }))

  it.effect("requests no list that the server does not declare", () =>
    Effect.gen(function*() {
      const { connection, session } = yield* opened({ capabilities: { tools: {} } })
      assert.deepStrictEqual((yield* session.prompts).items, [])
      assert.deepStrictEqual((yield* session.resources).items, [])
      assert.deepStrictEqual(connection.asked, [])
    }))

  it.effect("asks a server that declares nothing at all", () =>
    Effect.gen(function*() {
      const { session } = yield* opened({ capabilities: {}, answers: { "tools/list": { tools: [tool("a")] } } })
      assert.strictEqual((yield* session.tools).tools.length, 1)
    }))

  it.effect("takes the least ttl of all pages, and private if one of them is", () =>
    Effect.gen(function*() {
      const pages = [
        { tools: [], ttlMs: 500, cacheScope: "public", nextCursor: "a" },
        { tools: [], ttlMs: 200, cacheScope: "private", nextCursor: "b" },
        { tools: [], ttlMs: 300, cacheScope: "public" }
      ]
      const { session } = yield* opened({ answers: { "tools/list": paged((_, nth) => pages[nth]!) } })
      const { cacheScope, ttlMs } = yield* session.tools
      assert.deepStrictEqual([ttlMs, cacheScope], [200, "private"])
    }))

  it.effect("is public only if every page is, and ignores invalid hints", () =>
    Effect.gen(function*() {
      const pages = [{ prompts: [], ttlMs: "soon", cacheScope: "public", nextCursor: "a" }, { prompts: [], ttlMs: -1 }]
      const { session } = yield* opened({ answers: { "prompts/list": paged((_, nth) => pages[nth]!) } })
      const { cacheScope, ttlMs } = yield* session.prompts
      assert.deepStrictEqual([ttlMs, cacheScope], [undefined, undefined])
    }))

  it.effect("refuses items that are not an array and cursors that are not a string", () =>
    Effect.gen(function*() {
      for (const page of [{ tools: "none" }, { tools: [], nextCursor: 7 }]) {
        const { session } = yield* opened({ answers: { "tools/list": page } })
        assert.strictEqual((yield* Effect.flip(session.tools))._tag, "ProtocolViolation")
      }
    }))

  it.effect("sets the bad tools apart", () =>
    Effect.gen(function*() {
      const { session } = yield* opened({
        answers: { "tools/list": { tools: [tool("a"), { name: "" }, tool("a"), tool("b")] } }
      })
      const { rejected, tools } = yield* session.tools
      assert.deepStrictEqual(tools.map(({ name }) => name), ["a", "b"])
      assert.deepStrictEqual(rejected.map(({ reason }) => reason), ["name-empty", "duplicate"])
    }))

  it.effect("drops tools with wrong header annotations in the stateless era, except over stdio", () =>
    Effect.gen(function*() {
      const wrong = tool("wrong", {
        inputSchema: { type: "object", properties: { a: { type: "number", "x-mcp-header": "A" } } }
      })
      const names = (options: Fake.Options) =>
        Effect.gen(function*() {
          const { session } = yield* opened({ ...options, answers: { "tools/list": { tools: [wrong, tool("a")] } } })
          return (yield* session.tools).tools.map(({ name }) => name)
        })
      assert.deepStrictEqual(yield* names({ era: "stateless", transport: "streamable-http" }), ["a"])
      assert.deepStrictEqual(yield* names({ era: "stateless", transport: "stdio" }), ["wrong", "a"])
      assert.deepStrictEqual(yield* names({ era: "session", transport: "streamable-http" }), ["wrong", "a"])
    }))

  it.effect("reads resources, templates and prompts, and counts items without a key", () =>
    Effect.gen(function*() {
      const { session } = yield* opened({
        answers: {
          "resources/list": {
            resources: [{ uri: "a:1", name: "n", mimeType: "text/plain", size: 3 }, { name: "no uri" }, null]
          },
          "resources/templates/list": { resourceTemplates: [{ uriTemplate: "a:{x}", title: "T" }, {}] },
          "prompts/list": {
            prompts: [
              { name: "p", arguments: [{ name: "x", required: true }, { name: "y", description: "why" }, {}] },
              { name: "q", arguments: "none" },
              7
            ]
          }
        }
      })
      const resources = yield* session.resources
      assert.deepStrictEqual(resources.items.map(({ mimeType, name, uri }) => [uri, name, mimeType]), [[
        "a:1",
        "n",
        "text/plain"
      ]])
      assert.strictEqual(resources.items[0]!.raw["size"], 3)
      assert.strictEqual(resources.malformed, 2)
      const templates = yield* session.resourceTemplates
      assert.deepStrictEqual(templates.items.map(({ title, uriTemplate }) => [uriTemplate, title]), [["a:{x}", "T"]])
      assert.strictEqual(templates.malformed, 1)
      const prompts = yield* session.prompts
      assert.deepStrictEqual(prompts.items.map(({ name }) => name), ["p", "q"])
      assert.deepStrictEqual(prompts.items[0]!.arguments, [
        { name: "x", description: undefined, required: true },
        { name: "y", description: "why", required: false }
      ])
      assert.strictEqual(prompts.malformed, 1)
    }))

  it.effect.prop(
    "always end, whatever graph the cursors make, and each tool is offered once",
    {
      edges: FastCheck.array(FastCheck.option(FastCheck.nat(30)), { minLength: 1, maxLength: 30 }),
      sizes: FastCheck.array(FastCheck.nat(4), { minLength: 30, maxLength: 30 })
    },
    ({ edges, sizes }) =>
      Effect.gen(function*() {
        const page = (cursor: unknown) => {
          const at = cursor === undefined ? 0 : Number(cursor)
          const next = edges[at]
          return {
            tools: Array.from({ length: sizes[at] ?? 0 }, (_, i) => tool(`t${at}-${i}`)),
            ...(next === null || next === undefined ? {} : { nextCursor: String(next) })
          }
        }
        const { connection, session } = yield* opened({ answers: { "tools/list": paged(page) } })
        const { tools } = yield* session.tools
        assert.strictEqual(new Set(tools.map(({ name }) => name)).size, tools.length)
        assert.isAtMost(connection.asked.length, edges.length + 2)
        const reached = new Set(connection.asked.map(({ params }) => Number(params?.["cursor"] ?? 0)))
        const names = new Set(tools.map(({ name }) => name))
        for (const at of reached) {
          for (let i = 0; i < (sizes[at] ?? 0); i++) assert.isTrue(names.has(`t${at}-${i}`))
        }
      }),
    { fastCheck: { numRuns: 60 } }
  )
})
