import { assert, describe, it } from "@effect/vitest"
import { Chunk, Deferred, Duration, Effect, Exit, Fiber, Layer, Redacted, Schedule, Scope, TestClock } from "effect"
import { inspect } from "node:util"
import * as HostEnvironment from "../../src/config/HostEnvironment.ts"
import * as Resolution from "../../src/config/Resolution.ts"
import type * as ServerConfig from "../../src/config/ServerConfig.ts"
import * as McpError from "../../src/McpError.ts"
import * as McpEvent from "../../src/McpEvent.ts"
import * as ReconnectPolicy from "../../src/resilience/ReconnectPolicy.ts"
import * as Teardown from "../../src/resilience/Teardown.ts"
import type * as Faults from "../../src/testing/Faults.ts"
import * as MemoryServer from "../../src/testing/MemoryServer.ts"
import * as Pool from "../support/pool.ts"

const pool = Pool.Servers

const refused: Faults.End = (server, outcome) =>
  new McpError.NetworkError({ server, code: "ECONNREFUSED", detail: "refused", outcome })

const echo: MemoryServer.Tool = { name: "echo", call: () => Effect.succeed("done") }

/** One server in memory, and the pool over it. */
const withServer = <A, E>(
  body: (server: MemoryServer.Server) => Effect.Effect<A, E, McpEvent.McpEvents | Pool.Servers | Scope.Scope>,
  options?: Pool.Options
) =>
  Effect.flatMap(
    MemoryServer.make({ era: "session", tools: [echo] }),
    (server) => Effect.provide(body(server), Pool.layer(() => server, options))
  )

const reload = (...configs: Parameters<Pool.Servers["Type"]["reload"]>[0]) =>
  Effect.flatMap(pool, (_) => _.reload(configs))

const status = (server: string) => Effect.map(pool, (_) => _.get(server)?.status._tag)

