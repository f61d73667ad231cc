import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Fiber } from "effect"
import * as Net from "node:net"
import * as McpError from "../../src/McpError.ts"
import * as Configs from "../support/configs.ts"
import { fails, failure, type Options, type Remains, run, settles, succeeds } from "./harness.ts"

const config = Configs.stdio({ name: "fleet", command: "never-started" })

const fakeCase = (use: Effect.Effect<unknown>, remains: Remains = { left: () => [] }, options: Options = {}) =>
  run(Effect.succeed({ config, server: undefined, remains }), () => use, { bound: "900 millis", ...options })

/** What a broken case says. */
const complaint = (self: Effect.Effect<unknown>): Effect.Effect<string> =>
  Effect.map(Effect.exit(self), (exit) => Exit.isFailure(exit) ? Cause.pretty(exit.cause) : "")

const lost = new McpError.ConnectionLost({ server: "fleet", reason: "stalled", detail: "", outcome: "unknown" })

describe("the harness tells", () => {
  it.live("nothing of a case that leaves nothing", () => fakeCase(Effect.sleep("10 millis")))

  it.live("a case that hangs", () =>
    Effect.gen(function*() {
      assert.include(yield* complaint(fakeCase(Effect.never)), "the case did not end")
      assert.include(yield* complaint(fakeCase(Effect.uninterruptible(Effect.sleep("1500 millis")))), "did not end")
    }))

  it.live("an operation that hangs", () =>
    Effect.gen(function*() {
      assert.include(yield* complaint(settles("it", Effect.never, "50 millis")), "it did not settle within 50ms")
    }))

  it.live("a process that is left", () =>
    Effect.gen(function*() {
      const said = yield* complaint(fakeCase(Effect.void, { left: () => ["process 7"] }))
      assert.include(said, "left after the close: process 7")
    }))

  it.live("a fiber that is left", () =>
    Effect.gen(function*() {
      let left: Fiber.RuntimeFiber<never> | undefined
      const leak = Effect.map(Effect.forkDaemon(Effect.never), (fiber) => (left = fiber))
      assert.include(yield* complaint(fakeCase(leak)), "left fibers: a fiber")
      if (left !== undefined) yield* Fiber.interrupt(left)
    }))

  it.live("a timer that is left", () =>
    Effect.gen(function*() {
      const timers: Array<NodeJS.Timeout> = []
      const leak = Effect.sync(() => timers.push(setTimeout(() => undefined, 60_000)))
      assert.include(yield* complaint(fakeCase(leak)), "left timers: a timer of 60000 ms")
      for (const timer of timers) clearTimeout(timer)
    }))

  it.live("an event loop that stands still, and memory that grows", () =>
    Effect.gen(function*() {
      const spin = Effect.sync(() => {
        const until = process.cpuUsage().user + 200_000
        while (process.cpuUsage().user < until);
      })
      assert.include(yield* complaint(fakeCase(spin, undefined, { lag: 100 })), "ms of work between two turns")
      const held: Array<Buffer> = []
      const grow = Effect.sync(() => held.push(Buffer.alloc(128 * 1024 * 1024, 1)))
      assert.include(yield* complaint(fakeCase(grow, undefined, { memory: 32 })), "MiB of resident memory")
      assert.strictEqual(held.length, 1)
    }))

  it.live("a socket that is left", () =>
    Effect.gen(function*() {
      const servers: Array<Net.Server> = []
      const leak = Effect.async<void>((resume) => {
        const server = Net.createServer()
        servers.push(server)
        server.listen(0, "127.0.0.1", () => resume(Effect.void))
      })
      assert.include(yield* complaint(fakeCase(leak)), "left handles: 1 × TCPServerWrap")
      for (const server of servers) server.close()
    }))

  it.live("a success, a defect and another error where one error is due", () =>
    Effect.gen(function*() {
      assert.include(yield* complaint(fails("it", Effect.succeed(1), "ConnectionLost")), "it succeeded: 1")
      assert.include(yield* complaint(fails("it", Effect.die("boom"), "ConnectionLost")), "it failed otherwise")
      assert.include(yield* complaint(fails("it", Effect.fail("text"), "ConnectionLost")), "it failed otherwise")
      assert.include(
        yield* complaint(fails("it", Effect.fail(lost), "ConnectionLost", { reason: "exited" })),
        "expected"
      )
      assert.include(yield* complaint(fails("it", Effect.fail(lost), "ConnectionLost", { reason: "reset" })), "reason")
      assert.include(yield* complaint(succeeds("it", Effect.fail(lost))), "it failed")
      assert.strictEqual(failure("it", Exit.fail(lost), "ConnectionLost", { reason: "stalled" }), lost)
    }))

  it.live("an error that is not fit to be shown", () =>
    Effect.gen(function*() {
      const other = new McpError.ConnectionLost({ ...lost, server: "\u001b[31mfleet" })
      assert.include(yield* complaint(fails("it", Effect.fail(other), "ConnectionLost")), "expected")
    }))
})
