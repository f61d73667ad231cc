import { assert, describe, it } from "@effect/vitest"
import { Deferred, Duration, Effect, Fiber, Layer, TestClock } from "effect"
import * as Connector from "../../src/client/Connector.ts"
import * as InputHandlers from "../../src/client/InputHandlers.ts"
import * as McpError from "../../src/McpError.ts"
import * as Outcome from "../../src/outcome.ts"
import * as Faults from "../../src/testing/Faults.ts"
import * as MemoryServer from "../../src/testing/MemoryServer.ts"
import * as MemoryTransport from "../../src/testing/MemoryTransport.ts"
import * as OverMemory from "../support/overMemory.ts"

const server = "peer"

describe("a failed connect", () => {
  it("means that nothing was sent, whatever its error", () => {
    const outcome = "unknown"
    const phase = "ready"
    const errors: ReadonlyArray<McpError.ConnectError> = [
      new McpError.ConnectionLost({ server, reason: "reset", detail: "", outcome }),
      new McpError.HttpError({ server, reason: "status", status: 502, detail: "", outcome }),
      new McpError.MessageTooLarge({ server, limit: 5, direction: "received" }),
      new McpError.NetworkError({ server, code: "ECONNRESET", detail: "", outcome }),
      new McpError.ConnectionLost({ server, reason: "exited", code: 1, signal: null, outcome, phase, stderrTail: "x" }),
      new McpError.ProtocolViolation({ server, what: "w", excerpt: "", outcome: "executed", phase }),
      new McpError.SessionExpired({ server, detail: "", outcome }),
      new McpError.ConnectionLost({ server, reason: "stream-interrupted", detail: "", outcome }),
      new McpError.HttpError({ server, reason: "content-type", outcome: "unknown", got: "text/html", detail: "" })
    ]
    for (const error of errors) {
      assert.notStrictEqual(error.outcome, "not-sent")
      const told = Outcome.withOutcome(error, "not-sent")
      assert.strictEqual(told.outcome, "not-sent")
      assert.strictEqual(told._tag, error._tag)
      assert.strictEqual(told.message, error.message)
    }
  })

  it.scoped("is reported to its caller", () =>
    Effect.gen(function*() {
      const peer = yield* MemoryTransport.peer(() => Effect.void)
      yield* peer.refuseConnect((server) => new McpError.MessageTooLarge({ server, limit: 5, direction: "received" }))
      const error = yield* Effect.flip(
        Effect.provide(
          Effect.flatMap(Connector.Connector, (connector) => connector.connect(MemoryTransport.config(server))),
          OverMemory.client({ peer })
        )
      )
      assert.deepInclude(error, { _tag: "MessageTooLarge", limit: 5, direction: "received" })
      assert.strictEqual(error.outcome, "not-sent")
    }))
})

describe("a call that the server has had a part of", () => {
  const outcome = "not-sent"
  const phase = "ready"
  const retryAfter = Duration.seconds(1)
  const errors: ReadonlyArray<McpError.CallError> = [
    new McpError.ConnectionLost({ server, reason: "reset", detail: "", outcome }),
    new McpError.NetworkError({ server, code: "ECONNREFUSED", detail: "", outcome }),
    new McpError.ConnectionLost({ server, reason: "exited", code: 1, signal: null, outcome, phase }),
    new McpError.ConnectionLost({ server, reason: "stream-interrupted", detail: "", outcome }),
    new McpError.HttpError({ server, reason: "status", status: 502, detail: "", outcome }),
    new McpError.HttpError({ server, reason: "rate-limited", outcome: "not-sent", retryAfter, detail: "" }),
    new McpError.HttpError({ server, reason: "unavailable", outcome: "not-sent", retryAfter, detail: "" }),
    new McpError.SessionExpired({ server, detail: "", outcome }),
    new McpError.Overloaded({ server, queue: "write", queued: 1, limit: 1 })
  ]

  it("is not reported as unsent because of a later part, so that it is not repeated", () => {
    for (const error of errors) {
      assert.strictEqual(error.outcome, "not-sent")
      const told = Outcome.partlySent(error)
      assert.strictEqual(told.outcome, "unknown", error._tag)
      assert.isFalse(told.isRetryable)
    }
  })

  it("does not fail with SessionExpired if only a later part was refused for the session", () => {
    const told = Outcome.partlySent(new McpError.SessionExpired({ server, detail: "" }))
    assert.deepInclude(told, { _tag: "ConnectionLost", reason: "stream-interrupted", outcome: "unknown" })
  })

  it("keeps the errors that cannot be mistaken", () => {
    const kept: ReadonlyArray<McpError.CallError> = [
      new McpError.RemoteError({ server, code: -32603, detail: "" }),
      new McpError.NetworkError({ server, code: "ECONNRESET", detail: "", outcome: "unknown" }),
      new McpError.AuthorizationFailed({ server, reason: "unauthorized" })
    ]
    for (const error of kept) assert.strictEqual(Outcome.partlySent(error), error)
  })

  it.scoped("has an unknown outcome if the server is gone before it can be given an answer", () =>
    Effect.gen(function*() {
      const ask: MemoryServer.Tool = {
        name: "ask",
        call: (_, context) => Effect.as(context.ask("elicitation/create", { message: "?" }), "done")
      }
      const peer = yield* MemoryServer.make({ era: "stateless", tools: [ask] })
      const gone = yield* Deferred.make<void>()
      const leaving = InputHandlers.layer({
        elicit: () =>
          peer.drop(Faults.killed()).pipe(
            Effect.zipRight(Deferred.await(gone)),
            Effect.as({ action: "decline" })
          )
      })
      const connection = yield* Effect.provide(
        Effect.flatMap(Connector.Connector, (connector) => connector.connect(MemoryTransport.config(server))),
        Layer.provide(OverMemory.client({ peer }), leaving)
      )
      connection.onEnded(() => Deferred.unsafeDone(gone, Effect.void))
      const error = yield* Effect.flip(connection.request("tools/call", { name: "ask", arguments: {} }))
      assert.deepInclude(error, { _tag: "ConnectionLost", reason: "exited", outcome: "unknown" })
      assert.strictEqual(peer.executions("ask"), 1)
    }))

  it.scoped("has an unknown outcome if its task can no longer be asked about", () =>
    Effect.gen(function*() {
      const now = new Date(0).toISOString()
      const task = { taskId: "1", status: "working", ttl: null, createdAt: now, lastUpdatedAt: now, pollInterval: 1 }
      const peer = yield* MemoryServer.make({
        era: "session",
        capabilities: { tools: {}, tasks: { requests: { tools: { call: {} } } } },
        methods: {
          "tools/call": () => Effect.succeed({ task }),
          "tasks/get": (_, { id, io }) =>
            Effect.zipRight(
              io.fail(id, () => new McpError.SessionExpired({ server, detail: "" })),
              Effect.never
            )
        }
      })
      const connection = yield* Effect.provide(
        Effect.flatMap(Connector.Connector, (connector) => connector.connect(MemoryTransport.config(server))),
        OverMemory.client({ peer })
      )
      assert.isDefined(connection.tasks)
      const call = yield* Effect.fork(Effect.flip(connection.tasks.callTool({ name: "slow", arguments: {} })))
      yield* Effect.repeat(TestClock.adjust("1 second"), { until: () => call.unsafePoll() !== null, times: 10 })
      const error = yield* Fiber.join(call)
      assert.deepInclude(error, { _tag: "ConnectionLost", reason: "stream-interrupted", outcome: "unknown" })
    }))
})
