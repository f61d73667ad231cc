import { assert, describe, it } from "@effect/vitest"
import { Deferred, Duration, Effect, Either, Exit, Fiber, Layer, Option, TestClock } from "effect"
import * as Connector from "../../src/client/Connector.ts"
import * as EraMemory from "../../src/client/EraMemory.ts"
import * as McpError from "../../src/McpError.ts"
import * as McpEvent from "../../src/McpEvent.ts"
import * as Faults from "../../src/testing/Faults.ts"
import * as MemoryServer from "../../src/testing/MemoryServer.ts"
import * as MemoryTransport from "../../src/testing/MemoryTransport.ts"
import * as Configs from "../support/configs.ts"
import * as OverMemory from "../support/overMemory.ts"

const initialized = {
  protocolVersion: "2025-11-25",
  capabilities: { tools: {} },
  serverInfo: { name: "peer", version: "1" }
}

/** A peer whose answers are a table; a method that is not in it is left unanswered. */
const answering = (table: Record<string, (params: unknown) => object | undefined>) =>
  MemoryTransport.peer((message, io) => {
    const answer = typeof message["method"] === "string" ? table[message["method"]] : undefined
    const given = answer?.(message["params"])
    if (message["id"] === undefined || given === undefined) return Effect.void
    return io.send({ jsonrpc: "2.0", id: message["id"], ...given })
  })

const unknownMethod = () => ({ error: { code: -32601, message: "Method not found" } })

const connect = (config = MemoryTransport.config("peer")) =>
  Effect.flatMap(Connector.Connector, (connector) => connector.connect(config))

const failureOf = <A, E>(exit: Exit.Exit<A, E>): E | undefined =>
  Exit.isFailure(exit) && exit.cause._tag === "Fail" ? exit.cause.error : undefined

const answered = (peer: MemoryTransport.Peer, method: string) => peer.until(() => peer.received(method).length > 0)

