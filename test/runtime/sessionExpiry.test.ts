/** What happens to requests that a server refuses with 404 because their session has expired. */
import { assert, describe, it } from "@effect/vitest"
import { Cause, Deferred, Effect, Exit, Fiber, Stream } from "effect"
import type * as ServerConfig from "../../src/config/ServerConfig.ts"
import type * as McpError from "../../src/McpError.ts"
import * as McpRuntime from "../../src/McpRuntime.ts"
import * as NodeConnector from "../../src/node/NodeConnector.ts"
import * as SseServer from "../fixtures/faults/sseServer.ts"
import * as Configs from "../support/configs.ts"
import * as Ledger from "../support/ledger.ts"
import * as Runtime from "../support/runtime.ts"

const tools: ReadonlyArray<Ledger.Tool> = [
  { name: "pay", annotations: { destructiveHint: true, idempotentHint: false } },
  { name: "drop", annotations: { destructiveHint: true } },
  { name: "plain" },
  { name: "settle", annotations: { destructiveHint: true, idempotentHint: true } },
  { name: "view", annotations: { destructiveHint: true, readOnlyHint: true } },
  { name: "get", annotations: { readOnlyHint: true } }
]

const connectors = {
  "the default connector": () => NodeConnector.layer(),
  "SdkConnector": () => NodeConnector.layerSdk()
}

type Api = McpRuntime.McpRuntime["Type"]

/** A runtime whose servers are connected, and whose tools are listed. */
const using = <A, E, R>(
  servers: ReadonlyArray<ServerConfig.ServerConfig>,
  body: (runtime: Api) => Effect.Effect<A, E, R>,
  connector: (typeof connectors)[keyof typeof connectors] = connectors["the default connector"]
) =>
  Effect.flatMap(McpRuntime.McpRuntime, (runtime) => Effect.zipRight(runtime.tools, body(runtime))).pipe(
    Effect.provide(Runtime.layerOver(connector(), { servers }))
  )

const call = (runtime: Api, tool: string, options?: McpRuntime.CallOptions) =>
  runtime.callTool({ server: "ledger", tool }, {}, options)

/** The first `times` calls are executed and then refused as if their session had expired. */
const expiringAfter = (ledger: Ledger.Ledger, times: number): void => {
  let left = times
  ledger.script = (request) => {
    if (request.tool === undefined || left === 0) return request.standard()
    left--
    ledger.expire()
    request.status(404)
  }
}

const errorOf = <A>(exit: Exit.Exit<A, McpError.McpError>): McpError.McpError =>
  Exit.isFailure(exit) && exit.cause._tag === "Fail"
    ? exit.cause.error
    : assert.fail(Exit.isSuccess(exit) ? "it succeeded" : Cause.pretty(exit.cause))

const textOf = (result: McpRuntime.CallResult): string =>
  result.content.map((part) => part._tag === "Text" ? part.text : `<${part._tag}>`).join("")

const ways: Readonly<
  Record<string, (runtime: Api, tool: string) => Effect.Effect<unknown, McpError.RuntimeError>>
> = {
  callTool: call,
  callToolStream: (runtime, tool) => Stream.runDrain(runtime.callToolStream({ server: "ledger", tool }))
}

