import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Scope } from "effect"
import * as FastCheck from "effect/FastCheck"
import type * as ServerConfig from "../../src/config/ServerConfig.ts"
import * as MemoryServer from "../../src/testing/MemoryServer.ts"
import * as ManualClock from "../support/manualClock.ts"
import * as Pool from "../support/pool.ts"
import { costlyRuns } from "../support/runs.ts"

interface Wanted {
  readonly name: string
  readonly place: string
  readonly lazy: boolean
  readonly enabled: boolean
  readonly title: string
}

const wanted = FastCheck.record<Wanted>({
  name: FastCheck.constantFrom("a", "b", "c", "d"),
  place: FastCheck.constantFrom("one", "two", "three"),
  lazy: FastCheck.boolean(),
  enabled: FastCheck.boolean(),
  title: FastCheck.constantFrom("x", "y")
})

const configuration = FastCheck.uniqueArray(wanted, { selector: ({ name }) => name, maxLength: 4 })

/** Reloads, each with the time that passes before the next; without any, they overlap. */
const history = FastCheck.array(
  FastCheck.record({
    servers: configuration,
    pause: FastCheck.constantFrom(0, 0, 1, 5_000),
    drop: FastCheck.boolean(),
    interrupted: FastCheck.constantFrom(false, false, false, true)
  }),
  { minLength: 1, maxLength: 6 }
)

const configOf = ({ enabled, lazy, name, place, title }: Wanted): ServerConfig.ServerConfig =>
  Pool.remote(name, { url: `http://${name}-${place}.test/mcp`, lazy, enabled, title })

const urlOf = (config: ServerConfig.ServerConfig): string => config.transport === "streamable-http" ? config.url : ""

describe("Servers.reload", () => {
  it("converges to the last configuration, however reloads overlap", () =>
    FastCheck.assert(
      FastCheck.asyncProperty(history, configuration, (steps, last) => {
        const clock = ManualClock.make()
        return Effect.runPromise(Effect.withClock(
          Effect.gen(function*() {
            const peers = new Map<string, MemoryServer.Server>()
            for (const name of ["a", "b", "c", "d"]) {
              for (const place of ["one", "two", "three"]) {
                const peer = yield* MemoryServer.make({ era: "session" })
                // one of them takes its time
                if (place === "two") yield* peer.slowConnect("2 seconds")
                peers.set(`http://${name}-${place}.test/mcp`, peer)
              }
            }
            const scope = yield* Scope.make()
            const context = yield* Layer.buildWithScope(Pool.layer((config) => peers.get(urlOf(config))), scope)
            yield* Effect.gen(function*() {
              const pool = yield* Pool.Servers
              for (const { drop, interrupted, pause, servers } of steps) {
                const reload = yield* Effect.fork(pool.reload(servers.map(configOf)))
                yield* clock.advance(pause)
                if (drop) { for (const peer of peers.values()) yield* peer.drop() }
                if (interrupted) yield* Effect.fork(reload.interruptAsFork(reload.id()))
              }
              const final = yield* Effect.fork(pool.reload(last.map(configOf)))
              yield* clock.advance(120_000)
              assert.isTrue((yield* final.poll)._tag === "Some")

              assert.deepStrictEqual(pool.all().map(({ config }) => config.title), last.map(({ title }) => title))
              assert.deepStrictEqual(
                pool.all().map(({ config }) => [config.name, urlOf(config)]),
                last.map((one) => [one.name, urlOf(configOf(one))])
              )
              const open = new Map(last.map((one) => [urlOf(configOf(one)), one]))
              for (const [url, peer] of peers) {
                const one = open.get(url)
                const count = peer.connections().open
                if (one === undefined || !one.enabled) assert.strictEqual(count, 0, url)
                else if (one.lazy) assert.isAtMost(count, 1, url)
                else assert.strictEqual(count, 1, url)
              }
            }).pipe(Effect.provide(context))
            yield* Effect.fork(Scope.close(scope, Exit.void))
            yield* clock.advance(20_000)
            for (const peer of peers.values()) assert.strictEqual(peer.connections().open, 0)
            assert.strictEqual(clock.sleeping(), 0)
          }),
          clock.clock
        ))
      }),
      { numRuns: costlyRuns(80) }
    ), 30_000)
})
