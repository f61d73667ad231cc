/** Histories for those who are not Effects: from a seed, or from what has failed. */
import * as Effect from "effect/Effect"
import * as Script from "./script.ts"
import * as Simulation from "./simulation.ts"

// what is loaded on first use is loaded before, so that every history finds it there
await Promise.all([
  import("@modelcontextprotocol/client"),
  import("@modelcontextprotocol/sdk/client/index.js"),
  import("@modelcontextprotocol/sdk/types.js")
])

const perform = (script: Script.Script): Promise<Simulation.Report> => Effect.runPromise(Simulation.run(script))

/** The history of a seed. */
export const play = (seed: number, size: "small" | "large"): Promise<Simulation.Report> =>
  perform(Script.make(seed, Script[size]))

/** The same failure with as few steps as possible: each step whose absence changes nothing is left out. */
export const shrink = async (report: Simulation.Report): Promise<Simulation.Report> => {
  const kind = (violation: string) => violation.replaceAll(/[\d.]+/g, "#")
  const wanted = new Set(report.violations.map(kind))
  const fails = (next: Simulation.Report) => next.violations.some((violation) => wanted.has(kind(violation)))
  let best = report
  for (let size = Math.ceil(best.script.steps.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < best.script.steps.length;) {
      const steps = best.script.steps.filter((_, index) => index < from || index >= from + size)
      const next = await perform({ ...best.script, steps })
      if (fails(next)) best = next
      else from += size
    }
  }
  // the last servers are not missed by those before them
  for (let count = 1; count < best.script.servers.length; count++) {
    const next = await perform({ ...best.script, servers: best.script.servers.slice(0, count) })
    if (fails(next)) return next
  }
  return best
}
