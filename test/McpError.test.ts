import { assert, describe, it } from "@effect/vitest"
import { Duration } from "effect"
import * as FastCheck from "effect/FastCheck"
import * as McpError from "../src/McpError.ts"
import * as Texts from "./support/texts.ts"

const server = "srv"
const detail = "d"
const samples: ReadonlyArray<McpError.McpError> = [
  new McpError.SpawnFailed({ server, errno: "ENOENT", command: "x", detail }),
  new McpError.ConnectTimeout({ server, phase: "initialize", limit: Duration.seconds(1), stderrTail: "oops\n" }),
  new McpError.ProcessExited({ server, code: 1, signal: null, outcome: "unknown", phase: "ready", stderrTail: "x" }),
  new McpError.ConnectionLost({ server, reason: "stalled", detail, outcome: "not-sent" }),
  new McpError.NetworkError({ server, code: "ECONNREFUSED", detail, outcome: "not-sent" }),
  new McpError.RateLimited({ server, retryAfter: Duration.seconds(3), detail }),
  new McpError.HttpStatus({ server, status: 500, excerpt: "", outcome: "unknown" }),
  new McpError.ProtocolViolation({ server, what: "w", excerpt: "e", outcome: "executed", phase: "ready" }),
  new McpError.MessageTooLarge({ server, limit: 5, direction: "received" }),
  new McpError.RemoteError({ server, code: -32603, detail }),
  new McpError.RequestTimeout({
    server,
    kind: "idle",
    operation: "tools/call",
    limit: Duration.seconds(1),
    outcome: "unknown"
  }),
  new McpError.PaginationLimit({ server, operation: "tools/list", reason: "pages", pages: 100, limit: 100 }),
  new McpError.PermissionDenied({ server, kind: "tool", name: "t", why: "rule", rule: "a/*" }),
  new McpError.ToolQuarantined({ server, tool: "t", changed: ["/description"] }),
  new McpError.Closed({ server, operation: "o", outcome: "not-sent" }),
  new McpError.Overloaded({ server, queue: "write", queued: 1, limit: 1 }),
  new McpError.CircuitOpen({ server, retryAfter: Duration.minutes(5) })
]

describe("an error", () => {
  it("names its server and has every facet", () => {
    for (const error of samples) {
      assert.isTrue(McpError.isMcpError(error), error._tag)
      assert.include(error.message, server)
      assert.include(["not-sent", "unknown", "executed"], error.outcome)
      assert.isBoolean(error.isRetryable)
      assert.isBoolean(error.countsForBreaker)
    }
  })

  it("never counts for the breaker when the server has answered", () => {
    for (const code of [-32000, -32001, -32603, 500]) {
      assert.isFalse(new McpError.RemoteError({ server, code, detail }).countsForBreaker)
    }
    assert.isFalse(new McpError.RateLimited({ server, detail }).countsForBreaker)
    assert.isFalse(new McpError.Unauthorized({ server }).countsForBreaker)
    assert.isTrue(new McpError.HttpStatus({ server, status: 502, excerpt: "", outcome: "unknown" }).countsForBreaker)
  })

  it("is not what merely looks like one", () => {
    assert.isFalse(McpError.isMcpError({ _tag: "Closed" }))
    assert.isFalse(McpError.isMcpError(new Error("Closed")))
    assert.isFalse(McpError.isMcpError({ _tag: "constructor", countsForBreaker: true }))
  })

  it.prop("has a message of one short line without control characters, whatever the server says", [
    FastCheck.string({ unit: Texts.unit, maxLength: 4000 })
  ], ([text]) => {
    const errors = [
      new McpError.RemoteError({ server: text, code: 1, detail: text }),
      new McpError.ProcessExited({
        server,
        code: 1,
        signal: null,
        outcome: "unknown",
        phase: "ready",
        stderrTail: text
      }),
      new McpError.HttpStatus({ server, status: 500, excerpt: text, outcome: "unknown" }),
      new McpError.RedirectBlocked({ server, to: text, reason: "loop" })
    ]
    for (const error of errors) {
      // eslint-disable-next-line no-control-regex
      assert.notMatch(error.message, /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/)
      assert.isBelow(error.message.length, 12_000)
    }
  })
})
