import { assert, describe, it } from "@effect/vitest"
import { Deferred, Duration, Effect, Fiber, Redacted, Schema } from "effect"
import * as Events from "../../src/cli/commands/events.ts"
import * as StatusCommand from "../../src/cli/commands/status.ts"
import * as Latency from "../../src/cli/latency.ts"
import type * as Screen from "../../src/cli/Screen.ts"
import * as McpError from "../../src/McpError.ts"
import * as McpEvent from "../../src/McpEvent.ts"
import * as ServerStatus from "../../src/runtime/ServerStatus.ts"
import * as Emulator from "./emulator.ts"
import { ofWorkspace, own, type Place, place, run as runAny, server, type Typing } from "./inProcess.ts"

const run = (at: Place, argv: ReadonlyArray<string>, typing: Typing = {}) => runAny(at, argv, typing)

const decode = <A, I>(shape: Schema.Schema<A, I>, text: string) =>
  Schema.decodeUnknownSync(Schema.parseJson(shape), { onExcessProperty: "error" })(text)

const some = Effect.tap(place, (at) =>
  Effect.sync(() => {
    at.write(own, {
      servers: {
        offers: server("cli/offers.mjs"),
        dead: { command: "/none" },
        off: { command: "/off", enabled: false }
      }
    })
    at.write(ofWorkspace, { mcpServers: { wants: { command: "wants" } } })
  }))

/** Runs it until so much has been written, and interrupts it then, as Ctrl-C does; gives what was written. */
const follow = (at: Place, argv: ReadonlyArray<string>, isEnough: (text: string) => boolean, typing: Typing = {}) =>
  Effect.gen(function*() {
    const enough = yield* Deferred.make<void>()
    let text = ""
    const fiber = yield* Effect.fork(run(at, argv, {
      ...typing,
      onWrite: (more) => {
        text += more
        if (isEnough(text)) Deferred.unsafeDone(enough, Effect.void)
      }
    }))
    yield* Deferred.await(enough)
    const exit = yield* Fiber.interrupt(fiber)
    return { text, exit }
  })

const shape: StatusCommand.Server = {
  name: "a",
  state: "connected",
  why: null,
  breaker: "closed",
  latency: 1.25,
  latencies: [5, null, 1.25],
  calls: 0,
  called: 0,
  reconnects: 0,
  tools: 2,
  era: "session",
  connectedSince: 1_000,
  pausedUntil: null,
  error: null
}

const textOf = (line: Screen.Line): string =>
  typeof line === "string" ? line : line.map((span) => typeof span === "string" ? span : span.text).join("")

