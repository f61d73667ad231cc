import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Either, Fiber, Option, Predicate, Record, Schedule } from "effect"
import * as FastCheck from "effect/FastCheck"
import * as McpError from "../../src/McpError.ts"
import * as Backoff from "../../src/resilience/Backoff.ts"
import type * as Deadline from "../../src/resilience/Deadline.ts"
import * as RetryPolicy from "../../src/resilience/RetryPolicy.ts"
import * as Tool from "../../src/tools/Tool.ts"
import * as DeadlineSupport from "../support/deadline.ts"
import * as ManualClock from "../support/manualClock.ts"
import { costlyRuns, runs } from "../support/runs.ts"

const server = "s"
const detail = ""
const limit = Duration.seconds(1)
const outcomes: ReadonlyArray<McpError.Outcome> = ["not-sent", "unknown", "executed"]

const each = <E>(make: (outcome: McpError.Outcome) => E): ReadonlyArray<E> => outcomes.map(make)

/** Every error that a call can have, with everything that it can say of itself. */
const errors = {
  AuthorizationFailed: (["login", "unreachable"] as const).map((reason) =>
    new McpError.AuthorizationFailed({ server, reason, detail })
  ),
  Cancelled: each((outcome) => new McpError.Cancelled({ server, operation: "o", detail: "r", outcome })),
  CapabilityMissing: [new McpError.CapabilityMissing({ server, capability: "c", operation: "o" })],
  CircuitOpen: [new McpError.CircuitOpen({ server, retryAfter: limit })],
  Closed: each((outcome) => new McpError.Closed({ server, operation: "o", outcome })),
  ConfigurationError: [new McpError.ConfigurationError({ server, path: "p", detail })],
  ConnectTimeout: [new McpError.ConnectTimeout({ server, phase: "initialize", limit })],
  ConnectionLost: each((outcome) => new McpError.ConnectionLost({ server, reason: "reset", detail, outcome })),
  "SpawnFailed/docker": (["daemon-down", "not-installed"] as const).map((reason) =>
    new McpError.SpawnFailed({ server, reason: `docker-${reason}`, detail })
  ),
  "HttpError/forbidden": [new McpError.HttpError({ server, reason: "forbidden", outcome: "not-sent" })],
  "HttpError": [400, 404, 408, 500, 502, 503, 504].flatMap((status) =>
    each((outcome) => new McpError.HttpError({ server, reason: "status", status, detail: "", outcome }))
  ),
  "HandshakeFailed/rejected": [new McpError.HandshakeFailed({ server, reason: "rejected", code: -32603, detail })],
  "ProtocolViolation/input-rounds": [
    new McpError.ProtocolViolation({ server, reason: "input-rounds", outcome: "unknown", operation: "o", rounds: 10 })
  ],
  InvalidArguments: [new McpError.InvalidArguments({ server, operation: "o", path: "p", detail })],
  "ProtocolViolation/tool-result": [
    new McpError.ProtocolViolation({
      server,
      reason: "tool-result",
      outcome: "executed",
      tool: "t",
      path: "p",
      what: detail
    })
  ],
  MessageTooLarge: (["received", "sent"] as const).map((direction) =>
    new McpError.MessageTooLarge({ server, limit: 1, direction })
  ),
  NetworkError: each((outcome) => new McpError.NetworkError({ server, code: "ECONNRESET", detail, outcome })),
  NotFound: [new McpError.NotFound({ server, kind: "tool", name: "t" })],
  "HttpError/origin": [new McpError.HttpError({ server, reason: "origin", outcome: "not-sent", to: "x" })],
  Overloaded: (["write", "calls"] as const).map((queue) =>
    new McpError.Overloaded({ server, queue, queued: 1, limit: 1 })
  ),
  "ProtocolViolation/pagination": [
    new McpError.ProtocolViolation({
      server,
      reason: "pagination",
      outcome: "executed",
      operation: "o",
      exceeds: "pages",
      pages: 1,
      limit: 1
    })
  ],
  PermissionDenied: [new McpError.PermissionDenied({ server, kind: "tool", name: "t", why: "rule" })],
  "PermissionDenied/policy": [
    new McpError.PermissionDenied({ server, why: "policy", kind: "server", name: server, decision: "denied" })
  ],
  "ConnectionLost/exited": each((outcome) =>
    new McpError.ConnectionLost({ server, reason: "exited", code: 1, signal: null, outcome, phase: "ready" })
  ),
  ProtocolViolation: each((outcome) =>
    new McpError.ProtocolViolation({ server, what: "w", excerpt: "", outcome, phase: "ready" })
  ),
  "HttpError/rate-limited": [undefined, limit].map((retryAfter) =>
    new McpError.HttpError({ server, reason: "rate-limited", outcome: "not-sent", retryAfter, detail })
  ),
  "HttpError/redirect": [
    new McpError.HttpError({ server, reason: "redirect", outcome: "not-sent", to: "x", redirect: "loop" })
  ],
  RemoteError: [-32000, -32603].map((code) => new McpError.RemoteError({ server, code, detail })),
  RequestTimeout: (["idle", "total"] as const).flatMap((kind) =>
    each((outcome) => new McpError.RequestTimeout({ server, kind, operation: "o", limit, outcome }))
  ),
  ServerUnavailable: (["disabled", "storm"] as const).map((why) =>
    new McpError.ServerUnavailable({ server, why, detail })
  ),
  SessionExpired: each((outcome) => new McpError.SessionExpired({ server, detail, outcome })),
  SpawnFailed: [new McpError.SpawnFailed({ server, errno: "ENOENT", command: "x", detail })],
  "ConnectionLost/stream-interrupted": each((outcome) =>
    new McpError.ConnectionLost({ server, reason: "stream-interrupted", detail, outcome })
  ),
  "PermissionDenied/quarantined": [
    new McpError.PermissionDenied({ server, why: "quarantined", kind: "tool", name: "t", changed: [] })
  ],
  "NetworkError/tls": [new McpError.NetworkError({ server, reason: "tls", outcome: "not-sent", code: "CERT", detail })],
  "AuthorizationFailed/unauthorized": [new McpError.AuthorizationFailed({ server, reason: "unauthorized" })],
  "HttpError/unavailable": [undefined, limit].map((retryAfter) =>
    new McpError.HttpError({ server, reason: "unavailable", outcome: "not-sent", retryAfter, detail })
  ),
  "HttpError/content-type": each((outcome) =>
    new McpError.HttpError({ server, reason: "content-type", got: "text/html", detail: "", outcome })
  ),
  "HandshakeFailed/version": [new McpError.HandshakeFailed({ server, reason: "version", got: "1", supported: [] })]
} satisfies Readonly<Record<string, ReadonlyArray<McpError.RuntimeError>>>