for (const [connector, layer] of Object.entries(connectors)) {
  describe(`a call that is executed and then refused with 404, over ${connector}`, () => {
    for (const [way, start] of Object.entries(ways)) {
      it.scopedLive(`${way} is executed once if the tool is annotated as destructive and not idempotent`, () =>
        Effect.gen(function*() {
          for (const tool of ["pay", "drop"]) {
            const ledger = yield* Ledger.serve({ tools })
            expiringAfter(ledger, Infinity)
            yield* using([ledger.config()], (runtime) =>
              Effect.gen(function*() {
                const exit = yield* Effect.exit(start(runtime, tool))
                assert.strictEqual(ledger.executions(tool), 1)
                const error = errorOf(exit)
                assert.deepInclude(error, { _tag: "SessionExpired", outcome: "unknown" })
                assert.isFalse(error.isRetryable)
                // the session is replaced all the same
                expiringAfter(ledger, 0)
                assert.strictEqual(textOf(yield* call(runtime, tool)), `${tool} in session-2`)
                assert.deepStrictEqual(ledger.sessions("tools/call"), ["session-1", "session-2"])
              }), layer)
          }
        }))

      it.scopedLive(`${way} is executed once if its server lists the tool as destructive only afterwards`, () =>
        Effect.gen(function*() {
          const ledger = yield* Ledger.serve({ tools })
          let left = 1
          ledger.script = (request) => {
            // no list comes before the call has ended
            if (request.method === "tools/list" && left > 0) return
            if (request.tool === undefined || left === 0) return request.standard()
            left--
            ledger.expire()
            request.status(404)
          }
          const exit = yield* Effect.flatMap(
            McpRuntime.McpRuntime,
            (runtime) => Effect.exit(start(runtime, "pay"))
          ).pipe(Effect.provide(Runtime.layerOver(layer(), { servers: [ledger.config()] })))
          assert.strictEqual(ledger.executions("pay"), 1)
          assert.deepInclude(errorOf(exit), { _tag: "SessionExpired", outcome: "unknown" })
        }))

      it.scopedLive(`${way} is sent once more, in a new session, if nothing forbids that`, () =>
        Effect.gen(function*() {
          for (const tool of ["plain", "settle", "view", "get"]) {
            const ledger = yield* Ledger.serve({ tools })
            expiringAfter(ledger, 1)
            yield* using([ledger.config()], (runtime) => start(runtime, tool), layer)
            assert.deepStrictEqual(ledger.sessions("tools/call"), ["session-1", "session-2"])
            assert.strictEqual(ledger.count("initialize"), 2)
          }
        }))
    }

    it.scopedLive("is not sent a third time, and no message but initialize lacks a session id", () =>
      Effect.gen(function*() {
        for (const options of [undefined, { idempotent: true }]) {
          const ledger = yield* Ledger.serve({ tools })
          expiringAfter(ledger, Infinity)
          yield* using([ledger.config({ trusted: true })], (runtime) =>
            Effect.gen(function*() {
              for (const [at, tool] of ["plain", "get", "settle"].entries()) {
                const error = errorOf(yield* Effect.exit(call(runtime, tool, options)))
                assert.strictEqual(ledger.executions(tool), 2)
                assert.deepInclude(error, { _tag: "SessionExpired", outcome: "unknown" })
                const [first, second] = ledger.sessions("tools/call").slice(at * 2)
                assert.notStrictEqual(first, second)
              }
            }), layer)
          assert.deepStrictEqual(ledger.withoutSession(), [])
        }
      }))

    it.scopedLive("is sent again or not as its caller says, whatever the annotations", () =>
      Effect.gen(function*() {
        const ledger = yield* Ledger.serve({ tools })
        yield* using([ledger.config({ trusted: true })], (runtime) =>
          Effect.gen(function*() {
            for (const tool of ["plain", "get"]) {
              expiringAfter(ledger, 1)
              const exit = yield* Effect.exit(call(runtime, tool, { idempotent: false }))
              assert.strictEqual(ledger.executions(tool), 1)
              assert.deepInclude(errorOf(exit), { _tag: "SessionExpired", outcome: "unknown" })
            }
            expiringAfter(ledger, 1)
            yield* call(runtime, "pay", { idempotent: true })
            assert.strictEqual(ledger.executions("pay"), 2)
          }), layer)
        assert.deepStrictEqual(ledger.withoutSession(), [])
      }))

    it.scopedLive("is resent at most once beside 49 others, all in one new session", () =>
      Effect.gen(function*() {
        const ledger = yield* Ledger.serve({ tools })
        const held: Array<Ledger.Request> = []
        ledger.script = (request) => {
          if (request.session !== "session-1" || request.tool === undefined) return request.standard()
          held.push(request)
          if (held.length < 50) return
          ledger.expire()
          for (const { status } of held) status(404)
        }
        const exits = yield* using([ledger.config()], (runtime) =>
          Effect.forEach(
            Array.from({ length: 50 }, (_, at) => at % 2 === 0 ? "plain" : "pay"),
            (tool) => Effect.exit(call(runtime, tool)),
            { concurrency: "unbounded" }
          ), layer)
        assert.strictEqual(ledger.executions("pay"), 25)
        assert.strictEqual(ledger.executions("plain"), 50)
        for (const [at, exit] of exits.entries()) {
          if (at % 2 === 0) assert.strictEqual(textOf(yield* exit), "plain in session-2")
          else assert.deepInclude(errorOf(exit), { _tag: "SessionExpired", outcome: "unknown" })
        }
        assert.strictEqual(ledger.count("initialize"), 2)
        assert.deepStrictEqual(ledger.withoutSession(), [])
      }))

    it.scopedLive("does not fail reads, prompts and lists, which are sent once more", () =>
      Effect.gen(function*() {
        const ledger = yield* Ledger.serve({ tools })
        yield* using([ledger.config()], (runtime) =>
          Effect.gen(function*() {
            const all: ReadonlyArray<readonly [string, Effect.Effect<unknown, McpError.McpError>]> = [
              ["resources/read", runtime.readResource("ledger", "file:///a")],
              ["prompts/get", runtime.getPrompt("ledger", "p")],
              ["tools/list", runtime.refreshTools("ledger")]
            ]
            for (const [method, read] of all) {
              const before = ledger.count("initialize")
              ledger.expire()
              yield* read
              assert.strictEqual(ledger.count("initialize"), before + 1)
              assert.strictEqual(ledger.sessions(method).at(-1), `session-${before + 1}`)
            }
          }), layer)
        assert.deepStrictEqual(ledger.withoutSession(), [])
      }))

    it.scopedLive("fails through withClient, and the next call is sent in the new session", () =>
      Effect.gen(function*() {
        const ledger = yield* Ledger.serve({ tools })
        expiringAfter(ledger, 1)
        yield* using([ledger.config()], (runtime) =>
          runtime.withClient("ledger", (session) =>
            Effect.gen(function*() {
              const exit = yield* Effect.exit(session.callTool("plain"))
              assert.strictEqual(ledger.executions("plain"), 1)
              assert.deepInclude(errorOf(exit), { _tag: "SessionExpired", outcome: "unknown" })
              yield* session.callTool("plain")
              assert.deepStrictEqual(ledger.sessions("tools/call"), ["session-1", "session-2"])
            })), layer)
        assert.deepStrictEqual(ledger.withoutSession(), [])
      }))
  })
}