describe("Servers", () => {
  it.scoped("connects an eager server at once, and publishes each status", () =>
    withServer((server) =>
      Effect.gen(function*() {
        const tags = yield* Pool.history("a")
        const report = yield* reload(Pool.remote("a"))
        assert.deepStrictEqual(report.added, ["a"])
        yield* Pool.until("a", "Connected")
        assert.deepStrictEqual(tags, ["Connecting", "Connected"])
        assert.strictEqual(server.connections().opened, 1)
      })
    ))

  it.scoped("connects a lazy server once for all uses that begin together", () =>
    withServer((server) =>
      Effect.gen(function*() {
        yield* reload(Pool.remote("a", { lazy: true }))
        yield* TestClock.adjust("1 minute")
        assert.strictEqual(yield* status("a"), "Idle")
        assert.strictEqual(server.connections().opened, 0)
        yield* Effect.all([Pool.ping("a"), Pool.ping("a"), Pool.ping("a")], { concurrency: "unbounded" })
        assert.strictEqual(server.connections().opened, 1)
      })
    ))

  it.scoped("reconnects after a loss, and lets a caller wait for the attempt under way", () =>
    withServer((server) =>
      Effect.gen(function*() {
        yield* reload(Pool.remote("a"))
        yield* Pool.until("a", "Connected")
        const tags = yield* Pool.history("a")
        yield* server.drop()
        yield* Pool.until("a", "Reconnecting")
        const waiting = yield* Effect.fork(Pool.ping("a"))
        yield* TestClock.adjust("600 millis")
        yield* Fiber.join(waiting)
        assert.deepStrictEqual(tags, ["Reconnecting", "Connected"])
        assert.strictEqual(server.connections().opened, 2)
        assert.strictEqual(server.connections().maxOpen, 1)
      })
    ))

  it.scoped("gives no caller a connection that has ended", () =>
    withServer((server) =>
      Effect.gen(function*() {
        yield* reload(Pool.remote("a"))
        yield* Pool.until("a", "Connected")
        const { live } = (yield* pool).get("a")!
        yield* server.drop()
        yield* Effect.raceFirst(live!.session.ended, Effect.never)
        assert.isUndefined((yield* pool).get("a")!.live)
      })
    ))

  it.scoped("gives up a local server after the attempts of the preset, and fails its callers with the last error", () =>
    withServer((server) =>
      Effect.gen(function*() {
        yield* server.refuseConnect(refused)
        yield* reload(Pool.local("a"))
        const waiting = yield* Effect.fork(Effect.flip(Pool.ping("a")))
        yield* TestClock.adjust("10 seconds")
        const error = yield* Fiber.join(waiting)
        assert.strictEqual(error._tag, "NetworkError")
        assert.strictEqual(error.outcome, "not-sent")
        assert.strictEqual(yield* status("a"), "Failed")
        assert.strictEqual(server.connections().refused, 5)
      })
    ))

  it.scoped("begins a new series with the next use of a server that was given up", () =>
    withServer((server) =>
      Effect.gen(function*() {
        yield* server.refuseConnect(refused)
        yield* reload(Pool.local("a"))
        yield* TestClock.adjust("1 minute")
        assert.strictEqual(yield* status("a"), "Failed")
        yield* server.heal
        yield* Pool.ping("a")
        assert.strictEqual(yield* status("a"), "Connected")
      })
    ))

  it.scoped("keeps trying a lost remote in the slow lane, and fails its callers with the error of one attempt", () =>
    withServer((server) =>
      Effect.gen(function*() {
        yield* reload(Pool.remote("a"))
        yield* Pool.until("a", "Connected")
        yield* server.refuseConnect(refused)
        yield* server.drop()
        yield* Pool.until("a", "Reconnecting")
        yield* TestClock.adjust("12 seconds")
        assert.strictEqual(yield* status("a"), "Reconnecting")
        const before = server.connections().refused
        const error = yield* Effect.flip(Pool.ping("a"))
        assert.strictEqual(error._tag, "NetworkError")
        // asking is an attempt of its own
        assert.strictEqual(server.connections().refused, before + 1)
        yield* server.heal
        yield* TestClock.adjust("6 minutes")
        yield* Pool.until("a", "Connected")
      }), { reconnect: ReconnectPolicy.layer({ stormReconnects: 100 }) }))

  it.scoped("keeps trying a lost remote however often callers ask for it", () =>
    withServer((server) =>
      Effect.gen(function*() {
        yield* reload(Pool.remote("a"))
        yield* Pool.until("a", "Connected")
        yield* server.refuseConnect(refused)
        yield* server.drop()
        yield* Pool.until("a", "Reconnecting")
        yield* TestClock.adjust("12 seconds")
        for (let n = 0; n < 8; n++) {
          assert.strictEqual((yield* Effect.flip(Pool.ping("a")))._tag, "NetworkError")
          yield* TestClock.adjust("1 second")
        }
        assert.strictEqual(yield* status("a"), "Reconnecting")
        // and no more often than the storm rule allows
        assert.isAtMost(server.connections().refused, 6)
        yield* server.heal
        yield* TestClock.adjust("6 minutes")
        yield* Pool.until("a", "Connected")
      })
    ))

  it.scoped("rejects callers with the rest of Retry-After, and makes no attempt before", () =>
    withServer((server) =>
      Effect.gen(function*() {
        yield* server.refuseConnect((name) =>
          new McpError.HttpError({
            server: name,
            reason: "unavailable",
            outcome: "not-sent",
            retryAfter: Duration.minutes(10),
            detail: "maintenance"
          })
        )
        yield* reload(Pool.remote("a"))
        yield* Pool.until("a", "Reconnecting")
        yield* TestClock.adjust("4 minutes")
        const error = yield* Effect.flip(Pool.ping("a"))
        assert.isTrue(error._tag === "HttpError" && error.reason === "unavailable" && error.outcome === "not-sent")
        if (error._tag === "HttpError" && error.reason === "unavailable") {
          assert.deepStrictEqual(error.retryAfter, Duration.minutes(6))
        }
        assert.strictEqual(server.connections().refused, 1)
        yield* server.heal
        yield* TestClock.adjust("6 minutes")
        yield* Pool.until("a", "Connected")
      })
    ))

  it.scoped("waits at most 10 minutes for a Retry-After of a year", () =>
    withServer((server) =>
      Effect.gen(function*() {
        yield* server.refuseConnect(
          (name) =>
            new McpError.HttpError({
              server: name,
              reason: "rate-limited",
              outcome: "not-sent",
              retryAfter: Duration.days(365),
              detail: ""
            }),
          1
        )
        yield* reload(Pool.remote("a"))
        yield* Pool.until("a", "Reconnecting")
        yield* TestClock.adjust("10 minutes")
        yield* Pool.until("a", "Connected")
      })
    ))

  it.scoped("counts a reconnect after a loss or `reconnect`, and not after an idle time", () =>
    withServer((server) =>
      Effect.gen(function*() {
        yield* reload(Pool.remote("a", { idleTimeout: "1 minute" }))
        yield* Pool.until("a", "Connected")
        yield* TestClock.adjust("2 minutes")
        yield* Pool.ping("a")
        assert.strictEqual((yield* pool).get("a")?.link.reconnects(), 0)
        yield* server.drop()
        yield* Pool.until("a", "Reconnecting")
        yield* TestClock.adjust("1 second")
        yield* Pool.until("a", "Connected")
        assert.strictEqual((yield* pool).get("a")?.link.reconnects(), 1)
        yield* (yield* pool).switches.reconnect("a")
        assert.strictEqual((yield* pool).get("a")?.link.reconnects(), 2)
      })
    ))

  it.scoped("loses no server to a listener that throws", () =>
    withServer(() =>
      Effect.gen(function*() {
        const events = yield* McpEvent.McpEvents
        events.onEvent(() => {
          throw new Error("a bug of the application")
        })
        yield* reload(Pool.remote("a"))
        yield* Pool.ping("a")
        assert.strictEqual(yield* status("a"), "Connected")
      })
    ))

  it.scoped("makes no attempt at a server that needs a login, until `connect`", () =>
    withServer((server) =>
      Effect.gen(function*() {
        yield* server.refuseConnect((name) =>
          new McpError.AuthorizationFailed({ server: name, reason: "unauthorized" })
        )
        yield* reload(Pool.remote("a"))
        yield* Pool.until("a", "NeedsAuth")
        const error = yield* Effect.flip(Pool.ping("a"))
        assert.deepInclude(error, { _tag: "AuthorizationFailed", reason: "unauthorized" })
        assert.strictEqual(server.connections().refused, 1)
        yield* server.heal
        yield* (yield* pool).switches.connect("a")
        assert.strictEqual(yield* status("a"), "Connected")
      })
    ))

  it.scoped("makes one attempt at a server whose error is final", () =>
    withServer((server) =>
      Effect.gen(function*() {
        yield* server.refuseConnect((name) =>
          new McpError.SpawnFailed({ server: name, errno: "ENOENT", command: "a", detail: "no such file" })
        )
        yield* reload(Pool.local("a"))
        yield* Pool.until("a", "Failed")
        yield* TestClock.adjust("1 minute")
        assert.strictEqual(server.connections().refused, 1)
      })
    ))

  it.scoped("keeps a disconnected server disconnected until `connect`", () =>
    withServer((server) =>
      Effect.gen(function*() {
        yield* reload(Pool.remote("a"))
        yield* Pool.until("a", "Connected")
        yield* (yield* pool).switches.disconnect("a")
        assert.strictEqual(server.connections().open, 0)
        yield* TestClock.adjust("10 minutes")
        const error = yield* Effect.flip(Pool.ping("a"))
        assert.strictEqual(error._tag, "ServerUnavailable")
        assert.strictEqual(server.connections().opened, 1)
        yield* (yield* pool).switches.connect("a")
        yield* Pool.ping("a")
        assert.strictEqual(server.connections().opened, 2)
      })
    ))

  it.scoped("fails `connect` with its first attempt, and keeps trying", () =>
    withServer((server) =>
      Effect.gen(function*() {
        yield* server.refuseConnect(refused)
        yield* reload(Pool.local("a", { lazy: true }))
        const service = yield* pool
        // no time goes by on the clock
        assert.strictEqual((yield* Effect.flip(service.switches.connect("a")))._tag, "NetworkError")
        assert.strictEqual(server.connections().refused, 1)
        yield* Pool.until("a", "Reconnecting")
        assert.strictEqual((yield* Effect.flip(service.switches.connect("a")))._tag, "NetworkError")
        assert.strictEqual(server.connections().refused, 2)
        yield* server.heal
        yield* service.switches.connect("a")
        assert.strictEqual(yield* status("a"), "Connected")
        yield* service.switches.connect("a")
        assert.strictEqual(server.connections().opened, 1)
      })
    ))

  it.scoped("waits for the whole series with `until: \"settled\"`", () =>
    withServer((server) =>
      Effect.gen(function*() {
        yield* server.refuseConnect(refused)
        yield* reload(Pool.local("a", { lazy: true }))
        const service = yield* pool
        const first = yield* Effect.fork(Effect.flip(service.switches.connect("a")))
        const settled = yield* Effect.fork(Effect.flip(service.switches.connect("a", { until: "settled" })))
        yield* Pool.until("a", "Reconnecting")
        assert.strictEqual((yield* Fiber.join(first))._tag, "NetworkError")
        assert.strictEqual((yield* Fiber.poll(settled))._tag, "None")
        yield* TestClock.adjust("10 seconds")
        assert.strictEqual((yield* Fiber.join(settled))._tag, "NetworkError")
        assert.strictEqual(server.connections().refused, 5)
        assert.strictEqual(yield* status("a"), "Failed")
        const again = yield* Effect.fork(service.switches.connect("a", { until: "settled" }))
        yield* Pool.until("a", "Reconnecting")
        yield* server.heal
        yield* TestClock.adjust("1 second")
        yield* Fiber.join(again)
        assert.strictEqual(yield* status("a"), "Connected")
      })
    ))

  it.scoped("waits as long with `reconnect`: for the first attempt, or for the whole series", () =>
    withServer((server) =>
      Effect.gen(function*() {
        yield* reload(Pool.local("a", { lazy: true }))
        const service = yield* pool
        yield* service.switches.connect("a")
        yield* server.refuseConnect(refused)
        const first = yield* Effect.fork(Effect.flip(service.switches.reconnect("a")))
        yield* Pool.until("a", "Reconnecting")
        assert.strictEqual((yield* Fiber.join(first))._tag, "NetworkError")
        const settled = yield* Effect.fork(Effect.flip(service.switches.reconnect("a", { until: "settled" })))
        yield* Pool.until("a", "Reconnecting")
        assert.strictEqual((yield* Fiber.poll(settled))._tag, "None")
        yield* TestClock.adjust("10 seconds")
        assert.strictEqual((yield* Fiber.join(settled))._tag, "NetworkError")
      })
    ))

  it.scoped("refuses every use of a disabled server until `enable`", () =>
    withServer((server) =>
      Effect.gen(function*() {
        yield* reload(Pool.remote("a", { enabled: false }))
        const service = yield* pool
        assert.strictEqual((yield* Effect.flip(service.switches.connect("a")))._tag, "ServerUnavailable")
        yield* service.switches.enable("a")
        yield* Pool.until("a", "Connected")
        yield* service.switches.disable("a")
        assert.strictEqual(server.connections().open, 0)
        assert.strictEqual((yield* Effect.flip(service.switches.reconnect("a")))._tag, "ServerUnavailable")
      })
    ))

  it.scoped("closes a connection after the idle time, and opens another on demand", () =>
    withServer((server) =>
      Effect.gen(function*() {
        yield* reload(Pool.remote("a", { idleTimeout: "5 minutes" }))
        yield* Pool.until("a", "Connected")
        yield* TestClock.adjust("4 minutes")
        yield* Pool.ping("a")
        yield* TestClock.adjust("4 minutes")
        yield* Pool.until("a", "Connected")
        yield* TestClock.adjust("2 minutes")
        assert.strictEqual(yield* status("a"), "Idle")
        assert.strictEqual(server.connections().open, 0)
        yield* Pool.ping("a")
        assert.strictEqual(server.connections().opened, 2)
      })
    ))

  it.scoped("keeps the delay before the next attempt after a `connect` while connected", () =>
    withServer((server) =>
      Effect.gen(function*() {
        yield* reload(Pool.remote("a"))
        yield* Pool.until("a", "Connected")
        yield* (yield* pool).switches.connect("a")
        yield* server.drop()
        yield* Pool.until("a", "Reconnecting")
        yield* TestClock.adjust("300 millis")
        assert.strictEqual(server.connections().opened, 1)
        yield* TestClock.adjust("400 millis")
        yield* Pool.until("a", "Connected")
        assert.strictEqual(server.connections().opened, 2)
      })
    ))

  it.scoped("starts a required server at once, even if it is lazy", () =>
    withServer((server) =>
      Effect.gen(function*() {
        yield* reload(Pool.remote("a", { lazy: true, required: true }))
        yield* Pool.until("a", "Connected")
        assert.strictEqual(server.connections().opened, 1)
      })
    ))

  it.scoped("replaces a connection on request", () =>
    withServer((server) =>
      Effect.gen(function*() {
        yield* reload(Pool.remote("a"))
        yield* Pool.until("a", "Connected")
        yield* (yield* pool).switches.reconnect("a")
        assert.strictEqual(server.connections().opened, 2)
        assert.strictEqual(server.connections().maxOpen, 1)
      })
    ))

  it.scoped("gives up after a storm of reconnects, and tries again once its window has passed", () =>
    withServer((server) =>
      Effect.gen(function*() {
        yield* reload(Pool.local("a"))
        for (let n = 0; n < 6; n++) {
          yield* Pool.until("a", "Connected")
          yield* server.drop()
          yield* TestClock.adjust("100 millis")
        }
        yield* Pool.until("a", "Failed")
        assert.strictEqual(server.connections().opened, 6)
        const error = yield* Effect.flip(Pool.ping("a"))
        assert.isTrue(error._tag === "ServerUnavailable" && error.why === "storm" && error.retryAfter !== undefined)
        yield* TestClock.adjust("31 seconds")
        yield* Pool.ping("a")
        assert.strictEqual(server.connections().opened, 7)
      }), { reconnect: ReconnectPolicy.layer({ schedule: Schedule.spaced("100 millis") }) }))

  it.scoped("forgets a storm with `reconnect`", () =>
    withServer((server) =>
      Effect.gen(function*() {
        yield* reload(Pool.local("a"))
        for (let n = 0; n < 6; n++) {
          yield* Pool.until("a", "Connected")
          yield* server.drop()
          yield* TestClock.adjust("100 millis")
        }
        yield* (yield* pool).switches.reconnect("a")
        assert.strictEqual(yield* status("a"), "Connected")
      }), { reconnect: ReconnectPolicy.layer({ schedule: Schedule.spaced("100 millis") }) }))

  it.scoped("continues the series of attempts unless the connection was stable", () =>
    withServer((server) =>
      Effect.gen(function*() {
        const delays: Array<number> = []
        const events = yield* McpEvent.McpEvents
        events.onEvent((event) => {
          if (event._tag === "StatusChanged" && event.status._tag === "Reconnecting") delays.push(event.status.attempt)
        })
        yield* reload(Pool.local("a"))
        yield* Pool.until("a", "Connected")
        yield* server.drop()
        yield* Pool.until("a", "Reconnecting")
        yield* TestClock.adjust("700 millis")
        yield* Pool.until("a", "Connected")
        yield* server.drop()
        yield* Pool.until("a", "Reconnecting")
        yield* TestClock.adjust("2 seconds")
        yield* Pool.until("a", "Connected")
        yield* TestClock.adjust("31 seconds")
        yield* server.drop()
        yield* Pool.until("a", "Reconnecting")
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(delays, [1, 2, 1])
      })
    ))

  it.scoped("connects three servers at once, and gives a slot back after half a second", () =>
    Effect.gen(function*() {
      const hung = yield* MemoryServer.make({ era: "session" })
      yield* hung.slowConnect("50 seconds")
      const good = yield* MemoryServer.make({ era: "session" })
      const names = ["h1", "h2", "h3", "h4", "g1", "g2"]
      yield* Effect.gen(function*() {
        yield* reload(...names.map((name) => Pool.remote(name)))
        yield* TestClock.adjust("400 millis")
        assert.strictEqual(good.connections().opened, 0)
        yield* TestClock.adjust("200 millis")
        yield* Pool.until("g1", "Connected")
        yield* Pool.until("g2", "Connected")
        assert.strictEqual(yield* status("h1"), "Connecting")
      }).pipe(Effect.provide(Pool.layer((config) => config.name.startsWith("h") ? hung : good)))
    }))

  it.scoped("connects identical servers once with `shareIdentical`", () =>
    withServer((server) =>
      Effect.gen(function*() {
        yield* reload(
          Pool.remote("a"),
          Pool.remote("b", { url: "http://a.test/mcp", enabledTools: ["echo"] })
        )
        yield* Pool.until("b", "Connected")
        yield* Pool.ping("a")
        yield* Pool.ping("b")
        assert.strictEqual(server.connections().opened, 1)
        yield* reload(Pool.remote("b", { url: "http://a.test/mcp", enabledTools: ["echo"] }))
        yield* Pool.ping("b")
        assert.strictEqual(server.connections().opened, 1)
        yield* reload()
        yield* server.until(() => server.connections().open === 0)
      }), { shareIdentical: true }))

  it.scoped("fails with NotFound and the names of the servers for an unknown name", () =>
    withServer(() =>
      Effect.gen(function*() {
        yield* reload(Pool.remote("alpha"))
        const error = yield* Effect.flip(Pool.ping("alpa"))
        assert.isTrue(error._tag === "NotFound" && error.kind === "server" && error.suggestions?.[0] === "alpha")
      })
    ))
})

