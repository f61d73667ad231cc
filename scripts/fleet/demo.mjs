/** `npm run demo:fleet`: two processes share one server with state; the one that runs it is killed. */
import { sleep, startFleet } from "./harness.mjs"

const began = performance.now()
const say = (text) => console.log(`${((performance.now() - began) / 1000).toFixed(1).padStart(5)} s  ${text}`)

say("starting PostgreSQL and two nodes, A and B, which have the same server \"counter0\"")
const fleet = await startFleet()
try {
  const [a, b] = await Promise.all([fleet.startNode("both"), fleet.startNode("both")])
  await Promise.all([a.ask("tools"), b.ask("tools")])
  const nameOf = (node) => node === a ? "A" : "B"
  const append = async (node, line) => {
    const result = await node.call("mcp__counter0__append", { line }, 10_000)
    return result.ok ? `counts ${result.text}` : `fails with ${result.tag}, outcome ${result.outcome}`
  }
  const [{ node: home, pid }] = fleet.servers()
  say(`one process of the server runs, ${pid}, at node ${nameOf(home)}`)
  for (const node of [a, b, a]) say(`a call from ${nameOf(node)} ${await append(node, "before")}`)

  const other = home === a ? b : a
  const inFlight = other.call("mcp__counter0__append", { line: "in flight", delay: 5_000 }, 10_000)
  await sleep(300)
  say(`kill -9 of node ${nameOf(home)}, while a call from ${nameOf(other)} is in flight`)
  const killed = performance.now()
  home.kill("SIGKILL")
  const lost = await inFlight
  say(`that call fails with ${lost.tag}, outcome ${lost.outcome}: it may have run, so nothing repeats it`)
  let answer = await append(other, "after")
  while (!answer.startsWith("counts")) answer = await append(other, "after")
  say(`a new call from ${nameOf(other)} ${answer}, ${((performance.now() - killed) / 1000).toFixed(1)} s after the kill`)
  say("the count began again, because it was in the process that died; keep state that matters in a database")
  const [{ pid: second }] = fleet.servers()
  say(`the server runs once again, as ${second}, at node ${nameOf(other)}`)
  fleet.nodes.delete(home)
} finally {
  await fleet.stop()
}
const left = fleet.servers().length
say(left === 0 ? "everything is stopped, nothing is left" : `${left} servers are left`)
process.exitCode = left === 0 ? 0 : 1
