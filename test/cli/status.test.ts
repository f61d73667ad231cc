import { assert, describe, it } from "@effect/vitest"
import { Deferred, Duration, Effect, Fiber, Redacted, Schema } from "effect"
import { Changed, Status } from "../../src/cli/commands/status.ts"
import * as EventShape from "../../src/cli/eventShape.ts"
import * as Latency from "../../src/cli/latency.ts"
import { sparkline } from "../../src/cli/sparkline.ts"
import * as Shape from "../../src/cli/statusShape.ts"
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

const shape: Shape.Server = {
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

describe("what status says", () => {
  it("draws numbers as bars", () => {
    const table = [
      [[], ""],
      [[0, 0], "▁▁"],
      [[1, 8, undefined, 4], "▂█×▅"],
      [[undefined], "×"],
      [[3], "█"]
    ] as const
    for (const [samples, text] of table) assert.strictEqual(sparkline(samples), text)
  })

  it("writes how long an answer took", () => {
    const table = [[0.04, "0.0 ms"], [1.25, "1.3 ms"], [12.4, "12 ms"], [1_500, "1500 ms"]] as const
    for (const [milliseconds, text] of table) assert.strictEqual(Latency.format(milliseconds), text)
  })

  it("tells what has changed, and no change where only time has passed", () => {
    const error = { tag: "ConnectionLost", message: "a: it is gone" }
    const table: ReadonlyArray<readonly [Partial<Shape.Server>, string]> = [
      [{}, "a connected: 2 tools"],
      [{ tools: 1, calls: 3 }, "a connected: 1 tool, 3 under way"],
      [{ tools: null, breaker: "half-open" }, "a connected: breaker half-open"],
      [
        { state: "reconnecting", tools: null, reconnects: 2, error },
        "a reconnecting after connected: lost 2 times, it is gone"
      ],
      [{ state: "blocked", why: "untrusted", tools: null }, "a blocked (untrusted) after connected"],
      [{ pausedUntil: 61_000 }, "a connected (paused until 00:01:01 UTC): 2 tools"]
    ]
    for (const [more, text] of table) {
      const spans = Shape.line({ ...shape, ...more }, shape)
      assert.strictEqual(
        typeof spans === "string" ? spans : spans.map((span) => typeof span === "string" ? span : span.text).join(""),
        text
      )
    }
    assert.strictEqual(Shape.key(shape), Shape.key({ ...shape, latency: 7, latencies: [7] }))
    assert.notStrictEqual(Shape.key(shape), Shape.key({ ...shape, connectedSince: 2_000 }))
    assert.notStrictEqual(Shape.key(shape), Shape.key({ ...shape, pausedUntil: 2_000 }))
  })

  it("writes an event in one line", () => {
    const { Connected, StatusChanged } = McpEvent.McpEvent
    const status = ServerStatus.ServerStatus.Connecting()
    const about = { transport: "stdio", era: "session", protocolVersion: "1" } as const
    const table: ReadonlyArray<readonly [McpEvent.McpEvent, string]> = [
      [StatusChanged({ server: "a", status, previous: undefined }), "00:00:07 StatusChanged a: Connecting"],
      [
        StatusChanged({
          server: "a",
          status: ServerStatus.ServerStatus.Connected({ since: 0, era: "session", tools: 1, pausedUntil: 61_000 }),
          previous: status
        }),
        "00:00:07 StatusChanged a: Connecting → Connected (paused until 00:01:01 UTC)"
      ],
      [
        StatusChanged({ server: "a", status: ServerStatus.ServerStatus.Closed(), previous: status }),
        "00:00:07 StatusChanged a: Connecting → Closed"
      ],
      [
        Connected({ server: "a", ...about, took: Duration.nanos(1_234_567n) }),
        "00:00:07 Connected a: transport=stdio, era=session, protocolVersion=1, took=1.235"
      ]
    ]
    for (const [event, text] of table) {
      const spans = EventShape.line(event, 7_000)
      assert.strictEqual(
        typeof spans === "string" ? spans : spans.map((span) => typeof span === "string" ? span : span.text).join(""),
        text
      )
    }
  })

  it("makes JSON of whatever an event holds", () => {
    const error = new McpError.ConnectTimeout({ server: "a", phase: "initialize", limit: Duration.seconds(1) })
    const event = McpEvent.McpEvent.ListFailed({ server: "a", list: "tools", error })
    assert.deepStrictEqual(EventShape.of(event, 7), {
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
    for (const [value, json] of table) assert.deepStrictEqual(EventShape.plain(value), json)
    const round: { self?: unknown } = {}
    round.self = round
    assert.include(JSON.stringify(EventShape.plain(round)), "…")
  })
})

describe("status", () => {
  it.live("is one document of what there is", () =>
    Effect.scoped(Effect.gen(function*() {
      const { code, out } = yield* run(yield* some, ["status", "--json", "--import", "claude-code"])
      const { servers } = decode(Status, out)
      assert.strictEqual(code, 0)
      assert.deepStrictEqual(servers.map(({ name, state, why }) => [name, state, why]).toSorted(), [
        ["dead", "failed", null],
        ["off", "disabled", "configuration"],
        ["offers", "connected", null],
        ["wants", "blocked", "untrusted"]
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
      assert.match(lines[0]!, /^SERVER +STATE +BREAKER +LATENCY +LAST +CALLS +RECONNECTS +ERA/)
      assert.match(out, /\noffers +connected +closed +\d+(\.\d)? ms +[▁-█]{3} +0 +0 +session +/)
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
      assert.lengthOf(text.match(/ dead connecting/g) ?? [], 1)
      const written = yield* follow(
        at,
        ["status", "--watch", "--json"],
        (text) => text.split("\n").some((line) => line.includes("\"offers\"") && line.includes("\"connected\""))
      )
      const [first] = written.text.trimEnd().split("\n").map((line) => decode(Changed, line))
      assert.isNumber(first?.at)
    })))

  it.live("draws on a terminal one table in its place, and leaves it with a cursor when it is interrupted", () =>
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
      assert.match(rows.join("\n"), /^error: dead: .*none/m)
      assert.match(rows.at(-1)!, /^\d\d:\d\d:\d\d UTC; Ctrl-C ends$/)
      assert.isTrue(emulator.isCursorShown())
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
        return text.includes(" later connected") && text.includes(" dead gone")
      })
      assert.include(text, " off gone")
    })))

  it.live("knows what it can be told", () =>
    Effect.scoped(Effect.gen(function*() {
      const at = yield* place
      const table = [
        [["status", "--for", "1s"], 2, "Write --watch"],
        [["status", "--watch", "--every", "often"], 2, "\"often\" is no duration"],
        [["status"], 0, "There are no servers here."]
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
        (text) => / Connected offers: /.test(text) && / ConnectFailed dead: /.test(text)
      )
      assert.isTrue(exit._tag === "Failure")
      assert.match(text, /\d\d:\d\d:\d\d Connected offers: transport=stdio, era=session, /)
    })))

  it.live("are documents, one a line", () =>
    Effect.scoped(Effect.gen(function*() {
      const { text } = yield* follow(yield* some, ["events", "--json"], (text) => text.includes("\"StartupComplete\""))
      const events = text.trimEnd().split("\n").map((line) => decode(EventShape.Event, line))
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
