/** A fleet of real processes over a real PostgreSQL. */
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { modules } from "../support/built.ts"

/** A call of a node, or what it was told instead. */
interface Answer {
  readonly ok: boolean
  readonly text?: string
  readonly progress?: ReadonlyArray<number>
  readonly tag?: string
  readonly outcome?: string
  readonly took?: number
  readonly tools?: ReadonlyArray<string>
  readonly missing?: ReadonlyArray<string>
}

interface Node {
  readonly pid: number
  readonly ask: (op: string, more?: object) => Promise<Answer>
  readonly call: (tool: string, args?: object, timeout?: number) => Promise<Answer>
  readonly stop: () => Promise<unknown>
}

interface Fleet {
  readonly nodes: Set<Node>
  readonly startNode: (role: string, settings?: object) => Promise<Node>
  readonly executions: () => ReadonlyArray<string>
  readonly servers: () => ReadonlyArray<{ readonly pid: number; readonly node: Node | undefined }>
  readonly stop: () => Promise<void>
}

interface Seen {
  readonly violations: ReadonlyArray<string>
  readonly calls: number
}

const scripts = new URL("../../scripts/fleet", import.meta.url).href

const load = async () => {
  process.env["FLEET_DIST"] = await modules()
  const harness: { startFleet: () => Promise<Fleet> } = await import(`${scripts}/harness.mjs`)
  const faults: {
    round: (fleet: Fleet, name: string, random: () => number) => Promise<Seen>
    randomOf: (seed: number) => () => number
    until: (what: string, holds: () => unknown, limit?: number) => Promise<void>
  } = await import(`${scripts}/faults.mjs`)
  return { ...harness, ...faults }
}

describe("Fleet", () => {
  let fleet: Fleet
  let parts: Awaited<ReturnType<typeof load>>
  let a: Node
  let b: Node
  let caller: Node

  beforeAll(async () => {
    parts = await load()
    fleet = await parts.startFleet()
    a = await fleet.startNode("both", { name: "a" })
    b = await fleet.startNode("both", { name: "b" })
    caller = await fleet.startNode("caller", { name: "caller" })
  }, 120_000)

  afterAll(() => fleet.stop(), 60_000)

  it("runs a server once for all nodes", async () => {
    const listed = await Promise.all([a, b, caller].map((node) => node.ask("tools")))
    for (const { missing, tools } of listed) {
      assert.deepStrictEqual(missing, [])
      assert.isTrue(tools?.includes("mcp__counter0__append"))
    }
    const pids = await Promise.all([a, b, caller].map((node) => node.call("mcp__counter0__who")))
    assert.strictEqual(new Set(pids.map(({ text }) => text)).size, 1)
    assert.strictEqual(fleet.servers().length, 1)
  })

  it("shares the state of the server", async () => {
    const [first, second] = [
      await a.call("mcp__counter0__append", { line: "one" }),
      await caller.call("mcp__counter0__append", { line: "two" })
    ]
    assert.strictEqual(Number(second.text), Number(first.text) + 1)
  })

  it("delivers all progress in order, before the result", async () => {
    const { progress } = await caller.call("mcp__counter0__steps", { count: 100 })
    assert.deepStrictEqual(progress, Array.from({ length: 100 }, (_, index) => index + 1))
  })

  it("asks the node that called", async () => {
    for (const [node, name] of [[a, "a"], [b, "b"], [caller, "caller"]] as const) {
      const { text } = await node.call("mcp__counter0__ask")
      assert.deepStrictEqual(JSON.parse(text ?? ""), { action: "accept", content: { name } })
    }
  })

  it("announces a changed list to every node", async () => {
    await a.call("mcp__counter0__grow", { name: "grown" })
    await parts.until("a node does not list the new tool", async () => {
      const listed = await Promise.all([a, b, caller].map((node) => node.ask("tools")))
      return listed.every(({ tools = [] }) => tools.includes("mcp__counter0__grown"))
    })
  })

  it("carries a result of 4 MB", async () => {
    const { text } = await caller.call("mcp__counter0__large", { size: 4_000_000 })
    assert.strictEqual(text?.length, 4_000_000)
  })

  it("gives the error of the server", async () => {
    const { tag, text } = await caller.call("mcp__counter0__grown")
    assert.strictEqual(tag ?? text, "RemoteError")
  })

  it("cancels a call at the server when its deadline ends", async () => {
    const { outcome, tag } = await caller.call("mcp__counter0__append", { line: "cancelled", delay: 3_000 }, 500)
    assert.deepStrictEqual({ outcome, tag }, { outcome: "unknown", tag: "RequestTimeout" })
    await new Promise((resolve) => setTimeout(resolve, 3_500))
    assert.notInclude(fleet.executions(), "cancelled")
  })

  it("runs no call twice, and reports outcomes truly, in a dozen faults under load", async () => {
    const random = parts.randomOf(7)
    const names = [
      "kill",
      "cut",
      "terminate",
      "kill",
      "cut",
      "freeze",
      "terminate",
      "database down",
      "kill",
      "database frozen",
      "cut",
      "kill"
    ]
    for (const name of names) {
      // without the long versions of the faults, which the soak has
      const { calls, violations } = await parts.round(fleet, name, () => 0.3 + 0.3 * random())
      assert.isAbove(calls, 0)
      assert.deepStrictEqual(violations, [], name)
    }
  }, 300_000)
})

describe("FleetHome", () => {
  it("ends a server that is idle, and starts it again for the next call", async () => {
    const { startFleet, until } = await load()
    const fleet = await startFleet()
    try {
      const node = await fleet.startNode("both", { maxIdle: "2 seconds" })
      const first = await node.call("mcp__counter0__who")
      await until("the server is not ended", () => fleet.servers().length === 0)
      const second = await node.call("mcp__counter0__who")
      assert.isTrue(second.ok)
      assert.notStrictEqual(second.text, first.text)
    } finally {
      await fleet.stop()
    }
  })

  it("runs a server for each caller with the affinity \"session\"", async () => {
    const { startFleet } = await load()
    const fleet = await startFleet()
    try {
      const nodes = [
        await fleet.startNode("both", { affinity: "session" }),
        await fleet.startNode("caller", { affinity: "session" })
      ]
      const pids = await Promise.all(nodes.map((node) => node.call("mcp__counter0__who")))
      assert.strictEqual(new Set(pids.map(({ text }) => text)).size, 2)
    } finally {
      await fleet.stop()
    }
  })
})
