/**
 * The work of a cell, by name: each takes the contestant, a way to a server, the parameters and what to run the
 * measured part with (a profiler, or nothing), and returns figures.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { median, quantile } from "./statistics.mjs"

const expect = (condition, what) => {
  if (!condition) throw new Error(`unexpected: ${what}`)
}

const cpuMicros = (since) => {
  const { system, user } = process.cpuUsage(since)
  return system + user
}

const textOf = (result) => result.content[0].text

/** The heap and the resident set once everything collectable is gone, in bytes. */
const settled = async () => {
  for (let round = 0; round < 4; round++) {
    globalThis.gc()
    await sleep(30)
  }
  const { heapUsed, rss } = process.memoryUsage()
  return { heapUsed, rss }
}

const isAlive = (pid) => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

const sequence = async (contestant, server, { count, warmup }, measured) => {
  const client = await contestant.open(server)
  expect(textOf(await client.call("echo", { text: "marker" })) === "marker", "the echo")
  await contestant.sequence(client, new Float64Array(warmup))
  const took = new Float64Array(count)
  const cpu = process.cpuUsage()
  await measured(() => contestant.sequence(client, took))
  const spent = cpuMicros(cpu)
  await client.close()
  return {
    p50: quantile(took, 0.5) * 1000,
    p90: quantile(took, 0.9) * 1000,
    p99: quantile(took, 0.99) * 1000,
    cpu: spent / count
  }
}

/**
 * Calls that are answered without any I/O, over the bare client and over the runtime in turns, so that both have the same
 * seconds of the machine and the same warm code.
 */
const added = async (contestant, server, { count, servers }, measured) => {
  const clients = []
  for (let index = 0; index < servers; index++) clients.push(await contestant.open(server))
  const loops = contestant.loops(clients[0])
  const turns = 10
  const spend = async (loop) => {
    const before = process.cpuUsage()
    await loop(count / turns)
    return cpuMicros(before) / (count / turns)
  }
  const client = []
  const runtime = []
  for (let turn = -2; turn < turns; turn++) {
    const bare = await spend(loops.client)
    const whole = await measured(() => spend(loops.runtime))
    if (turn < 0) continue
    client.push(bare)
    runtime.push(whole)
  }
  await clients[0].managed.dispose()
  return { client: median(client), runtime: median(runtime), added: median(runtime) - median(client) }
}

const flight = async (contestant, server, { count, warmup }, measured) => {
  const client = await contestant.open(server)
  expect(textOf(await client.call("echo", { text: "marker" })) === "marker", "the echo")
  await contestant.flight(client, warmup, 64)
  const cpu = process.cpuUsage()
  const started = performance.now()
  await measured(() => contestant.flight(client, count, 64))
  const seconds = (performance.now() - started) / 1000
  const spent = cpuMicros(cpu)
  await client.close()
  return { rate: count / seconds, cpu: spent / count }
}

const big = async (contestant, server, { bytes, count, warmup }, measured) => {
  const client = await contestant.open(server)
  const took = []
  const cpu = []
  for (let index = 0; index < warmup + count; index++) {
    const before = process.cpuUsage()
    const started = performance.now()
    const result = await measured(() => client.call("big", { bytes }))
    const ended = performance.now()
    // The escapes on the wire are one character each here.
    expect(textOf(result).length > bytes * 0.9, "the length of the result")
    if (index < warmup) continue
    took.push(ended - started)
    cpu.push(cpuMicros(before) / 1000)
  }
  await client.close()
  return { took: median(took), cpu: median(cpu) }
}

const connect = async (contestant, server, { count }, measured) => {
  const took = []
  for (let index = 0; index <= count; index++) {
    const started = performance.now()
    const client = await measured(() => contestant.open(server))
    took.push(performance.now() - started)
    await client.close()
  }
  return { first: took[0], p50: median(took.slice(1)) }
}

const connectAll = async (contestant, server, { servers }) => {
  const started = performance.now()
  const clients = await contestant.openAll(Array.from({ length: servers }, () => server))
  const lists = await Promise.all(clients.map((client) => client.tools()))
  const took = performance.now() - started
  expect(lists.every((tools) => tools.length > 0), "the tools")
  await contestant.closeAll(clients)
  return { took }
}

