import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/TestClock"
import * as Teardown from "../../src/resilience/Teardown.ts"
import * as Faults from "../../src/testing/Faults.ts"
import * as MemoryTransport from "../../src/testing/MemoryTransport.ts"
import type * as JsonRpc from "../../src/transport/JsonRpc.ts"
import * as Transport from "../../src/transport/Transport.ts"
import * as Configs from "../support/configs.ts"
import * as Sink from "../support/sink.ts"
import { transportContract } from "../support/transportContract.ts"

const echo = (message: JsonRpc.Incoming, io: MemoryTransport.Io) => {
  if (message["method"] === "die") return io.end(Faults.exited(3))
  return message["method"] === "echo"
    ? io.send({ jsonrpc: "2.0", id: message["id"], result: message["params"] })
    : Effect.void
}

const request = (id: JsonRpc.Id, method = "echo"): JsonRpc.Request => ({ jsonrpc: "2.0", id, method, params: {} })

const config = MemoryTransport.config("peer")

const opened = (options?: MemoryTransport.PeerOptions, overrides?: Parameters<typeof Configs.memory>[1]) =>
  Effect.gen(function*() {
    const peer = yield* MemoryTransport.peer(echo, options)
    const scope = yield* Scope.make()
    const transport = yield* Scope.extend(peer.open(Configs.memory("peer", overrides)), scope)
    const heard = Sink.make()
    transport.start(heard.sink)
    yield* Effect.addFinalizer(() => Scope.close(scope, Exit.void))
    return { peer, transport, heard, close: Scope.close(scope, Exit.void) }
  })

transportContract(
  "memory",
  Effect.map(MemoryTransport.peer(echo), (peer) => ({ open: peer.open(config) })),
  { live: false }
)

describe("MemoryTransport: ends", () => {
  it.scoped("a drop reaches the client after the messages of the peer", () =>
    Effect.gen(function*() {
      const { heard, peer, transport } = yield* opened()
      yield* peer.delay("1 second")
      transport.send(request(1))
      yield* TestClock.adjust("1 second")
      yield* peer.drop()
      yield* TestClock.adjust("1 second")
      const ended = yield* heard.ended
      assert.deepStrictEqual(heard.order, ["message 1", "ended"])
      assert.strictEqual(ended.error("unknown")._tag, "ConnectionLost")
    }))

  it.scoped("a drop that discards loses the messages in flight to the client", () =>
    Effect.gen(function*() {
      const { heard, peer, transport } = yield* opened()
      yield* peer.delay((_, direction) => direction === "to-client" ? "1 second" : 0)
      transport.send(request(1))
      yield* peer.until(() => peer.received().length === 1)
      yield* Effect.yieldNow()
      yield* peer.drop(Faults.lost("reset"), { discard: true })
      yield* TestClock.adjust("1 second")
      const ended = yield* heard.ended
      assert.deepStrictEqual(heard.order, ["ended"])
      assert.isFalse(ended.unsent(1))
    }))

  it.scoped("a killed process leaves its signal and the end of its stderr in the error", () =>
    Effect.gen(function*() {
      const { heard, peer, transport } = yield* opened()
      const fatal = yield* MemoryTransport.peer((_, io) =>
        Effect.zipRight(io.stderr("out of memory\n"), io.end(Faults.killed("SIGABRT")))
      )
      const second = yield* fatal.open(config)
      const other = Sink.make()
      second.start(other.sink)
      second.send(request(1))
      const error = (yield* other.ended).error("unknown")
      assert.strictEqual(
        error._tag === "ConnectionLost" && error.reason === "exited" ? error.signal : undefined,
        "SIGABRT"
      )
      assert.strictEqual(
        error._tag === "ConnectionLost" && error.reason === "exited" ? error.stderrTail : undefined,
        "out of memory\n"
      )
      assert.strictEqual(second.stderrTail(), "out of memory\n")
      transport.send(request(2))
      yield* heard.answer(2)
      assert.strictEqual(peer.connections().open, 1)
    }))

  it.scoped("a script that dies is a process that crashes", () =>
    Effect.gen(function*() {
      const peer = yield* MemoryTransport.peer(() => Effect.die(new Error("a bug in the script")))
      const transport = yield* peer.open(config)
      const heard = Sink.make()
      transport.start(heard.sink)
      transport.send(request(1))
      const error = (yield* heard.ended).error("unknown")
      assert.strictEqual(error._tag === "ConnectionLost" && error.reason === "exited" ? error.code : undefined, 1)
      assert.include(transport.stderrTail(), "a bug in the script")
    }))

  it.scoped("the handlers of a connection end with it", () =>
    Effect.gen(function*() {
      let finished = 0
      const peer = yield* MemoryTransport.peer(() =>
        Effect.sleep("1 minute").pipe(Effect.zipRight(Effect.sync(() => finished++)))
      )
      const transport = yield* peer.open(config)
      transport.start(Sink.make().sink)
      transport.send(request(1))
      yield* peer.until(() => peer.received().length === 1)
      yield* peer.drop()
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(finished, 0)
    }))
})

