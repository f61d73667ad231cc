import { assert, describe, it } from "@effect/vitest"
import { Config, ConfigProvider, Duration, Effect } from "effect"
import * as FastCheck from "effect/FastCheck"
import * as McpError from "../../src/McpError.ts"
import * as CallPolicy from "../../src/resilience/CallPolicy.ts"
import * as MemoryTransport from "../../src/testing/MemoryTransport.ts"
import * as Tool from "../../src/tools/Tool.ts"

const server = "s"
const detail = ""
const limit = Duration.seconds(1)
const outcomes: ReadonlyArray<McpError.Outcome> = ["not-sent", "unknown", "executed"]

const each = <E>(make: (outcome: McpError.Outcome) => E): ReadonlyArray<E> => outcomes.map(make)

/** Every error that a call can have, with everything that it can say of itself. */
const errors: {
  readonly [T in McpError.RuntimeError["_tag"]]: ReadonlyArray<Extract<McpError.RuntimeError, { _tag: T }>>
} = {
  AuthorizationFailed: (["login", "unreachable"] as const).map((reason) =>
    new McpError.AuthorizationFailed({ server, reason, detail })
  ),
  Cancelled: each((outcome) => new McpError.Cancelled({ server, operation: "o", reason: "r", outcome })),
  CapabilityMissing: [new McpError.CapabilityMissing({ server, capability: "c", operation: "o" })],
  CircuitOpen: [new McpError.CircuitOpen({ server, retryAfter: limit })],
  Closed: each((outcome) => new McpError.Closed({ server, operation: "o", outcome })),
  ConfigurationError: [new McpError.ConfigurationError({ server, path: "p", detail })],
  ConnectTimeout: [new McpError.ConnectTimeout({ server, phase: "initialize", limit })],
  ConnectionLost: each((outcome) => new McpError.ConnectionLost({ server, reason: "reset", detail, outcome })),
  DockerUnavailable: (["daemon-down", "not-installed"] as const).map((reason) =>
    new McpError.DockerUnavailable({ server, reason, detail })
  ),
  Forbidden: [new McpError.Forbidden({ server })],
  HttpStatus: [400, 404, 408, 500, 502, 503, 504].flatMap((status) =>
    each((outcome) => new McpError.HttpStatus({ server, status, excerpt: "", outcome }))
  ),
  InitializeRejected: [new McpError.InitializeRejected({ server, code: -32603, detail })],
  InputRoundsExceeded: [new McpError.InputRoundsExceeded({ server, operation: "o", rounds: 10 })],
  InvalidArguments: [new McpError.InvalidArguments({ server, operation: "o", path: "p", detail })],
  InvalidToolResult: [new McpError.InvalidToolResult({ server, tool: "t", path: "p", detail })],
  MessageTooLarge: (["received", "sent"] as const).map((direction) =>
    new McpError.MessageTooLarge({ server, limit: 1, direction })
  ),
  NetworkError: each((outcome) => new McpError.NetworkError({ server, code: "ECONNRESET", detail, outcome })),
  NotFound: [new McpError.NotFound({ server, kind: "tool", name: "t" })],
  OriginMismatch: [new McpError.OriginMismatch({ server, to: "x" })],
  Overloaded: (["write", "calls"] as const).map((queue) =>
    new McpError.Overloaded({ server, queue, queued: 1, limit: 1 })
  ),
  PaginationLimit: [new McpError.PaginationLimit({ server, operation: "o", reason: "pages", pages: 1, limit: 1 })],
  PermissionDenied: [new McpError.PermissionDenied({ server, kind: "tool", name: "t", why: "rule" })],
  PolicyDenied: [new McpError.PolicyDenied({ server, decision: "denied" })],
  ProcessExited: each((outcome) =>
    new McpError.ProcessExited({ server, code: 1, signal: null, outcome, phase: "ready" })
  ),
  ProtocolViolation: each((outcome) =>
    new McpError.ProtocolViolation({ server, what: "w", excerpt: "", outcome, phase: "ready" })
  ),
  RateLimited: [undefined, limit].map((retryAfter) => new McpError.RateLimited({ server, retryAfter, detail })),
  RedirectBlocked: [new McpError.RedirectBlocked({ server, to: "x", reason: "loop" })],
  RemoteError: [-32000, -32603].map((code) => new McpError.RemoteError({ server, code, detail })),
  RequestTimeout: (["idle", "total"] as const).flatMap((kind) =>
    each((outcome) => new McpError.RequestTimeout({ server, kind, operation: "o", limit, outcome }))
  ),
  ServerUnavailable: (["disabled", "storm"] as const).map((why) =>
    new McpError.ServerUnavailable({ server, why, detail })
  ),
  SessionExpired: each((outcome) => new McpError.SessionExpired({ server, detail, outcome })),
  SpawnFailed: [new McpError.SpawnFailed({ server, errno: "ENOENT", command: "x", detail })],
  StreamInterrupted: each((outcome) => new McpError.StreamInterrupted({ server, detail, outcome })),
  ToolQuarantined: [new McpError.ToolQuarantined({ server, tool: "t", changed: [] })],
  TlsError: [new McpError.TlsError({ server, code: "CERT", detail })],
  Unauthorized: [new McpError.Unauthorized({ server })],
  Unavailable: [undefined, limit].map((retryAfter) => new McpError.Unavailable({ server, retryAfter, detail })),
  UnexpectedContentType: each((outcome) =>
    new McpError.UnexpectedContentType({ server, got: "text/html", excerpt: "", outcome })
  ),
  UnsupportedProtocolVersion: [new McpError.UnsupportedProtocolVersion({ server, got: "1", supported: [] })]
}

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