const close = async (contestant, server, { servers }, measured) => {
  const clients = await contestant.openAll(Array.from({ length: servers }, () => server))
  const pids = []
  for (const client of clients) pids.push(Number(textOf(await client.call("pid", {}))))
  expect(pids.every(isAlive), "the servers are alive")
  const started = performance.now()
  await measured(() => contestant.closeAll(clients))
  const took = performance.now() - started
  const alive = pids.filter(isAlive)
  for (const pid of alive) process.kill(pid, "SIGKILL")
  return { took, alive: alive.length }
}

/**
 * What each of `servers` more connections adds to the `first` ones, which stay open too: they are there so that the code
 * that is compiled on the way is not counted, and nothing is closed, because the SDKs hold closed connections a while.
 */
const memory = async (contestant, server, { first, servers }) => {
  const opened = []
  const grow = async (count) => {
    for (let index = 0; index < count; index++) {
      const client = await contestant.open(server)
      await client.call("echo", { text: "marker" })
      opened.push(client)
    }
    return settled()
  }
  const few = await grow(first)
  const many = await grow(servers)
  await contestant.closeAll(opened)
  return {
    heap: (many.heapUsed - few.heapUsed) / servers / 1024,
    rss: (many.rss - few.rss) / servers / 1024
  }
}

const list = async (contestant, server, { count }, measured) => {
  const client = await contestant.open(server)
  const before = await settled()
  const cpu = process.cpuUsage()
  const started = performance.now()
  const tools = await measured(() => client.tools())
  const took = performance.now() - started
  const spent = cpuMicros(cpu)
  expect(tools.length === count, `${tools.length} tools`)
  const after = await settled()
  await client.close()
  return { took, cpu: spent / 1000, kept: (after.heapUsed - before.heapUsed) / 1024 / 1024, tools: tools.length }
}

/**
 * An application that starts a second time: its servers' tools are known from before, and some of the servers do not
 * answer any more. `tools` is counted from when the layer is built.
 */
const start = async (contestant, server, { dead, servers }, measured) => {
  const directory = await mkdtemp(join(tmpdir(), "mcp-bench-"))
  const deaf = join(directory, "deaf")
  const configs = Array.from({ length: servers }, (_, index) =>
    contestant.configOf(index < dead ? { ...server, args: [...server.args, "--deaf-if", deaf] } : server))
  const options = { servers: configs, cacheDirectory: join(directory, "cache"), teardown: { stdinGrace: 200, termGrace: 200 } }
  try {
    const first = await contestant.start({ ...options, batchSize: servers })
    const before = await first.managed.runPromise(first.mcp.tools)
    expect(before.missing.length === 0, "every server has answered once")
    await first.managed.dispose()
    await writeFile(deaf, "")
    const second = await measured(() => contestant.start(options))
    const began = performance.now()
    const listed = await second.managed.runPromise(second.mcp.tools)
    const tools = performance.now() - began
    expect(listed.tools.length === before.tools.length, "every tool is offered")
    const closing = performance.now()
    await second.managed.dispose()
    return { built: second.built, tools, offered: listed.tools.length, closed: performance.now() - closing }
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

/** How much the heap has grown, in KB, after a tenth, half and all of something, since its first twentieth. */
const soak = async (count, some) => {
  const warm = Math.ceil(count / 20)
  await some(warm)
  const before = await settled()
  const grown = async (more) => {
    await some(more)
    return ((await settled()).heapUsed - before.heapUsed) / 1024
  }
  return {
    at10: await grown(Math.ceil(count / 10) - warm),
    at50: await grown(count / 2 - Math.ceil(count / 10)),
    at100: await grown(count / 2)
  }
}

const soakCalls = async (contestant, server, { count }) => {
  const client = await contestant.open(server)
  const { runtime } = contestant.loops(client)
  const figures = await soak(count, runtime)
  await client.managed.dispose()
  return figures
}

const soakReconnects = async (contestant, server, { count }) => {
  const client = await contestant.open(server)
  const { managed, mcp, ref } = client
  const figures = await soak(count, async (times) => {
    for (let time = 0; time < times; time++) {
      await managed.runPromise(mcp.servers.reconnect(ref.server))
      await client.call("echo", { text: "marker" })
    }
  })
  const [info] = await managed.runPromise(mcp.servers.list)
  expect(info.reconnects === count, `${info.reconnects} reconnects`)
  await managed.dispose()
  return figures
}

export const work = {
  sequence,
  added,
  flight,
  big,
  connect,
  connectAll,
  start,
  close,
  memory,
  soakCalls,
  soakReconnects,
  list
}
