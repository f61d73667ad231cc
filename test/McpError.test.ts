import { assert, describe, it } from "@effect/vitest"
import { Duration } from "effect"
import * as FastCheck from "effect/FastCheck"
import * as ErrorRow from "../src/errorRow.ts"
import { phrases, rows as table } from "../src/errorRows.ts"
import * as McpError from "../src/McpError.ts"
import * as Texts from "./support/texts.ts"

const server = "srv"
const detail = "d"
const limit = Duration.seconds(1)
const operation = "tools/call"

type Row = readonly [
  error: McpError.McpError,
  outcome: McpError.Outcome,
  isRetryable: boolean,
  countsForBreaker: boolean,
  exitCode: number,
  /** After a failed connect, and after a loss. */
  next: ErrorRow.Next,
  nextAfterLoss: ErrorRow.Next
]

/** Rows for an error that carries its outcome: it is retryable only if the request was not sent. */
const varies = (
  make: (outcome: McpError.Outcome) => McpError.McpError,
  countsForBreaker: boolean,
  exitCode: number,
  next: ErrorRow.Next | undefined
): ReadonlyArray<Row> =>
  (["not-sent", "unknown", "executed"] as const).map((outcome) => {
    const isRetryable = outcome === "not-sent"
    return [
      make(outcome),
      outcome,
      isRetryable,
      countsForBreaker,
      exitCode,
      next ?? (isRetryable ? "retry" : "final"),
      "retry"
    ]
  })

const same = (
  make: (outcome: McpError.Outcome) => McpError.McpError,
  countsForBreaker: boolean,
  exitCode: number
): ReadonlyArray<Row> =>
  (["not-sent", "unknown", "executed"] as const).map((outcome) => [
    make(outcome),
    outcome,
    false,
    countsForBreaker,
    exitCode,
    "final",
    "retry"
  ])

const lost = (reason: McpError.ConnectionLost["reason"]): ReadonlyArray<Row> =>
  varies(
    (outcome) => new McpError.ConnectionLost({ server, reason, detail, outcome }),
    reason !== "moved",
    4,
    "retry"
  )

const spawn = (reason: McpError.SpawnFailed["reason"], isRetryable: boolean): Row => [
  new McpError.SpawnFailed({ server, reason, errno: "ENOENT", command: "x", detail }),
  "not-sent",
  isRetryable,
  true,
  4,
  isRetryable ? "retry" : "final",
  "retry"
]

const http = (
  reason: McpError.HttpError["reason"],
  outcome: McpError.Outcome = "not-sent",
  more: Partial<McpError.HttpError> = {}
): McpError.HttpError => new McpError.HttpError({ server, reason, outcome, ...more })

const denied = (why: McpError.PermissionDenied["why"]): Row => [
  new McpError.PermissionDenied({ server, kind: "tool", name: "t", why }),
  "not-sent",
  false,
  false,
  5,
  "final",
  "retry"
]

const unavailable = (why: McpError.ServerUnavailable["why"], isRetryable: boolean, exitCode: number): Row => [
  new McpError.ServerUnavailable({ server, why, detail }),
  "not-sent",
  isRetryable,
  false,
  exitCode,
  isRetryable ? "retry" : "final",
  "retry"
]

const authorization = (["unauthorized", "login", "not-interactive", "refused", "metadata", "store", "timeout"] as const)
  .map((
    reason
  ): Row => [new McpError.AuthorizationFailed({ server, reason }), "not-sent", false, false, 5, "login", "login"])