describe("what status says", () => {
  it("draws numbers as bars", () => {
    const table = [
      [[], ""],
      [[0, 0], "▁▁"],
      [[1, 8, null, 4], "▂█×▅"],
      [[null], "×"],
      [[3], "█"]
    ] as const
    for (const [samples, text] of table) assert.strictEqual(Latency.sparkline(samples), text)
  })

  it("writes how long an answer took", () => {
    const table = [[0.04, "0.0 ms"], [1.25, "1.3 ms"], [12.4, "12 ms"], [1_500, "1500 ms"]] as const
    for (const [milliseconds, text] of table) assert.strictEqual(Latency.format(milliseconds), text)
  })

  it("tells what has changed, and no change where only time has passed", () => {
    const error = { tag: "ConnectionLost", message: "a: it is gone" }
    const table: ReadonlyArray<readonly [Partial<StatusCommand.Server>, string]> = [
      [{}, "a connected: 2 tools"],
      [{ tools: 1, calls: 3 }, "a connected: 1 tool, 3 in flight"],
      [{ tools: null, breaker: "half-open" }, "a connected: breaker half-open"],
      [
        { state: "waiting", tools: null, reconnects: 2, error },
        "a waiting after connected: lost 2 times, it is gone"
      ],
      [{ reconnects: 1 }, "a connected: 2 tools, lost 1 time"],
      [{ state: "needs approval", why: "untrusted", tools: null }, "a needs approval after connected"],
      [{ pausedUntil: 61_000 }, "a connected (paused until 00:01:01 UTC): 2 tools"]
    ]
    for (const [more, text] of table) {
      assert.strictEqual(textOf(StatusCommand.line({ ...shape, ...more }, shape)), text)
    }
    assert.strictEqual(StatusCommand.key(shape), StatusCommand.key({ ...shape, latency: 7, latencies: [7] }))
    assert.notStrictEqual(StatusCommand.key(shape), StatusCommand.key({ ...shape, connectedSince: 2_000 }))
    assert.notStrictEqual(StatusCommand.key(shape), StatusCommand.key({ ...shape, pausedUntil: 2_000 }))
  })

  it("writes an event as a sentence without JSON, and leaves out one that repeats another", () => {
    const { Closed, ConfigurationWarning, Connected, StartupComplete, StatusChanged, ToolQuarantined } =
      McpEvent.McpEvent
    const status = ServerStatus.ServerStatus.Connecting()
    const error = new McpError.ConnectTimeout({ server: "a", phase: "initialize", limit: Duration.seconds(1) })
    const about = { transport: "stdio", era: "session", protocolVersion: "1" } as const
    const changed = (status: ServerStatus.ServerStatus) => StatusChanged({ server: "a", status, previous: undefined })
    const connected = ServerStatus.ServerStatus.Connected({ since: 0, era: "session", tools: 1, pausedUntil: 61_000 })
    const end = { server: "a", transport: "stdio", how: "exited-before", took: Duration.zero, killed: [] } as const
    const changes = [{ path: "/description", before: "x", after: "y" }]
    const table: ReadonlyArray<readonly [McpEvent.McpEvent, string | undefined]> = [
      [changed(status), undefined],
      [changed(connected), "00:00:07 a paused until 00:01:01 UTC"],
      [
        changed(ServerStatus.ServerStatus.Reconnecting({ attempt: 2, until: 61_000, error })),
        "00:00:07 a reconnect attempt 2 at 00:01:01 UTC"
      ],
      [changed(ServerStatus.ServerStatus.Blocked({ why: "untrusted" })), "00:00:07 a needs approval (untrusted)"],
      [changed(ServerStatus.ServerStatus.Closed()), "00:00:07 a off"],
      [
        Connected({ server: "a", ...about, took: Duration.nanos(1_234_567n) }),
        "00:00:07 a connected over stdio in 1ms, protocol 1 (session era)"
      ],
      [Closed({ server: "a", end }), "00:00:07 a closed in 1ms (exited-before)"],
      [
        StartupComplete({ ready: ["b"], failed: [{ server: "a", error }], took: Duration.seconds(1) }),
        "00:00:07 startup complete in 1s: 1 ready, 1 failed"
      ],
      [
        ConfigurationWarning({ server: "a", warning: { kind: "env-dropped", at: "envFile", variable: "PATH" } }),
        "00:00:07 a configuration warning: kind env-dropped, at envFile, variable PATH"
      ],
      [
        ToolQuarantined({ server: "a", tool: "t", fingerprint: "f", changes }),
        "00:00:07 a tool quarantined: tool t, fingerprint f, path /description, before x, after y"
      ]
    ]
    for (const [event, text] of table) {
      const line = Events.line(event, 7_000)
      assert.strictEqual(line && textOf(line), text)
    }
  })

  it("makes JSON of whatever an event holds", () => {
    const error = new McpError.ConnectTimeout({ server: "a", phase: "initialize", limit: Duration.seconds(1) })
    const event = McpEvent.McpEvent.ListFailed({ server: "a", list: "tools", error })
    assert.deepStrictEqual(Events.of(event, 7), {
      at: 7,
      event: "ListFailed",
      server: "a",
      data: { list: "tools", error: { tag: "ConnectTimeout", message: error.message } }
    })
    const table: ReadonlyArray<readonly [unknown, unknown]> = [
      [1n, "1"],
      [Redacted.make("secret"), "(hidden)"],
      [Duration.infinity, null],
      [new Map([["__proto__", 1]]), Object.fromEntries([["__proto__", 1]])],
      [[undefined, () => 1, new Error("x")], [undefined, undefined, { tag: "Error", message: "x" }]]
    ]
    for (const [value, json] of table) assert.deepStrictEqual(Events.plain(value), json)
    const round: { self?: unknown } = {}
    round.self = round
    assert.include(JSON.stringify(Events.plain(round)), "…")
  })
})

