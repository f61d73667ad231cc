/**
 * The search of tools: its accuracy, and its time among 1,000 tools. `npm run bench -- search`, or `node
 * bench/search.mjs` after a build. Each time is the median of new processes, including the import of the library.
 */
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "5" },
    tools: { type: "string", default: "1000" },
    one: { type: "boolean", default: false },
    hostile: { type: "boolean", default: false },
    /** Prints the queries without a correct hit, and their hits. */
    verbose: { type: "boolean", default: false },
    dist: { type: "string", default: fileURLToPath(new URL("../build/modules", import.meta.url)) }
  }
})

const read = (file) => JSON.parse(readFileSync(new URL(`../test/fixtures/search/${file}`, import.meta.url), "utf8"))

const entries = Object.entries(read("tools.json")).flatMap(([server, tools]) =>
  tools.map(({ description, name, params, title }) => {
    const properties = Object.fromEntries(Object.entries(params).map(([key, text]) => [key, { description: text }]))
    const inputSchema = { type: "object", properties }
    return { name: `mcp__${server}__${name}`, server, tool: { name, title, description, inputSchema, annotations: {} } }
  })
)

/** As many tools as are asked for: the same servers again and again, each time under other names. */
const many = Array.from({ length: Number(values.tools) }, (_, at) => {
  const entry = entries[at % entries.length]
  const copy = Math.floor(at / entries.length)
  return { name: `${entry.name}_${copy}`, server: `${entry.server}-${copy}`, tool: { ...entry.tool } }
})

const queries = read("queries.json")
const unseen = read("unseen.json")
const varied = read("varied.json")

const Effect = await import("effect/Effect")
const { make, ToolSearch } = await import(resolve(values.dist, "tools/ToolSearch.js"))
const SearchSession = await import(resolve(values.dist, "tools/SearchSession.js"))

const median = (numbers) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1]
const share = (numbers, part) => numbers.toSorted((a, b) => a - b)[Math.floor((numbers.length - 1) * part)]

/** What a step takes, and for how long it holds up the event loop at most. */
const timed = async (effect) => {
  let held = 0
  let last = performance.now()
  const watch = () => {
    const now = performance.now()
    held = Math.max(held, now - last)
    last = now
    watching = setImmediate(watch)
  }
  let watching = setImmediate(watch)
  const cpu = process.cpuUsage()
  const began = performance.now()
  const value = await Effect.runPromise(effect)
  const took = performance.now() - began
  const { system, user } = process.cpuUsage(cpu)
  clearImmediate(watching)
  return { value, took, held: Math.max(held, performance.now() - last), cpu: (user + system) / 1000 }
}

const timesOf = (search, asked) =>
  asked.map((query) => {
    const before = performance.now()
    Effect.runSync(search.search(query))
    return performance.now() - before
  })

/** Tools of a hostile server: each has the maximum length that is indexed, and only unique words. */
const hostile = () => {
  let seed = 1
  const word = () => {
    seed = Math.imul(seed, 1_664_525) + 1_013_904_223 >>> 0
    return seed.toString(26).replaceAll(/[0-9]/g, (digit) => "qrstuvwxyz"[digit])
  }
  const words = (many) => Array.from({ length: many }, word).join(" ")
  const tools = Array.from({ length: 3_000 }, (_, at) => {
    const properties = Object.fromEntries(Array.from({ length: 40 }, () => [word(), { description: words(8) }]))
    const inputSchema = { type: "object", properties }
    const tool = { name: `${word()}_${word()}`, title: words(10), description: words(500), inputSchema, annotations: {} }
    return { name: `mcp__evil__${at}`, server: `evil-${at % 30}`, tool }
  })
  return { tools, queries: Array.from({ length: 50 }, () => words(20)) }
}

if (values.one) {
  const search = await Effect.runPromise(make())
  const first = await timed(search.index(many))
  const again = await timed(search.index([...many]))
  const times = timesOf(search, [...queries, ...unseen, ...varied].map(([query]) => query))
  const [typical, most, worst] = [0.5, 0.95, 1].map((part) => share(times, part))
  const heap = process.memoryUsage().heapUsed / 2 ** 20
  const session = await Effect.runPromise(Effect.map(SearchSession.make({ mode: "never" }), ({ session }) =>
    session("a", { model: { contextWindow: 200_000, toolCalling: true }, tools: Effect.succeed(many) })).pipe(
      Effect.provideService(ToolSearch, search)
    ))
  const offered = await timed(session.offer)
  const offeredAgain = await timed(session.offer)
  console.log(JSON.stringify({
    indexed: first.took,
    cpu: first.cpu,
    held: Math.max(first.held, again.held),
    unchanged: again.took,
    typical,
    most,
    worst,
    heap,
    offered: offered.took,
    offeredHeld: Math.max(offered.held, offeredAgain.held),
    offeredAgain: offeredAgain.took
  }))
} else if (values.hostile) {
  const search = await Effect.runPromise(make())
  const { queries, tools } = hostile()
  const { cpu, held, took } = await timed(search.index(tools))
  const times = timesOf(search, queries)
  console.log(JSON.stringify({ indexed: took, cpu, held, typical: share(times, 0.5), most: share(times, 0.95) }))
} else {
  const search = await Effect.runPromise(make())
  await Effect.runPromise(search.index(entries))
  console.log(`quality over ${entries.length} tools of published servers`)
  for (const [name, labelled] of [["queries", queries], ["unseen", unseen], ["varied", varied]]) {
    const ranks = labelled.map(([query, ...wanted]) => {
      const hits = Effect.runSync(search.search(query, { limit: 100 })).map(({ server, tool }) => `${server}/${tool}`)
      const rank = hits.findIndex((hit) => wanted.includes(hit)) + 1
      if (values.verbose && (rank === 0 || rank > 5)) console.log(`  ${rank}: ${query} → ${hits.slice(0, 5).join(", ")}`)
      return rank
    })
    const within = (most) => ranks.filter((rank) => rank > 0 && rank <= most).length
    const of = (most) => `first ${most}: ${(100 * within(most) / ranks.length).toFixed(0)} %`
    console.log(`  ${name.padEnd(8)} ${ranks.length} queries, ${of(1)}, ${of(3)}, ${of(5)} (target 90), ${of(10)}`)
  }
  const measure = (part) => {
    const args = [fileURLToPath(import.meta.url), part, "--tools", values.tools, "--dist", values.dist]
    const runs = Array.from({ length: Number(values.runs) }, () =>
      JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8" })))
    return (key) => `${median(runs.map((run) => run[key])).toFixed(1)} ms`
  }
  const usual = measure("--one")
  console.log(`time over ${many.length} tools, median of ${values.runs} processes`)
  console.log(`  indexed in ${usual("indexed")} (target 150; ${usual("cpu")} of all threads), again ${usual("unchanged")}`)
  console.log(`  the event loop was held for ${usual("held")} at most (target 20)`)
  console.log(`  a query takes ${usual("typical")}, 95 of 100 under ${usual("most")} (target 5), the worst ${usual("worst")}`)
  console.log(`  all offered in ${usual("offered")}, again ${usual("offeredAgain")}, held ${usual("offeredHeld")} at most`)
  console.log(`  heap ${usual("heap").replace("ms", "MiB")}`)
  const worst = measure("--hostile")
  console.log("time over 3000 tools of words that nobody else has, queries of 20 such words")
  console.log(`  indexed in ${worst("indexed")} (${worst("cpu")} of all threads), held ${worst("held")} at most`)
  console.log(`  a query takes ${worst("typical")}, 95 of 100 under ${worst("most")} (target 5)`)
}
