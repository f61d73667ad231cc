import { assert, describe } from "@effect/vitest"
import { Effect, Exit, Fiber } from "effect"
import { echoes, fails, failure, type Peer, settles, succeeds, textOf } from "./harness.ts"
import * as harness from "./harness.ts"
import { http, serverFor } from "./http.ts"
import * as Journal from "./journal.ts"

const soon = "2 seconds"

/** Waits until something the server sees is true; the case's own bound ends it. */
const until = (holds: () => boolean) => Effect.repeat(Effect.sleep("10 millis"), { until: holds })

/** Client and server share an event loop here: a real restart takes longer than a socket's end takes to arrive. */
const socketsNoticed = Effect.sleep("50 millis")

const told = (peer: Peer) => peer.diagnostics().some(({ kind }) => kind === "stream")

/** One turn of the event loop, in which it reads what has arrived. */
const turn = Effect.async<void>((resume) => {
  setImmediate(() => resume(Effect.void))
})

describe("sessions and sockets", () => {
  for (const mode of ["http-ok", "http-ok-stateless", "http-ok-stream"] as const) {
    http(mode, "everything works, and the close leaves no connection", (peer, server) =>
      Effect.gen(function*() {
        const session = yield* succeeds("open", peer.open)
        yield* echoes(session)
        yield* succeeds("tools", session.tools)
        yield* peer.close
        assert.strictEqual((yield* peer.ends)[0]?.how, "closed")
        assert.strictEqual(server.verbs("DELETE"), mode === "http-ok-stateless" ? 0 : 1)
        yield* fails("echo", session.callTool("echo"), "Closed", { outcome: "not-sent" }, soon)
      }))
  }

  harness.test(
    "http-initialized-slow",
    "no request overtakes initialized, which servers refuse",
    harness.run(
      serverFor({
        post: ({ fleet, message, standard, status }) => {
          if (message.method === "notifications/initialized") {
            setTimeout(() => {
              fleet.armed = true
              standard()
            }, 150)
          } else if (fleet.armed || message.method === "initialize") standard()
          else status(400, {}, "not initialized")
        }
      }),
      (peer, server) =>
        Effect.gen(function*() {
          yield* echoes(yield* succeeds("open", peer.open))
          assert.strictEqual(server.executions("echo"), 1)
        }),
      {}
    )
  )

  http(
    "http-churn-20",
    "twenty connections one after the other leave no socket behind",
    (peer, server) =>
      Effect.gen(function*() {
        const round = Effect.gen(function*() {
          yield* echoes(yield* succeeds("open", peer.open))
          yield* peer.close
        })
        yield* round
        yield* until(() => server.open() === 0)
        const before = Journal.descriptors()
        for (let index = 0; index < 20; index++) yield* round
        yield* until(() => server.open() === 0)
        assert.isAtMost(Journal.descriptors(), before + 2)
        assert.strictEqual(server.sessions.size, 0)
      }),
    { mode: "http-ok", bound: "20 seconds" }
  )

  http(
    "http-burst",
    "three hundred calls at once are all right, over a bounded number of sockets",
    (peer, server) =>
      Effect.gen(function*() {
        const session = yield* succeeds("open", peer.open)
        const texts = Array.from({ length: 300 }, (_, index) => `call ${index}`)
        const calls = Effect.forEach(texts, (text) => session.callTool("echo", { text }), { concurrency: "unbounded" })
        assert.deepStrictEqual((yield* succeeds("calls", calls)).map(textOf), texts)
        assert.strictEqual(server.executions("echo"), 300)
        assert.isAtMost(server.most(), 80)
      }),
    { mode: "http-ok" }
  )

  http(
    "http-session-expire-concurrent",
    "one new session for twenty calls, which fail with an unknown outcome and are not sent again without a policy",
    (peer, server) =>
      Effect.gen(function*() {
        const session = yield* succeeds("open", peer.open)
        yield* echoes(session)
        server.sessions.clear()
        const texts = Array.from({ length: 20 }, (_, index) => `call ${index}`)
        const calls = Effect.forEach(
          texts,
          (text) => fails("call", session.callTool("echo", { text }), "SessionExpired", { outcome: "unknown" }),
          { concurrency: "unbounded" }
        )
        yield* calls
        yield* echoes(session)
        assert.strictEqual(server.count("initialize"), 2)
        assert.strictEqual(server.sessions.size, 1)
        assert.strictEqual(server.count("tools/call"), 22)
      }),
    { mode: "http-ok" }
  )

  http(
    "http-restart",
    "after a restart of the server the next read opens a new session and works, and so does the call after it",
    (peer, server) =>
      Effect.gen(function*() {
        const session = yield* succeeds("open", peer.open)
        yield* echoes(session)
        yield* server.restart
        yield* socketsNoticed
        yield* succeeds("tools", session.tools)
        yield* echoes(session)
        assert.strictEqual(server.count("initialize"), 2)
      }),
    { mode: "http-ok" }
  )

  http(
    "http-restart-sse",
    "after a restart the stream is opened again in the new session",
    (peer, server) =>
      Effect.gen(function*() {
        const session = yield* succeeds("open", peer.open)
        yield* until(() => server.verbs("GET") === 1)
        yield* server.restart
        yield* socketsNoticed
        yield* succeeds("tools", session.tools)
        const current = () =>
          server.seen.some(({ headers, verb }) =>
            verb === "GET" && server.sessions.has(String(headers["mcp-session-id"]))
          )
        yield* until(current)
        yield* echoes(session)
      }),
    { mode: "http-ok-stream" }
  )

  http(
    "http-delete-hang",
    "a farewell that is not answered delays the close by its bound only",
    (peer) =>
      Effect.gen(function*() {
        yield* echoes(yield* succeeds("open", peer.open))
        yield* settles("close", peer.close, soon)
      })
  )

  http(
    "http-abort-call",
    "interrupting a call cancels it, releases its socket and is no error",
    (peer, server) =>
      Effect.gen(function*() {
        const session = yield* succeeds("open", peer.open)
        const hanging = yield* Effect.fork(session.callTool("hang"))
        yield* until(() => server.executions("hang") === 1)
        const exit = yield* settles("interrupt", Effect.flatten(Fiber.interrupt(hanging)), soon)
        assert.isTrue(Exit.isInterrupted(exit))
        yield* until(() => server.count("notifications/cancelled") === 1)
        yield* until(() => server.seen.some(({ aborted }) => aborted))
        yield* echoes(session)
      }),
    { mode: "http-ok" }
  )

  http(
    "http-close-mid-call",
    "closing with a call under way fails the call with Closed",
    (peer, server) =>
      Effect.gen(function*() {
        const session = yield* succeeds("open", peer.open)
        const hanging = yield* Effect.fork(Effect.exit(session.callTool("hang")))
        yield* until(() => server.executions("hang") === 1)
        yield* peer.close
        yield* fails("hang", Effect.flatten(Fiber.join(hanging)), "Closed", { outcome: "unknown" }, soon)
      }),
    { mode: "http-ok" }
  )

  http(
    "http-reset-midcall",
    "the call fails with an unknown outcome and is not sent again",
    (peer, server) =>
      Effect.gen(function*() {
        const session = yield* succeeds("open", peer.open)
        yield* fails("bad", session.callTool("bad"), "NetworkError", {
          code: "ECONNRESET",
          outcome: "unknown",
          isRetryable: false,
          countsForBreaker: true
        }, soon)
        assert.strictEqual(server.executions("bad"), 1)
        yield* echoes(session)
      })
  )

  http(
    "http-keepalive-race",
    "sockets that die as they are used again cost at most their own call, and nothing runs twice",
    (peer, server) =>
      Effect.gen(function*() {
        const session = yield* succeeds("open", peer.open)
        server.armed = true
        let succeeded = 0
        for (let index = 0; index < 9; index++) {
          const exit = yield* settles("echo", session.callTool("echo", { text: "x" }), soon)
          if (Exit.isSuccess(exit)) succeeded++
          else {failure("echo", exit, ["ConnectionLost", "NetworkError", "ConnectionLost/stream-interrupted"], {
              outcome: "unknown"
            })}
        }
        assert.isAtLeast(succeeded, 4)
        assert.strictEqual(server.executions("echo"), succeeded)
        server.armed = false
        yield* echoes(session)
      })
  )

  http(
    "http-keepalive-closed",
    "sockets that died while idle are not used again",
    (peer, server) =>
      Effect.gen(function*() {
        const session = yield* succeeds("open", peer.open)
        for (let index = 0; index < 5; index++) {
          yield* echoes(session, `call ${index}`)
          for (const socket of server.sockets) socket.destroy()
          yield* Effect.sleep("50 millis")
          // a timer that is late rings before the end of the sockets is read
          yield* Effect.repeatN(turn, 2)
        }
        assert.strictEqual(server.executions("echo"), 5)
      }),
    { mode: "http-ok" }
  )
})

