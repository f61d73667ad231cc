import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, TestClock } from "effect"
import { Stream } from "effect"
import * as McpClient from "../../src/client/McpClient.ts"
import type * as Tasks from "../../src/client/tasks.ts"
import type * as JsonRpc from "../../src/transport/JsonRpc.ts"
import * as Fake from "../support/fakeConnection.ts"

const opened = (options: Fake.Options) =>
  Effect.gen(function*() {
    const connection = yield* Fake.make(options)
    return { connection, session: yield* McpClient.make(connection) }
  })

const text = { content: [{ type: "text", text: "done" }] }

describe("McpClient.callTool", () => {
  it.effect("sends the name and the arguments, and nothing else, in one request", () =>
    Effect.gen(function*() {
      const { connection, session } = yield* opened({ answers: { "tools/call": text } })
      const result = yield* session.callTool("echo", { a: 1 })
      assert.deepStrictEqual(result.content.map(({ _tag }) => _tag), ["Text"])
      assert.deepStrictEqual(connection.asked, [
        { method: "tools/call", params: { name: "echo", arguments: { a: 1 } }, options: undefined }
      ])
    }))

  it.effect("sends no arguments as none, and meta if it is given", () =>
    Effect.gen(function*() {
      const { connection, session } = yield* opened({ answers: { "tools/call": text } })
      yield* session.callTool("echo", undefined, { meta: { "x/y": 1 } })
      assert.deepStrictEqual(connection.asked[0]!.params, { name: "echo", arguments: {}, _meta: { "x/y": 1 } })
    }))

  it.effect("passes on its limits", () =>
    Effect.gen(function*() {
      const { connection, session } = yield* opened({ answers: { "tools/call": text } })
      yield* session.callTool("echo", {}, { idleTimeout: "5 seconds", totalTimeout: 7000 })
      assert.deepInclude(connection.asked[0]!.options, { idleTimeout: "5 seconds", totalTimeout: 7000 })
    }))

  it.effect("returns a result with isError as a value", () =>
    Effect.gen(function*() {
      const { session } = yield* opened({ answers: { "tools/call": { ...text, isError: true } } })
      assert.isTrue((yield* session.callTool("x")).isError)
    }))

  it.effect("fails with ProtocolViolation/tool-result if content is not an array", () =>
    Effect.gen(function*() {
      const { session } = yield* opened({ answers: { "tools/call": { content: "text" } } })
      const error = yield* Effect.flip(session.callTool("x"))
      assert(error._tag === "ProtocolViolation" && error.reason === "tool-result")
      assert.match(error.message, /is invalid at "\/content": `content` is not an array$/)
      assert.deepStrictEqual([error.tool, error.path, error.outcome], ["x", "/content", "executed"])
    }))

  const cyclic: { [key: string]: unknown } = {}
  cyclic["self"] = cyclic

  for (
    const [what, args, path] of [
      ["a cycle", cyclic, undefined],
      ["a BigInt", { a: [1, { b: 1n }] }, "arguments/a/1/b"],
      ["a function", { a: () => 1 }, "arguments/a"],
      ["a symbol", { a: Symbol("x") }, "arguments/a"],
      ["NaN", { a: NaN }, "arguments/a"],
      ["Infinity", { a: [Infinity] }, "arguments/a/0"]
    ] as const
  ) {
    it.effect(`refuses ${what} in the arguments before anything is sent`, () =>
      Effect.gen(function*() {
        const { connection, session } = yield* opened({ answers: { "tools/call": text } })
        // the cast: what a program without types may pass
        const error = yield* Effect.flip(session.callTool("x", args as unknown as JsonRpc.JsonObject))
        assert(error._tag === "InvalidArguments")
        assert.strictEqual(error.outcome, "not-sent")
        if (path !== undefined) assert.strictEqual(error.path, path)
        assert.deepStrictEqual(connection.asked, [])
      }))
  }

  it.effect("refuses arguments that share so much that they would be larger than a message", () =>
    Effect.gen(function*() {
      const { session } = yield* opened({ limits: { maxMessageBytes: 10_000 }, answers: { "tools/call": text } })
      let shared: JsonRpc.JsonObject = { leaf: 1 }
      for (let i = 0; i < 40; i++) shared = { a: shared, b: shared }
      assert.strictEqual((yield* Effect.flip(session.callTool("x", shared)))._tag, "InvalidArguments")
    }))

  it.effect("accepts dates and undefined properties, as JSON.stringify does", () =>
    Effect.gen(function*() {
      const { session } = yield* opened({ answers: { "tools/call": text } })
      const args = { a: undefined, b: new Date(0), c: null, d: "x" }
      yield* session.callTool("x", args as unknown as JsonRpc.JsonObject)
    }))

  it.effect("refuses meta that is no JSON", () =>
    Effect.gen(function*() {
      const { session } = yield* opened({ answers: { "tools/call": text } })
      const options = { meta: { a: 1n } } as unknown as McpClient.CallOptions
      assert.strictEqual((yield* Effect.flip(session.callTool("x", {}, options)))._tag, "InvalidArguments")
    }))
})