describe("connecting", () => {
  it.scoped("asks a silent server the older question too, and takes its answer", () =>
    Effect.gen(function*() {
      const peer = yield* answering({ initialize: () => ({ result: initialized }) })
      const fiber = yield* Effect.fork(Effect.provide(connect(), OverMemory.client({ peer })))
      yield* answered(peer, "server/discover")
      assert.strictEqual(peer.received("initialize").length, 0)
      yield* TestClock.adjust("2 seconds")
      const connection = yield* Fiber.join(fiber)
      assert.strictEqual(connection.era, "session")
      assert.strictEqual(peer.connections().opened, 1)
    }))

  it.scoped("takes the newer answer of a slow server that refuses the older question", () =>
    Effect.gen(function*() {
      const late = yield* Deferred.make<void>()
      const peer = yield* MemoryTransport.peer((message, io) => {
        const id = message["id"]
        switch (message["method"]) {
          case "server/discover":
            return Effect.zipRight(
              Deferred.await(late),
              io.send({
                jsonrpc: "2.0",
                id,
                result: { supportedVersions: ["2026-07-28"], capabilities: {}, resultType: "complete" }
              })
            )
          case "initialize":
            return Effect.zipRight(
              Deferred.succeed(late, undefined),
              io.send({
                jsonrpc: "2.0",
                id,
                error: { code: -32022, message: "no", data: { supported: ["2026-07-28"] } }
              })
            )
          default:
            return Effect.void
        }
      })
      const fiber = yield* Effect.fork(Effect.provide(connect(), OverMemory.client({ peer })))
      yield* answered(peer, "server/discover")
      yield* TestClock.adjust("2 seconds")
      const connection = yield* Fiber.join(fiber)
      assert.strictEqual(connection.era, "stateless")
      assert.strictEqual(connection.serverInfo, undefined)
    }))

  it.scoped("asks once more when a server refuses the version and names it", () =>
    Effect.gen(function*() {
      const refusal = { error: { code: -32022, message: "no", data: { supported: ["2026-07-28"] } } }
      const connectTo = (refusals: number) => {
        let asked = 0
        return Effect.flatMap(
          answering({
            "server/discover": () =>
              asked++ < refusals
                ? refusal
                : { result: { supportedVersions: ["2026-07-28"], capabilities: {}, resultType: "complete" } }
          }),
          (peer) =>
            Effect.provide(connect(), OverMemory.client({ peer })).pipe(
              Effect.either,
              Effect.map((connected) => ({ connected, asked: peer.received("server/discover").length }))
            )
        )
      }
      const once = yield* connectTo(1)
      assert.isTrue(Either.isRight(once.connected) && once.connected.right.era === "stateless")
      assert.strictEqual(once.asked, 2)
      const always = yield* connectTo(Infinity)
      assert.isTrue(
        Either.isLeft(always.connected) && always.connected.left._tag === "HandshakeFailed" &&
          always.connected.left.reason === "version"
      )
      assert.strictEqual(always.asked, 2)
    }))

  it.scoped("starts a server again that ends at the first question, once", () =>
    Effect.gen(function*() {
      const peer = yield* MemoryTransport.peer((message, io) => {
        switch (message["method"]) {
          case "server/discover":
            return io.end(Faults.exited(1))
          case "initialize":
            return io.send({ jsonrpc: "2.0", id: message["id"], result: initialized })
          default:
            return Effect.void
        }
      })
      const connection = yield* Effect.provide(connect(), OverMemory.client({ peer }))
      assert.strictEqual(connection.era, "session")
      assert.strictEqual(peer.connections().opened, 2)
      assert.strictEqual(peer.connections().maxOpen, 1)
    }))

  it.scoped("skips the question whose answer it remembers, and asks again when that fails", () =>
    Effect.gen(function*() {
      let refuses = false
      const peer = yield* answering({
        "server/discover": () =>
          refuses ? { result: { supportedVersions: ["2026-07-28"], capabilities: {} } } : unknownMethod(),
        initialize: () => refuses ? { error: { code: -32022, message: "gone" } } : { result: initialized }
      })
      const program = Effect.gen(function*() {
        yield* Effect.scoped(connect())
        yield* Effect.scoped(connect())
        assert.strictEqual(peer.received("server/discover").length, 1)
        assert.strictEqual(peer.received("initialize").length, 2)
        refuses = true
        const third = yield* connect()
        assert.strictEqual(third.era, "stateless")
      })
      yield* Effect.provide(program, OverMemory.client({ peer }))
    }))

  it.effect("names the phase in which the time ran out, and leaves nothing open", () =>
    Effect.gen(function*() {
      const peer = yield* answering({ "server/discover": unknownMethod })
      const config = Configs.memory("peer", { startupTimeout: "3 seconds" })
      const fiber = yield* Effect.fork(
        Effect.exit(Effect.scoped(Effect.provide(connect(config), OverMemory.client({ peer }))))
      )
      yield* answered(peer, "initialize")
      yield* TestClock.adjust("3 seconds")
      const error = failureOf(yield* Fiber.join(fiber))
      assert.strictEqual(error?._tag, "ConnectTimeout")
      if (error?._tag === "ConnectTimeout") assert.strictEqual(error.phase, "initialize")
      assert.strictEqual(error?.outcome, "not-sent")
      assert.strictEqual(peer.connections().open, 0)
    }))

  it.effect("releases everything when it is interrupted, in whichever phase", () =>
    Effect.gen(function*() {
      for (const method of ["server/discover", "initialize"]) {
        const peer = yield* answering(method === "initialize" ? { "server/discover": unknownMethod } : {})
        const fiber = yield* Effect.fork(Effect.scoped(Effect.provide(connect(), OverMemory.client({ peer }))))
        yield* answered(peer, method)
        const exit = yield* Fiber.interrupt(fiber)
        assert.isTrue(Exit.isInterrupted(exit))
        assert.strictEqual(peer.connections().open, 0)
      }
    }))

  const refusals: ReadonlyArray<readonly [string, object, string]> = [
    ["an error", { error: { code: -32000, message: "no" } }, "HandshakeFailed/rejected"],
    ["a version that is none", { result: { ...initialized, protocolVersion: "banana" } }, "HandshakeFailed/version"],
    ["no version", { result: { capabilities: {}, serverInfo: initialized.serverInfo } }, "ProtocolViolation"],
    ["a result that is a text", { result: "hello" }, "ProtocolViolation"]
  ]
  for (const layer of ["client", "sdk"] as const) {
    for (const [what, answer, tag] of refusals) {
      it.effect(`fails with ${tag} if initialize is answered with ${what} (${layer})`, () =>
        Effect.gen(function*() {
          const peer = yield* answering({ "server/discover": unknownMethod, initialize: () => answer })
          const exit = yield* Effect.exit(Effect.scoped(Effect.provide(connect(), OverMemory[layer]({ peer }))))
          const failure = failureOf(exit)
          assert.strictEqual(failure && McpError.label(failure), tag)
          assert.strictEqual(peer.connections().open, 0)
        }))
    }

    it.scoped(`forgives an answer without capabilities or a name (${layer})`, () =>
      Effect.gen(function*() {
        const peer = yield* answering({
          "server/discover": unknownMethod,
          initialize: () => ({ result: { protocolVersion: "2024-11-05", capabilities: { tools: true } } })
        })
        const connection = yield* Effect.provide(connect(), OverMemory[layer]({ peer }))
        assert.strictEqual(connection.protocolVersion, "2024-11-05")
        assert.strictEqual(connection.serverInfo, undefined)
        assert.deepStrictEqual(connection.capabilities, { tools: true })
      }))
  }

  it.scoped("fails at once with the server's retryAfter, because the supervisor waits and not the attempt", () =>
    Effect.gen(function*() {
      const peer = yield* MemoryTransport.peer((message, io) =>
        typeof message["id"] !== "number" ? Effect.void : io.fail(
          message["id"],
          (server) =>
            new McpError.HttpError({
              server,
              reason: "rate-limited",
              outcome: "not-sent",
              retryAfter: Duration.seconds(5),
              detail: ""
            })
        )
      )
      const exit = yield* Effect.exit(Effect.provide(connect(), OverMemory.client({ peer })))
      assert.deepInclude(failureOf(exit), {
        _tag: "HttpError",
        reason: "rate-limited",
        retryAfter: Duration.seconds(5)
      })
      assert.strictEqual(peer.received("server/discover").length, 1)
    }))

  it.scoped("publishes its stages as events", () =>
    Effect.gen(function*() {
      const peer = yield* MemoryServer.make({ era: "session" })
      const program = Effect.gen(function*() {
        const events = yield* McpEvent.McpEvents
        const seen = yield* events.subscribe
        yield* connect()
        yield* peer.drop(Faults.killed())
        const tags = Array.from(yield* Effect.map(seen.takeN(3), ([messages]) => messages), (event) => event._tag)
        assert.deepStrictEqual(tags, ["Connecting", "Connected", "Disconnected"])
      })
      yield* Effect.provide(program, OverMemory.client({ peer }))
    }))
})

describe("the memory of eras", () => {
  it("knows a server by how it is reached, whatever its name and secrets are", () => {
    const one = Configs.memory("one", { env: { TOKEN: "a" } })
    const two = Configs.memory("two", { env: { TOKEN: "b" } })
    assert.strictEqual(EraMemory.identity(one), EraMemory.identity(two))
    assert.notStrictEqual(EraMemory.identity(one), EraMemory.identity(MemoryTransport.config("one", { args: ["x"] })))
  })

  it.effect("can be none", () =>
    Effect.gen(function*() {
      const memory = yield* EraMemory.EraMemory
      memory.set("a", "session")
      assert.isTrue(Option.isNone(Option.fromNullable(memory.get("a"))))
    }).pipe(Effect.provide(Layer.merge(EraMemory.layerNone, Layer.empty))))
})
