/**
 * What a fleet adds to a call: `npm run bench:fleet -- [--rounds 5]`. A node that has the connection, a node that calls it from
 * another process, and a runtime without a fleet call the same kind of server, in turns; the medians of all rounds are printed.
 */
import { parseArgs } from "node:util"
import { startFleet } from "./harness.mjs"

const { values } = parseArgs({ options: { rounds: { type: "string", default: "5" } } })

const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]

const fleet = await startFleet()
try {
  const nodes = new Map([["direct", await fleet.startNode("direct")]])
  const both = [await fleet.startNode("both"), await fleet.startNode("both")]
  await Promise.all([...both, nodes.get("direct")].map((node) => node.ask("tools")))
  const { text } = await both[0].call("mcp__counter0__who")
  const home = fleet.servers().find(({ pid }) => String(pid) === text).node
  nodes.set("the same node", home).set("another node", both.find((node) => node !== home))

  const seen = new Map([...nodes.keys()].map((name) => [name, []]))
  for (let round = 0; round <= Number(values.rounds); round++) {
    for (const [name, node] of nodes) {
      const one = await node.ask("bench", { tool: "mcp__counter0__echo", args: { text: "x" }, count: 500, concurrency: 1 })
      const many = await node.ask("bench", { tool: "mcp__counter0__echo", args: { text: "x" }, count: 4_000, concurrency: 64 })
      // the first round warms up
      if (round > 0) seen.get(name).push({ p50: one.p50, p99: one.p99, rate: many.rate })
    }
  }
  const of = (name, figure) => median(seen.get(name).map((found) => found[figure]))
  for (const name of nodes.keys()) {
    const ratio = (of(name, "p50") / of("direct", "p50")).toFixed(2)
    const figures = `p50 ${of(name, "p50").toFixed(3)} ms (${ratio}×), p99 ${of(name, "p99").toFixed(2)} ms`
    console.log(`${name.padEnd(14)} ${figures}, 64 in flight ${Math.round(of(name, "rate"))}/s`)
  }
} finally {
  await fleet.stop()
}
