import { assert, describe, it } from "@effect/vitest"
import { Config, ConfigProvider, Duration, Effect, Fiber, Random, TestClock } from "effect"
import * as Session from "../../src/client/Session.ts"
import * as McpError from "../../src/McpError.ts"
import * as HealthCheck from "../../src/resilience/HealthCheck.ts"
import * as MemoryServer from "../../src/testing/MemoryServer.ts"
import * as MemoryTransport from "../../src/testing/MemoryTransport.ts"
import * as FakeConnection from "../support/fakeConnection.ts"
import * as ManualClock from "../support/manualClock.ts"
import * as OverMemory from "../support/overMemory.ts"

const config = MemoryTransport.config("peer", { stallTimeout: "1 hour" })
const echo: MemoryServer.Tool = { name: "echo", call: () => Effect.succeed("echo") }

const newUse = () => {
  const state = { inFlight: 0, lastUsed: 0 }
  const probes: Array<{ readonly at: number; readonly ok: boolean }> = []
  const use: HealthCheck.Use = {
    inFlight: () => state.inFlight,
    lastUsed: () => state.lastUsed,
    onProbe: (probe) => probes.push(probe)
  }
  return { state, probes, use }
}

/** Watches a connection to a peer; nothing is random. */
const watching = (peer: MemoryTransport.Peer, options?: Partial<HealthCheck.Options>) =>
  Effect.gen(function*() {
    const session = yield* Effect.provide(Session.open(config), OverMemory.client({ peer }))
    const { probes, state, use } = newUse()
    const { watch } = HealthCheck.make(options)
    const fiber = yield* Effect.fork(Effect.withRandom(watch(config, session, use), Random.fixed([0])))
    yield* Effect.yieldNow()
    const seconds = (count: number) => Effect.repeatN(TestClock.adjust("5 seconds"), count / 5 - 1)
    const probed = (times: number) => Effect.repeat(Effect.yieldNow(), { until: () => probes.length >= times })
    return { session, state, probes, fiber, seconds, probed, isOver: () => fiber.unsafePoll() !== null }
  })

const count = (peer: MemoryTransport.Peer, ...methods: ReadonlyArray<string>) =>
  methods.map((method) => peer.received(method).length)

describe("a health check", () => {
  it.scoped("asks a connection that nobody uses, every interval, and says how that went", () =>
    Effect.gen(function*() {
      const peer = yield* MemoryServer.make({ era: "session", tools: [echo] })
      const { isOver, probed, probes, seconds } = yield* watching(peer)
      yield* seconds(25)
      assert.deepStrictEqual(count(peer, "ping"), [0])
      for (let probe = 1; probe <= 4; probe++) {
        yield* seconds(probe === 1 ? 5 : 30)
        yield* probed(probe)
      }
      assert.deepStrictEqual(probes, [30, 60, 90, 120].map((at) => ({ at: at * 1_000, ok: true })))
      assert.deepStrictEqual(count(peer, "ping", "tools/list"), [4, 0])
      assert.isFalse(isOver())
    }))

  it.scoped("asks a server of the stateless era what such a server answers", () =>
    Effect.gen(function*() {
      const peer = yield* MemoryServer.make({ era: "stateless", tools: [echo] })
      const { probed, probes, seconds } = yield* watching(peer)
      const [before] = count(peer, "server/discover")
      yield* seconds(30)
      yield* probed(1)
      assert.isTrue(probes[0]!.ok)
      assert.deepStrictEqual(count(peer, "server/discover", "ping", "tools/list"), [before! + 1, 0, 0])
    }))

  it.scoped("takes a server that refuses the probe for alive", () =>
    Effect.gen(function*() {
      const peer = yield* MemoryServer.make({
        era: "session",
        methods: { ping: () => Effect.fail(new MemoryServer.Refused({ code: -32601, message: "Method not found" })) }
      })
      const { probed, probes, seconds } = yield* watching(peer)
      yield* seconds(30)
      yield* probed(1)
      assert.isTrue(probes[0]!.ok)
    }))

  it.scoped("asks a server that ignores the probe for its tools, and from then on for nothing else", () =>
    Effect.gen(function*() {
      const peer = yield* MemoryServer.make({ era: "session", tools: [echo], methods: { ping: () => Effect.never } })
      const { isOver, probed, probes, seconds } = yield* watching(peer)
      yield* seconds(35)
      yield* probed(1)
      assert.deepStrictEqual(count(peer, "ping", "tools/list"), [1, 1])
      yield* seconds(30)
      yield* probed(2)
      yield* seconds(30)
      yield* probed(3)
      assert.deepStrictEqual(count(peer, "ping", "tools/list"), [1, 3])
      assert.isTrue(probes.every(({ ok }) => ok))
      assert.isFalse(isOver())
    }))

  it.scoped("asks a server without tools for what it declares", () =>
    Effect.gen(function*() {
      const peer = yield* MemoryServer.make({
        era: "session",
        prompts: [{ name: "p", get: () => Effect.succeed("") }],
        methods: { ping: () => Effect.never }
      })
      const { probed, probes, seconds } = yield* watching(peer)
      yield* seconds(35)
      yield* probed(1)
      assert.isTrue(probes[0]!.ok)
      assert.deepStrictEqual(count(peer, "tools/list", "prompts/list"), [0, 1])
    }))

  const silent: ReadonlyArray<readonly [string, (peer: MemoryTransport.Peer) => Effect.Effect<void>]> = [
    ["sends nothing any more", (peer) => peer.halfClose],
    ["reads nothing any more", (peer) => peer.hang]
  ]
  for (const [what, fall] of silent) {
    it.scoped(`gives up a connection whose server ${what}, after three silent probes`, () =>
      Effect.gen(function*() {
        const peer = yield* MemoryServer.make({ era: "session", tools: [echo] })
        const { fiber, isOver, probed, probes, seconds } = yield* watching(peer)
        yield* fall(peer)
        yield* seconds(40)
        yield* probed(1)
        yield* seconds(60)
        yield* probed(3)
        // the last question of the third probe is answered or not by then
        assert.deepStrictEqual(probes.map(({ ok }) => ok), [false, false, false])
        const error = yield* Fiber.join(fiber)
        assert.isTrue(isOver())
        assert.deepInclude(error, { _tag: "ConnectionLost", server: "peer", reason: "stalled", outcome: "unknown" })
      }))
  }

  it.scoped("gives up a server that has nothing to answer with and is silent", () =>
    Effect.gen(function*() {
      const peer = yield* MemoryServer.make({ era: "session", methods: { ping: () => Effect.never } })
      const { fiber, seconds } = yield* watching(peer, { strikes: 1 })
      yield* seconds(35)
      assert.strictEqual((yield* Fiber.join(fiber))._tag, "ConnectionLost")
    }))

  it.scoped("forgets silence once the server has answered again", () =>
    Effect.gen(function*() {
      const peer = yield* MemoryServer.make({ era: "session" })
      const { isOver, probed, probes, seconds } = yield* watching(peer, { strikes: 2 })
      yield* peer.halfClose
      yield* seconds(35)
      yield* probed(1)
      yield* peer.heal
      yield* seconds(30)
      yield* probed(2)
      yield* peer.halfClose
      yield* seconds(30)
      yield* probed(3)
      assert.deepStrictEqual(probes.map(({ ok }) => ok), [false, true, false])
      assert.isFalse(isOver())
    }))
})