const policies = new Map(
  [true, false, undefined].map((trusted) => [
    trusted,
    CallPolicy.make().for(MemoryTransport.config(server, { trusted }))
  ])
)

const again = (error: McpError.RuntimeError, { trusted, ...rest }: Facts) =>
  policies.get(trusted)!.again({ error, ...rest })

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
      all.filter((error) => again(error, given) !== undefined).map((error) =>
        [
          error._tag,
          error._tag === "HttpStatus" ? error.status : error._tag === "RequestTimeout" ? error.kind : "",
          error.outcome
        ].filter((part) => part !== "").join(" ")
      )
    )
  ).toSorted()

describe("a call that has failed", () => {
  it("is made again after exactly these errors, if its tool has no annotations", () => {
    assert.deepStrictEqual(repeated(first), [
      "AuthorizationFailed not-sent",
      "ConnectTimeout not-sent",
      "ConnectionLost not-sent",
      "DockerUnavailable not-sent",
      "HttpStatus 408 not-sent",
      "HttpStatus 500 not-sent",
      "HttpStatus 502 not-sent",
      "HttpStatus 503 not-sent",
      "HttpStatus 504 not-sent",
      "NetworkError not-sent",
      "ProcessExited not-sent",
      "RequestTimeout idle not-sent",
      "SessionExpired not-sent",
      "SessionExpired unknown",
      "StreamInterrupted not-sent"
    ])
  })

  it("is made again after these as well, if running it twice does no harm", () => {
    const plain = repeated(first)
    assert.deepStrictEqual(repeated({ ...first, idempotent: true }).filter((shown) => !plain.includes(shown)), [
      "ConnectionLost unknown",
      "HttpStatus 408 unknown",
      "HttpStatus 500 unknown",
      "HttpStatus 502 unknown",
      "HttpStatus 503 unknown",
      "HttpStatus 504 unknown",
      "NetworkError unknown",
      "ProcessExited unknown",
      "ProtocolViolation unknown",
      "RequestTimeout idle unknown",
      "StreamInterrupted unknown",
      "UnexpectedContentType unknown"
    ])
  })

  it("is as harmless as a trusted server says, unless the caller says otherwise", () => {
    const harmless = repeated({ ...first, idempotent: true })
    const plain = repeated(first)
    for (const given of facts.filter(({ attempts, connected }) => connected && attempts === 1)) {
      const allowed = isKnownSafe(given) ? harmless : plain
      const forbidden = isKnownHarmful(given) ? ["SessionExpired unknown"] : []
      assert.deepStrictEqual(repeated(given), allowed.filter((shown) => !forbidden.includes(shown)))
    }
  })

  it("is sent again at once for an expired session, and only after a single earlier send", () => {
    const expired = new McpError.SessionExpired({ server, detail })
    assert.deepStrictEqual(again(expired, first), Duration.zero)
    // an earlier attempt that was not sent does not count
    assert.deepStrictEqual(again(expired, { ...first, attempts: 2 }), Duration.zero)
    for (const idempotent of [undefined, true]) {
      assert.isUndefined(again(expired, { ...first, idempotent, attempts: 2, sent: 2 }))
    }
  })

  it("is never sent twice when it may have run, unless that is known to be safe, whatever the error and the facts", () => {
    for (const error of all) {
      for (const given of facts) {
        if (again(error, given) === undefined) continue
        assert.isTrue(given.connected)
        assert.isAtMost(given.attempts, 2)
        assert.notStrictEqual(error.outcome, "executed")
        if (error.outcome !== "unknown") continue
        if (error._tag !== "SessionExpired") assert.isTrue(isKnownSafe(given), error._tag)
        else assert.isTrue(given.sent === 1 && !isKnownHarmful(given))
      }
    }
  })

  it("waits a little longer each time, and not at all for a connection that was just lost", () => {
    const network = errors.NetworkError[0]!
    const delays = [1, 2, 3].map((attempts) => again(network, { ...first, attempts }))
    assert.deepStrictEqual(delays, [Duration.millis(250), Duration.seconds(1), undefined])
    for (const lost of [errors.ConnectionLost[0]!, errors.ProcessExited[0]!, errors.StreamInterrupted[0]!]) {
      assert.deepStrictEqual(again(lost, first), Duration.zero)
      assert.deepStrictEqual(again(lost, { ...first, attempts: 2 }), Duration.seconds(1))
    }
    assert.deepStrictEqual(again(errors.ConnectionLost[1]!, { ...first, idempotent: true }), Duration.millis(250))
  })

  it("is made again as often as is set, with the last delay for all that follow", () => {
    FastCheck.assert(
      FastCheck.property(
        FastCheck.nat(6),
        FastCheck.array(FastCheck.nat(1_000), { maxLength: 4 }),
        (retries, delays) => {
          const own = CallPolicy.make({ retries, delays }).for(MemoryTransport.config(server))
          const error = errors.NetworkError[0]!
          for (let attempts = 1; attempts <= 8; attempts++) {
            const delay = own.again({ ...first, error, attempts })
            const expected = delays.length === 0 ? 0 : delays[Math.min(attempts, delays.length) - 1]!
            assert.strictEqual(delay && Duration.toMillis(delay), attempts > retries ? undefined : expected)
          }
        }
      )
    )
  })

  it.effect("is made again by numbers of an operator", () =>
    Effect.gen(function*() {
      const { again } = (yield* CallPolicy.CallPolicy).for(MemoryTransport.config(server))
      const error = errors.NetworkError[0]!
      assert.deepStrictEqual(again({ ...first, error }), Duration.millis(40))
      assert.isUndefined(again({ ...first, error, attempts: 2 }))
    }).pipe(
      Effect.provide(CallPolicy.layerConfig({
        retries: Config.integer("RETRIES"),
        delays: Config.array(Config.duration(), "DELAYS")
      })),
      Effect.withConfigProvider(ConfigProvider.fromMap(new Map([["RETRIES", "1"], ["DELAYS", "40 millis, 1 second"]])))
    ))

  it.effect("stays as it is without a policy", () =>
    Effect.gen(function*() {
      const { again } = (yield* CallPolicy.CallPolicy).for(MemoryTransport.config(server))
      for (const error of all) assert.isUndefined(again({ ...first, error, idempotent: true }))
    }).pipe(Effect.provide(CallPolicy.layerNone)))

  it.effect("is made again by default", () =>
    Effect.gen(function*() {
      const { again } = (yield* CallPolicy.CallPolicy).for(MemoryTransport.config(server))
      assert.isDefined(again({ ...first, error: errors.NetworkError[0]! }))
    }).pipe(Effect.provide(CallPolicy.layer())))
})