describe("Servers.reload", () => {
  it.scoped("starts new servers, closes removed ones, and keeps the connections of the others", () =>
    withServer((server) =>
      Effect.gen(function*() {
        yield* reload(Pool.remote("a"), Pool.remote("b"))
        yield* Pool.until("a", "Connected")
        yield* Pool.until("b", "Connected")
        const report = yield* reload(Pool.remote("b"), Pool.remote("c"))
        assert.deepStrictEqual(report, { added: ["c"], removed: ["a"], changed: [], unchanged: ["b"], failed: [] })
        yield* Pool.until("c", "Connected")
        yield* server.until(() => server.connections().open === 2)
        assert.deepStrictEqual((yield* pool).all().map(({ config }) => config.name), ["b", "c"])
        assert.strictEqual(server.connections().opened, 3)
      })
    ))

  it.scoped("keeps the connection if only titles and filters change", () =>
    withServer((server) =>
      Effect.gen(function*() {
        yield* reload(Pool.remote("a"))
        yield* Pool.until("a", "Connected")
        const report = yield* reload(Pool.remote("a", { disabledTools: ["echo"], title: "A" }))
        assert.deepStrictEqual(report.changed, ["a"])
        assert.strictEqual(server.connections().opened, 1)
        assert.strictEqual((yield* pool).get("a")?.config.title, "A")
      })
    ))

  it.scoped("lets a call on the old connection end beside the new one", () =>
    Effect.gen(function*() {
      const gate = yield* Effect.makeLatch()
      const old = yield* MemoryServer.make({
        era: "session",
        tools: [{ name: "slow", call: () => Effect.as(gate.await, "old") }]
      })
      const fresh = yield* MemoryServer.make({ era: "session" })
      yield* Effect.gen(function*() {
        const service = yield* pool
        yield* reload(Pool.remote("a"))
        yield* Pool.until("a", "Connected")
        const call = yield* Effect.fork(service.use("a", ({ session }) => session.callTool("slow")))
        yield* old.until(() => old.executions("slow") === 1)
        const report = yield* reload(Pool.remote("a", { url: "http://b.test/mcp" }))
        assert.deepStrictEqual(report.changed, ["a"])
        yield* Pool.ping("a")
        assert.strictEqual(fresh.connections().open, 1)
        assert.strictEqual(old.connections().open, 1)
        yield* gate.open
        const result = yield* Fiber.join(call)
        assert.deepStrictEqual(result.content.map((part) => part._tag === "Text" && part.text), ["old"])
        yield* old.until(() => old.connections().open === 0)
      }).pipe(Effect.provide(
        Pool.layer((config) => config.transport === "streamable-http" && config.url.includes("b.test") ? fresh : old)
      ))
    }))

  it.scoped("keeps the old connection if its successor fails", () =>
    Effect.gen(function*() {
      const old = yield* MemoryServer.make({ era: "session" })
      const bad = yield* MemoryServer.make({ era: "session" })
      yield* bad.refuseConnect((name) =>
        new McpError.HandshakeFailed({ server: name, reason: "version", got: "1", supported: ["2"] })
      )
      yield* Effect.gen(function*() {
        yield* reload(Pool.remote("a"))
        yield* Pool.until("a", "Connected")
        const tags = yield* Pool.history("a")
        const report = yield* reload(Pool.remote("a", { url: "http://b.test/mcp" }))
        assert.deepInclude(report.failed[0]?.error, { _tag: "HandshakeFailed", reason: "version" })
        yield* Pool.ping("a")
        assert.strictEqual(old.connections().opened, 1)
        assert.deepStrictEqual(tags, [])
      }).pipe(Effect.provide(
        Pool.layer((config) => config.transport === "streamable-http" && config.url.includes("b.test") ? bad : old)
      ))
    }))

  it.scoped("moves waiting callers to the successor", () =>
    Effect.gen(function*() {
      const gone = yield* MemoryServer.make({ era: "session" })
      yield* gone.refuseConnect(refused)
      const fresh = yield* MemoryServer.make({ era: "session" })
      yield* Effect.gen(function*() {
        yield* reload(Pool.remote("a"))
        yield* Pool.until("a", "Reconnecting")
        const waiting = yield* Effect.fork(Pool.ping("a"))
        yield* TestClock.adjust("10 millis")
        yield* reload(Pool.remote("a", { url: "http://b.test/mcp" }))
        yield* Fiber.join(waiting)
        assert.strictEqual(fresh.connections().opened, 1)
      }).pipe(Effect.provide(
        Pool.layer((config) => config.transport === "streamable-http" && config.url.includes("b.test") ? fresh : gone)
      ))
    }))

  it.scoped("decides by the first attempt of a successor, and publishes none of its failures", () =>
    Effect.gen(function*() {
      const good = yield* MemoryServer.make({ era: "session" })
      const bad = yield* MemoryServer.make({ era: "session" })
      yield* bad.refuseConnect(refused)
      yield* Effect.gen(function*() {
        yield* reload(Pool.remote("a"))
        yield* Pool.until("a", "Connected")
        const events = yield* (yield* McpEvent.McpEvents).subscribe
        const report = yield* reload(Pool.remote("a", { url: "http://b.test/mcp" }))
        assert.strictEqual(report.failed[0]?.error._tag, "NetworkError")
        yield* TestClock.adjust("1 minute")
        const told = Chunk.toArray(yield* events.clear).map(({ _tag }) => _tag)
        assert.notInclude(told, "Reconnecting")
        assert.deepStrictEqual((yield* reload(Pool.remote("a"), Pool.remote("c"))).added, ["c"])
      }).pipe(Effect.provide(Pool.layer(
        (config) => config.transport === "streamable-http" && config.url.includes("b.test") ? bad : good,
        { reconnect: ReconnectPolicy.layer({ schedule: Schedule.spaced("10 seconds") }) }
      )))
    }))

  it.scoped("keeps a server switched off", () =>
    withServer((server) =>
      Effect.gen(function*() {
        yield* reload(Pool.remote("a"))
        yield* Pool.until("a", "Connected")
        yield* (yield* pool).switches.disconnect("a")
        yield* reload(Pool.remote("a", { url: "http://b.test/mcp" }))
        yield* TestClock.adjust("1 minute")
        assert.strictEqual(yield* status("a"), "Disabled")
        assert.strictEqual(server.connections().opened, 1)
      })
    ))
})