const annotated = {
  name: "annotated",
  inputSchema: { type: "object", properties: { region: { type: "string", "x-mcp-header": "Region" } } }
}

const headersOf = (asked: ReadonlyArray<Fake.Asked>) => asked.map(({ options }) => options?.headers)

describe("McpClient.callTool in the stateless era", () => {
  const remote = { era: "stateless", transport: "streamable-http" } as const

  it.effect("repeats the declared arguments in headers once the tools are known", () =>
    Effect.gen(function*() {
      const { connection, session } = yield* opened({
        ...remote,
        answers: { "tools/list": { tools: [annotated] }, "tools/call": text }
      })
      yield* session.callTool("annotated", { region: "eu" })
      yield* session.tools
      yield* session.callTool("annotated", { region: "eu" })
      yield* session.callTool("annotated", {})
      assert.deepStrictEqual(headersOf(connection.askedFor("tools/call")), [
        undefined,
        { "Mcp-Param-Region": "eu" },
        undefined
      ])
    }))

  it.effect("lists and calls once more when the server finds the headers wrong, which is before it executes", () =>
    Effect.gen(function*() {
      const { connection, session } = yield* opened({
        ...remote,
        answers: {
          "tools/list": { tools: [annotated] },
          "tools/call": (asked) =>
            asked.options?.headers === undefined ? Effect.fail(Fake.remoteError(-32020)) : Effect.succeed(text)
        }
      })
      yield* session.callTool("annotated", { region: "eu" })
      assert.deepStrictEqual(connection.asked.map(({ method }) => method), ["tools/call", "tools/list", "tools/call"])
    }))

  it.effect("does so only once", () =>
    Effect.gen(function*() {
      const { connection, session } = yield* opened({
        ...remote,
        answers: { "tools/list": { tools: [annotated] }, "tools/call": () => Effect.fail(Fake.remoteError(-32020)) }
      })
      const error = yield* Effect.flip(session.callTool("annotated", { region: "eu" }))
      assert(error._tag === "RemoteError")
      assert.strictEqual(connection.askedFor("tools/call").length, 2)
    }))

  it.effect("fails with the server's error if the tools cannot be listed", () =>
    Effect.gen(function*() {
      const { session } = yield* opened({
        ...remote,
        answers: {
          "tools/list": () => Effect.fail(Fake.remoteError(-32603)),
          "tools/call": () => Effect.fail(Fake.remoteError(-32020))
        }
      })
      const error = yield* Effect.flip(session.callTool("annotated", {}))
      assert(error._tag === "RemoteError")
      assert.strictEqual(error.code, -32020)
    }))

  it.effect("sends nothing twice for any other error", () =>
    Effect.gen(function*() {
      const { connection, session } = yield* opened({
        ...remote,
        answers: { "tools/list": { tools: [annotated] }, "tools/call": () => Effect.fail(Fake.remoteError(-32603)) }
      })
      yield* Effect.flip(session.callTool("annotated", {}))
      assert.deepStrictEqual(connection.asked.map(({ method }) => method), ["tools/call"])
    }))

  it.effect("does nothing of the kind in the session era", () =>
    Effect.gen(function*() {
      const { connection, session } = yield* opened({
        answers: { "tools/list": { tools: [annotated] }, "tools/call": () => Effect.fail(Fake.remoteError(-32020)) }
      })
      yield* session.tools
      yield* Effect.flip(session.callTool("annotated", { region: "eu" }))
      assert.deepStrictEqual(headersOf(connection.askedFor("tools/call")), [undefined])
    }))
})

const needsTask = { name: "long", inputSchema: { type: "object" }, execution: { taskSupport: "required" } }
const offersTasks = { tools: {}, tasks: { requests: { tools: { call: {} } } } }

const tasks = (updates: ReadonlyArray<McpClient.TaskUpdate>, result: JsonRpc.JsonObject): Tasks.Tasks => ({
  callTool: (_, options) =>
    Effect.sync(() => {
      for (const update of updates) options?.onTask?.(update)
      return result
    }),
  get: () => Effect.die("not used"),
  result: () => Effect.die("not used"),
  cancel: () => Effect.die("not used"),
  list: Effect.die("not used")
})