const rows: ReadonlyArray<Row> = [
  spawn("command", false),
  spawn("docker-not-installed", false),
  spawn("docker-no-mcp-plugin", false),
  spawn("docker-daemon-down", true),
  spawn("docker-timeout", true),
  [
    new McpError.ConnectTimeout({ server, phase: "initialize", limit, stderrTail: "oops\n" }),
    "not-sent",
    true,
    true,
    4,
    "retry",
    "retry"
  ],
  [
    new McpError.HandshakeFailed({ server, reason: "rejected", code: -32600, detail }),
    "not-sent",
    false,
    true,
    4,
    "final",
    "retry"
  ],
  [
    new McpError.HandshakeFailed({ server, reason: "version", got: "1", supported: ["2"] }),
    "not-sent",
    false,
    true,
    4,
    "final",
    "retry"
  ],
  ...varies(
    (outcome) =>
      new McpError.ConnectionLost({
        server,
        reason: "exited",
        code: 1,
        signal: null,
        outcome,
        phase: "ready",
        stderrTail: "x"
      }),
    true,
    4,
    "retry"
  ),
  ...(["stdout-ended", "stdin-closed", "socket-closed", "stalled", "reset", "stream-interrupted", "moved"] as const)
    .flatMap(lost),
  ...varies((outcome) => new McpError.NetworkError({ server, code: "ECONNRESET", detail, outcome }), true, 4, "retry"),
  [
    new McpError.NetworkError({ server, reason: "tls", code: "CERT", detail, outcome: "not-sent" }),
    "not-sent",
    false,
    true,
    4,
    "final",
    "retry"
  ],
  ...[400, 404, 422].flatMap((status) => same((outcome) => http("status", outcome, { status }), false, 4)),
  ...[408, 500, 502, 503].flatMap((status) =>
    varies((outcome) => http("status", outcome, { status }), true, 4, undefined)
  ),
  [http("rate-limited", "not-sent", { retryAfter: limit }), "not-sent", true, false, 4, "retry", "retry"],
  [http("rate-limited", "not-sent", { paused: true }), "not-sent", true, false, 4, "retry", "retry"],
  [http("unavailable", "not-sent", { retryAfter: limit }), "not-sent", true, true, 4, "retry", "retry"],
  [http("unavailable", "not-sent", { paused: true }), "not-sent", true, false, 4, "retry", "retry"],
  [http("forbidden"), "not-sent", false, false, 5, "final", "final"],
  [http("forbidden", "not-sent", { scope: "admin" }), "not-sent", false, false, 5, "login", "login"],
  [http("redirect", "not-sent", { to: "x", redirect: "loop" }), "not-sent", false, true, 4, "final", "retry"],
  [http("origin", "not-sent", { to: "x" }), "not-sent", false, true, 4, "final", "retry"],
  ...same((outcome) => http("content-type", outcome, { got: "text/html" }), true, 4),
  ...authorization,
  [
    new McpError.AuthorizationFailed({ server, reason: "unreachable", detail }),
    "not-sent",
    true,
    false,
    4,
    "retry",
    "retry"
  ],
  ...varies((outcome) => new McpError.SessionExpired({ server, detail, outcome }), false, 4, undefined),
  [new McpError.SessionExpired({ server, detail }), "unknown", false, false, 4, "final", "retry"],
  ...same((outcome) => new McpError.ProtocolViolation({ server, what: "w", excerpt: "e", outcome }), true, 4),
  [
    new McpError.ProtocolViolation({
      server,
      reason: "pagination",
      outcome: "executed",
      operation,
      exceeds: "pages",
      pages: 100,
      limit: 100
    }),
    "executed",
    false,
    false,
    1,
    "final",
    "retry"
  ],
  [
    new McpError.ProtocolViolation({ server, reason: "input-rounds", outcome: "unknown", operation, rounds: 9 }),
    "unknown",
    false,
    false,
    1,
    "final",
    "retry"
  ],
  [
    new McpError.ProtocolViolation({
      server,
      reason: "tool-result",
      outcome: "executed",
      tool: "t",
      path: "/x",
      what: "w"
    }),
    "executed",
    false,
    false,
    1,
    "final",
    "retry"
  ],
  [
    new McpError.MessageTooLarge({ server, limit: 5, direction: "received" }),
    "unknown",
    false,
    false,
    4,
    "final",
    "retry"
  ],
  [
    new McpError.MessageTooLarge({ server, limit: 5, direction: "received", connecting: true }),
    "not-sent",
    false,
    false,
    4,
    "final",
    "retry"
  ],
  [
    new McpError.MessageTooLarge({ server, limit: 5, direction: "sent" }),
    "not-sent",
    false,
    false,
    2,
    "final",
    "retry"
  ],
  [
    new McpError.CapabilityMissing({ server, capability: "tools", operation }),
    "not-sent",
    false,
    false,
    1,
    "final",
    "retry"
  ],
  [new McpError.RemoteError({ server, code: -32603, detail }), "executed", false, false, 1, "final", "retry"],
  [new McpError.ToolError({ server, tool: "t", detail, result: {} }), "executed", false, false, 1, "final", "retry"],
  ...varies(
    (outcome) => new McpError.RequestTimeout({ server, kind: "idle", operation, limit, outcome }),
    true,
    4,
    undefined
  ),
  [
    new McpError.RequestTimeout({
      server,
      kind: "total",
      operation,
      limit,
      outcome: "not-sent",
      waitedFor: "connection",
      lastError: new McpError.NetworkError({ server, code: "ECONNREFUSED", detail: "refused", outcome: "not-sent" })
    }),
    "not-sent",
    true,
    false,
    4,
    "retry",
    "retry"
  ],
  ...same((outcome) => new McpError.Cancelled({ server, operation, detail, outcome }), false, 1),
  ...same((outcome) => new McpError.Closed({ server, operation, outcome }), false, 4),
  [
    new McpError.Closed({ server, operation, outcome: "not-sent", blocked: "denied" }),
    "not-sent",
    false,
    false,
    5,
    "final",
    "retry"
  ],
  [
    new McpError.Overloaded({ server, queue: "write", queued: 1, limit: 1 }),
    "not-sent",
    true,
    false,
    4,
    "retry",
    "retry"
  ],
  [new McpError.CircuitOpen({ server, retryAfter: limit }), "not-sent", true, false, 4, "retry", "retry"],
  [
    new McpError.CircuitOpen({ server, retryAfter: limit, isolated: true }),
    "not-sent",
    false,
    false,
    4,
    "final",
    "retry"
  ],
  unavailable("disabled", false, 3),
  unavailable("disconnected", false, 4),
  unavailable("denied", false, 5),
  unavailable("untrusted", false, 5),
  unavailable("storm", true, 4),
  unavailable("connecting", true, 4),
  [
    new McpError.RequiredServersFailed({ server, failures: [{ server, reason: "r", error: undefined }] }),
    "not-sent",
    true,
    false,
    4,
    "retry",
    "retry"
  ],
  [new McpError.NotFound({ server, kind: "tool", name: "t" }), "not-sent", false, false, 2, "final", "retry"],
  [
    new McpError.InvalidArguments({ server, operation, path: "/a", detail }),
    "not-sent",
    false,
    false,
    2,
    "final",
    "retry"
  ],
  denied("policy"),
  denied("quarantined"),
  denied("rule"),
  denied("unanswered"),
  denied("refused"),
  denied("changed"),
  denied("crowded"),
  denied("too-long"),
  [new McpError.ConfigurationError({ server, path: "url", detail }), "not-sent", false, false, 3, "final", "final"],
  [new McpError.TrustNotKept({ server, detail }), "not-sent", false, false, 3, "final", "retry"],
  [
    new McpError.RegistryError({ server, address: "https://registry.example", detail }),
    "not-sent",
    false,
    false,
    3,
    "final",
    "retry"
  ]
]

