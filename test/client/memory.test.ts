import { assert, describe, it } from "@effect/vitest"
import { Chunk, Deferred, Effect, Fiber, Stream, TestClock } from "effect"
import * as Connector from "../../src/client/Connector.ts"
import type * as McpClient from "../../src/client/McpClient.ts"
import * as MemoryServer from "../../src/testing/MemoryServer.ts"
import * as MemoryTransport from "../../src/testing/MemoryTransport.ts"
import * as OverMemory from "../support/overMemory.ts"

const open = (peer: MemoryTransport.Peer, overrides?: Parameters<typeof MemoryTransport.config>[1]) =>
  Effect.provide(Connector.open(MemoryTransport.config("peer", overrides)), OverMemory.client({ peer }))

const tools = (cancelled: Deferred.Deferred<void>): ReadonlyArray<MemoryServer.Tool> => [
  { name: "echo", call: (args) => Effect.succeed(String(args["text"])) },
  {
    name: "count",
    call: (_, context) =>
      Effect.as(
        Effect.forEach([1, 2, 3], (n) => context.progress(n, 3, `step ${n}`)),
        "counted"
      )
  },
  {
    name: "slow",
    call: (_, context) =>
      Effect.gen(function*() {
        yield* context.progress(1)
        yield* context.cancelled
        yield* Deferred.succeed(cancelled, undefined)
        return "late"
      })
  },
  {
    name: "sum",
    outputSchema: { type: "object", properties: { sum: { type: "number" } }, required: ["sum"] },
    call: (args) => Effect.succeed({ content: [], structuredContent: { sum: args["wrong"] === true ? "3" : 3 } })
  }
]

const offer = (cancelled: Deferred.Deferred<void>): MemoryServer.Options => ({
  tools: tools(cancelled),
  resources: [{ uri: "memo:a", name: "a", mimeType: "text/plain", read: () => Effect.succeed("contents") }],
  templates: [{ uriTemplate: "memo:{name}", name: "memo", read: (uri) => Effect.succeed(uri) }],
  prompts: [{
    name: "greet",
    arguments: [{ name: "who", required: true }],
    get: (args) => Effect.succeed(`Hello ${args["who"]}`)
  }],
  complete: () => Effect.succeed(["one", "two"]),
  pageSize: 3
})

for (const era of ["session", "stateless"] as const) {
  const prepared = Effect.gen(function*() {
    const cancelled = yield* Deferred.make<void>()
    const server = yield* MemoryServer.make({ ...offer(cancelled), era })
    return { cancelled, server, session: yield* open(server) }
  })

  describe(`a session over memory, ${era} era`, () => {
    it.scoped("refuses durations that are none, and sends nothing", () =>
      Effect.gen(function*() {
        const { server, session } = yield* prepared
        for (const path of ["idleTimeout", "totalTimeout"] as const) {
          const error = yield* Effect.flip(session.callTool("echo", {}, { [path]: "soon" as "1 second" }))
          assert.deepInclude(error, { _tag: "InvalidArguments", operation: "tools/call", path })
        }
        assert.strictEqual(server.received("tools/call").length, 0)
      }))

    it.scoped("lists, reads and completes everything there is", () =>
      Effect.gen(function*() {
        const { session } = yield* prepared
        assert.strictEqual(session.era, era)
        assert.deepStrictEqual((yield* session.tools).tools.map(({ name }) => name), ["echo", "count", "slow", "sum"])
        assert.deepStrictEqual((yield* session.resources).items.map(({ uri }) => uri), ["memo:a"])
        assert.deepStrictEqual((yield* session.resourceTemplates).items.map(({ uriTemplate }) => uriTemplate), [
          "memo:{name}"
        ])
        assert.deepStrictEqual(
          (yield* session.readResource("memo:a")).map((part) => part._tag === "Text" ? part.text : ""),
          ["contents"]
        )
        assert.deepStrictEqual((yield* session.prompts).items[0]?.arguments[0]?.required, true)
        const { messages } = yield* session.getPrompt("greet", { who: "Ada" })
        assert(messages[0]?.content._tag === "Text")
        assert.strictEqual(messages[0].content.text, "Hello Ada")
        const { values } = yield* session.complete({ prompt: "greet", argument: "who", value: "" })
        assert.deepStrictEqual(values, ["one", "two"])
        yield* session.health
      }))

    it.scoped("calls a tool, and judges its structured result without a list before", () =>
      Effect.gen(function*() {
        const { session } = yield* prepared
        const echoed = (yield* session.callTool("echo", { text: "hi" })).content[0]
        assert(echoed?._tag === "Text")
        assert.strictEqual(echoed.text, "hi")
        assert.deepStrictEqual((yield* session.callTool("sum")).structuredContent, { sum: 3 })
        assert.deepInclude(yield* Effect.flip(session.callTool("sum", { wrong: true })), {
          _tag: "ProtocolViolation",
          reason: "tool-result"
        })
      }))

    it.scoped("streams every progress and the result", () =>
      Effect.gen(function*() {
        const { session } = yield* prepared
        const events = Chunk.toReadonlyArray(yield* Stream.runCollect(session.callToolStream("count")))
        assert.deepStrictEqual(
          events.map((event) => event._tag === "Progress" ? event.progress.message : event._tag),
          ["step 1", "step 2", "step 3", "Result"]
        )
      }))

    it.scoped("cancels at the server when the stream is left", () =>
      Effect.gen(function*() {
        const { cancelled, session } = yield* prepared
        const events = yield* Stream.runCollect(Stream.take(session.callToolStream("slow"), 1))
        assert.strictEqual(Chunk.size(events), 1)
        yield* Deferred.await(cancelled)
      }))

    it.scoped("survives a progress callback that throws", () =>
      Effect.gen(function*() {
        const { session } = yield* prepared
        const onProgress = () => {
          throw new Error("a careless callback")
        }
        assert.isFalse((yield* session.callTool("count", {}, { onProgress })).isError)
        const events = yield* Stream.runCollect(session.callToolStream("count", {}, { onProgress }))
        assert.strictEqual(Chunk.size(events), 4)
      }))

    it.scoped("signals changed tools", () =>
      Effect.gen(function*() {
        const { cancelled, server, session } = yield* prepared
        const watching = yield* Effect.fork(Stream.runHead(session.listChanged("tools")))
        yield* settled(session)
        yield* server.update({ ...offer(cancelled), tools: tools(cancelled).slice(0, 1) })
        yield* Fiber.join(watching)
        assert.strictEqual((yield* session.tools).tools.length, 1)
      }))

    it.scoped("signals a changed resource", () =>
      Effect.gen(function*() {
        const { server, session } = yield* prepared
        const watching = yield* Effect.fork(Stream.runHead(session.subscribeResource("memo:a")))
        yield* settled(session)
        yield* server.resourceUpdated("memo:a")
        yield* Fiber.join(watching)
      }))
  })
}

/** What was asked before this has been answered: answers come in order. */
const settled = (session: McpClient.McpClient) =>
  Effect.zipRight(TestClock.adjust(0), Effect.zipRight(session.callTool("echo"), TestClock.adjust(0)))