describe("MemoryTransport: a peer that hangs", () => {
  it.scoped("reads nothing until it no longer hangs", () =>
    Effect.gen(function*() {
      const { heard, peer, transport } = yield* opened()
      yield* peer.hang
      transport.send(request(1))
      yield* TestClock.adjust("20 seconds")
      assert.lengthOf(peer.received(), 0)
      yield* peer.unhang
      yield* heard.answer(1)
      assert.lengthOf(heard.endings, 0)
    }))

  it.scoped("does not read the messages in flight when it began to hang", () =>
    Effect.gen(function*() {
      const { peer, transport } = yield* opened()
      yield* peer.delay("2 seconds")
      transport.send(request(1))
      yield* TestClock.adjust("1 second")
      yield* peer.hang
      yield* TestClock.adjust("10 seconds")
      assert.lengthOf(peer.received(), 0)
      yield* peer.unhang
      yield* peer.until(() => peer.received().length === 1)
    }))

  it.scoped("is lost after the stall timeout, and unread requests count as not sent", () =>
    Effect.gen(function*() {
      const { heard, peer, transport } = yield* opened({}, { stallTimeout: "3 seconds" })
      transport.send(request(1, "silent"))
      yield* peer.until(() => peer.received().length === 1)
      yield* peer.hang
      transport.send(request(2))
      yield* TestClock.adjust("3 seconds")
      const ended = yield* heard.ended
      const error = ended.error("not-sent")
      assert.strictEqual(error._tag === "ConnectionLost" ? error.reason : undefined, "stalled")
      assert.isFalse(ended.unsent(1))
      assert.isTrue(ended.unsent(2))
    }))

  it.scoped("is sent no more than the queue holds", () =>
    Effect.gen(function*() {
      const { peer, transport } = yield* opened({ queueLimit: 2 })
      yield* peer.hang
      assert.isUndefined(transport.send(request(1)))
      assert.isUndefined(transport.send(request(2)))
      const error = transport.send(request(3))
      assert.strictEqual(error?._tag, "Overloaded")
      assert.strictEqual(error?.outcome, "not-sent")
    }))
})