describe("a blocked server", () => {
  const blocked = (why: "denied" | "untrusted", more: Partial<ServerConfig.HttpInput> = {}) =>
    Pool.remote("a", { blocked: why, ...more })

  it.scoped("is never connected, and each refusal says what to do", () =>
    withServer((server) =>
      Effect.gen(function*() {
        const service = yield* pool
        yield* reload(blocked("untrusted", { required: true, lazy: false }))
        assert.deepStrictEqual({ ...service.get("a")?.status }, { _tag: "Blocked", why: "untrusted" })
        const asked = [
          service.switches.connect("a"),
          service.switches.reconnect("a"),
          Pool.ping("a"),
          service.use("a", () => Effect.void)
        ]
        for (const ask of asked) {
          const error = yield* Effect.flip(ask)
          assert.deepInclude(error, { _tag: "ServerUnavailable", why: "untrusted", outcome: "not-sent" })
          assert.include(error.message, "approve it first")
        }
        yield* reload(blocked("denied"))
        assert.deepInclude(yield* Effect.flip(Pool.ping("a")), { _tag: "ServerUnavailable", why: "denied" })
        yield* TestClock.adjust("1 hour")
        assert.strictEqual(server.connections().opened, 0)
      })
    ))

  it.scoped("is not unblocked by switching it, and stays switched off when it is unblocked", () =>
    withServer((server) =>
      Effect.gen(function*() {
        const service = yield* pool
        yield* reload(blocked("untrusted"))
        for (
          const ask of [
            service.switches.disable("a"),
            service.switches.enable("a"),
            service.switches.disconnect("a"),
            service.switches.disable("a")
          ]
        ) {
          yield* ask
          assert.strictEqual(yield* status("a"), "Blocked")
        }
        yield* reload(Pool.remote("a"))
        assert.strictEqual(yield* status("a"), "Disabled")
        assert.strictEqual(server.connections().opened, 0)
      })
    ))

  it.scoped("starts with the reload that unblocks it, and publishes each status", () =>
    withServer(() =>
      Effect.gen(function*() {
        const tags = yield* Pool.history("a")
        yield* reload(blocked("untrusted"))
        assert.deepStrictEqual((yield* reload(Pool.remote("a"))).changed, ["a"])
        yield* Pool.until("a", "Connected")
        yield* reload(blocked("denied"))
        yield* reload(blocked("untrusted"))
        assert.deepStrictEqual(tags, ["Blocked", "Connecting", "Connected", "Blocked", "Blocked"])
      })
    ))

  it.scoped("ends its connection and a draining one at once, with their calls", () =>
    Effect.gen(function*() {
      const stuck: MemoryServer.Tool = { name: "stuck", call: () => Effect.never }
      const server = yield* MemoryServer.make({ era: "session", tools: [stuck] })
      yield* Effect.gen(function*() {
        const call = Effect.flatMap(pool, (_) => _.use("a", ({ session }) => session.callTool("stuck")))
        yield* reload(Pool.remote("a"))
        const old = yield* Effect.fork(Effect.flip(call))
        yield* server.until(() => server.executions("stuck") === 1)
        yield* reload(Pool.remote("a", { url: "http://a.test/other" }))
        const young = yield* Effect.fork(Effect.flip(call))
        yield* server.until(() => server.executions("stuck") === 2)
        assert.strictEqual(server.connections().open, 2)
        assert.deepStrictEqual((yield* reload(blocked("denied"))).changed, ["a"])
        for (const fiber of [old, young]) {
          assert.deepInclude(yield* Fiber.join(fiber), { _tag: "Closed", outcome: "unknown" })
        }
        yield* server.until(() => server.connections().open === 0)
      }).pipe(Effect.provide(Pool.layer(() => server)))
    }))

  it.scoped.each(["way", "plan"])(
    "stops at once even if a successor is under %s, which does not take its place",
    (under) =>
      Effect.gen(function*() {
        const old = yield* MemoryServer.make({ era: "session" })
        const fresh = yield* MemoryServer.make({ era: "session" })
        yield* fresh.slowConnect("10 seconds")
        yield* Effect.gen(function*() {
          yield* reload(Pool.remote("a"))
          yield* Pool.until("a", "Connected")
          const tags = yield* Pool.history("a")
          const begun = yield* Deferred.make<void>()
          ;(yield* McpEvent.McpEvents).onEvent(({ _tag }) => {
            if (_tag === "Connecting") Deferred.unsafeDone(begun, Effect.void)
          })
          const slow = yield* Effect.fork(reload(Pool.remote("a", { url: "http://b.test/mcp" })))
          if (under === "way") yield* Deferred.await(begun)
          else yield* Effect.yieldNow()
          // would start it again, if the last word did not count
          const late = yield* Effect.fork(reload(Pool.remote("a")))
          yield* Effect.yieldNow()
          const last = yield* Effect.fork(reload(blocked("denied")))
          yield* old.until(() => old.connections().open === 0)
          assert.strictEqual(yield* status("a"), "Blocked")
          assert.deepStrictEqual((yield* Fiber.join(slow)).changed, [])
          yield* Fiber.join(late)
          assert.deepStrictEqual((yield* Fiber.join(last)).changed, ["a"])
          yield* TestClock.adjust("11 seconds")
          assert.strictEqual(yield* status("a"), "Blocked")
          assert.deepStrictEqual(tags, ["Blocked"])
          assert.strictEqual(old.connections().opened, 1)
          assert.strictEqual(fresh.connections().opened, 0)
        }).pipe(Effect.provide(
          Pool.layer((config) => config.transport === "streamable-http" && config.url.includes("b.test") ? fresh : old)
        ))
      })
  )
})

