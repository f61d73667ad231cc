import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import type { modes } from "../fixtures/faults/httpModes.ts"
import { echoes, type Expected, fails, succeeds, textOf } from "./harness.ts"
import { http } from "./http.ts"

const soon = "2 seconds"
const MiB = 1024 * 1024
type ModeName = keyof typeof modes

const until = (holds: () => boolean) => Effect.repeat(Effect.sleep("10 millis"), { until: holds })

describe("answers over HTTP that never come", () => {
  for (
    const [mode, tag] of [["http-hang-headers-init", "ConnectTimeout"], ["http-202-init", "ProtocolViolation"]] as const
  ) {
    http(mode, `connect fails with ${tag} in time, and its socket is closed`, (peer, server) =>
      Effect.gen(function*() {
        yield* fails("open", peer.open, tag, { outcome: "not-sent", countsForBreaker: true })
        yield* until(() => server.open() === 0)
      }), { config: { startupTimeout: "1 second" } })
  }

  for (
    const mode of [
      "http-hang-headers-call",
      "http-hang-body-json",
      "http-hang-body-sse",
      "http-hang-sse-comments",
      "http-slowloris"
    ] as const
  ) {
    http(
      mode,
      "the call times out, its socket is closed then, and the server is told",
      (peer, server) =>
        Effect.gen(function*() {
          const session = yield* succeeds("open", peer.open)
          yield* fails("bad", session.callTool("bad"), "RequestTimeout", {
            kind: "idle",
            outcome: "unknown",
            countsForBreaker: true
          }, soon)
          yield* until(() => server.seen.some(({ aborted, message }) => aborted && message?.params?.["name"] === "bad"))
          yield* until(() => server.count("notifications/cancelled") === 1)
          yield* echoes(session)
        }),
      { config: { requestTimeout: "600 millis" } }
    )
  }
})

describe("answers over HTTP that are wrong", () => {
  const calls: ReadonlyArray<readonly [ModeName, Expected, Readonly<Record<string, unknown>>]> = [
    // No stream is open on which the answer could still come.
    ["http-202-call", "ProtocolViolation", {}],
    ["http-204-call", "ProtocolViolation", {}],
    ["http-sse-end-noanswer", "ConnectionLost/stream-interrupted", { outcome: "unknown" }],
    ["http-gzip-corrupt", "ProtocolViolation", {}],
    ["http-wrong-content-type", "HttpError/content-type", { got: (got: string) => got.startsWith("text/plain") }],
    ["http-bad-json", "ProtocolViolation", {}],
    ["http-empty-200", "ProtocolViolation", {}],
    ["http-wrong-id", "ProtocolViolation", {}],
    ["http-huge-header", "NetworkError", { code: "HPE_HEADER_OVERFLOW" }],
    ["http-length-lie", "ConnectionLost/stream-interrupted", { outcome: "unknown" }]
  ]
  for (const [mode, tag, fields] of calls) {
    http(mode, `the call fails at once with ${tag}, and is not sent again`, (peer, server) =>
      Effect.gen(function*() {
        const session = yield* succeeds("open", peer.open)
        yield* fails("bad", session.callTool("bad"), tag, {
          outcome: (outcome: string) => outcome !== "not-sent",
          isRetryable: false,
          countsForBreaker: true,
          ...fields
        }, soon)
        assert.strictEqual(server.executions("bad"), 1)
        yield* echoes(session)
      }))
  }

  http(
    "http-html-200",
    "connect fails at once with HttpError/content-type{text/html}",
    (peer) =>
      fails("open", peer.open, "HttpError", {
        reason: "content-type",
        got: (got: string) => got.startsWith("text/html"),
        outcome: "not-sent",
        countsForBreaker: true
      }, soon)
  )

  http(
    "http-sse-cut-resume",
    "the rest of a cut answer is fetched with its event id, and the call is not sent again",
    (peer, server) =>
      Effect.gen(function*() {
        const session = yield* succeeds("open", peer.open)
        assert.strictEqual(textOf(yield* succeeds("bad", session.callTool("bad"))), "RESUMED")
        assert.strictEqual(server.executions("bad"), 1)
        assert.strictEqual(server.seen.filter(({ headers }) => headers["last-event-id"] === "e1").length, 1)
      })
  )

  http(
    "http-sse-cut-noresume",
    "a cut answer that cannot be resumed fails the call when that is known",
    (peer, server) =>
      Effect.gen(function*() {
        const session = yield* succeeds("open", peer.open)
        yield* fails("bad", session.callTool("bad"), "ConnectionLost", {
          reason: "stream-interrupted",
          outcome: "unknown"
        }, "3 seconds")
        assert.strictEqual(server.executions("bad"), 1)
        yield* echoes(session)
      })
  )

  for (
    const [mode, text] of [
      ["http-sse-bad-event", "after the broken ones"],
      ["http-gzip", "unpacked"],
      ["http-json-batch", "from a batch"]
    ] as const
  ) {
    http(mode, "the call works", (peer) =>
      Effect.gen(function*() {
        const session = yield* succeeds("open", peer.open)
        assert.strictEqual(textOf(yield* succeeds("bad", session.callTool("bad"))), text)
      }))
  }
})

describe("answers over HTTP that are too large", () => {
  http("http-big-5mb", "an answer under the limit arrives whole", (peer) =>
    Effect.gen(function*() {
      const session = yield* succeeds("open", peer.open)
      assert.strictEqual(textOf(yield* succeeds("bad", session.callTool("bad"))).length, 5 * MiB)
    }), { memory: 200, lag: 1000 })

  for (const mode of ["http-endless-json", "http-endless-sse-event"] as const) {
    http(
      mode,
      "the call fails with MessageTooLarge when the limit is passed, and no more is read",
      (peer, server) =>
        Effect.gen(function*() {
          const session = yield* succeeds("open", peer.open)
          yield* fails("bad", session.callTool("bad"), "MessageTooLarge", {
            limit: 16 * MiB,
            direction: "received",
            outcome: "unknown"
          })
          yield* until(() => server.seen.some(({ aborted }) => aborted))
          assert.isBelow(server.written, 64 * MiB)
          yield* echoes(session)
        }),
      { memory: 200, lag: 1000 }
    )
  }

  http("http-gzip-bomb", "the limit holds for the decoded bytes", (peer) =>
    Effect.gen(function*() {
      const session = yield* succeeds("open", peer.open)
      yield* fails("bad", session.callTool("bad"), "MessageTooLarge", { limit: 16 * MiB })
      yield* echoes(session)
    }), { memory: 200, lag: 1500 })

  http(
    "http-error-body-endless",
    "of the body of an error only the beginning is read",
    (peer, server) =>
      Effect.gen(function*() {
        const session = yield* succeeds("open", peer.open)
        yield* fails("bad", session.callTool("bad"), "HttpError", {
          reason: "status",
          status: 500,
          detail: (text: string) => text.length <= 1100
        }, soon)
        yield* until(() => server.seen.some(({ aborted }) => aborted))
        assert.isBelow(server.written, 32 * MiB)
        yield* echoes(session)
      }),
    { memory: 150, lag: 1000 }
  )
})