describe("McpClient calls that must run as tasks", () => {
  it.effect("go through tasks, even without a list before", () =>
    Effect.gen(function*() {
      const { connection, session } = yield* opened({
        capabilities: offersTasks,
        tasks: tasks([
          { _tag: "Created", taskId: "1", status: "working" },
          { _tag: "Status", taskId: "1", status: "working", message: "half" }
        ], text),
        answers: { "tools/list": { tools: [needsTask] } }
      })
      const events = yield* Stream.runCollect(session.callToolStream("long"))
      assert.deepStrictEqual(Array.from(events, ({ _tag }) => _tag), ["Task", "Task", "Result"])
      assert.strictEqual((yield* session.callTool("long")).content[0]?._tag, "Text")
      assert.strictEqual(connection.askedFor("tools/list").length, 1)
      assert.strictEqual(connection.askedFor("tools/call").length, 0)
    }))

  it.effect("fail with CapabilityMissing where the connection has no tasks", () =>
    Effect.gen(function*() {
      const { connection, session } = yield* opened({
        capabilities: offersTasks,
        answers: { "tools/list": { tools: [needsTask] }, "tools/call": text }
      })
      const error = yield* Effect.flip(session.callTool("long"))
      assert(error._tag === "CapabilityMissing")
      assert.strictEqual(error.capability, "tasks")
      assert.strictEqual(connection.askedFor("tools/call").length, 0)
    }))

  it.effect("request no list from other servers", () =>
    Effect.gen(function*() {
      const { connection, session } = yield* opened({ answers: { "tools/call": text } })
      yield* session.callTool("x")
      assert.strictEqual(connection.askedFor("tools/list").length, 0)
    }))
})

const summing = {
  name: "sum",
  inputSchema: { type: "object" },
  outputSchema: { type: "object", properties: { sum: { type: "number" } }, required: ["sum"] }
}

const structured = (structuredContent: JsonRpc.Json) => ({ content: [], structuredContent })