describe("Servers with variables in their configurations", () => {
  const withVariables = <A, E>(
    layer: Layer.Layer<never>,
    body: (
      seen: ReadonlyArray<ServerConfig.ServerConfig>,
      server: MemoryServer.Server
    ) => Effect.Effect<A, E, Pool.Servers | McpEvent.McpEvents | Scope.Scope>
  ) =>
    Effect.flatMap(MemoryServer.make({ era: "session" }), (server) => {
      const seen: Array<ServerConfig.ServerConfig> = []
      const peers = (config: ServerConfig.ServerConfig) => {
        seen.push(config)
        return server
      }
      return Effect.provide(body(seen, server), Pool.layer(peers).pipe(Layer.provide(layer)))
    })

  const expansion = { origin: "home", grants: [], builtins: {}, directory: "/" } as const

  it.scoped("resolves them for each connect, and neither keeps nor publishes their values", () => {
    const variables: Record<string, string> = { T: "canary-1" }
    const host = Layer.succeed(HostEnvironment.HostEnvironment, { platform: "linux", variables: () => variables })
    return withVariables(host, (seen, server) =>
      Effect.gen(function*() {
        const { all } = yield* pool
        const events: Array<unknown> = []
        ;(yield* McpEvent.McpEvents).onEvent((event) => events.push(event))
        const config = Pool.remote("a", {
          expansion,
          url: "https://a.test/${env:T}",
          headers: { Authorization: "Bearer ${env:T}" }
        })
        yield* reload(config)
        yield* Pool.until("a", "Connected")
        variables["T"] = "canary-2"
        yield* server.drop()
        yield* Pool.until("a", "Reconnecting")
        yield* TestClock.adjust("1 second")
        yield* Pool.until("a", "Connected")
        const headers = seen.map((config) => "headers" in config ? config.headers?.get("Authorization") : undefined)
        assert.deepStrictEqual(headers.map((header) => header && Redacted.value(header)), [
          "Bearer canary-1",
          "Bearer canary-2"
        ])
        assert.deepStrictEqual(seen.map((config) => "url" in config ? config.url : undefined), [
          "https://a.test/canary-1",
          "https://a.test/canary-2"
        ])
        const kept = [all().map(({ config, status }) => ({ config, status })), events]
        assert.notInclude(inspect(kept, { depth: Infinity, showHidden: true }), "canary")
        assert.strictEqual(all()[0]?.config, config)
      }))
  })

  it.scoped("publishes the parts of a configuration that are not used", () => {
    const warning = { kind: "env-dropped", at: "envFile", variable: "PATH" } as const
    const resolving = Layer.succeed(Resolution.Resolution, {
      resolve: (config) => Effect.succeed({ config, warnings: [warning], secrets: [] })
    })
    return withVariables(resolving, () =>
      Effect.gen(function*() {
        const events: Array<unknown> = []
        ;(yield* McpEvent.McpEvents).onEvent((event) => events.push(event))
        yield* reload(Pool.remote("a", { url: "https://a.test/" }))
        yield* Pool.until("a", "Connected")
        assert.deepInclude(events, { _tag: "ConfigurationWarning", server: "a", warning })
      }))
  })

  it.scoped("applies the policy to each resolved configuration", () => {
    const variables: Record<string, string> = { HOST: "good.test" }
    const denied = {
      provider: "managed",
      scope: "managed",
      origin: "system",
      allow: [],
      deny: [{ _tag: "Url", pattern: "https://bad.test/*" }],
      ordered: [],
      managedOnly: false,
      identities: undefined,
      broken: false
    } as const
    return withVariables(
      Layer.merge(
        Layer.succeed(HostEnvironment.HostEnvironment, { platform: "linux", variables: () => variables }),
        Resolution.layerTest({ policies: [denied] })
      ),
      (seen, server) =>
        Effect.gen(function*() {
          yield* reload(Pool.remote("a", { expansion, url: "https://${env:HOST}/mcp" }))
          yield* Pool.until("a", "Connected")
          variables["HOST"] = "bad.test"
          yield* server.drop()
          yield* Pool.until("a", "Reconnecting")
          yield* TestClock.adjust("1 second")
          yield* Pool.until("a", "Failed")
          assert.deepInclude(yield* Effect.flip(Pool.ping("a")), { _tag: "PermissionDenied", why: "policy" })
          assert.lengthOf(seen, 1)
        })
    )
  })

  it.scoped("bounds the resolution by the startup limit", () =>
    withVariables(
      Layer.succeed(Resolution.Resolution, { resolve: () => Effect.never }),
      (seen) =>
        Effect.gen(function*() {
          yield* reload(Pool.local("a", { lazy: true, startupTimeout: "3 seconds" }))
          const waiting = yield* Effect.fork(Effect.flip(Pool.ping("a")))
          yield* TestClock.adjust("1 minute")
          assert.deepInclude(yield* Fiber.join(waiting), { _tag: "ConnectTimeout", limit: Duration.seconds(3) })
          assert.isEmpty(seen)
        })
    ))

  it.scoped("counts the resolution toward the startup limit", () =>
    withVariables(
      Layer.succeed(Resolution.Resolution, {
        resolve: (config) => Effect.delay(Effect.succeed({ config, warnings: [], secrets: [] }), "2 seconds")
      }),
      (seen, server) =>
        Effect.gen(function*() {
          yield* server.slowConnect("1 hour")
          yield* reload(Pool.local("a", { startupTimeout: "3 seconds" }))
          yield* TestClock.adjust("2900 millis")
          assert.strictEqual(yield* status("a"), "Connecting")
          yield* TestClock.adjust("100 millis")
          assert.strictEqual(yield* status("a"), "Reconnecting")
          const { status: now } = (yield* pool).get("a")!
          assert.deepInclude("error" in now ? now.error : {}, { limit: Duration.seconds(3) })
          assert.lengthOf(seen, 1)
        })
    ))
})