const all: ReadonlyArray<McpError.RuntimeError> = Object.values(errors).flat()

const tool = (annotations: Tool.Annotations): Tool.Tool => {
  const [decoded] = Tool.decodeAll([{ name: "t", inputSchema: { type: "object" }, annotations }], {
    maxSchemaBytes: 1_000,
    paramHeaders: false
  }).tools
  assert.isDefined(decoded)
  return decoded
}

const kinds: ReadonlyArray<Tool.Tool | undefined> = [
  undefined,
  tool({}),
  tool({ destructiveHint: true }),
  tool({ destructiveHint: true, idempotentHint: false }),
  tool({ destructiveHint: true, idempotentHint: true }),
  tool({ destructiveHint: true, readOnlyHint: true }),
  tool({ readOnlyHint: false, idempotentHint: false }),
  tool({ readOnlyHint: true }),
  tool({ idempotentHint: true })
]

interface Facts {
  readonly trusted: boolean | undefined
  readonly tool: Tool.Tool | undefined
  readonly idempotent: boolean | undefined
  readonly connected: boolean
  readonly attempts: number
  readonly sent: number
}

const facts: ReadonlyArray<Facts> = [true, false, undefined].flatMap((trusted) =>
  kinds.flatMap((kind) =>
    [true, false, undefined].flatMap((idempotent) =>
      [true, false].flatMap((connected) =>
        [1, 2, 3, 4].map((attempts) => ({ trusted, tool: kind, idempotent, connected, attempts, sent: attempts }))
      )
    )
  )
)

