/** The time that an application takes to answer a server, and what it counts against. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Duration, Effect, Fiber, Layer, TestClock } from "effect"
import * as Connector from "../../src/client/Connector.ts"
import * as InputHandlers from "../../src/client/InputHandlers.ts"
import type * as McpClient from "../../src/client/McpClient.ts"
import * as MemoryServer from "../../src/testing/MemoryServer.ts"
import * as Configs from "../support/configs.ts"
import * as DeadlineSupport from "../support/deadline.ts"
import * as OverMemory from "../support/overMemory.ts"

/** Handlers that answer once the test says so. */
const slowHandlers = Effect.gen(function*() {
  const asked = yield* Deferred.make<void>()
  const go = yield* Deferred.make<void>()
  const slowly = <A>(answer: A) =>
    Effect.as(Effect.zipRight(Deferred.succeed(asked, undefined), Deferred.await(go)), answer)
  const layer = InputHandlers.layer({
    roots: () => slowly([]),
    elicit: () => slowly({ action: "decline" } as const),
    sample: () => slowly({ role: "assistant", model: "m", content: { type: "text", text: "hi" } })
  })
  return { asked, go, layer }
})

const questions = [
  ["roots/list", {}],
  ["elicitation/create", { message: "?", requestedSchema: { type: "object", properties: {} } }],
  ["sampling/createMessage", { messages: [], maxTokens: 1 }]
] as const

/** A call of a tool that asks, and then takes its own time. */
const asking = (era: "session" | "stateless", [method, params]: (typeof questions)[number]) =>
  Effect.gen(function*() {
    const { asked, go, layer } = yield* slowHandlers
    const working = yield* Deferred.make<void>()
    const peer = yield* MemoryServer.make({
      era,
      tools: [{
        name: "ask",
        call: (_, context) =>
          context.ask(method, params).pipe(
            Effect.zipRight(Deferred.succeed(working, undefined)),
            Effect.zipRight(Effect.sleep("8 seconds")),
            Effect.as("done")
          )
      }]
    })
    const connection = yield* Effect.flatMap(
      Connector.Connector,
      (connector) => connector.connect(Configs.memory("peer", { requestTimeout: "10 seconds" }))
    ).pipe(Effect.provide(Layer.provide(OverMemory.client({ peer }), layer)))
    const call = (options?: McpClient.RequestOptions) =>
      Effect.zipLeft(
        Effect.fork(connection.request("tools/call", { name: "ask" }, options)),
        Deferred.await(asked)
      )
    const fiveSeconds = (times: number) => Effect.repeatN(TestClock.adjust("5 seconds"), times - 1)
    return { peer, go, working, call, fiveSeconds }
  })

for (const era of ["session", "stateless"] as const) {
  describe(`a call during which the server asks the application (${era})`, () => {
    for (const question of questions) {
      it.scoped(`restarts its idle limit after ${question[0]}`, () =>
        Effect.gen(function*() {
          const { call, fiveSeconds, go, working } = yield* asking(era, question)
          const fiber = yield* call()
          yield* fiveSeconds(12)
          yield* Deferred.succeed(go, undefined)
          yield* Deferred.await(working)
          yield* TestClock.adjust("8 seconds")
          assert.property(yield* Fiber.join(fiber), "content")
        }))
    }

    it.scoped("ends at its idle limit if the server is silent after the answer", () =>
      Effect.gen(function*() {
        const { call, fiveSeconds, go, working } = yield* asking(era, questions[1])
        const fiber = yield* call({ idleTimeout: Duration.seconds(5) })
        yield* fiveSeconds(12)
        yield* Deferred.succeed(go, undefined)
        yield* Deferred.await(working)
        yield* TestClock.adjust("6 seconds")
        assert.deepInclude(yield* Effect.flip(Fiber.join(fiber)), { _tag: "RequestTimeout", kind: "idle" })
      }))

    it.scoped("ends at its total limit, even during a question", () =>
      Effect.gen(function*() {
        const { call, fiveSeconds } = yield* asking(era, questions[1])
        const fiber = yield* call({ totalTimeout: Duration.seconds(40) })
        yield* fiveSeconds(7)
        yield* TestClock.adjust("4999 millis")
        assert.isNull(fiber.unsafePoll())
        yield* TestClock.adjust("1 millis")
        const error = yield* Effect.flip(Fiber.join(fiber))
        assert.deepInclude(error, { _tag: "RequestTimeout", kind: "total", outcome: "unknown" })
      }))

    it.scoped("ends at the total limit of the call that it belongs to, even during a question", () =>
      Effect.gen(function*() {
        const { call, fiveSeconds } = yield* asking(era, questions[1])
        const clock = yield* Effect.clock
        const deadline = DeadlineSupport.make({
          server: "peer",
          operation: "tools/call",
          idle: Duration.minutes(5),
          total: Duration.seconds(40),
          now: () => clock.unsafeCurrentTimeMillis()
        })
        yield* fiveSeconds(1)
        const fiber = yield* call({ deadline })
        yield* fiveSeconds(6)
        yield* TestClock.adjust("4999 millis")
        assert.isNull(fiber.unsafePoll())
        yield* TestClock.adjust("1 millis")
        const error = yield* Effect.flip(Fiber.join(fiber))
        assert.deepInclude(error, { _tag: "RequestTimeout", kind: "total", limit: Duration.seconds(40) })
      }))
  })
}