describe("McpClient.callTool and output schemas", () => {
  const answering = (result: JsonRpc.JsonObject, more: Fake.Options = {}) =>
    opened({ ...more, answers: { "tools/list": { tools: [summing] }, "tools/call": result, ...more.answers } })

  it.effect("accepts a result that matches", () =>
    Effect.gen(function*() {
      const { session } = yield* answering(structured({ sum: 3 }))
      yield* session.tools
      assert.deepStrictEqual((yield* session.callTool("sum")).structuredContent, { sum: 3 })
    }))

  it.effect("fails with the path of a mismatch", () =>
    Effect.gen(function*() {
      const { session } = yield* answering(structured({ sum: "3" }))
      yield* session.tools
      const error = yield* Effect.flip(session.callTool("sum"))
      assert(error._tag === "ProtocolViolation" && error.reason === "tool-result")
      assert.deepStrictEqual([error.tool, error.path], ["sum", "/structuredContent/sum"])
    }))

  it.effect("fails if there is no structured content", () =>
    Effect.gen(function*() {
      const { session } = yield* answering(text)
      yield* session.tools
      const error = yield* Effect.flip(session.callTool("sum"))
      assert(error._tag === "ProtocolViolation" && error.reason === "tool-result")
      assert.strictEqual(error.path, "/structuredContent")
    }))

  it.effect("keeps a mismatch if the caller asks for it", () =>
    Effect.gen(function*() {
      const { session } = yield* answering(structured({ sum: "3" }))
      yield* session.tools
      const result = yield* session.callTool("sum", {}, { outputMismatch: "keep" })
      assert.deepStrictEqual(result.structuredContent, { sum: "3" })
    }))

  it.effect("does not judge a result with isError", () =>
    Effect.gen(function*() {
      const { session } = yield* answering({ ...structured({ sum: "3" }), isError: true })
      yield* session.tools
      assert.isTrue((yield* session.callTool("sum")).isError)
    }))

  it.effect("lists once to judge structured content, also for calls at the same time", () =>
    Effect.gen(function*() {
      const { connection, session } = yield* answering(structured({ sum: "3" }), {
        answers: { "tools/list": () => Effect.delay(Effect.succeed({ tools: [summing] }), "1 second") }
      })
      const calls = yield* Effect.fork(
        Effect.all(Array.from({ length: 5 }, () => Effect.flip(session.callTool("sum"))), { concurrency: "unbounded" })
      )
      yield* TestClock.adjust("1 second")
      const errors = yield* Fiber.join(calls)
      assert.deepStrictEqual(errors.map(({ _tag }) => _tag), Array.from({ length: 5 }, () => "ProtocolViolation"))
      assert.strictEqual(connection.askedFor("tools/list").length, 1)
    }))

  it.effect("never lists for a result of text alone", () =>
    Effect.gen(function*() {
      const { connection, session } = yield* answering(text)
      yield* session.callTool("sum")
      assert.strictEqual(connection.askedFor("tools/list").length, 0)
    }))

  it.effect("passes a result unjudged if the tools cannot be listed, and does not try again at once", () =>
    Effect.gen(function*() {
      const { connection, session } = yield* answering(structured({ sum: "3" }), {
        answers: { "tools/list": () => Effect.fail(Fake.remoteError(-32603)) }
      })
      yield* session.callTool("sum")
      yield* session.callTool("sum")
      assert.strictEqual(connection.askedFor("tools/list").length, 1)
      yield* TestClock.adjust("61 seconds")
      yield* session.callTool("sum")
      assert.strictEqual(connection.askedFor("tools/list").length, 2)
    }))

  it.effect("judges by the newest schema after the list has changed", () =>
    Effect.gen(function*() {
      const { connection, session } = yield* answering(structured({ total: 3 }), {
        answers: {
          "tools/list": (_, nth) =>
            Effect.succeed({
              tools: [nth === 0 ? summing : { ...summing, outputSchema: { type: "object", required: ["total"] } }]
            })
        }
      })
      yield* session.tools
      connection.say("notifications/tools/list_changed")
      assert.deepStrictEqual((yield* session.callTool("sum")).structuredContent, { total: 3 })
      assert.strictEqual(connection.askedFor("tools/list").length, 2)
    }))

  it.effect("does not list again and again for a server whose list always changes", () =>
    Effect.gen(function*() {
      const { connection, session } = yield* opened({
        answers: {
          "tools/list": () =>
            Effect.sync(() => {
              connection.say("notifications/tools/list_changed")
              return { tools: [summing] }
            }),
          "tools/call": structured({ sum: "3" })
        }
      })
      for (let i = 0; i < 10; i++) yield* Effect.flip(session.callTool("sum"))
      assert.isAtMost(connection.askedFor("tools/list").length, 2)
    }))

  it.effect("forgets nothing to an old list that comes late", () =>
    Effect.gen(function*() {
      const { session } = yield* answering(structured({ sum: "3" }), {
        answers: {
          "tools/list": (_, nth) =>
            nth === 0 ? Effect.delay(Effect.succeed({ tools: [] }), "5 seconds") : Effect.succeed({ tools: [summing] })
        }
      })
      const old = yield* Effect.fork(session.tools)
      yield* Effect.yieldNow()
      yield* session.tools
      yield* TestClock.adjust("5 seconds")
      yield* Fiber.join(old)
      assert.deepInclude(yield* Effect.flip(session.callTool("sum")), {
        _tag: "ProtocolViolation",
        reason: "tool-result"
      })
    }))

  it.effect("passes a result whose schema cannot be used", () =>
    Effect.gen(function*() {
      const { session } = yield* answering(structured({ sum: "3" }), {
        answers: { "tools/list": { tools: [{ ...summing, outputSchema: { type: "object", $ref: "other.json" } }] } }
      })
      yield* session.tools
      assert.isFalse((yield* session.callTool("sum")).isError)
    }))

  it.effect("keeps judging right with more schemas than it keeps ready", () =>
    Effect.gen(function*() {
      const tools = Array.from({ length: 300 }, (_, i) => ({ ...summing, name: `t${i}`, outputSchema: { const: i } }))
      const { session } = yield* opened({
        capabilities: { tools: {} },
        answers: { "tools/list": { tools }, "tools/call": structured({}) }
      })
      yield* session.tools
      for (let round = 0; round < 2; round++) {
        for (const { name } of tools) {
          assert.deepInclude(yield* Effect.flip(session.callTool(name)), {
            _tag: "ProtocolViolation",
            reason: "tool-result"
          })
        }
      }
    }))

  it.effect("judges null and other plain values in the stateless era", () =>
    Effect.gen(function*() {
      const { session } = yield* answering(structured(null), {
        era: "stateless",
        answers: { "tools/list": { tools: [{ ...summing, outputSchema: { type: "string" } }] } }
      })
      yield* session.tools
      const error = yield* Effect.flip(session.callTool("sum"))
      assert(error._tag === "ProtocolViolation" && error.reason === "tool-result")
      assert.strictEqual(error.path, "/structuredContent")
    }))
})
