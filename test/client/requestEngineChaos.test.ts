import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as FastCheck from "effect/FastCheck"
import * as Fiber from "effect/Fiber"
import * as Random from "effect/Random"
import { PCGRandom } from "effect/Utils"
import * as Reporting from "../../src/client/reporting.ts"
import * as RequestEngine from "../../src/client/RequestEngine.ts"
import { Refused } from "../../src/client/serverRequests.ts"
import * as Redaction from "../../src/safety/Redaction.ts"
import type * as Faults from "../../src/testing/Faults.ts"
import * as MemoryTransport from "../../src/testing/MemoryTransport.ts"
import * as Configs from "../support/configs.ts"
import * as DeadlineSupport from "../support/deadline.ts"
import * as ManualClock from "../support/manualClock.ts"
import { costlyRuns } from "../support/runs.ts"

const rates: Faults.Rates = {
  drop: 0.006,
  discard: 0.5,
  lose: 0.1,
  duplicate: 0.1,
  stray: 0.1,
  garbage: 0.1,
  delay: 0.4,
  maxDelay: "80 millis"
}

const config = Configs.memory("peer", { stallTimeout: "200 millis" })

/** One connection to a peer that misbehaves as the seed says, used by callers who do as the seed says. */
const lifetime = (seed: number) =>
  Effect.gen(function*() {
    const time = ManualClock.make()
    const random = new PCGRandom(seed)
    const chance = (rate: number) => random.number() < rate
    const upTo = (max: number) => 1 + Math.floor(random.number() * max)

    const peer = yield* MemoryTransport.peer((message, io) => {
      if (message["method"] !== "work") return Effect.void
      const { _meta, token } = message["params"] as { token: number; _meta: { progressToken: number } }
      const progress = (step: number) =>
        io.send({
          jsonrpc: "2.0",
          method: "notifications/progress",
          params: { progressToken: _meta.progressToken, progress: step }
        })
      const answer = io.send({ jsonrpc: "2.0", id: message["id"], result: { token } })
      if (token % 5 === 0) return Effect.forEach([1, 2, 3], (step) => Effect.delay(progress(step), "25 millis"))
      return token % 3 === 0 ? Effect.delay(answer, "40 millis") : Effect.zipRight(progress(1), answer)
    })
    yield* peer.chaos(seed, rates)

    const outcomes: Array<{ readonly token: number; readonly outcome: string; readonly given: unknown }> = []
    const interrupted: Array<number> = []
    const program = Effect.gen(function*() {
      const transport = yield* peer.open(config)
      const engine = yield* RequestEngine.make({
        server: "peer",
        maxServerRequests: 100,
        transport,
        report: Reporting.make({ server: "peer", redaction: Redaction.make(), publish: () => undefined }),
        serve: () => new Refused({ code: -32601, reason: "Method not found" })
      })
      const fibers: Array<Fiber.RuntimeFiber<void>> = []
      for (let token = 1; token <= 24; token++) {
        const [idle, total] = [20 + upTo(80), 60 + upTo(200)]
        const deadline = DeadlineSupport.make({ server: "peer", operation: "work", idle, total, now: engine.now })
        const options = { deadline, progress: true, cancellable: true }
        const fiber = yield* engine.request("work", { token }, options).pipe(
          Effect.either,
          Effect.map((given) => {
            outcomes.push({
              token,
              outcome: Either.isLeft(given) ? given.left.outcome : "answered",
              given: Either.isRight(given) ? given.right["token"] : given.left._tag
            })
          }),
          Effect.onInterrupt(() => Effect.sync(() => interrupted.push(token))),
          Effect.fork
        )
        fibers.push(fiber)
        if (chance(0.15)) yield* Fiber.interruptFork(fibers[Math.floor(random.number() * fibers.length)]!)
        if (chance(0.05)) yield* peer.hang
        if (chance(0.5)) yield* time.advance(upTo(30))
        if (chance(0.3)) yield* peer.unhang
      }
      yield* time.advance(1000)
      assert.strictEqual(engine.inFlight(), 0, "pending after every limit")
      yield* engine.close(Duration.zero)
      yield* ManualClock.settle
    })
    yield* program.pipe(
      Effect.scoped,
      Effect.withClock(time.clock),
      Effect.withRandom(Random.make(seed))
    )
    yield* time.advance(1000)
    return { peer, outcomes, interrupted, sleeping: time.sleeping() }
  })

