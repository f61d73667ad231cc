/**
 * One fault in a running fleet, under a load of calls that must not be executed twice. `round` gives what was seen; an
 * empty `violations` is a pass.
 */
import { sleep } from "./harness.mjs"

/** What can happen to a fleet. Each does its fault to the node that holds the connection, and gives what ends the fault. */
export const faults = {
  kill: async ({ fleet, home }) => {
    home.kill("SIGKILL")
    await home.exited
    fleet.nodes.delete(home)
    return () => fleet.startNode("both")
  },
  terminate: async ({ fleet, home }) => {
    home.kill("SIGTERM")
    return async () => {
      await home.exited
      fleet.nodes.delete(home)
      await fleet.startNode("both")
    }
  },
  freeze: async ({ home, random }) => {
    home.kill("SIGSTOP")
    const until = sleep(random() < 0.3 ? 25_000 : 1_000 + random() * 9_000)
    return async () => {
      await until
      home.kill("SIGCONT")
    }
  },
  cut: async ({ home }) => {
    home.cut()
    return async () => undefined
  },
  "database frozen": async ({ fleet, random }) => {
    fleet.postgres.freeze()
    const until = sleep(random() < 0.3 ? 20_000 : 2_000 + random() * 8_000)
    return async () => {
      await until
      fleet.postgres.thaw()
    }
  },
  "database down": async ({ fleet, random }) => {
    await fleet.postgres.down()
    const until = sleep(random() < 0.3 ? 20_000 : 2_000 + random() * 8_000)
    return async () => {
      await until
      await fleet.postgres.up()
    }
  }
}

/** Numbers between 0 and 1 that a seed determines. */
export const randomOf = (seed) => {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const timeout = 10_000

/** How late a result may be on a machine whose cores are shared with the whole fleet. */
const late = 1_000

/** Waits until a condition holds. */
export const until = async (what, holds, limit = 60_000) => {
  const end = Date.now() + limit
  while (!await holds()) {
    if (Date.now() > end) throw new Error(`after ${limit / 1000} s: ${typeof what === "function" ? what() : what}`)
    await sleep(50)
  }
}

let lines = 0

/** Calls from every node until it is told to end; gives all calls with their outcomes. */
const startLoad = (fleet, random, server) => {
  const calls = []
  let isOn = true
  const caller = async (node) => {
    while (isOn && node.isRunning()) {
      const call = { node, line: `line-${++lines}`, began: Date.now() }
      calls.push(call)
      const args = { line: call.line, delay: Math.round(random() ** 3 * 1_500) }
      call.result = await node.call(`mcp__${server}__append`, args, timeout)
      call.ended = Date.now()
      if (!call.result.ok) await sleep(50)
    }
  }
  const running = Array.from(fleet.nodes).flatMap((node) => [caller(node), caller(node)])
  return {
    calls,
    end: async () => {
      isOn = false
      await Promise.all(running)
      return calls
    }
  }
}

/** Whether what a call was told is what has happened. */
const violationsOf = (calls, executions, home) =>
  calls.flatMap(({ line, node, result }) => {
    const count = executions.get(line) ?? 0
    const what = `${line}: executed ${count}×, told ${result.ok ? "success" : `${result.tag} ${result.outcome}`}`
    const isWrong = count > 1 || (result.ok && count !== 1) || (result.outcome === "not-sent" && count > 0)
    // a node that was frozen measures nothing
    const isLate = result.took > timeout + late && node.isRunning() && node !== home
    return [...(isWrong ? [what] : []), ...(isLate ? [`${line}: ended after ${result.took} ms`] : [])]
  })

export const round = async (fleet, name, random, server = "counter0") => {
  const ready = async (node) => {
    const answer = await node.ask("tools")
    seen = JSON.stringify(answer.missing ?? answer)
    return answer.ok && answer.missing.length === 0
  }
  let seen = ""
  await Promise.all(Array.from(fleet.nodes, (node) => until(() => `a node lists no tools: ${seen}`, () => ready(node))))
  let home
  await until("no node has the server", async () => {
    const { text } = await Array.from(fleet.nodes)[0].call(`mcp__${server}__who`)
    home = fleet.servers().find(({ pid }) => String(pid) === text)?.node
    return home !== undefined
  })

  const load = startLoad(fleet, random, server)
  await sleep(200 + random() * 1_000)
  const at = Date.now()
  const mend = await faults[name]({ fleet, home, random })
  const survivors = Array.from(fleet.nodes).filter((node) => node.isRunning() && node !== home)
  const recovered = (node) =>
    load.calls.find((call) => call.node === node && call.began >= at && call.result?.ok === true)?.ended
  await Promise.all([
    mend(),
    until("no call succeeds after the fault", () => survivors.every((node) => recovered(node) !== undefined), 60_000)
  ])
  const failOver = Math.max(...survivors.map(recovered)) - at
  await sleep(300)
  const calls = await load.end()

  const executions = new Map()
  for (const line of fleet.executions()) executions.set(line, (executions.get(line) ?? 0) + 1)
  const violations = violationsOf(calls, executions, home)
  const orphans = () => fleet.servers().filter(({ node }) => node === undefined)
  await until("", () => orphans().length === 0, 10_000).catch(() => undefined)
  for (const { pid } of orphans()) violations.push(`the server ${pid} is left without a node`)
  const outcomes = {}
  for (const { result } of calls) {
    const outcome = result.ok ? "ok" : result.tag === "gone" ? "caller ended" : `${result.tag} ${result.outcome}`
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
  }
  return { name, failOver, calls: calls.length, outcomes, violations }
}
