/**
 * A CPU profile of the measured part of a cell, summed up by module and by function.
 */
import { mkdirSync, writeFileSync } from "node:fs"
import { Session } from "node:inspector/promises"
import { fileURLToPath } from "node:url"

const place = (url) =>
  url.includes("/node_modules/")
    ? url.replace(/^.*\/node_modules\//, "").replace(/\/dist(\/esm)?\//, "/")
    : url.replace(/^.*\/(dist[^/]*|modules|contestants)\//, "$1/")

const group = (url, name) => {
  if (url === "") return name
  if (url.startsWith("node:")) return "node"
  const parts = place(url).split("/")
  return parts[0].startsWith("@") ? parts.slice(0, 2).join("/") : parts[0]
}

const add = (sums, key, value) => sums.set(key, (sums.get(key) ?? 0) + value)

const lines = (sums, busy, calls, most) =>
  [...sums]
    .toSorted((one, other) => other[1] - one[1])
    .slice(0, most)
    .map(([key, micros]) =>
      `${((100 * micros) / busy).toFixed(1).padStart(6)}%  ${(micros / calls).toFixed(2).padStart(10)} µs  ${key}`
    )

/** Nothing is recorded outside of `during`. */
export const start = async () => {
  const session = new Session()
  session.connect()
  await session.post("Profiler.enable")
  await session.post("Profiler.setSamplingInterval", { interval: 100 })
  const profiles = []
  return {
    during: async (run) => {
      await session.post("Profiler.start")
      const result = await run()
      profiles.push((await session.post("Profiler.stop")).profile)
      return result
    },
    report: async (name, calls) => {
      const directory = fileURLToPath(new URL("results", import.meta.url))
      mkdirSync(directory, { recursive: true })
      const groups = new Map()
      const functions = new Map()
      let busy = 0
      for (const [index, profile] of profiles.entries()) {
        writeFileSync(`${directory}/${name}-${index}.cpuprofile`, JSON.stringify(profile))
        const frames = new Map(profile.nodes.map((node) => [node.id, node.callFrame]))
        for (const [at, id] of profile.samples.entries()) {
          const { functionName, lineNumber, url } = frames.get(id)
          if (functionName === "(idle)") continue
          const micros = profile.timeDeltas[at]
          busy += micros
          add(groups, group(url, functionName), micros)
          add(functions, `${functionName === "" ? "(anonymous)" : functionName}  ${place(url)}:${lineNumber + 1}`, micros)
        }
      }
      return [
        `${name}: ${(busy / calls).toFixed(1)} µs of self time per call`,
        ...lines(groups, busy, calls, 12),
        "",
        ...lines(functions, busy, calls, 45)
      ].join("\n")
    }
  }
}