const tokenOf = (message: object): number | undefined => (message as { params?: { token?: number } }).params?.token

describe("RequestEngine over a peer that misbehaves", () => {
  it.effect(
    "settles every request exactly once, with its own answer or an outcome that is true",
    () =>
      Effect.promise(() =>
        FastCheck.assert(
          FastCheck.asyncProperty(FastCheck.nat(), async (seed) => {
            const { interrupted, outcomes, peer, sleeping } = await Effect.runPromise(lifetime(seed))
            const settled = [...outcomes.map(({ token }) => token), ...interrupted].toSorted((a, b) => a - b)
            assert.deepStrictEqual(settled, Array.from({ length: 24 }, (_, index) => index + 1))
            const received = new Set(peer.received("work").map(tokenOf))
            for (const { given, outcome, token } of outcomes) {
              if (outcome === "answered") assert.strictEqual(given, token)
              else if (outcome === "not-sent") {
                assert.isFalse(received.has(token), "a request that was not sent has arrived")
              } else assert.strictEqual(outcome, "unknown")
            }
            assert.strictEqual(sleeping, 0, "timers left")
            assert.strictEqual(peer.connections().open, 0)
          }),
          { numRuns: costlyRuns(120) }
        )
      ),
    60_000
  )

  it.effect("cancels only what it sent, each request once", () =>
    Effect.promise(() =>
      FastCheck.assert(
        FastCheck.asyncProperty(FastCheck.nat(), async (seed) => {
          const { interrupted, outcomes, peer } = await Effect.runPromise(lifetime(seed))
          const cancelled: Array<unknown> = []
          const sent = new Map<unknown, number | undefined>()
          for (const message of peer.received()) {
            if (message["method"] === "work") sent.set(message["id"], tokenOf(message))
            if (message["method"] !== "notifications/cancelled") continue
            const { requestId } = message["params"] as { readonly requestId: unknown }
            assert.isTrue(sent.has(requestId), "a request that never came is cancelled")
            cancelled.push(sent.get(requestId))
          }
          assert.lengthOf(new Set(cancelled), cancelled.length)
          const timedOut = outcomes.filter(({ given }) => given === "RequestTimeout").map(({ token }) => token)
          const given = new Set([...interrupted, ...timedOut])
          for (const token of cancelled) assert.isTrue(given.has(Number(token)), "an answered request is cancelled")
        }),
        { numRuns: costlyRuns(120) }
      )
    ), 60_000)

  it.effect("has the same history for the same seed", () =>
    Effect.gen(function*() {
      let entries = 0
      for (let seed = 1; seed <= 8; seed++) {
        const first = yield* lifetime(seed)
        const second = yield* lifetime(seed)
        assert.deepStrictEqual(second.peer.transcript(), first.peer.transcript())
        assert.deepStrictEqual(second.outcomes, first.outcomes)
        entries += first.peer.transcript().length
      }
      assert.isAbove(entries, 300)
    }))

  it.effect("meets every kind of outcome", () =>
    Effect.gen(function*() {
      const seen = new Set<string>()
      for (let seed = 0; seed < 40; seed++) {
        const { interrupted, outcomes } = yield* lifetime(seed)
        for (const { outcome, given } of outcomes) {
          seen.add(outcome === "answered" ? outcome : `${String(given)} ${outcome}`)
        }
        if (interrupted.length > 0) seen.add("interrupted")
      }
      const all = [
        "answered",
        "interrupted",
        "RequestTimeout unknown",
        "ConnectionLost unknown",
        "ConnectionLost not-sent"
      ]
      for (const outcome of all) assert.isTrue(seen.has(outcome), outcome)
    }))
})