const decide = (error: McpError.RuntimeError, { idempotent, tool, trusted, ...rest }: Facts) =>
  RetryPolicy.decide({ error, ...rest, repetition: RetryPolicy.repetition(trusted, tool, idempotent) })

const isKnownSafe = ({ idempotent, tool: kind, trusted }: Facts): boolean =>
  idempotent === true ||
  (idempotent === undefined && trusted === true &&
    (kind?.annotations.readOnlyHint === true || kind?.annotations.idempotentHint === true))

/** What forbids a second execution, and `isKnownSafe` what allows it. */
const isKnownHarmful = ({ idempotent, tool: kind }: Facts): boolean =>
  idempotent === false ||
  (idempotent === undefined && (kind === undefined ||
    (kind.annotations.destructiveHint === true && kind.annotations.idempotentHint !== true &&
      kind.annotations.readOnlyHint !== true)))

const first: Facts = {
  trusted: undefined,
  tool: tool({}),
  idempotent: undefined,
  connected: true,
  attempts: 1,
  sent: 1
}

/** The errors after which a call is made again, as texts that say what decides. */
const repeated = (given: Facts): ReadonlyArray<string> =>
  Array.from(
    new Set(
      all.filter((error) => decide(error, given) !== "no").map((error) =>
        [
          McpError.label(error),
          error._tag === "HttpError" && error.reason === "status"
            ? error.status
            : error._tag === "RequestTimeout"
            ? error.kind
            : "",
          error.outcome
        ].filter((part) => part !== "").join(" ")
      )
    )
  ).toSorted()

describe("RetryPolicy.decide", () => {
  it("retries exactly these errors of a tool without annotations", () => {
    assert.deepStrictEqual(repeated(first), [
      "AuthorizationFailed/unreachable not-sent",
      "ConnectTimeout not-sent",
      "ConnectionLost/exited not-sent",
      "ConnectionLost/reset not-sent",
      "ConnectionLost/stream-interrupted not-sent",
      "HttpError 408 not-sent",
      "HttpError 500 not-sent",
      "HttpError 502 not-sent",
      "HttpError 503 not-sent",
      "HttpError 504 not-sent",
      "NetworkError not-sent",
      "RequestTimeout idle not-sent",
      "SessionExpired not-sent",
      "SessionExpired unknown",
      "SpawnFailed/docker-daemon-down not-sent"
    ])
  })

  it("also retries these errors if a second execution is harmless", () => {
    const plain = repeated(first)
    assert.deepStrictEqual(repeated({ ...first, idempotent: true }).filter((shown) => !plain.includes(shown)), [
      "ConnectionLost/exited unknown",
      "ConnectionLost/reset unknown",
      "ConnectionLost/stream-interrupted unknown",
      "HttpError 408 unknown",
      "HttpError 500 unknown",
      "HttpError 502 unknown",
      "HttpError 503 unknown",
      "HttpError 504 unknown",
      "HttpError/content-type unknown",
      "NetworkError unknown",
      "ProtocolViolation unknown",
      "RequestTimeout idle unknown"
    ])
  })

  it("follows the annotations of a trusted server, unless the caller decides otherwise", () => {
    const harmless = repeated({ ...first, idempotent: true })
    const plain = repeated(first)
    for (const given of facts.filter(({ attempts, connected }) => connected && attempts === 1)) {
      const allowed = isKnownSafe(given) ? harmless : plain
      const forbidden = isKnownHarmful(given) ? ["SessionExpired unknown"] : []
      assert.deepStrictEqual(repeated(given), allowed.filter((shown) => !forbidden.includes(shown)))
    }
  })

  it("retries an expired session at once, and only after a single earlier send", () => {
    const expired = new McpError.SessionExpired({ server, detail })
    assert.strictEqual(decide(expired, first), "now")
    // an earlier attempt that was not sent does not count
    assert.strictEqual(decide(expired, { ...first, attempts: 2 }), "now")
    for (const idempotent of [undefined, true]) {
      assert.strictEqual(decide(expired, { ...first, idempotent, attempts: 2, sent: 2 }), "no")
    }
  })

  it("never retries a call that may have run, unless that is known to be safe", () => {
    for (const error of all) {
      for (const given of facts) {
        if (decide(error, given) === "no") continue
        assert.isTrue(given.connected)
        assert.notStrictEqual(error.outcome, "executed")
        if (error.outcome !== "unknown") continue
        if (error._tag !== "SessionExpired") assert.isTrue(isKnownSafe(given), error._tag)
        else assert.isTrue(given.sent === 1 && !isKnownHarmful(given))
      }
    }
  })

  it("retries at once, the first time, after a connection that was lost before the call was sent", () => {
    for (
      const lost of [
        errors.ConnectionLost[0]!,
        errors["ConnectionLost/exited"][0]!,
        errors["ConnectionLost/stream-interrupted"][0]!
      ]
    ) {
      assert.strictEqual(decide(lost, first), "now")
      assert.strictEqual(decide(lost, { ...first, attempts: 2 }), "delayed")
    }
    assert.strictEqual(decide(errors.ConnectionLost[1]!, { ...first, idempotent: true }), "delayed")
    assert.strictEqual(decide(errors.NetworkError[0]!, first), "delayed")
  })
})