/** The same over a connection that is a script, and a clock that waits for nothing. */
const scripted = (health: Effect.Effect<void, McpError.CallError>, options?: Partial<HealthCheck.Options>) =>
  Effect.gen(function*() {
    const time = ManualClock.make()
    const connection = yield* FakeConnection.make({ capabilities: {} })
    const session = yield* Session.make(connection)
    const { probes, state, use } = newUse()
    const start = (random: number) =>
      HealthCheck.make(options).watch(config, { ...session, health }, use).pipe(
        Effect.withRandom(Random.fixed([random])),
        Effect.withClock(time.clock),
        Effect.fork
      )
    const fiber = yield* start(0)
    const seconds = (count: number) => time.advance(count * 1_000)
    return { probes, state, time, seconds, fiber, start, isOver: () => fiber.unsafePoll() !== null }
  })

const server = "peer"
const outcome = "unknown"
const answers: ReadonlyArray<readonly [McpError.CallError, boolean]> = [
  [new McpError.RemoteError({ server, code: -32603, detail: "" }), true],
  [new McpError.RateLimited({ server, detail: "" }), true],
  [new McpError.Unavailable({ server, detail: "" }), true],
  [new McpError.Unauthorized({ server }), true],
  [new McpError.Forbidden({ server }), true],
  [new McpError.SessionExpired({ server, detail: "" }), true],
  [new McpError.HttpStatus({ server, status: 405, excerpt: "", outcome }), true],
  [new McpError.ProtocolViolation({ server, what: "", excerpt: "", outcome, phase: "ready" }), true],
  [new McpError.HttpStatus({ server, status: 502, excerpt: "", outcome }), false],
  [new McpError.RequestTimeout({ server, kind: "idle", operation: "ping", limit: Duration.zero, outcome }), false],
  [new McpError.NetworkError({ server, code: "ECONNREFUSED", detail: "", outcome }), false],
  [new McpError.StreamInterrupted({ server, detail: "", outcome }), false],
  [new McpError.Overloaded({ server, queue: "write", queued: 1, limit: 1 }), false]
]

