import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FastCheck from "effect/FastCheck"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { randomUUID } from "node:crypto"
import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type * as ServerConfig from "../../src/config/ServerConfig.ts"
import * as McpEvent from "../../src/McpEvent.ts"
import * as Teardown from "../../src/resilience/Teardown.ts"
import * as StdioTransport from "../../src/transport/StdioTransport.ts"
import type * as Transport from "../../src/transport/Transport.ts"
import * as Configs from "../support/configs.ts"
import {
  activeResources,
  assertNoLeak,
  contentOf,
  eventually,
  gone,
  isAlive,
  openFiles,
  pidsWithArgument
} from "../support/leaks.ts"
import * as RecordingSink from "../support/recordingSink.ts"

const script = fileURLToPath(new URL("../fixtures/process/server.mjs", import.meta.url))

const server = (...flags: ReadonlyArray<string>) =>
  Configs.stdio({ name: "fixture", command: process.execPath, args: [script, ...flags] })

const wrapped = (...flags: ReadonlyArray<string>) =>
  Configs.stdio({
    name: "fixture",
    command: "sh",
    args: ["-c", "\"$0\" \"$@\"; true", process.execPath, script, ...flags]
  })

const live = (options: Partial<Teardown.Options> = { stdinGrace: "300 millis", termGrace: "300 millis" }) =>
  StdioTransport.layer.pipe(Layer.provideMerge(Teardown.layer(options)), Layer.provideMerge(McpEvent.layer))

const opened = Effect.fnUntraced(function*(config: ServerConfig.StdioServer) {
  const { open } = yield* StdioTransport.StdioTransport
  const transport = yield* open(config)
  const told = yield* RecordingSink.make
  transport.start(told.sink)
  const ask = (method: string, params = {}) =>
    Effect.gen(function*() {
      assert.isUndefined(transport.send({ jsonrpc: "2.0", id: 1, method, params }))
      const result = (yield* told.message)["result"]
      return Number((result as { readonly pid?: number }).pid)
    })
  return { transport, ...told, ask }
})

/** Uses a server, closes it, and returns what was asked for together with the record of its end. */
const closing = <A>(
  config: ServerConfig.StdioServer,
  use: (server: Effect.Effect.Success<ReturnType<typeof opened>>) => Effect.Effect<A>
) =>
  assertNoLeak(Effect.gen(function*() {
    const used = yield* Effect.scoped(Effect.flatMap(opened(config), use))
    const { servers } = yield* (yield* Teardown.Teardown).report
    assert.strictEqual(servers.length, 1)
    return { used, end: servers[0]! }
  }))