describe("status", () => {
  it.live("is one document of what there is", () =>
    Effect.scoped(Effect.gen(function*() {
      const { code, out } = yield* run(yield* some, ["status", "--json", "--import", "claude-code"])
      const { servers } = decode(StatusCommand.Status, out)
      assert.strictEqual(code, 0)
      assert.deepStrictEqual(servers.map(({ name, state, why }) => [name, state, why]).toSorted(), [
        ["dead", "failed", null],
        ["off", "off", "configuration"],
        ["offers", "connected", null],
        ["wants", "needs approval", "untrusted"]
      ])
      const offers = servers.find(({ name }) => name === "offers")!
      assert.lengthOf(offers.latencies, 3)
      assert.strictEqual(offers.latency, offers.latencies[2])
      assert.deepInclude(offers, { breaker: "closed", calls: 0, reconnects: 0, error: null })
      assert.strictEqual(servers.find(({ name }) => name === "dead")?.error?.tag, "SpawnFailed")
    })))

  it.live("is a table for people", () =>
    Effect.scoped(Effect.gen(function*() {
      const { code, err, out } = yield* run(yield* some, ["status"], { columns: 80 })
      assert.strictEqual(code, 0)
      const lines = out.split("\n")
      assert.match(lines[0]!, /^SERVER +STATE +BREAKER +LATENCY +LAST +CALLS +RECONNECTS/)
      assert.match(out, /\noffers +connected +closed +\d+(\.\d)? ms +[▁-█]{3} +0 +0 */)
      assert.isAtMost(Math.max(...lines.map((line) => line.length)), 80)
      assert.include(err, "/none")
    })))

  it.live("goes on with a line for each change, until somebody ends it", () =>
    Effect.scoped(Effect.gen(function*() {
      const at = yield* some
      const isEnough = (text: string) => / offers connected/.test(text) && / dead failed/.test(text)
      const { exit, text } = yield* follow(at, ["status", "--watch"], isEnough)
      assert.isTrue(exit._tag === "Failure")
      assert.match(text, /^\d\d:\d\d:\d\d \S+ /)
      // it failed once, and nothing that is older is told after that
      assert.lengthOf(text.match(/ dead starting/g) ?? [], 1)
      const written = yield* follow(
        at,
        ["status", "--watch", "--json"],
        (text) => text.split("\n").some((line) => line.includes("\"offers\"") && line.includes("\"connected\""))
      )
      const [first] = written.text.trimEnd().split("\n").map((line) => decode(StatusCommand.Changed, line))
      assert.isNumber(first?.at)
    })))

  it.live("draws one table in place on a terminal, and leaves it there when it is interrupted", () =>
    Effect.scoped(Effect.gen(function*() {
      const emulator = Emulator.make(80, 24)
      let seen = 0
      yield* follow(
        yield* some,
        ["status", "-w", "--every", "20ms"],
        (text) => {
          emulator.write(text.slice(seen))
          seen = text.length
          return /^offers +connected +closed +\d+(\.\d)? ms +[▁-█]{3}/m.test(emulator.rows().join("\n"))
        },
        { columns: 80 }
      ).pipe(Effect.tap(({ text }) => Effect.sync(() => emulator.write(text.slice(seen)))))
      const rows = emulator.rows()
      assert.lengthOf(rows.filter((row) => /^SERVER +STATE +BREAKER +LATENCY +LAST/.test(row)), 1)
      assert.match(rows.join("\n"), /^dead: .*none/m)
      assert.match(rows.at(-1)!, /^\d\d:\d\d:\d\d UTC; press Ctrl-C to stop$/)
    })))

  it.live("takes up a server that comes while it watches", () =>
    Effect.scoped(Effect.gen(function*() {
      const at = yield* some
      let isWritten = false
      const { text } = yield* follow(at, ["status", "--watch"], (text) => {
        if (!isWritten && text.includes(" offers connected")) {
          isWritten = true
          at.write(own, { servers: { offers: server("cli/offers.mjs"), later: server("cli/offers.mjs", "later") } })
        }
        return text.includes(" later connected") && text.includes(" dead removed")
      })
      assert.include(text, " off removed")
    })))

  it.live("knows what it can be told", () =>
    Effect.scoped(Effect.gen(function*() {
      const at = yield* place
      const table = [
        [["status", "--for", "1s"], 2, "need --watch"],
        [["status", "--watch", "--every", "often"], 2, "invalid duration \"often\""],
        [["status"], 0, "No servers are configured."]
      ] as const
      for (const [argv, exit, text] of table) {
        const { code, err } = yield* run(at, argv)
        assert.deepStrictEqual([argv, code], [argv, exit])
        assert.include(err, text)
      }
    })))
})

describe("events", () => {
  it.live("are followed line by line", () =>
    Effect.scoped(Effect.gen(function*() {
      const { exit, text } = yield* follow(
        yield* some,
        ["events"],
        (text) => / offers connected /.test(text) && / dead connect failed: /.test(text)
      )
      assert.isTrue(exit._tag === "Failure")
      assert.match(text, /^\d\d:\d\d:\d\d offers connected over stdio in \S+, protocol \S+ \(session era\)$/m)
    })))

  it.live("are documents, one a line", () =>
    Effect.scoped(Effect.gen(function*() {
      const { text } = yield* follow(yield* some, ["events", "--json"], (text) => text.includes("\"StartupComplete\""))
      const events = text.trimEnd().split("\n").map((line) => decode(Events.Event, line))
      const connected = events.find(({ event, server }) => event === "Connected" && server === "offers")
      assert.deepInclude(connected?.data, { transport: "stdio", era: "session" })
    })))

  it.live("end when their time is over", () =>
    Effect.scoped(Effect.gen(function*() {
      const at = yield* some
      const { code } = yield* run(at, ["events", "--for", "200ms"])
      assert.strictEqual(code, 0)
      const wrong = yield* run(at, ["events", "--for", "ever"])
      assert.strictEqual(wrong.code, 2)
    })))
})