const hint = FastCheck.constantFrom(true, false, undefined)
const annotations = FastCheck.record({ destructiveHint: hint, idempotentHint: hint, readOnlyHint: hint })
const given: FastCheck.Arbitrary<Facts> = FastCheck.record({
  trusted: hint,
  tool: FastCheck.option(annotations.map((hints) => tool(Record.filter(hints, Predicate.isNotUndefined))), {
    nil: undefined
  }),
  idempotent: hint,
  connected: FastCheck.boolean(),
  attempts: FastCheck.integer({ min: 1, max: 4 }),
  sent: FastCheck.nat(4)
})

/** The table once more, as questions: is there a point in another attempt, and could it be a second execution? */
const model = (error: McpError.RuntimeError, facts: Facts): boolean => {
  const comesBackLater = ["CircuitOpen", "Overloaded", "ServerUnavailable"].includes(error._tag) ||
    (error._tag === "HttpError" && ["rate-limited", "unavailable"].includes(error.reason))
  const isOutOfTime = error._tag === "RequestTimeout" && error.kind === "total"
  if (!facts.connected || comesBackLater || isOutOfTime || error.outcome === "executed") return false
  if (error.outcome === "not-sent") return error.isRetryable
  if (error._tag === "SessionExpired") return facts.sent === 1 && !isKnownHarmful(facts)
  // a connection that moved counts for no breaker
  return isKnownSafe(facts) && (error.countsForBreaker || error._tag === "ConnectionLost")
}

const within = <A, E>(total: number, f: (deadline: Deadline.Deadline) => Effect.Effect<A, E>) =>
  DeadlineSupport.within({ server, operation: "tools/call", idle: Infinity, total }, f)

