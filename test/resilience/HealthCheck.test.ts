import { assert, describe, it } from "@effect/vitest"
import { Context, Duration, Effect, Fiber, Layer, Random, TestClock } from "effect"
import * as McpError from "../../src/McpError.ts"
import * as HealthCheck from "../../src/resilience/HealthCheck.ts"
import * as MemoryServer from "../../src/testing/MemoryServer.ts"
import type * as MemoryTransport from "../../src/testing/MemoryTransport.ts"
import * as Configs from "../support/configs.ts"
import * as ManualClock from "../support/manualClock.ts"
import * as Pool from "../support/pool.ts"

const config = Configs.memory("peer", { stallTimeout: "1 hour" })
const echo: MemoryServer.Tool = { name: "echo", call: () => Effect.succeed("echo") }

const newUse = () => {
  const state = { inFlight: 0, lastUsed: 0 }
  const probes: Array<{ readonly at: number; readonly ok: boolean }> = []
  const use = {
    inFlight: () => state.inFlight,
    lastUsed: () => state.lastUsed,
    onProbe: (probe: { readonly at: number; readonly ok: boolean }) => probes.push(probe)
  }
  return { state, probes, use }
}

const watch = (options: Partial<HealthCheck.Options> | undefined, watched: HealthCheck.Watched) =>
  HealthCheck.watch({ ...HealthCheck.defaults, ...options }, watched)

/** Watches the connection of a pool to a peer. */
const watching = (peer: MemoryTransport.Peer, options?: Partial<HealthCheck.Options>) =>
  Effect.gen(function*() {
    const layer = Pool.layer({ peer }, { health: HealthCheck.layer(options) })
    const built = yield* Layer.build(layer)
    const pool = Context.get(built, Pool.Servers)
    yield* pool.reload([config])
    yield* pool.switches.connect("peer")
    const connection = pool.get("peer")!.live!.generation
    const probes: Array<{ readonly at: number; readonly ok: boolean }> = []
    const look = () => {
      const health = pool.get("peer")?.link.health()
      if (health !== undefined && health.at !== probes.at(-1)?.at) probes.push(health)
    }
    const seconds = (count: number) =>
      Effect.repeatN(Effect.zipRight(TestClock.adjust("5 seconds"), Effect.sync(look)), count / 5 - 1)
    const probed = (times: number) =>
      Effect.repeat(Effect.zipRight(Effect.yieldNow(), Effect.sync(look)), { until: () => probes.length >= times })
    const isOver = () => pool.get("peer")?.live?.generation !== connection
    const lost = Effect.flatMap(
      Effect.repeat(Effect.yieldNow(), { until: isOver }),
      () => Effect.sync(() => lostWith)
    )
    let lostWith: McpError.ConnectError | undefined = undefined
    Context.get(built, Pool.McpEvent.McpEvents).onEvent((event) => {
      if (event._tag === "StatusChanged" && event.status._tag === "Reconnecting") lostWith = event.status.error
    })
    return { probes, seconds, probed, isOver, lost }
  }).pipe(Effect.withRandom(Random.fixed([0])))

const count = (peer: MemoryTransport.Peer, ...methods: ReadonlyArray<string>) =>
  methods.map((method) => peer.received(method).length)

