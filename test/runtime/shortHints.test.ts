import { assert, describe, it } from "@effect/vitest"
import { Effect, TestClock } from "effect"
import { fileURLToPath } from "node:url"
import * as McpRuntime from "../../src/McpRuntime.ts"
import * as MemoryServer from "../../src/testing/MemoryServer.ts"
import * as ToolCache from "../../src/tools/ToolCache.ts"
import type * as Journal from "../faults/journal.ts"
import { journalOfMine } from "../faults/stdio.ts"
import * as Configs from "../support/configs.ts"
import * as Node from "../support/nodeRuntime.ts"
import * as Pool from "../support/pool.ts"
import * as Runtime from "../support/runtime.ts"

const script = fileURLToPath(new URL("../fixtures/runtime/changing.mjs", import.meta.url))

/** A server of the official SDK 2.4, which says `ttlMs: 0` of every list. */
const changing = (journal: Journal.Journal, ...mode: ReadonlyArray<"silent">) =>
  Configs.stdio({
    name: "changing",
    command: process.execPath,
    args: [script, journal.file, ...mode],
    startupTimeout: "40 seconds",
    discoverPatience: "40 seconds"
  })

const methods = ["tools/list", "resources/list", "prompts/list"] as const

/** How often each list was asked for, by what the process has read. */
const lists = (journal: Journal.Journal) => methods.map((method) => journal.count(method))

const everything = ({ prompts, resources, tools }: McpRuntime.McpRuntime["Type"]) =>
  Effect.map(Effect.all([tools, resources, prompts]), ([{ tools }, resources, prompts]) => [
    tools.map(({ tool }) => tool.name),
    resources.items.map(({ name }) => name),
    prompts.items.map(({ name }) => name)
  ])

describe("lists of a server of SDK 2.4", () => {
  Node.test(
    "are requested once, and again after list_changed",
    Effect.gen(function*() {
      const journal = yield* journalOfMine
      // on a busy machine the new list takes longer than the default gate
      const options = Node.options([changing(journal)], { catalog: { gate: "30 seconds", firstListWait: "settled" } })
      yield* Node.using(options, (runtime) =>
        Effect.gen(function*() {
          // the runtime asks by itself after connecting, for the prompts last
          yield* journal.until(({ got }) => got === "prompts/list")
          yield* Node.until(runtime, "changing", (status) => status._tag === "Connected" && status.tools === 2)
          yield* everything(runtime)
          const before = lists(journal)
          for (let time = 0; time < 5; time++) {
            assert.deepStrictEqual(yield* everything(runtime), [["first", "grow"], ["first"], ["first"]])
          }
          assert.deepStrictEqual(lists(journal), before)
          assert.strictEqual(journal.count("tools/list"), 1)

          const events = yield* runtime.subscribe
          yield* runtime.callTool({ server: "changing", tool: "grow" })
          for (const change of ["ToolsChanged", "ResourcesChanged", "PromptsChanged"]) {
            yield* events.take.pipe(Effect.repeat({ until: ({ _tag }) => _tag === change }))
          }
          assert.deepStrictEqual(yield* everything(runtime), [
            ["added1", "first", "grow"],
            ["first", "added1"],
            ["first", "added1"]
          ])
        }))
    })
  )

  Node.test(
    "are requested each time if the server declares listChanged: false",
    Effect.gen(function*() {
      const journal = yield* journalOfMine
      yield* Node.using(Node.options([changing(journal, "silent")]), (runtime) =>
        Effect.gen(function*() {
          yield* runtime.servers.connect("changing")
          yield* everything(runtime)
          const before = lists(journal)
          for (let time = 0; time < 5; time++) yield* everything(runtime)
          lists(journal).forEach((times, at) => assert.isAtLeast(times, before[at]! + 5))
        }))
    })
  )
})

describe("a hint below 30 s", () => {
  /** A server whose lists last so long, and that lists as the test wants. */
  const peerOf = (ttlMs: number, listChanged: boolean) => {
    let times = 0
    const page = (field: "tools" | "resources" | "prompts") => () =>
      Effect.sync(() => ({
        ttlMs,
        [field]: [{ name: `list${++times}`, uri: "mem:///a", inputSchema: { type: "object" } }]
      }))
    return MemoryServer.make({
      era: "session",
      capabilities: { tools: { listChanged }, resources: { listChanged }, prompts: { listChanged } },
      methods: {
        "tools/list": page("tools"),
        "resources/list": page("resources"),
        "prompts/list": page("prompts")
      }
    })
  }

  /** How often each list is asked for anew after these times. */
  const asked = (
    ttlMs: number,
    listChanged: boolean,
    times: ReadonlyArray<`${number} seconds`>,
    cache?: Partial<ToolCache.Options>
  ) =>
    Effect.gen(function*() {
      const peer = yield* peerOf(ttlMs, listChanged)
      const counts = () => methods.map((method) => peer.received(method).length)
      return yield* Effect.gen(function*() {
        const runtime = yield* McpRuntime.McpRuntime
        yield* peer.until(() => counts().every((count) => count > 0))
        yield* Pool.until("a", "Connected")
        yield* everything(runtime)
        const found: Array<boolean> = []
        for (const time of times) {
          const before = counts()
          yield* TestClock.adjust(time)
          yield* everything(runtime)
          const isAnew = counts().map((count, at) => count > before[at]!)
          assert.strictEqual(new Set(isAnew).size, 1, "all lists are treated alike")
          found.push(isAnew[0]!)
        }
        return found
      }).pipe(Effect.provide(Runtime.layer({ a: peer }, {
        servers: [Pool.remote("a")],
        ...(cache === undefined ? {} : { cache: ToolCache.layer(cache) })
      })))
    })

  it.scoped("counts as five minutes where the server announces changes", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* asked(0, true, ["0 seconds", "299 seconds", "1 seconds"]), [false, false, true])
      assert.deepStrictEqual(yield* asked(29_999, true, ["299 seconds", "1 seconds"]), [false, true])
    }))

  it.scoped("is believed where the server announces none", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* asked(10_000, false, ["9 seconds", "1 seconds"]), [false, true])
      assert.deepStrictEqual(yield* asked(0, false, ["0 seconds"]), [true])
    }))

  it.scoped("is the only hint that is raised", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* asked(30_000, true, ["29 seconds", "1 seconds"]), [false, true])
    }))

  it.scoped("counts as minTimeToLive of the application", () =>
    Effect.gen(function*() {
      const minute = { minTimeToLive: "1 minute" } as const
      assert.deepStrictEqual(yield* asked(0, true, ["59 seconds", "1 seconds"], minute), [false, true])
      assert.deepStrictEqual(yield* asked(10_000, true, ["9 seconds", "1 seconds"], { minTimeToLive: 0 }), [
        false,
        true
      ])
    }))
})