describe("MemoryTransport: faults", () => {
  it.scoped("a delay holds each message for as long, and lets none overtake another", () =>
    Effect.gen(function*() {
      const { heard, peer, transport } = yield* opened()
      yield* peer.delay((message, direction) => direction === "to-client" && message["id"] === 1 ? "1 second" : 0)
      transport.send(request(1))
      transport.send(request(2))
      yield* TestClock.adjust("999 millis")
      assert.deepStrictEqual(heard.order, [])
      yield* TestClock.adjust("1 millis")
      yield* heard.answer(2)
      assert.deepStrictEqual(heard.order, ["message 1", "message 2"])
    }))

  it.scoped("messages that wait together arrive together", () =>
    Effect.gen(function*() {
      const { heard, peer, transport } = yield* opened()
      yield* peer.delay((_, direction) => direction === "to-peer" ? "1 second" : 0)
      for (let id = 0; id < 10; id++) transport.send(request(id))
      yield* TestClock.adjust("1 second")
      yield* heard.until(() => heard.messages.length === 10)
      assert.deepStrictEqual(
        new Set(peer.transcript().filter((entry) => entry.kind === "received").map(({ at }) => at)),
        new Set([1000])
      )
    }))

  it.scoped("garbage arrives as a diagnostic", () =>
    Effect.gen(function*() {
      const { heard, peer } = yield* opened()
      yield* peer.garbage("Server listening…\u001b[0m")
      yield* peer.garbage("42")
      yield* peer.garbage("[]")
      yield* heard.until(() => heard.diagnostics.length === 3)
      assert.deepStrictEqual(heard.diagnostics.map(({ kind }) => kind), ["noise", "noise", "noise"])
      assert.strictEqual(heard.diagnostics[0]?.detail, "Server listening…\\x1b[0m")
    }))

  it.scoped("a batch is unpacked", () =>
    Effect.gen(function*() {
      const { heard, peer } = yield* opened()
      yield* peer.broadcast([{ jsonrpc: "2.0", method: "a" }, { jsonrpc: "2.0", method: "b" }])
      yield* heard.until(() => heard.messages.length === 2)
      assert.deepStrictEqual(heard.order, ["message a", "message b"])
    }))

  it.scoped("duplicated answers arrive again, and nothing else does", () =>
    Effect.gen(function*() {
      const { heard, peer, transport } = yield* opened()
      yield* peer.duplicate(2)
      transport.send(request(1))
      yield* heard.answer(1)
      yield* peer.broadcast({ jsonrpc: "2.0", method: "told" })
      yield* heard.until(() => heard.order.includes("message told"))
      assert.deepStrictEqual(heard.order, ["message 1", "message 1", "message 1", "message told"])
    }))

  it.scoped("a half-closed peer reads without answering, and the connection stays", () =>
    Effect.gen(function*() {
      const { heard, peer, transport } = yield* opened()
      yield* peer.halfClose
      transport.send(request(1))
      yield* peer.until(() => peer.received("echo").length === 1)
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(heard.order, [])
      yield* peer.heal
      transport.send(request(2))
      yield* heard.answer(2)
      assert.deepStrictEqual(heard.order, ["message 2"])
    }))

  it.scoped("a request can fail alone", () =>
    Effect.gen(function*() {
      const peer = yield* MemoryTransport.peer((message, io) =>
        io.fail(Number(message["id"]), (server) => Faults.lost()(server, "unknown", undefined))
      )
      const transport = yield* peer.open(config)
      const heard = Sink.make()
      transport.start(heard.sink)
      transport.send(request(5))
      yield* heard.until(() => heard.failures.length === 1)
      assert.strictEqual(heard.failures[0]?.id, 5)
      assert.strictEqual(heard.failures[0]?.error.server, "peer")
    }))

  it.scoped("messages over the limit are refused on the way out and skipped on the way in", () =>
    Effect.gen(function*() {
      const { heard, peer, transport } = yield* opened({}, { maxMessageBytes: 200 })
      const tooLarge = transport.send({ ...request(1), params: { text: "€".repeat(70) } })
      assert.strictEqual(tooLarge?._tag, "MessageTooLarge")
      yield* peer.broadcast({ jsonrpc: "2.0", id: 2, result: { text: "€".repeat(70) } })
      yield* heard.until(() => heard.failures.length === 1)
      assert.deepStrictEqual(heard.order, ["failed 2"])
      assert.strictEqual(heard.failures[0]?.error._tag, "MessageTooLarge")
      transport.send(request(3))
      yield* heard.answer(3)
    }))

  it.scoped("an abandoned request reaches the peer where each request has a stream of its own", () =>
    Effect.gen(function*() {
      const abandoned: Array<JsonRpc.Id> = []
      const receiver: MemoryTransport.Receiver = {
        message: () => Effect.void,
        abandoned: (id) => Effect.sync(() => abandoned.push(id))
      }
      const peer = yield* MemoryTransport.make(() => Effect.succeed(receiver), { streamPerRequest: true })
      const transport = yield* peer.open(config)
      transport.start(Sink.make().sink)
      transport.send(request(1))
      transport.abandon(1)
      yield* peer.until(() => abandoned.length === 1)
      assert.deepStrictEqual(abandoned, [1])
      assert.isTrue(transport.streamPerRequest)
    }))
})

describe("MemoryTransport: connecting", () => {
  it.scoped("refuses as many connects as configured", () =>
    Effect.gen(function*() {
      const peer = yield* MemoryTransport.peer(echo)
      yield* peer.refuseConnect(Faults.lost("reset"), 2)
      const first = yield* Effect.flip(Effect.scoped(peer.open(config)))
      const second = yield* Effect.flip(Effect.scoped(peer.open(config)))
      yield* Effect.scoped(peer.open(config))
      assert.deepStrictEqual([first._tag, second._tag], ["ConnectionLost", "ConnectionLost"])
      assert.strictEqual(first.outcome, "not-sent")
      assert.deepStrictEqual(peer.connections(), { opened: 1, refused: 2, open: 0, maxOpen: 1, closed: 1 })
    }))

  it.scoped("takes the configured delay, and leaves nothing open when interrupted meanwhile", () =>
    Effect.gen(function*() {
      const peer = yield* MemoryTransport.peer(echo)
      yield* peer.slowConnect("10 seconds")
      const slow = yield* Effect.fork(Effect.scoped(peer.open(config)))
      yield* TestClock.adjust("9 seconds")
      assert.strictEqual(peer.connections().opened, 0)
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(slow)
      assert.strictEqual(peer.connections().opened, 1)
      yield* peer.slowConnect(Duration.infinity)
      const never = yield* Effect.fork(Effect.scoped(peer.open(config)))
      yield* TestClock.adjust("1 hour")
      yield* Fiber.interrupt(never)
      assert.strictEqual(peer.connections().opened, 1)
    }))

  it.scoped("counts the connections that are open at once", () =>
    Effect.gen(function*() {
      const peer = yield* MemoryTransport.peer(echo)
      yield* Effect.scoped(Effect.zipRight(peer.open(config), peer.open(config)))
      yield* Effect.scoped(peer.open(config))
      assert.deepStrictEqual(peer.connections(), { opened: 3, refused: 0, open: 0, maxOpen: 2, closed: 3 })
    }))

  it.scoped("the layer finds a peer by the server's name, and fails with ConfigurationError without one", () =>
    Effect.gen(function*() {
      const peer = yield* MemoryTransport.peer(echo)
      const open = (name: string) =>
        Effect.flatMap(Transport.Transports, (transports) => transports.open(MemoryTransport.config(name))).pipe(
          Effect.scoped,
          Effect.provide(MemoryTransport.layer({ known: peer }))
        )
      assert.strictEqual((yield* open("known")).kind, "memory")
      assert.strictEqual((yield* Effect.flip(open("toString")))._tag, "ConfigurationError")
    }))
})