describe("HealthCheck", () => {
  it.scoped("probes an idle connection every interval and reports the outcome", () =>
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

  it.scoped("probes a server of the stateless era with server/discover", () =>
    Effect.gen(function*() {
      const peer = yield* MemoryServer.make({ era: "stateless", tools: [echo] })
      const { probed, probes, seconds } = yield* watching(peer)
      const [before] = count(peer, "server/discover")
      yield* seconds(30)
      yield* probed(1)
      assert.isTrue(probes[0]!.ok)
      assert.deepStrictEqual(count(peer, "server/discover", "ping", "tools/list"), [before! + 1, 0, 0])
    }))

  it.scoped("counts a refused ping as an answer", () =>
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

  it.scoped("lists the tools of a server that ignores the ping, and sends it no more pings", () =>
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

  it.scoped("requests another list of a server without tools", () =>
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
    ["sends nothing", (peer) => peer.halfClose],
    ["reads nothing", (peer) => peer.hang]
  ]
  for (const [what, fall] of silent) {
    it.scoped(`ends the connection to a server that ${what}, after three silent probes`, () =>
      Effect.gen(function*() {
        const peer = yield* MemoryServer.make({ era: "session", tools: [echo] })
        const { isOver, lost, probed, probes, seconds } = yield* watching(peer)
        yield* fall(peer)
        yield* seconds(40)
        yield* probed(1)
        yield* seconds(60)
        yield* probed(3)
        // the last question of the third probe is answered or not by then
        assert.deepStrictEqual(probes.map(({ ok }) => ok), [false, false, false])
        const error = yield* lost
        assert.isTrue(isOver())
        assert.deepInclude(error, { _tag: "ConnectionLost", server: "peer", reason: "stalled", outcome: "unknown" })
      }))
  }

  it.scoped("ends the connection to a silent server that declares no list", () =>
    Effect.gen(function*() {
      const peer = yield* MemoryServer.make({ era: "session", methods: { ping: () => Effect.never } })
      const { lost, seconds } = yield* watching(peer, { strikes: 1 })
      yield* seconds(35)
      assert.strictEqual((yield* lost)?._tag, "ConnectionLost")
    }))

  it.scoped("counts strikes anew after an answer", () =>
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

/** A ping that is scripted, and a clock that waits for nothing. */
const scripted = (ping: Effect.Effect<void, McpError.CallError>, options?: Partial<HealthCheck.Options>) =>
  Effect.gen(function*() {
    const time = ManualClock.make()
    const { probes, state, use } = newUse()
    const start = (random: number) =>
      watch(options, { ...use, ping, list: undefined }).pipe(
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
  [new McpError.HttpError({ server, reason: "rate-limited", outcome: "not-sent", detail: "" }), true],
  [new McpError.HttpError({ server, reason: "unavailable", outcome: "not-sent", detail: "" }), true],
  [new McpError.AuthorizationFailed({ server, reason: "unauthorized" }), true],
  [new McpError.HttpError({ server, reason: "forbidden", outcome: "not-sent" }), true],
  [new McpError.SessionExpired({ server, detail: "" }), true],
  [new McpError.HttpError({ server, reason: "status", status: 405, detail: "", outcome }), true],
  [new McpError.ProtocolViolation({ server, what: "", excerpt: "", outcome, phase: "ready" }), true],
  [new McpError.HttpError({ server, reason: "status", status: 502, detail: "", outcome }), false],
  [new McpError.RequestTimeout({ server, kind: "idle", operation: "ping", limit: Duration.zero, outcome }), false],
  [new McpError.NetworkError({ server, code: "ECONNREFUSED", detail: "", outcome }), false],
  [new McpError.ConnectionLost({ server, reason: "stream-interrupted", detail: "", outcome }), false],
  [new McpError.Overloaded({ server, queue: "write", queued: 1, limit: 1 }), false]
]

describe("HealthCheck.watch", () => {
  for (const [error, ok] of answers) {
    const status = error._tag === "HttpError" && error.reason === "status" ? ` ${error.status}` : ""
    it.effect(`counts ${error._tag}${status} as ${ok ? "an answer" : "silence"}`, () =>
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

  it.effect("counts strikes anew after a successful use", () =>
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

  it.effect("counts no strike if a call began during the probe", () =>
    Effect.gen(function*() {
      const { fiber, isOver, probes, seconds, state } = yield* scripted(Effect.never, { strikes: 1 })
      yield* seconds(31)
      state.inFlight = 1
      yield* seconds(5)
      assert.lengthOf(probes, 1)
      assert.isFalse(isOver())
      yield* Fiber.interrupt(fiber)
    }))

  it.effect("counts no strike if a call succeeded during the probe", () =>
    Effect.gen(function*() {
      const { fiber, isOver, probes, seconds, state, time } = yield* scripted(Effect.never, { strikes: 1 })
      yield* seconds(31)
      state.lastUsed = time.now()
      yield* seconds(5)
      assert.lengthOf(probes, 1)
      assert.isFalse(isOver())
      yield* Fiber.interrupt(fiber)
    }))

  it.effect("spreads the probes of connections that were opened together", () =>
    Effect.gen(function*() {
      const { probes, seconds, start } = yield* scripted(Effect.void)
      for (const random of [0.25, 0.5, 0.75]) yield* start(random)
      yield* seconds(45)
      assert.deepStrictEqual(probes.map(({ at }) => at), [30_000, 33_750, 37_500, 41_250])
    }))

  it.effect("takes its settings from its layer", () =>
    Effect.gen(function*() {
      const time = ManualClock.make()
      const { probes, use } = newUse()
      const fiber = yield* HealthCheck.watch(yield* HealthCheck.HealthCheck, {
        ...use,
        ping: Effect.never,
        list: undefined
      }).pipe(
        Effect.withRandom(Random.fixed([0])),
        Effect.withClock(time.clock),
        Effect.fork
      )
      yield* time.advance(3_000)
      assert.deepStrictEqual(probes, [{ at: 3_000, ok: false }])
      assert.strictEqual(yield* Fiber.join(fiber), 1)
    }).pipe(
      Effect.provide(HealthCheck.layer({ interval: "2 seconds", timeout: "1 second", strikes: 1 }))
    ))

  it.effect("sends no probe with layerNone", () =>
    Effect.gen(function*() {
      const time = ManualClock.make()
      const { probes, use } = newUse()
      const fiber = yield* HealthCheck.watch(yield* HealthCheck.HealthCheck, {
        ...use,
        ping: Effect.void,
        list: undefined
      }).pipe(Effect.withClock(time.clock), Effect.fork)
      yield* time.advance(3_600_000)
      assert.lengthOf(probes, 0)
      yield* Fiber.interrupt(fiber)
    }).pipe(Effect.provide(HealthCheck.layerNone)))
})
