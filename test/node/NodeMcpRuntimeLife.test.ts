import { assert, describe } from "@effect/vitest"
import { Duration, Effect, Fiber, Schedule } from "effect"
import type * as ServerConfig from "../../src/config/ServerConfig.ts"
import * as McpError from "../../src/McpError.ts"
import { alive, journalOfMine } from "../faults/stdio.ts"
import * as Configs from "../support/configs.ts"
import { gone } from "../support/leaks.ts"
import * as Node from "../support/nodeRuntime.ts"

const absent = (name: string, more?: Partial<ServerConfig.StdioInput>) =>
  Configs.stdio({ name, command: "there-is-no-such-program", ...more })

const once = { schedule: Schedule.stop }

describe("servers that are required", () => {
  Node.test(
    "fail the layer together, each with its reason, under one deadline, and leave nothing behind",
    Effect.gen(function*() {
      const journal = yield* journalOfMine
      const servers = [
        absent("absent", { required: true }),
        Configs.stdio({ name: "ends", command: "false", required: true }),
        Node.small(journal, "good", { required: true }),
        Configs.stdio({ name: "mute", command: "sleep", args: ["60"], required: true }),
        Configs.stdio({ name: "as mute", command: "sleep", args: ["61"], required: true })
      ]
      const given = Node.options(servers, {
        reconnect: once,
        requiredTimeout: "4 seconds",
        teardown: { stdinGrace: "200 millis" }
      })
      const error = yield* Node.within("20 seconds", Effect.flip(Node.using(given, () => Effect.void)))
      assert(error._tag === "RequiredServersFailed")
      assert.deepStrictEqual(
        error.failures.map(({ error, server }) => [server, McpError.isMcpError(error) && McpError.label(error)]),
        [
          ["absent", "SpawnFailed"],
          ["ends", "ConnectionLost/exited"],
          ["mute", "ConnectTimeout"],
          ["as mute", "ConnectTimeout"]
        ]
      )
      assert.deepStrictEqual(alive(journal), [])
    })
  )

  Node.test(
    "are there when the layer is",
    Effect.gen(function*() {
      const journal = yield* journalOfMine
      yield* Node.using(
        Node.options([Node.thin(journal, {}, { required: true })]),
        (runtime) =>
          Effect.map(runtime.servers.get("thin"), ({ status }) => assert.strictEqual(status._tag, "Connected"))
      )
    })
  )
})

describe("a lazy server", () => {
  Node.test(
    "is started by the first call, ends when it was idle, and is started again by the next",
    Effect.gen(function*() {
      const journal = yield* journalOfMine
      const server = Node.thin(journal, {}, { lazy: true, idleTimeout: "250 millis" })
      yield* Node.using(Node.options([server]), (runtime) =>
        Effect.gen(function*() {
          const pid = Effect.map(runtime.callTool({ server: "thin", tool: "pid" }), Node.textOf)
          assert.strictEqual((yield* runtime.servers.get("thin")).status._tag, "Idle")
          assert.deepStrictEqual(journal.pids(), [])
          const first = yield* pid
          assert.deepStrictEqual(journal.pids().map(String), [first])
          yield* Node.until(runtime, "thin", Node.is("Idle"))
          yield* gone(Number(first))
          const second = yield* pid
          assert.deepStrictEqual(journal.pids().map(String), [first, second])
          assert.notStrictEqual(first, second)
        }))
    })
  )

  Node.test(
    "that nobody needs is never started",
    Effect.gen(function*() {
      const journal = yield* journalOfMine
      const servers = [Node.thin(journal, {}, { lazy: true }), Node.small(journal, "eager")]
      yield* Node.using(Node.options(servers), (runtime) => runtime.callTool({ server: "eager", tool: "name" }))
      assert.strictEqual(journal.pids().length, 1)
    })
  )
})