describe("MemoryTransport: closing", () => {
  const recording = () => {
    const ends: Array<Teardown.ServerEnd> = []
    const { deadline, drainTimeout, farewellTimeout, stdinGrace, termGrace } = Teardown.defaults
    const options = {
      deadline: Duration.decode(deadline),
      drainTimeout: Duration.decode(drainTimeout),
      farewellTimeout: Duration.decode(farewellTimeout),
      stdinGrace: Duration.decode(stdinGrace),
      termGrace: Duration.decode(termGrace),
      installGrace: Duration.zero
    }
    const provide = Effect.provideService(Teardown.Teardown, {
      options,
      record: (end) => void ends.push(end),
      report: Effect.sync(() => ({ servers: ends })),
      lastResort: () => Effect.void
    })
    return { ends, provide }
  }

  it.scoped("a message sent just before still reaches the peer", () =>
    Effect.gen(function*() {
      const { close, peer, transport } = yield* opened()
      yield* peer.delay("1 second")
      transport.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } })
      yield* close
      assert.lengthOf(peer.received("notifications/cancelled"), 1)
    }))

  it.scoped("makes every send fail with Closed, even if the peer had ended before", () =>
    Effect.gen(function*() {
      const { close, heard, peer, transport } = yield* opened()
      yield* peer.drop()
      yield* heard.ended
      assert.strictEqual(transport.send(request(1))?._tag, "ConnectionLost")
      yield* close
      assert.strictEqual(transport.send(request(2))?._tag, "Closed")
      assert.lengthOf(heard.endings, 1)
    }))

  it.scoped("notifies the sink once, with Closed", () =>
    Effect.gen(function*() {
      const { close, heard } = yield* opened()
      yield* close
      assert.deepStrictEqual(heard.endings.map((ended) => ended.error("unknown")._tag), ["Closed"])
    }))

  it.scoped("is recorded as closed, or as exited before", () =>
    Effect.gen(function*() {
      const { ends, provide } = recording()
      const peer = yield* MemoryTransport.peer(echo)
      yield* provide(Effect.scoped(peer.open(config)))
      yield* provide(Effect.scoped(Effect.zipRight(peer.open(config), peer.drop())))
      assert.deepStrictEqual(ends.map(({ how, transport }) => [transport, how]), [
        ["memory", "closed"],
        ["memory", "exited-before"]
      ])
    }))

  it.scoped("a peer that does not stop is abandoned within the bound", () =>
    Effect.gen(function*() {
      const { ends, provide } = recording()
      const peer = yield* MemoryTransport.peer(() => Effect.uninterruptible(Effect.sleep("1 day")))
      const closing = yield* Effect.gen(function*() {
        const transport = yield* peer.open(config)
        transport.start(Sink.make().sink)
        transport.send(request(1))
        yield* peer.until(() => peer.received().length === 1)
        yield* Effect.yieldNow()
      }).pipe(Effect.scoped, provide, Effect.fork)
      yield* TestClock.adjust(Teardown.defaults.termGrace)
      yield* Fiber.join(closing)
      assert.deepStrictEqual(ends.map(({ how, took }) => [how, Duration.toMillis(took)]), [["abandoned", 2000]])
    }))

  it.scoped("keeps no transcript at all where the limit is none", () =>
    Effect.gen(function*() {
      const { peer } = yield* opened({ transcriptLimit: 0 })
      assert.strictEqual(peer.connections().opened, 1)
      assert.deepStrictEqual(peer.transcript(), [])
    }))
})