describe("a session that cannot be replaced", () => {
  it.scopedLive("holds calls back, and none of them is sent without a session", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger.serve({ tools })
      yield* using([ledger.config()], (runtime) =>
        Effect.gen(function*() {
          let refuses = true
          ledger.script = ({ method, standard, status }) =>
            method === "initialize" && refuses ? status(500) : standard()
          ledger.expire()
          const first = errorOf(yield* Effect.exit(call(runtime, "pay")))
          assert.deepInclude(first, { _tag: "SessionExpired", outcome: "unknown" })
          const exits = yield* Effect.all(
            Array.from({ length: 10 }, () => Effect.exit(call(runtime, "plain", { idempotent: false }))),
            { concurrency: "unbounded" }
          )
          for (const exit of exits) assert.strictEqual(errorOf(exit).outcome, "not-sent")
          assert.strictEqual(ledger.executions("plain"), 0)
          refuses = false
          yield* runtime.servers.resetBreaker("ledger")
          yield* call(runtime, "plain")
          assert.strictEqual(ledger.executions("plain"), 1)
        }))
      assert.deepStrictEqual(ledger.withoutSession(), [])
    }))

  it.scopedLive("bounds the wait by the limit of the call, and interrupting a call does not stop the replacement", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger.serve({ tools })
      yield* using([ledger.config()], (runtime) =>
        Effect.gen(function*() {
          const began = yield* Deferred.make<Ledger.Request>()
          ledger.script = (request) => {
            if (request.method !== "initialize") return request.standard()
            Deferred.unsafeDone(began, Exit.succeed(request))
          }
          ledger.expire()
          const read = yield* Effect.fork(runtime.readResource("ledger", "file:///a"))
          const initialize = yield* Deferred.await(began)
          const error = errorOf(yield* Effect.exit(call(runtime, "pay", { totalTimeout: "50 millis" })))
          assert.deepInclude(error, { _tag: "RequestTimeout", outcome: "not-sent" })
          const waiting = yield* Effect.fork(call(runtime, "plain"))
          yield* Fiber.interrupt(read)
          initialize.standard()
          assert.strictEqual(textOf(yield* Fiber.join(waiting)), "plain in session-2")
          assert.strictEqual(ledger.count("initialize"), 2)
        }))
      assert.deepStrictEqual(ledger.withoutSession(), [])
    }))
})

