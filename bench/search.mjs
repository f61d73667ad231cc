/**
 * The search of tools: how often it finds the right one, and how long it takes among 10 000 tools.
 * `npm run bench -- search`, or `node bench/search.mjs` over what is compiled. Each time is the median of fresh
 * processes, with the import of the library counted and nothing warmed up.
 */
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "5" },
    tools: { type: "string", default: "10000" },
    one: { type: "boolean", default: false },
    /** Says which queries found nothing right, and what they found. */
    verbose: { type: "boolean", default: false },
    dist: { type: "string", default: fileURLToPath(new URL("../dist", import.meta.url)) }
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
  return copy === 0 ? entry : { ...entry, name: `${entry.name}_${copy}`, server: `${entry.server}-${copy}` }
})

const queries = read("queries.json")
const unseen = read("unseen.json")

const Effect = await import("effect/Effect")
const { make } = await import(resolve(values.dist, "tools/ToolSearch.js"))

const median = (numbers) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1]
const share = (numbers, part) => numbers.toSorted((a, b) => a - b)[Math.floor((numbers.length - 1) * part)]

if (values.one) {
  const search = await Effect.runPromise(make())
  let longest = 0
  let last = performance.now()
  const watch = () => {
    const now = performance.now()
    longest = Math.max(longest, now - last)
    last = now
    watching = setImmediate(watch)
  }
  let watching = setImmediate(watch)
  const cpu = process.cpuUsage()
  const began = performance.now()
  await Effect.runPromise(search.index(many))
  const indexed = performance.now() - began
  const { system, user } = process.cpuUsage(cpu)
  const again = performance.now()
  await Effect.runPromise(search.index([...many]))
  const unchanged = performance.now() - again
  clearImmediate(watching)
  const times = [...queries, ...unseen].map(([query]) => {
    const before = performance.now()
    Effect.runSync(search.search(query))
    return performance.now() - before
  })
  const [typical, most, worst] = [0.5, 0.95, 1].map((part) => share(times, part))
  const heap = process.memoryUsage().heapUsed / 2 ** 20
  console.log(JSON.stringify({ indexed, cpu: (user + system) / 1000, unchanged, longest, typical, most, worst, heap }))
} else {
  const search = await Effect.runPromise(make())
  await Effect.runPromise(search.index(entries))
  console.log(`quality over ${entries.length} tools of published servers`)
  for (const [name, labelled] of [["labelled before tuning", queries], ["written after tuning", unseen]]) {
    const ranks = labelled.map(([query, ...wanted]) => {
      const hits = Effect.runSync(search.search(query, { limit: 100 })).map(({ server, tool }) => `${server}/${tool}`)
      const rank = hits.findIndex((hit) => wanted.includes(hit)) + 1
      if (values.verbose && (rank === 0 || rank > 5)) console.log(`  ${rank}: ${query} → ${hits.slice(0, 5).join(", ")}`)
      return rank
    })
    const within = (most) => ranks.filter((rank) => rank > 0 && rank <= most).length
    const of = (most) => `first ${most}: ${(100 * within(most) / ranks.length).toFixed(0)} %`
    console.log(`  ${name.padEnd(22)} ${ranks.length} queries, ${of(1)}, ${of(3)}, ${of(5)} (target 90), ${of(10)}`)
  }
  const args = [fileURLToPath(import.meta.url), "--one", "--tools", values.tools, "--dist", values.dist]
  const runs = Array.from({ length: Number(values.runs) }, () =>
    JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8" })))
  const of = (key) => `${median(runs.map((run) => run[key])).toFixed(1)} ms`
  console.log(`time over ${many.length} tools, median of ${runs.length} processes`)
  console.log(`  indexed in ${of("indexed")} (target 500; ${of("cpu")} of processor), again unchanged ${of("unchanged")}`)
  console.log(`  the event loop was held for ${of("longest")} at most (target 20)`)
  console.log(`  a query takes ${of("typical")}, 95 of 100 under ${of("most")}, the worst ${of("worst")} (target 5)`)
  console.log(`  heap ${median(runs.map((run) => run.heap)).toFixed(0)} MiB`)
}