describe("the watch over a connection", () => {
  for (const [error, ok] of answers) {
    const status = error._tag === "HttpStatus" ? ` ${error.status}` : ""
    it.effect(`takes ${error._tag}${status} ${ok ? "for a sign of life" : "for silence"}`, () =>
      Effect.gen(function*() {
        const { fiber, isOver, probes, seconds } = yield* scripted(Effect.fail(error), { strikes: 2 })
        yield* seconds(60)
        assert.deepStrictEqual(probes.map((probe) => probe.ok), [ok, ok])
        assert.strictEqual(isOver(), !ok)
        yield* Fiber.interrupt(fiber)
      }))
  }

  it.effect("probes no connection that is in use or was used within the interval", () =>
    Effect.gen(function*() {
      const { fiber, probes, seconds, state, time } = yield* scripted(Effect.void)
      state.inFlight = 1
      yield* seconds(600)
      assert.lengthOf(probes, 0)
      state.inFlight = 0
      state.lastUsed = time.now()
      yield* seconds(29)
      assert.lengthOf(probes, 0)
      for (let use = 0; use < 10; use++) {
        state.lastUsed = time.now()
        yield* seconds(29)
      }
      assert.lengthOf(probes, 0)
      yield* seconds(1)
      assert.lengthOf(probes, 1)
      yield* Fiber.interrupt(fiber)
    }))

  it.effect("counts no silence against a server that has been of use meanwhile", () =>
    Effect.gen(function*() {
      const { fiber, isOver, probes, seconds, state, time } = yield* scripted(Effect.never, { strikes: 2 })
      for (let turn = 0; turn < 5; turn++) {
        yield* seconds(35)
        state.lastUsed = time.now()
      }
      assert.lengthOf(probes, 5)
      assert.isFalse(isOver())
      yield* seconds(65)
      assert.lengthOf(probes, 7)
      assert.isTrue(isOver())
      yield* Fiber.join(fiber)
    }))

  it.effect("counts no silence against a server that was given something to do meanwhile", () =>
    Effect.gen(function*() {
      const { fiber, isOver, probes, seconds, state } = yield* scripted(Effect.never, { strikes: 1 })
      yield* seconds(31)
      state.inFlight = 1
      yield* seconds(5)
      assert.lengthOf(probes, 1)
      assert.isFalse(isOver())
      yield* Fiber.interrupt(fiber)
    }))

  it.effect("counts no silence against a server that has answered somebody else meanwhile", () =>
    Effect.gen(function*() {
      const { fiber, isOver, probes, seconds, state, time } = yield* scripted(Effect.never, { strikes: 1 })
      yield* seconds(31)
      state.lastUsed = time.now()
      yield* seconds(5)
      assert.lengthOf(probes, 1)
      assert.isFalse(isOver())
      yield* Fiber.interrupt(fiber)
    }))

  it.effect("does not probe connections together that began together", () =>
    Effect.gen(function*() {
      const { probes, seconds, start } = yield* scripted(Effect.void)
      for (const random of [0.25, 0.5, 0.75]) yield* start(random)
      yield* seconds(45)
      assert.deepStrictEqual(probes.map(({ at }) => at), [30_000, 33_750, 37_500, 41_250])
    }))

  it.effect("follows an operator's numbers", () =>
    Effect.gen(function*() {
      const { watch } = yield* HealthCheck.HealthCheck
      const time = ManualClock.make()
      const session = yield* Effect.flatMap(FakeConnection.make({ capabilities: {} }), Session.make)
      const { probes, use } = newUse()
      const silentSession = { ...session, health: Effect.never }
      const fiber = yield* watch(config, silentSession, use).pipe(
        Effect.withRandom(Random.fixed([0])),
        Effect.withClock(time.clock),
        Effect.fork
      )
      yield* time.advance(3_000)
      assert.deepStrictEqual(probes, [{ at: 3_000, ok: false }])
      assert.strictEqual((yield* Fiber.join(fiber))._tag, "ConnectionLost")
    }).pipe(
      Effect.provide(HealthCheck.layerConfig({
        interval: Config.duration("INTERVAL"),
        timeout: Config.duration("TIMEOUT"),
        strikes: Config.integer("STRIKES")
      })),
      Effect.withConfigProvider(
        ConfigProvider.fromMap(new Map([["INTERVAL", "2 seconds"], ["TIMEOUT", "1 second"], ["STRIKES", "1"]]))
      )
    ))

  it.effect("asks nobody if there is none", () =>
    Effect.gen(function*() {
      const { watch } = yield* HealthCheck.HealthCheck
      const time = ManualClock.make()
      const session = yield* Effect.flatMap(FakeConnection.make(), Session.make)
      const { probes, use } = newUse()
      const fiber = yield* Effect.fork(Effect.withClock(watch(config, session, use), time.clock))
      yield* time.advance(3_600_000)
      assert.lengthOf(probes, 0)
      yield* Fiber.interrupt(fiber)
    }).pipe(Effect.provide(HealthCheck.layerNone)))

  it.effect("has a layer with the defaults", () =>
    Effect.gen(function*() {
      assert.isFunction((yield* HealthCheck.HealthCheck).watch)
    }).pipe(Effect.provide(HealthCheck.layer())))
})