describe("the first list", () => {
  Node.test(
    "has the tools of the servers that connected, and the errors of the others",
    Effect.gen(function*() {
      const journal = yield* journalOfMine
      const given = Node.options([Node.small(journal, "good"), absent("bad")], { reconnect: once })
      yield* Node.using(given, (runtime) =>
        Effect.gen(function*() {
          const { missing, tools } = yield* runtime.tools
          assert.deepStrictEqual(tools.map(({ name }) => name), ["mcp__good__name"])
          assert.deepStrictEqual(missing.map(({ error, server }) => [server, error?._tag]), [["bad", "SpawnFailed"]])
          assert.strictEqual(Node.textOf(yield* runtime.callTool("mcp__good__name")), "good")
          assert.strictEqual(alive(journal).length, 1)
        }))
      assert.deepStrictEqual(alive(journal), [])
    })
  )
})

describe("a reload", () => {
  Node.test(
    "lets the old process end what it has begun while the new one serves",
    Effect.gen(function*() {
      const journal = yield* journalOfMine
      yield* Node.using(Node.options([Node.thin(journal, { label: "old" })]), (runtime) =>
        Effect.gen(function*() {
          const label = Effect.map(runtime.callTool({ server: "thin", tool: "label" }), Node.textOf)
          assert.strictEqual(yield* label, "old")
          const held = yield* Effect.fork(runtime.callTool({ server: "thin", tool: "held" }))
          yield* journal.until(({ executed }) => executed === "held")
          const [old] = journal.pids()
          const { changed } = yield* runtime.servers.reload([Node.thin(journal, { label: "new" })])
          assert.deepStrictEqual(changed, ["thin"])
          assert.strictEqual(yield* label, "new")
          assert.strictEqual(alive(journal).length, 2)
          process.kill(old!, "SIGUSR2")
          assert.strictEqual(Node.textOf(yield* Fiber.join(held)), String(old))
          yield* gone(old!)
          assert.strictEqual(yield* label, "new")
          assert.strictEqual(journal.pids().length, 2)
          assert.strictEqual(journal.executions("held"), 1)
        }))
    })
  )

  Node.test(
    "to what does not start keeps the process that serves",
    Effect.gen(function*() {
      const journal = yield* journalOfMine
      const given = Node.options([Node.thin(journal)], { reconnect: once })
      yield* Node.using(given, (runtime) =>
        Effect.gen(function*() {
          const pid = Effect.map(runtime.callTool({ server: "thin", tool: "pid" }), Node.textOf)
          const before = yield* pid
          const { changed, failed } = yield* runtime.servers.reload([Node.thin(journal, { exit: 1 })])
          assert.deepStrictEqual(changed, [])
          assert.deepStrictEqual(failed.map(({ error, server }) => [server, McpError.label(error)]), [[
            "thin",
            "ConnectionLost/exited"
          ]])
          assert.strictEqual(yield* pid, before)
          assert.strictEqual((yield* runtime.servers.get("thin")).status._tag, "Connected")
        }))
    })
  )

  Node.test(
    "without a server ends its process, and with one more starts it",
    Effect.gen(function*() {
      const journal = yield* journalOfMine
      yield* Node.using(Node.options([Node.small(journal, "a")]), (runtime) =>
        Effect.gen(function*() {
          yield* runtime.tools
          const [a] = journal.pids()
          const { added, removed } = yield* runtime.servers.reload([Node.small(journal, "b")])
          assert.deepStrictEqual([added, removed], [["b"], ["a"]])
          assert.deepStrictEqual((yield* runtime.tools).tools.map(({ name }) => name), ["mcp__b__name"])
          yield* gone(a!)
          assert.strictEqual((yield* Effect.flip(runtime.callTool({ server: "a", tool: "name" })))._tag, "NotFound")
        }))
    })
  )
})

describe("the end of the layer", () => {
  Node.test(
    "fails the calls under way and waits until every process is gone",
    Effect.gen(function*() {
      const journal = yield* journalOfMine
      const call = yield* Node.using(Node.options([Node.thin(journal)]), (runtime) =>
        Effect.gen(function*() {
          yield* runtime.tools
          const call = yield* Effect.forkDaemon(Effect.flip(runtime.callTool({ server: "thin", tool: "hang" })))
          yield* journal.until(({ executed }) => executed === "hang")
          return call
        }))
      assert.deepStrictEqual(alive(journal), [])
      const error = yield* Fiber.join(call).pipe(Effect.timeout(Duration.seconds(5)))
      assert.deepStrictEqual([error._tag, error.outcome], ["Closed", "unknown"])
    })
  )
})