describe("the optional stream of an HTTP server", () => {
  http("http-get-hang", "a stream that never opens holds nothing up", (peer, server) =>
    Effect.gen(function*() {
      const session = yield* succeeds("open", peer.open)
      yield* until(() => server.verbs("GET") === 1)
      for (let index = 0; index < 5; index++) yield* echoes(session)
    }))

  http(
    "http-get-storm",
    "a stream that ends at once is not asked for again and again",
    (peer, server) =>
      Effect.gen(function*() {
        const session = yield* succeeds("open", peer.open)
        yield* Effect.sleep("2500 millis")
        assert.isAtLeast(server.verbs("GET"), 1)
        assert.isAtMost(server.verbs("GET"), 5)
        const times = server.seen.filter(({ verb }) => verb === "GET").map(({ at }) => at)
        // Whatever it asks for, a second passes in between: less a little, as two clocks measure it.
        times.slice(1).forEach((at, index) => assert.isAtLeast(at - times[index]!, 900))
        yield* echoes(session)
      })
  )

  http(
    "http-get-retry-overflow",
    "a stream that wants to be opened again in three thousand years is given up",
    (peer, server) =>
      Effect.gen(function*() {
        const session = yield* succeeds("open", peer.open)
        yield* until(() => told(peer))
        yield* Effect.sleep("1200 millis")
        assert.strictEqual(server.verbs("GET"), 1)
        yield* echoes(session)
      })
  )

  http(
    "http-get-flood",
    "ten thousand notifications per second are borne, calls go on",
    (peer, server) =>
      Effect.gen(function*() {
        const session = yield* succeeds("open", peer.open)
        yield* until(() => server.verbs("GET") === 1)
        for (let index = 0; index < 20; index++) {
          yield* echoes(session)
          yield* Effect.sleep("25 millis")
        }
      }),
    { memory: 150, lag: 1000 }
  )
})
