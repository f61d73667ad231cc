/** A runtime over servers of launchers: `test/fixtures/launcher` has an npx that installs and a docker that hangs. */
import { assert, describe, it } from "@effect/vitest"
import { Context, Deferred, Duration, Effect, Exit, Fiber, Layer, Scope } from "effect"
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { fileURLToPath } from "node:url"
import * as HostEnvironment from "../../src/config/HostEnvironment.ts"
import type * as ServerConfig from "../../src/config/ServerConfig.ts"
import type * as McpEvent from "../../src/McpEvent.ts"
import * as McpRuntime from "../../src/McpRuntime.ts"
import * as NodeMcpRuntime from "../../src/node/NodeMcpRuntime.ts"
import * as Journal from "../faults/journal.ts"
import * as Configs from "../support/configs.ts"

const fixture = (path: string): string => fileURLToPath(new URL(`../fixtures/${path}`, import.meta.url))

const host = HostEnvironment.layer({ PATH: `${fixture("launcher")}${delimiter}${process.env["PATH"] ?? ""}` })

const moment = Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 10)))

const until = (holds: () => boolean): Effect.Effect<void> =>
  Effect.suspend(() => holds() ? Effect.void : Effect.zipRight(moment, until(holds)))

/** The cache of a launcher, gone with the scope, and with it what was started. */
const cache = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "mcp-launcher-"))),
    (folder) =>
      Effect.sync(() => {
        const pids = join(folder, "pids")
        for (const pid of existsSync(pids) ? readFileSync(pids, "utf8").trim().split("\n").map(Number) : []) {
          if (Journal.isAlive(pid)) process.kill(pid, "SIGKILL")
        }
        rmSync(folder, { recursive: true, force: true })
      })
  ),
  (folder) => {
    const is = (name: string) => existsSync(join(folder, name))
    return {
      server: Configs.stdio({
        name: "slow",
        command: "npx",
        args: ["-y", "@scope/slow", folder, process.execPath, fixture("cli/silent.mjs")],
        startupTimeout: "2 seconds"
      }),
      hung: Configs.stdio({ name: "hung", command: "docker", args: ["run", folder] }),
      is,
      finish: () => writeFileSync(join(folder, "go"), ""),
      alive: () =>
        is("pids")
          ? readFileSync(join(folder, "pids"), "utf8").trim().split("\n").map(Number).filter(Journal.isAlive)
          : []
    }
  }
)

/** A runtime that can be closed before the test is over, and its events. */
const runtime = (server: ServerConfig.ServerConfig, more: Partial<NodeMcpRuntime.Options> = {}) =>
  Effect.gen(function*() {
    const scope = yield* Effect.acquireRelease(Scope.make(), (scope) => Scope.close(scope, Exit.void))
    const layer = NodeMcpRuntime.layerTest({ servers: [server], ...more })
    const context = yield* Layer.buildWithScope(Layer.provide(layer, host), scope)
    const mcp = Context.get(context, McpRuntime.McpRuntime)
    const events = yield* Scope.extend(mcp.subscribe, scope)
    const seen: Array<McpEvent.McpEvent> = []
    yield* Effect.forkScoped(Effect.forever(Effect.map(events.take, (event) => seen.push(event))))
    return { close: Scope.close(scope, Exit.void), mcp, seen }
  })

describe.runIf(process.platform === "linux")("a launcher that is still installing", () => {
  it.scopedLive(
    "is not stopped at the connect limit of its server, which begins when it is done",
    () =>
      Effect.gen(function*() {
        const { alive, finish, is, server } = yield* cache
        const { close, mcp, seen } = yield* runtime(server)
        yield* until(() => is("half"))
        // past the limit
        yield* Effect.sleep("3 seconds")
        finish()
        yield* mcp.servers.connect("slow")
        assert.deepStrictEqual(seen.filter(({ _tag }) => _tag === "ConnectFailed"), [])
        assert.lengthOf(seen.filter(({ _tag }) => _tag === "Connecting"), 1)
        yield* close
        assert.isTrue(is("whole"))
        assert.deepStrictEqual(alive(), [])
      }),
    60_000
  )

  it.scopedLive("may finish when the runtime closes, and its server is ended afterwards", () =>
    Effect.gen(function*() {
      const { alive, finish, is, server } = yield* cache
      const { close } = yield* runtime(server)
      yield* until(() => is("half"))
      const closed = yield* Deferred.make<void>()
      const closing = yield* Effect.fork(Effect.ensuring(close, Deferred.succeed(closed, undefined)))
      // longer than the steps of a teardown take
      yield* Effect.sleep("5 seconds")
      assert.isFalse(yield* Deferred.isDone(closed))
      assert.isTrue(is("half"))
      finish()
      yield* Fiber.join(closing)
      assert.isTrue(is("whole"))
      assert.deepStrictEqual(alive(), [])
    }), 60_000)

  it.scopedLive("is ended when it takes longer than its grace", () =>
    Effect.gen(function*() {
      const { alive, is, server } = yield* cache
      const { close } = yield* runtime(server, { teardown: { installGrace: "1 second" } })
      yield* until(() => is("half"))
      yield* close
      assert.isFalse(is("whole"))
      assert.deepStrictEqual(alive(), [])
    }), 60_000)
})

// every wait for an install lasts longer than a test may
describe("a launcher whose install cannot be seen", { timeout: 60_000 }, () => {
  const teardown = { installGrace: Duration.minutes(10) }

  it.scopedLive("fails at the connect limit of its server", () =>
    Effect.gen(function*() {
      const { alive, hung } = yield* cache
      const { close, seen } = yield* runtime({ ...hung, startupTimeout: Duration.seconds(1) }, { teardown })
      const failed = () => seen.find((event) => event._tag === "ConnectFailed")
      yield* until(() => failed() !== undefined)
      const error = failed()?.error
      assert.strictEqual(error?._tag, "ConnectTimeout")
      if (error?._tag === "ConnectTimeout") {
        assert.notStrictEqual(error.phase, "install")
        assert.deepStrictEqual(error.limit, Duration.seconds(1))
      }
      yield* close
      assert.deepStrictEqual(seen.filter(({ _tag }) => _tag === "Installing"), [])
      assert.deepStrictEqual(alive(), [])
    }))

  it.scopedLive("is ended like any server when the runtime closes", () =>
    Effect.gen(function*() {
      const { alive, hung } = yield* cache
      const { close } = yield* runtime(hung, { teardown })
      yield* until(() => alive().length > 0)
      yield* close
      assert.deepStrictEqual(alive(), [])
    }))

  it.scopedLive("is ended like any server when it is disabled", () =>
    Effect.gen(function*() {
      const { alive, hung } = yield* cache
      const { mcp } = yield* runtime(hung, { teardown })
      yield* until(() => alive().length > 0)
      yield* mcp.servers.disable("hung")
      assert.deepStrictEqual(alive(), [])
    }))
})