describe("Servers at the end of their scope", () => {
  it.effect("close every connection, publish that each server is closed, and refuse later calls", () =>
    Effect.gen(function*() {
      const server = yield* MemoryServer.make({ era: "session" })
      const scope = yield* Scope.make()
      const context = yield* Layer.buildWithScope(Pool.layer(() => server), scope)
      yield* Effect.gen(function*() {
        yield* reload(Pool.remote("a"), Pool.remote("b"), Pool.remote("c", { lazy: true }))
        yield* Pool.until("a", "Connected")
        yield* Pool.until("b", "Connected")
        const changes: Array<string> = []
        const events = yield* McpEvent.McpEvents
        events.onEvent((event) => {
          if (event._tag === "StatusChanged") changes.push(`${event.server} ${event.status._tag}`)
        })
        yield* TestClock.adjust("1 millis")
        yield* Scope.close(scope, Exit.void)
        assert.strictEqual(server.connections().open, 0)
        assert.deepStrictEqual(changes.toSorted(), ["a Closed", "b Closed", "c Closed"])
        assert.strictEqual((yield* Effect.flip(Pool.ping("a")))._tag, "Closed")
      }).pipe(Effect.provide(context))
    }))

  it.effect("interrupt a connect that is under way", () =>
    Effect.gen(function*() {
      const server = yield* MemoryServer.make({ era: "session" })
      yield* server.slowConnect("1 hour")
      const scope = yield* Scope.make()
      const context = yield* Layer.buildWithScope(Pool.layer(() => server), scope)
      yield* Effect.provide(reload(Pool.remote("a")), context)
      yield* TestClock.adjust("1 second")
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual(server.connections().open, 0)
    }))

  it.effect("wait no longer than the deadline for a connected server of a launcher whose close hangs", () =>
    Effect.gen(function*() {
      const server = yield* MemoryServer.make({ era: "session" })
      const scope = yield* Scope.make()
      const context = yield* Layer.buildWithScope(Pool.layer(() => server, { teardown: Teardown.layer() }), scope)
      const hanging = yield* Deferred.make<void>()
      const own = Effect.zipRight(Deferred.succeed(hanging, undefined), Effect.uninterruptible(Effect.never))
      yield* Effect.gen(function*() {
        yield* Effect.map(pool, (_) => _.onConnected(() => own))
        yield* reload(Pool.local("a", { command: "npx", args: ["-y", "a"] }))
        yield* Deferred.await(hanging)
      }).pipe(Scope.extend(scope), Effect.provide(context))
      const closing = yield* Effect.forkDaemon(Scope.close(scope, Exit.void))
      yield* TestClock.adjust("11 seconds")
      assert.strictEqual((yield* Fiber.poll(closing))._tag, "Some")
    }))
})

