import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import * as HttpServer from "../fixtures/faults/httpServer.ts"
import * as SseServer from "../fixtures/faults/sseServer.ts"
import * as Configs from "../support/configs.ts"
import { echoes, fails, run, succeeds, test } from "./harness.ts"
import { sse } from "./http.ts"
import { defaults } from "./stdio.ts"

const soon = "2 seconds"
const MiB = 1024 * 1024
const impatient = { config: { startupTimeout: "1 second" } } as const

describe("the old HTTP+SSE transport", () => {
  sse("sse-ok", "everything works, and the close ends the stream", (peer, server) =>
    Effect.gen(function*() {
      const session = yield* succeeds("open", peer.open)
      yield* echoes(session)
      yield* peer.close
      assert.strictEqual(server.streams, 1)
      yield* fails("echo", session.callTool("echo"), "Closed", { outcome: "not-sent" }, soon)
    }))

  sse(
    "sse-no-endpoint",
    "connect fails with ConnectTimeout{endpoint}",
    (peer) => fails("open", peer.open, "ConnectTimeout", { phase: "endpoint", countsForBreaker: true }),
    impatient
  )

  sse("sse-hang", "connect fails with ConnectTimeout", (peer) =>
    fails("open", peer.open, "ConnectTimeout", {
      phase: (phase: string) => phase === "open" || phase === "endpoint",
      outcome: "not-sent"
    }), impatient)

  test(
    "sse-endpoint-other-origin",
    "connect fails with HttpError/origin, for good, and nothing is sent there",
    run(
      Effect.gen(function*() {
        const witness = yield* HttpServer.serve({})
        const server = yield* SseServer.serve({ endpoint: `${witness.origin}/messages` })
        return {
          config: Configs.sse({ ...defaults, url: server.url }),
          server: witness,
          remains: { left: () => server.open() === 0 ? [] : ["a connection at the server"] }
        }
      }),
      (peer, witness) =>
        Effect.gen(function*() {
          yield* fails("open", peer.open, "HttpError", {
            reason: "origin",
            to: (to: string) => to.startsWith(witness.origin),
            isRetryable: false,
            countsForBreaker: true
          }, soon)
          assert.strictEqual(witness.most(), 0)
        })
    )
  )

  sse(
    "sse-endpoint-garbage",
    "connect fails at once with ProtocolViolation",
    (peer) => fails("open", peer.open, "ProtocolViolation", { countsForBreaker: true }, soon)
  )

  sse(
    "sse-401",
    "connect fails with Unauthorized",
    (peer) =>
      fails("open", peer.open, "AuthorizationFailed", {
        reason: "unauthorized",
        scope: "read",
        countsForBreaker: false
      }, soon)
  )

  sse(
    "sse-500",
    "connect fails with HttpError{500}",
    (peer) => fails("open", peer.open, "HttpError", { reason: "status", status: 500, countsForBreaker: true }, soon)
  )

  sse(
    "sse-html",
    "connect fails with HttpError/content-type",
    (peer) =>
      fails("open", peer.open, "HttpError", {
        reason: "content-type",
        got: (got: string) => got.startsWith("text/html")
      }, soon)
  )

  sse(
    "sse-drop-midcall",
    "the call fails at once with an unknown outcome, and is not sent again",
    (peer, server) =>
      Effect.gen(function*() {
        const session = yield* succeeds("open", peer.open)
        yield* fails("bad", session.callTool("bad"), "ConnectionLost", {
          reason: "stream-interrupted",
          outcome: "unknown",
          isRetryable: false,
          countsForBreaker: true
        }, soon)
        assert.strictEqual(server.messages.filter(({ params }) => params?.["name"] === "bad").length, 1)
        yield* fails("echo", session.callTool("echo"), "ConnectionLost", {
          reason: "stream-interrupted",
          outcome: "not-sent"
        }, soon)
        yield* peer.close
        yield* echoes(yield* succeeds("open anew", peer.open))
      })
  )

  test(
    "sse-drop-idle",
    "a stream that is cut while idle ends the connection; nothing is sent without a handshake",
    run(
      Effect.map(SseServer.serve({}), (server) => ({
        config: Configs.sse({ ...defaults, url: server.url }),
        server,
        remains: { left: () => server.open() === 0 ? [] : ["a connection at the server"] }
      })),
      (peer, server) =>
        Effect.gen(function*() {
          const session = yield* succeeds("open", peer.open)
          yield* echoes(session)
          server.cut()
          const ended = yield* succeeds("ended", session.ended, soon)
          assert.deepInclude(ended, { _tag: "ConnectionLost", reason: "stream-interrupted" })
          yield* fails("echo", session.callTool("echo"), "ConnectionLost", {
            reason: "stream-interrupted",
            outcome: "not-sent",
            isRetryable: true
          }, soon)
          yield* peer.close
          yield* echoes(yield* succeeds("open anew", peer.open))
          assert.strictEqual(server.messages.filter(({ method }) => method === "initialize").length, 2)
        })
    )
  )

  sse("sse-post-500", "the call fails with HttpError{500}, the session lives", (peer) =>
    Effect.gen(function*() {
      const session = yield* succeeds("open", peer.open)
      yield* fails(
        "bad",
        session.callTool("bad"),
        "HttpError",
        { reason: "status", status: 500, outcome: "unknown" },
        soon
      )
      yield* echoes(session)
    }))

  sse(
    "sse-initialized-slow",
    "no request overtakes initialized, which servers refuse",
    (peer, server) =>
      Effect.gen(function*() {
        yield* echoes(yield* succeeds("open", peer.open))
        const methods = server.messages.map(({ method }) => method).filter((method) => method !== "server/discover")
        assert.deepStrictEqual(methods, ["initialize", "notifications/initialized", "tools/call"])
      })
  )

  sse("sse-post-hang", "the call times out, and its socket is closed then", (peer, server) =>
    Effect.gen(function*() {
      const session = yield* succeeds("open", peer.open)
      yield* fails("bad", session.callTool("bad"), "RequestTimeout", { kind: "idle", outcome: "unknown" }, soon)
      yield* Effect.repeat(Effect.sleep("10 millis"), { until: () => server.aborted === 1 })
      yield* echoes(session)
    }), { config: { requestTimeout: "500 millis" } })

  sse(
    "sse-endless-event",
    "the call fails with MessageTooLarge, and no more is read",
    (peer, server) =>
      Effect.gen(function*() {
        const session = yield* succeeds("open", peer.open)
        yield* fails("bad", session.callTool("bad"), "MessageTooLarge", { limit: 16 * MiB, outcome: "unknown" })
        assert.isBelow(server.written, 64 * MiB)
        yield* peer.close
        yield* echoes(yield* succeeds("open anew", peer.open))
      }),
    { memory: 200, lag: 1000 }
  )
})
