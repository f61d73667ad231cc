import { assert, describe } from "@effect/vitest"
import { Effect, Exit, Fiber } from "effect"
import { modes } from "../fixtures/faults/httpModes.ts"
import type { Mode } from "../fixtures/faults/httpServer.ts"
import { echoes, fails, type Peer, run, settles, succeeds, test, textOf } from "./harness.ts"
import { type Options, serverFor } from "./http.ts"
import { alive, stdio } from "./stdio.ts"

const soon = "2 seconds"
const stateless = { stateless: true } as const

const until = (holds: () => boolean) => Effect.repeat(Effect.sleep("10 millis"), { until: holds })

const opened = (peer: Peer) =>
  Effect.tap(succeeds("open", peer.open), (session) => assert.strictEqual(session.era, "stateless"))

describe("the same faults without a handshake, over stdio", () => {
  stdio(
    "silent",
    "connect fails with ConnectTimeout{discover} where nothing else may be asked",
    (peer, journal) =>
      Effect.gen(function*() {
        yield* fails("open", peer.open, "ConnectTimeout", { phase: "discover", outcome: "not-sent" })
        assert.strictEqual(journal.count("initialize"), 0)
        assert.deepStrictEqual(alive(journal), [])
      }),
    { ...stateless, config: { protocol: "stateless", startupTimeout: "1 second" } }
  )

  stdio(
    "ver-future-stateless",
    "connect fails with HandshakeFailed/version, for good",
    (peer, journal) =>
      Effect.gen(function*() {
        yield* fails("open", peer.open, "HandshakeFailed", {
          reason: "version",
          got: "2099-01-01",
          outcome: "not-sent",
          isRetryable: false
        })
        assert.deepStrictEqual(alive(journal), [])
      }),
    stateless
  )

  stdio(
    "sigkill-mid-call",
    "the call fails with ConnectionLost/exited{SIGKILL}, and is not sent twice",
    (peer, journal) =>
      Effect.gen(function*() {
        const session = yield* opened(peer)
        yield* fails("bad", session.callTool("bad"), "ConnectionLost", {
          reason: "exited",
          signal: "SIGKILL",
          outcome: "unknown"
        }, soon)
        assert.strictEqual(journal.executions("bad"), 1)
      }),
    stateless
  )

  stdio(
    "hang-one",
    "only the call that hangs times out, and the server is told so",
    (peer, journal) =>
      Effect.gen(function*() {
        const session = yield* opened(peer)
        yield* fails("hang", session.callTool("hang"), "RequestTimeout", { kind: "idle" }, soon)
        const call = yield* journal.until((entry) => entry.executed === "hang")
        const told = yield* journal.until((entry) => entry.got === "notifications/cancelled")
        assert.strictEqual(told.params?.["requestId"], call.id)
        yield* echoes(session)
      }),
    { ...stateless, mode: "ok", config: { requestTimeout: "500 millis" } }
  )

  stdio(
    "server-requests",
    "what this protocol does not have is not answered, and harms nobody",
    (peer, journal) =>
      Effect.gen(function*() {
        const session = yield* opened(peer)
        yield* fails("bad", session.callTool("bad"), "RequestTimeout", {}, soon)
        assert.isFalse(journal.entries().some((entry) => entry["asked"] !== undefined))
        assert.isTrue(peer.diagnostics().some(({ kind }) => kind === "dropped"))
        yield* echoes(session)
      }),
    { ...stateless, config: { requestTimeout: "500 millis" } }
  )

  stdio("big-result", "only the call whose result is over the limit fails", (peer) =>
    Effect.gen(function*() {
      const session = yield* opened(peer)
      yield* fails("bad", session.callTool("bad"), "MessageTooLarge", { limit: 4 * 1024 * 1024 })
      yield* echoes(session)
    }), { ...stateless, config: { maxMessageBytes: 4 * 1024 * 1024 } })
})

describe("the same faults without a handshake, over HTTP", () => {
  const http = (
    mode: keyof typeof modes,
    says: string,
    use: (peer: Peer, server: Effect.Effect.Success<ReturnType<typeof serverFor>>["server"]) => Effect.Effect<unknown>,
    options: Options = {}
  ) => {
    const found: Mode = modes[mode]
    test(
      mode,
      says,
      run(serverFor({ ...found, stateless: true }, options), (peer, server) =>
        Effect.zipRight(
          use(peer, server),
          Effect.suspend(() => {
            // There is no session, so there is nothing to stream to and nothing to delete.
            assert.strictEqual(server.count("initialize") + server.verbs("GET") + server.verbs("DELETE"), 0)
            assert.isFalse(server.seen.some(({ headers }) => headers["mcp-session-id"] !== undefined))
            return Effect.void
          })
        ), options)
    )
  }

  http(
    "http-hang-body-sse",
    "closing the stream of a call that times out is its cancellation",
    (peer, server) =>
      Effect.gen(function*() {
        const session = yield* opened(peer)
        yield* fails("bad", session.callTool("bad"), "RequestTimeout", { kind: "idle", outcome: "unknown" }, soon)
        yield* until(() => server.seen.some(({ aborted }) => aborted))
        yield* echoes(session)
        assert.strictEqual(server.count("notifications/cancelled"), 0)
      }),
    { config: { requestTimeout: "500 millis" } }
  )

  http("http-ok", "interrupting a call closes its stream and is no error", (peer, server) =>
    Effect.gen(function*() {
      const session = yield* opened(peer)
      const hanging = yield* Effect.fork(session.callTool("hang"))
      yield* until(() => server.executions("hang") === 1)
      const exit = yield* settles("interrupt", Effect.flatten(Fiber.interrupt(hanging)), soon)
      assert.isTrue(Exit.isInterrupted(exit))
      yield* until(() => server.seen.some(({ aborted }) => aborted))
      yield* echoes(session)
      assert.strictEqual(server.count("notifications/cancelled"), 0)
    }))

  http("http-ok", "after a restart of the server the next call simply works", (peer, server) =>
    Effect.gen(function*() {
      const session = yield* opened(peer)
      yield* echoes(session)
      yield* server.restart
      // Client and server share an event loop here: a real restart takes longer than this.
      yield* Effect.sleep("50 millis")
      yield* echoes(session)
    }))

  for (const mode of ["http-sse-end-noanswer", "http-sse-cut-noresume", "http-reset-midcall"] as const) {
    http(
      mode,
      "a broken stream is a lost request: it fails at once, and is not sent again",
      (peer, server) =>
        Effect.gen(function*() {
          const session = yield* opened(peer)
          yield* fails("bad", session.callTool("bad"), [
            "ConnectionLost",
            "NetworkError",
            "ConnectionLost/stream-interrupted"
          ], {
            outcome: "unknown",
            isRetryable: false
          }, soon)
          assert.strictEqual(server.executions("bad"), 1)
          yield* echoes(session)
        })
    )
  }

  http("http-get-hang", "everything works, and the close leaves no connection", (peer) =>
    Effect.gen(function*() {
      const session = yield* opened(peer)
      const { tools } = yield* succeeds("tools", session.tools)
      assert.include(tools.map(({ name }) => name), "echo")
      assert.strictEqual(textOf(yield* succeeds("slow", session.callTool("slow", { ms: 20 }))), "slow")
    }))
})
