import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/TestClock"
import type * as Faults from "../../src/testing/Faults.ts"
import * as MemoryTransport from "../../src/testing/MemoryTransport.ts"
import type * as JsonRpc from "../../src/transport/JsonRpc.ts"
import * as Sink from "../support/sink.ts"

const echo = (message: JsonRpc.Incoming, io: MemoryTransport.Io) =>
  io.send({ jsonrpc: "2.0", id: message["id"], result: message["params"] })

const request = (id: JsonRpc.Id): JsonRpc.Request => ({ jsonrpc: "2.0", id, method: "echo", params: {} })

const config = MemoryTransport.config("peer")

describe("MemoryTransport: chance", () => {
  const rates: Faults.Rates = {
    refuse: 0.2,
    drop: 0.02,
    discard: 0.5,
    lose: 0.1,
    duplicate: 0.1,
    stray: 0.1,
    garbage: 0.1,
    delay: 0.3,
    maxDelay: "100 millis"
  }

  const run = (seed: number) =>
    Effect.gen(function*() {
      const peer = yield* MemoryTransport.peer(echo)
      yield* peer.chaos(seed, rates)
      for (let connect = 0; connect < 8; connect++) {
        yield* Effect.scoped(Effect.gen(function*() {
          const transport = yield* peer.open(config)
          transport.start(Sink.make().sink)
          for (let id = 0; id < 30; id++) transport.send(request(id))
          yield* TestClock.adjust("1 second")
        })).pipe(Effect.ignore)
      }
      const start = peer.transcript()[0]?.at ?? 0
      return peer.transcript().map(({ at, connection, detail, kind }) => ({ at: at - start, connection, detail, kind }))
    })

  /** What arrives for one request when chance is no chance at all. */
  const certain = (rates: Faults.Rates) =>
    Effect.gen(function*() {
      const peer = yield* MemoryTransport.peer(echo)
      yield* peer.chaos(1, rates)
      const transport = yield* peer.open(config)
      const heard = Sink.make()
      transport.start(heard.sink)
      transport.send(request(1))
      yield* TestClock.adjust("1 minute")
      return heard.order
    })

  it.scoped("each rate is the rate of its own fault", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* certain({}), ["message 1"])
      assert.deepStrictEqual(yield* certain({ delay: 1 }), ["message 1"])
      assert.deepStrictEqual(yield* certain({ lose: 1 }), [])
      assert.deepStrictEqual(yield* certain({ duplicate: 1 }), ["message 1", "message 1"])
      assert.deepStrictEqual(yield* certain({ stray: 1 }), ["message 1", "message stray"])
      assert.deepStrictEqual(yield* certain({ garbage: 1 }), ["noise", "message 1"])
      assert.deepStrictEqual(yield* certain({ drop: 1 }), ["ended"])
      assert.strictEqual((yield* Effect.flip(certain({ refuse: 1 })))._tag, "ConnectionLost")
    }))

  it.scoped("a break can come before a request arrives, after it, and before or after its answer", () =>
    Effect.gen(function*() {
      const seen = new Set<string>()
      for (let seed = 0; seed < 60; seed++) {
        let executed = 0
        const peer = yield* MemoryTransport.peer((message, io) =>
          Effect.zipRight(Effect.sync(() => executed++), echo(message, io))
        )
        yield* peer.chaos(seed, { drop: 0.5 })
        const transport = yield* peer.open(config)
        const heard = Sink.make()
        transport.start(heard.sink)
        transport.send(request(1))
        yield* TestClock.adjust("1 millis")
        seen.add(`received ${peer.received().length}, executed ${executed}: ${heard.order.join()}`)
      }
      assert.deepStrictEqual(
        seen,
        new Set([
          "received 0, executed 0: ended",
          "received 1, executed 0: ended",
          "received 1, executed 1: ended",
          "received 1, executed 1: message 1,ended",
          "received 1, executed 1: message 1"
        ])
      )
    }))

  it.scoped("the same seed produces the same transcript", () =>
    Effect.gen(function*() {
      const first = yield* run(1)
      assert.deepStrictEqual(yield* run(1), first)
      assert.isAbove(first.length, 100)
    }))

  it.scoped("another seed produces another transcript", () =>
    Effect.gen(function*() {
      assert.notDeepEqual(yield* run(1), yield* run(2))
    }))

  it.scoped("every fault that has a rate happens", () =>
    Effect.gen(function*() {
      const entries = (yield* Effect.forEach([1, 2, 3], run)).flat()
      const kinds = new Set(entries.map(({ kind }) => kind))
      const all = ["opened", "refused", "received", "delivered", "lost", "ended", "closed"] as const
      assert.deepStrictEqual(kinds, new Set(all))
      assert.isTrue(entries.some(({ detail }) => detail.includes("stray")))
      assert.isTrue(entries.some(({ detail }) => detail === "a line of noise"))
      assert.isTrue(entries.some(({ at, kind }) => kind === "delivered" && at % 1000 > 0))
    }))
})