describe("RetryPolicy over random facts", () => {
  it("agrees with the model of its table", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.constantFrom(...all), given, (error, facts) => {
        assert.strictEqual(decide(error, facts) !== "no", model(error, facts))
      }),
      { numRuns: runs(5_000) }
    )
  })

  it.effect.prop(
    "makes the attempts that the model allows, and fails with the last error that leaves an execution in doubt",
    [FastCheck.array(FastCheck.constantFrom(...all), { minLength: 1, maxLength: 5 }), given, FastCheck.nat(3)],
    ([script, facts, retries]) =>
      Effect.gen(function*() {
        const expected: Array<McpError.RuntimeError> = []
        let sent = 0
        for (const error of script) {
          expected.push(error)
          if (error.outcome !== "not-sent") sent++
          if (expected.length > retries || !model(error, { ...facts, attempts: expected.length, sent })) break
        }
        const isWon = expected.length === script.length && expected.length <= retries &&
          model(script.at(-1)!, { ...facts, attempts: expected.length, sent })
        let attempts = 0
        const time = ManualClock.make()
        const progress = { attempts: 0, isConnected: false }
        const attempt = Effect.suspend((): Effect.Effect<string, McpError.RuntimeError> => {
          progress.isConnected = facts.connected
          return script[attempts++] ?? Effect.succeed("done")
        })
        const call = yield* within(Infinity, (deadline) =>
          RetryPolicy.retryWhenSafe({
            call: progress,
            deadline,
            options: { ...RetryPolicy.defaults, retries },
            repetition: () => Effect.succeed(RetryPolicy.repetition(facts.trusted, facts.tool, facts.idempotent))
          })(attempt)).pipe(
            Effect.either,
            Effect.withClock(time.clock),
            Effect.fork
          )
        yield* time.advance(60_000)
        const result = yield* Fiber.join(call)
        assert.strictEqual(attempts, expected.length + (isWon ? 1 : 0))
        assert.strictEqual(progress.attempts, attempts)
        const inDoubt = expected.findLast(({ outcome }) => outcome !== "not-sent")
        assert.deepStrictEqual(result, isWon ? Either.right("done") : Either.left(inDoubt ?? expected.at(-1)!))
      }),
    { fastCheck: { numRuns: costlyRuns(200) } }
  )

  it.effect("makes no attempt whose delay would end after the deadline", () =>
    Effect.gen(function*() {
      const time = ManualClock.make()
      let attempts = 0
      const progress = { attempts: 0, isConnected: false }
      const attempt = Effect.suspend(() => {
        attempts++
        progress.isConnected = true
        return errors.NetworkError[0]!
      })
      const call = yield* within(1_250, (deadline) =>
        RetryPolicy.retryWhenSafe({
          call: progress,
          deadline,
          options: RetryPolicy.defaults,
          repetition: () => Effect.succeed("unspecified" as const)
        })(attempt)).pipe(
          Effect.flip,
          Effect.withClock(time.clock),
          Effect.fork
        )
      // the first retry is after 250 ms, the second would be 1 s later
      yield* time.advance(250)
      assert.strictEqual(yield* Fiber.join(call), errors.NetworkError[0]!)
      assert.strictEqual(attempts, 2)
    }))
})

/** The delays before the retries of one call, in milliseconds. */
const delays = (options: RetryPolicy.Options) =>
  Effect.gen(function*() {
    const backoff = yield* Backoff.make(RetryPolicy.schedule(options))
    const given: Array<number> = []
    for (let attempt = 0; attempt < 10; attempt++) {
      const planned = yield* backoff.next(errors.NetworkError[0]!)
      if (Option.isNone(planned)) return given
      given.push(Duration.toMillis(planned.value[0]))
    }
    return given
  })

describe("RetryPolicy settings", () => {
  it.effect("are two retries after 250 ms and 1 s by default", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* delays(yield* RetryPolicy.RetryPolicy), [250, 1_000])
    }))

  it.effect.prop(
    "give as many retries as are set, with the delays of the schedule",
    [FastCheck.nat(6), FastCheck.integer({ min: 1, max: 1_000 })],
    ([retries, delay]) =>
      Effect.gen(function*() {
        const given = yield* delays({ retries, schedule: Schedule.spaced(Duration.millis(delay)) })
        assert.deepStrictEqual(given, Array.from({ length: retries }, () => delay))
      })
  )

  it.effect("allow no retry with layerNone", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* delays(yield* RetryPolicy.RetryPolicy), [])
    }).pipe(Effect.provideService(RetryPolicy.RetryPolicy, { ...RetryPolicy.defaults, retries: 0 })))
})