describe("a task of the SDK's client", () => {
  const now = new Date(0).toISOString()
  const task = { taskId: "1", status: "working", ttl: null, createdAt: now, lastUpdatedAt: now, pollInterval: 1 }
  const serve = Ledger.serve({
    tools: [{ name: "job", execution: { taskSupport: "required" } }],
    capabilities: { tools: {}, tasks: { requests: { tools: { call: {} } } } }
  })

  it.scopedLive("is created once more, in a new session, if its creation was refused with 404", () =>
    Effect.gen(function*() {
      const ledger = yield* serve
      let left = 1
      ledger.script = ({ method, result, standard, status }) => {
        if (method === "tools/call" && left-- > 0) {
          ledger.expire()
          return status(404)
        }
        switch (method) {
          case "tools/call":
            return result({ task })
          case "tasks/get":
            return result({ ...task, status: "completed" })
          case "tasks/result":
            return result({ content: [{ type: "text", text: "done" }] })
          default:
            return standard()
        }
      }
      yield* using(
        [ledger.config()],
        (runtime) => Effect.map(call(runtime, "job"), (result) => assert.strictEqual(textOf(result), "done")),
        connectors.SdkConnector
      )
      assert.deepStrictEqual(ledger.sessions("tools/call"), ["session-1", "session-2"])
      assert.deepStrictEqual(ledger.withoutSession(), [])
    }))

  it.scopedLive("is not created again if the session expires while it runs", () =>
    Effect.gen(function*() {
      const ledger = yield* serve
      ledger.script = ({ method, result, standard, status }) => {
        if (method === "tools/call") return result({ task })
        if (method !== "tasks/get") return standard()
        ledger.expire()
        status(404)
      }
      const error = yield* using(
        [ledger.config()],
        (runtime) => Effect.flip(call(runtime, "job")),
        connectors.SdkConnector
      )
      assert.strictEqual(ledger.executions("job"), 1)
      assert.strictEqual(error.outcome, "unknown")
      assert.deepStrictEqual(ledger.withoutSession(), [])
    }))
})

describe("a call over HTTP+SSE that is refused with 404", () => {
  it.scopedLive("is not sent again", () =>
    Effect.gen(function*() {
      const server = yield* SseServer.serve({ bad: ({ response }) => void response.writeHead(404).end("no session") })
      const error = yield* using(
        [Configs.sse({ name: "ledger", url: server.url })],
        (runtime) => Effect.flip(call(runtime, "bad"))
      )
      assert.strictEqual(error.outcome, "unknown")
      assert.lengthOf(server.messages.filter(({ params }) => params?.["name"] === "bad"), 1)
    }))
})