describe("the release of a lost connection", () => {
  /** A pool whose connections are released when their gates are opened, in order. */
  const gated = <A, E>(
    use: (
      server: Effect.Effect.Success<ReturnType<typeof MemoryServer.make>>,
      gates: ReadonlyArray<Deferred.Deferred<void>>
    ) => Effect.Effect<A, E, McpEvent.McpEvents | Pool.Servers | Scope.Scope>
  ) =>
    Effect.gen(function*() {
      const server = yield* MemoryServer.make({ era: "session" })
      const gates = yield* Effect.replicateEffect(Deferred.make<void>(), 3)
      const open = Effect.forEach(gates, (gate) => Deferred.succeed(gate, undefined))
      yield* Effect.gen(function*() {
        let connections = 0
        yield* Effect.map(
          pool,
          (_) => _.onConnected(() => Effect.uninterruptible(Deferred.await(gates[connections++]!)))
        )
        yield* reload(Pool.remote("a"))
        yield* Pool.until("a", "Connected")
        yield* use(server, gates)
      }).pipe(
        Effect.ensuring(open),
        Effect.provide(Pool.layer(() => server, { teardown: Teardown.layer() }))
      )
    })

  it.scoped("runs beside the backoff, and the next connection does not wait for it", () =>
    gated((server) =>
      Effect.gen(function*() {
        yield* server.drop()
        yield* Pool.until("a", "Reconnecting")
        yield* TestClock.adjust("1 second")
        assert.strictEqual(yield* status("a"), "Connected")
      })
    ))

  it.scoped("holds the next attempt back while two of them run", () =>
    gated((server, gates) =>
      Effect.gen(function*() {
        for (let lost = 0; lost < 2; lost++) {
          yield* Pool.until("a", "Connected")
          yield* server.drop()
          yield* Pool.until("a", "Reconnecting")
          yield* TestClock.adjust("2 seconds")
        }
        assert.notStrictEqual(yield* status("a"), "Connected")
        yield* Deferred.succeed(gates[0]!, undefined)
        yield* Pool.until("a", "Connected")
      })
    ))

  it.scoped("is awaited by a disconnect", () =>
    gated((server, gates) =>
      Effect.gen(function*() {
        yield* server.drop()
        yield* Pool.until("a", "Reconnecting")
        const stopping = yield* Effect.fork(Effect.flatMap(pool, (_) => _.switches.disconnect("a")))
        yield* TestClock.adjust("1 second")
        assert.strictEqual((yield* Fiber.poll(stopping))._tag, "None")
        yield* Deferred.succeed(gates[0]!, undefined)
        yield* Fiber.join(stopping)
      })
    ))

  it.scoped("is awaited by a disconnect of the connection that followed it", () =>
    gated((server, gates) =>
      Effect.gen(function*() {
        yield* server.drop()
        yield* Pool.until("a", "Reconnecting")
        yield* TestClock.adjust("1 second")
        yield* Pool.until("a", "Connected")
        const stopping = yield* Effect.fork(Effect.flatMap(pool, (_) => _.switches.disconnect("a")))
        yield* Deferred.succeed(gates[1]!, undefined)
        yield* TestClock.adjust("1 second")
        assert.strictEqual((yield* Fiber.poll(stopping))._tag, "None")
        yield* Deferred.succeed(gates[0]!, undefined)
        yield* Fiber.join(stopping)
      })
    ))
})