describe("McpError", () => {
  for (const [error, outcome, isRetryable, countsForBreaker, exitCode, next, nextAfterLoss] of rows) {
    const which = [
      McpError.label(error),
      ..."status" in error && error.status !== undefined ? [error.status] : [],
      ..."paused" in error && error.paused === true ? ["paused"] : [],
      ..."scope" in error && error.scope !== undefined ? ["with a scope"] : [],
      ..."isolated" in error && error.isolated === true ? ["isolated"] : [],
      ..."blocked" in error && error.blocked !== undefined ? ["blocked"] : [],
      ..."waitedFor" in error && error.waitedFor !== undefined ? ["for a connection"] : [],
      ..."direction" in error ? [error.direction] : []
    ]
    it(`gives ${which.join(" ")}, ${outcome}, its facets`, () => {
      assert.deepStrictEqual(
        {
          outcome: error.outcome,
          isRetryable: error.isRetryable,
          countsForBreaker: error.countsForBreaker,
          exitCode: ErrorRow.exitCode(error),
          next: ErrorRow.next(error),
          nextAfterLoss: ErrorRow.nextAfterLoss(error)
        },
        { outcome, isRetryable, countsForBreaker, exitCode, next, nextAfterLoss }
      )
    })
  }

  it("has a row for every tag", () => {
    const tags = McpError.McpError.members.map(({ _tag }) => _tag)
    assert.sameMembers(Array.from(new Set(rows.map(([error]) => error._tag))), tags)
    assert.strictEqual(new Set(tags).size, tags.length)
  })

  it("has a row in the table for every tag, whose conditions and texts name fields of the tag", () => {
    assert.sameMembers(Object.keys(table), McpError.McpError.members.map(({ _tag }) => _tag))
    for (const { _tag, fields } of McpError.McpError.members) {
      const known = new Set([...Object.keys(fields), ...Object.keys(phrases)])
      for (const { when = {}, ...texts } of table[_tag]!) {
        const named = Object.values(texts).flatMap((text) =>
          Array.from(String(text).matchAll(/\{(\w+)/g), ([, name]) => name!)
        )
        for (const name of [...Object.keys(when), ...named]) assert.include([...known], name.split(".")[0]!, _tag)
      }
    }
  })

  it("names the server in every message, and is recognized", () => {
    for (const [error] of rows) {
      assert.isTrue(McpError.isMcpError(error), error._tag)
      assert.include(error.message, server)
      assert.notInclude(error.message, "undefined", error._tag)
    }
  })

  it("can be made again of its own fields", () => {
    for (const [error] of rows) {
      const again: unknown = Reflect.construct(error.constructor, [{ ...error }])
      assert.deepStrictEqual({ ...(again as McpError.McpError) }, { ...error })
    }
  })

  it("does not recognize values that look like an error", () => {
    assert.isFalse(McpError.isMcpError({ _tag: "Closed" }))
    assert.isFalse(McpError.isMcpError(new Error("Closed")))
    assert.isFalse(McpError.isMcpError({ _tag: "constructor", countsForBreaker: true }))
  })

  it.prop("has a message of one short line without control characters, whatever the server says", [
    FastCheck.string({ unit: Texts.unit, maxLength: 4000 })
  ], ([text]) => {
    const errors = [
      new McpError.RemoteError({ server: text, code: 1, detail: text }),
      new McpError.ConnectionLost({
        server,
        reason: "exited",
        code: 1,
        signal: null,
        outcome: "unknown",
        phase: "ready",
        stderrTail: text
      }),
      http("status", "unknown", { status: 500, detail: text }),
      http("redirect", "not-sent", { to: text, redirect: "loop" })
    ]
    for (const error of errors) {
      // eslint-disable-next-line no-control-regex
      assert.notMatch(error.message, /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/)
      assert.isBelow(error.message.length, 12_000)
    }
  })
})