describe("closing a stdio server", () => {
  it.live("ends with a polite server at the end of its stdin", () =>
    Effect.gen(function*() {
      const { end, used: pid } = yield* closing(server(), ({ ask }) => ask("pid"))
      assert.isFalse(isAlive(pid))
      assert.deepInclude(end, {
        server: "fixture",
        transport: "stdio",
        how: "closed",
        killed: [],
        exit: { code: 0, signal: null }
      })
      assert.isBelow(Duration.toMillis(end.took), 5000)
    }).pipe(Effect.provide(live({}))))

  it.live("publishes the event Closed", () =>
    Effect.scoped(Effect.gen(function*() {
      const { stream } = yield* McpEvent.McpEvents
      const events = yield* Queue.unbounded<McpEvent.McpEvent>()
      yield* Effect.forkScoped(Stream.runForEach(stream, (event) => Queue.offer(events, event)))
      yield* Effect.yieldNow()
      yield* Effect.scoped(Effect.flatMap(opened(server()), ({ ask }) => ask("pid")))
      const event = yield* events.take
      assert.deepInclude(event, { _tag: "Closed", server: "fixture" })
    })).pipe(Effect.provide(live())))

  it.live("leaves a server time to flush", () =>
    Effect.gen(function*() {
      const journal = join(mkdtempSync(join(tmpdir(), "stdio-test-")), "journal")
      const { end } = yield* closing(server(`--journal=${journal}`, "--flush=500"), ({ ask }) => ask("pid"))
      assert.strictEqual(end.how, "closed")
      assert.include(contentOf(journal), "flushed")
    }).pipe(Effect.provide(live({}))))

  it.live("terminates a server that ignores the end of its stdin", () =>
    Effect.gen(function*() {
      const { end, used: pid } = yield* closing(server("--ignore-end"), ({ ask }) => ask("pid"))
      assert.isFalse(isAlive(pid))
      assert.deepInclude(end, { how: "terminated", killed: [], exit: { code: null, signal: "SIGTERM" } })
    }).pipe(Effect.provide(live())))

  it.live("kills a server that ignores SIGTERM, which it receives once", () =>
    Effect.gen(function*() {
      const journal = join(mkdtempSync(join(tmpdir(), "stdio-test-")), "journal")
      const { end, used: pid } = yield* closing(
        server("--ignore-end", "--ignore-term", `--journal=${journal}`),
        ({ ask }) => ask("pid")
      )
      assert.isFalse(isAlive(pid))
      assert.deepInclude(end, { how: "killed", killed: [pid], exit: { code: null, signal: "SIGKILL" } })
      assert.strictEqual(contentOf(journal).match(/^term$/gm)?.length, 1)
    }).pipe(Effect.provide(live())))

  it.live("reports a server that had exited before", () =>
    Effect.gen(function*() {
      const { end } = yield* closing(server(), ({ ended, transport }) => {
        transport.send({ jsonrpc: "2.0", id: 1, method: "exit", params: { code: 3 } })
        return Effect.asVoid(ended)
      })
      assert.deepInclude(end, { how: "exited-before", exit: { code: 3, signal: null } })
    }).pipe(Effect.provide(live())))

  for (const kind of ["quiet", "pipes", "session"] as const) {
    it.live(`ends a descendant that outlives the server (${kind})`, () =>
      Effect.gen(function*() {
        const { end, used: pid } = yield* closing(
          server(),
          // After the first message, so that only the look at the time of closing finds it.
          ({ ask }) => Effect.zipRight(ask("pid"), ask("descendant", { kind }))
        )
        assert.isFalse(isAlive(pid))
        assert.strictEqual(end.how, "terminated")
      }).pipe(Effect.provide(live())))

    it.live(`ends a descendant of a server that died (${kind})`, () =>
      Effect.gen(function*() {
        const { used: pid } = yield* closing(server(), ({ ask, ended, transport }) =>
          Effect.gen(function*() {
            const pid = yield* ask("descendant", { kind })
            transport.send({ jsonrpc: "2.0", id: 2, method: "die" })
            yield* ended
            return pid
          }))
        assert.isFalse(isAlive(pid))
      }).pipe(Effect.provide(live())))
  }

  it.live("terminates a lost server at once, without the grace for the end of stdin", () =>
    Effect.gen(function*() {
      const { end, used: pid } = yield* closing(
        server("--ignore-end"),
        ({ ask, ended, transport }) =>
          Effect.gen(function*() {
            const pid = yield* ask("pid")
            transport.send({ jsonrpc: "2.0", id: 2, method: "closeStdout" })
            yield* ended
            yield* gone(pid)
            return pid
          })
      )
      assert.isFalse(isAlive(pid))
      assert.deepInclude(end, { how: "terminated", exit: { code: null, signal: "SIGTERM" } })
    }).pipe(Effect.provide(live({ stdinGrace: "1 hour", deadline: "1 hour" }))))

  it.live("ends a daemon that left the process tree before any look, and reports it", () =>
    Effect.gen(function*() {
      const { end, used: pid } = yield* closing(server(), ({ ask }) => ask("daemon"))
      assert.isFalse(isAlive(pid))
      assert.deepInclude(end, { how: "terminated", escaped: [pid], exit: { code: 0, signal: null } })
    }).pipe(Effect.provide(live())))

  it.live("ends the daemon of a server that died", () =>
    Effect.gen(function*() {
      const { end, used: pid } = yield* closing(server(), ({ ask, ended, transport }) =>
        Effect.gen(function*() {
          const pid = yield* ask("daemon")
          transport.send({ jsonrpc: "2.0", id: 2, method: "die" })
          yield* ended
          return pid
        }))
      assert.isFalse(isAlive(pid))
      assert.deepStrictEqual(end.escaped, [pid])
    }).pipe(Effect.provide(live())))

  it.live("releases a pipe that is held by a daemon with an environment of its own", () =>
    Effect.gen(function*() {
      const pipes = () => activeResources().get("PipeWrap") ?? 0
      const before = pipes()
      const pid = yield* Effect.scoped(Effect.flatMap(opened(server()), ({ ask }) => ask("daemon", { clean: true })))
      yield* Effect.addFinalizer(() => Effect.sync(() => process.kill(pid, "SIGKILL")))
      yield* eventually(() => pipes() <= before, () => `${pipes()} pipes`)
      assert.isTrue(isAlive(pid))
    }).pipe(Effect.scoped, Effect.provide(live())))

  it.live("kills a descendant that ignores SIGTERM", () =>
    Effect.gen(function*() {
      const { end, used: pid } = yield* closing(server(), ({ ask }) => ask("descendant", { kind: "stubborn" }))
      assert.isFalse(isAlive(pid))
      assert.deepInclude(end, { how: "killed", killed: [pid] })
    }).pipe(Effect.provide(live())))

  it.live("ends a polite server behind a wrapper politely", () =>
    Effect.gen(function*() {
      const { end, used: pid } = yield* closing(wrapped(), ({ ask }) => ask("pid"))
      assert.isFalse(isAlive(pid))
      assert.strictEqual(end.how, "closed")
    }).pipe(Effect.provide(live({}))))

  it.live("ends a stubborn server behind a wrapper", () =>
    Effect.gen(function*() {
      const { end, used: pid } = yield* closing(wrapped("--ignore-end", "--ignore-term"), ({ ask }) => ask("pid"))
      assert.isFalse(isAlive(pid))
      assert.strictEqual(end.how, "killed")
    }).pipe(Effect.provide(live())))

  it.live("delivers messages that arrive while the server is closed", () =>
    Effect.gen(function*() {
      const { used } = yield* closing(server("--flush=50"), ({ ask, message, transport }) =>
        Effect.gen(function*() {
          yield* ask("pid")
          transport.send({ jsonrpc: "2.0", id: 2, method: "echo", params: {} })
          return { message }
        }))
      assert.deepInclude(yield* used.message, { id: 2 })
    }).pipe(Effect.provide(live())))

  it.live("closes eight stubborn servers in the time of one", () =>
    Effect.gen(function*() {
      const servers = yield* Effect.forEach(Array.from({ length: 8 }), () =>
        Effect.gen(function*() {
          const scope = yield* Scope.make()
          const { ask } = yield* Scope.extend(opened(server("--ignore-end", "--ignore-term")), scope)
          return { scope, pid: yield* ask("pid") }
        }), { concurrency: "unbounded" })
      const [took] = yield* Effect.timed(
        Effect.forEach(servers, ({ scope }) => Scope.close(scope, Exit.void), { concurrency: "unbounded" })
      )
      for (const { pid } of servers) assert.isFalse(isAlive(pid))
      assert.isBelow(Duration.toMillis(took), 3000)
    }).pipe(Effect.provide(live({ stdinGrace: "500 millis", termGrace: "500 millis" })), assertNoLeak))

  it.live("ends within the deadline, whatever the graces are", () =>
    Effect.gen(function*() {
      const { end } = yield* closing(server("--ignore-end", "--ignore-term"), ({ ask }) => ask("pid"))
      assert.strictEqual(end.how, "killed")
      assert.isBelow(Duration.toMillis(end.took), 5000)
    }).pipe(Effect.provide(live({ stdinGrace: "1 hour", termGrace: "1 hour", deadline: "300 millis" }))))

  it.live("works in an interrupted and in an uninterruptible fiber", () =>
    Effect.gen(function*() {
      for (const region of [Effect.interruptible, Effect.uninterruptible]) {
        const scope = yield* Scope.make()
        const { ask } = yield* Scope.extend(region(opened(server("--ignore-end", "--ignore-term"))), scope)
        const pid = yield* ask("pid")
        const fiber = yield* Effect.fork(Effect.onInterrupt(Effect.never, () => Scope.close(scope, Exit.void)))
        yield* Effect.yieldNow()
        yield* Fiber.interrupt(fiber)
        assert.isFalse(isAlive(pid))
      }
    }).pipe(Effect.provide(live()), assertNoLeak))

  it.live("continues when it is interrupted while closing", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const journal = join(mkdtempSync(join(tmpdir(), "stdio-test-")), "journal")
      const config = server("--ignore-end", "--ignore-term", `--journal=${journal}`)
      const { ask } = yield* Scope.extend(opened(config), scope)
      const pid = yield* ask("pid")
      const fiber = yield* Effect.fork(Scope.close(scope, Exit.void).pipe(Effect.uninterruptible))
      yield* eventually(() => contentOf(journal).includes("end"))
      yield* Fiber.interruptFork(fiber)
      yield* eventually(() => contentOf(journal).includes("term"))
      yield* Fiber.interrupt(fiber)
      assert.isFalse(isAlive(pid))
      const { servers } = yield* (yield* Teardown.Teardown).report
      assert.deepInclude(servers[0], { how: "killed", killed: [pid] })
    }).pipe(Effect.provide(live()), assertNoLeak))

  it.live("leaves no file open after twenty servers", () =>
    Effect.gen(function*() {
      const once = Effect.scoped(Effect.flatMap(opened(server()), ({ ask }) => ask("pid")))
      yield* once
      const before = openFiles().length
      for (let i = 0; i < 20; i++) yield* once
      yield* eventually(() => openFiles().length <= before, () => `${openFiles().length} files, ${before} before`)
    }).pipe(Effect.provide(live()), assertNoLeak), 60_000)

  it.live("leaves no process, wherever the use is interrupted", () =>
    Effect.gen(function*() {
      const marker = `--marker=${randomUUID()}`
      const { open } = yield* StdioTransport.StdioTransport
      const use = (flags: ReadonlyArray<string>) =>
        Effect.scoped(Effect.gen(function*() {
          const transport: Transport.Transport = yield* open(server(...flags, marker))
          const { message, sink } = yield* RecordingSink.make
          transport.start(sink)
          transport.send({ jsonrpc: "2.0", id: 1, method: "descendant", params: { kind: "quiet" } })
          yield* message
        }))
      const cases = FastCheck.sample(
        FastCheck.record({
          yields: FastCheck.integer({ min: 0, max: 30 }),
          millis: FastCheck.oneof(FastCheck.constant(0), FastCheck.integer({ min: 0, max: 120 })),
          stubborn: FastCheck.boolean()
        }),
        { numRuns: 64, seed: 42 }
      )
      yield* Effect.forEach(cases, ({ millis, stubborn, yields }) =>
        Effect.gen(function*() {
          const fiber = yield* Effect.fork(use(stubborn ? ["--ignore-end", "--ignore-term"] : []))
          for (let i = 0; i < yields; i++) yield* Effect.yieldNow()
          if (millis > 0) yield* Effect.sleep(millis)
          yield* Fiber.interrupt(fiber)
        }), { concurrency: 4, discard: true })
      assert.deepStrictEqual(pidsWithArgument(marker), [])
    }).pipe(Effect.provide(live({ stdinGrace: "40 millis", termGrace: "40 millis" })), assertNoLeak), 60_000)
})
