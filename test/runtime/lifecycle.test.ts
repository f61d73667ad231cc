import { assert, describe, it } from "@effect/vitest"
import * as esbuild from "esbuild"
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import * as Lifecycle from "../../src/runtime/lifecycle.ts"
import * as World from "../support/lifecycleWorld.ts"

/** `LIFECYCLE_EVENTS=5000000 npx vitest run test/runtime/lifecycle.test.ts` for more than a minute of lives. */
const events = Number(process.env["LIFECYCLE_EVENTS"] ?? 100_000)

const path = new URL("../../src/runtime/lifecycle.ts", import.meta.url)

/** The machine with one fault each: the text that is replaced, and what replaces it. */
const mutants: Readonly<Record<string, readonly [text: string, replacement: string]>> = {
  "has no fence": [`"gen" in event && event.gen !== before.gen`, "false"],
  "has no ClearTimer": [`all.push({ _tag: "ClearTimer" })`, ""],
  "has no Reject in the slow lane": [
    `(state._tag === "Waiting" && state.patient)`,
    `(state._tag === "Waiting" && (state.patient || state.lane === "slow"))`
  ],
  "ignores notBefore": [`&& now >= state.notBefore`, ""],
  "opens a lazy server that is switched on while it is released": [`next.eager ? "Opening" : "Idle"`, `"Opening"`],
  "opens a lazy server that is switched on": [`machine.eager ? open(machine)`, "true ? open(machine)"],
  "releases nothing when it closes a retired server": [
    `case "Close":`,
    `case "Close":\n      if (state._tag === "Retired") return to(machine, { _tag: "Closed" })`
  ],
  "drains twice when it is retired twice": [
    `case "Retire": {\n      if (state._tag === "Retired") return stay`,
    `case "Retire": {\n      if (state._tag === "Retired") return to(machine, state, { _tag: "Drain", gen: machine.gen })`
  ],
  "ends a retired server that is retired again": [
    `case "Retire": {\n      if (state._tag === "Retired") return stay`,
    `case "Retire": {`
  ],
  "keeps a caller waiting that connects a connected server": [
    `_tag === "Wanted" || _tag === "Connect" || _tag`,
    `_tag === "Wanted" || _tag`
  ],
  "releases an idle connection beside": [
    `release(calm(machine), "Idle")`,
    `[release(calm(machine), "Idle")[0], [{ _tag: "Release", gen: machine.gen, beside: true }]] as const`
  ],
  "never forgets a series": [`({ ...machine, attempt: 0, failing: false })`, "({ ...machine, failing: false })"],
  "counts no attempt for the storm rule": [`machine.failing ? [...recent, now]`, "false ? [...recent, now]"],
  "connects what was disabled": [`machine.down === "disconnected" ?`, "true ?"],
  "lets disconnect undo disable": [`machine.down === undefined || event.why === "disabled"`, "true"],
  "keeps callers of one attempt waiting": [`{ _tag: "RejectFirst", error: Outcome.notSent(error) }`, ""],
  "publishes no switch-off that is over by then": [`off !== undefined && isOn`, "false"],
  "has callers wait for a long delay": [
    `RetryAfter.longestOfCalls : patience`,
    "RetryAfter.longestOfConnects : patience"
  ]
}

/** The machine with a replaced text. */
const mutated = ([text, replacement]: readonly [string, string]): World.Module => {
  const source = readFileSync(path, "utf8")
  assert.lengthOf(source.split(text), 2, `once in lifecycle.ts: ${text}`)
  const { outputFiles: [file] } = esbuild.buildSync({
    stdin: {
      contents: source.replace(text, () => replacement),
      loader: "ts",
      resolveDir: new URL(".", path).pathname
    },
    bundle: true,
    write: false,
    format: "cjs",
    packages: "external"
  })
  const module: { exports: unknown } = { exports: undefined }
  new Function("require", "module", file!.text)(createRequire(import.meta.url), module)
  return module.exports as World.Module
}

/** These lead from every state to its end, so they have a table of their own. */
const endings = ["Disable", "Retire", "Close"]

/** The transitions as the picture and the table of docs/lifecycle.md. */
const picture = (edges: World.Edges): string => {
  const lines = Array.from(edges).toSorted(([a], [b]) => a < b ? -1 : 1).flatMap(([edge, events]) => {
    const shown = Array.from(events).filter((event) => !endings.includes(event)).toSorted()
    return shown.length === 0 ? [] : [`    ${edge}: ${shown.join(", ")}`]
  })
  const rows = endings.flatMap((event) => {
    const sources = new Map<string, Array<string>>()
    for (const [edge, events] of edges) {
      const [from, to] = edge.split(" --> ")
      if (events.has(event)) sources.set(to!, [...sources.get(to!) ?? [], `\`${from}\``])
    }
    return Array.from(sources).toSorted(([a], [b]) => a < b ? -1 : 1).map(([to, from]) =>
      `| \`${event}\` | ${from.toSorted().join(", ")} | \`${to}\` |`
    )
  })
  const table = ["| Event | From | To |", "|---|---|---|", ...rows]
  return ["```mermaid", "stateDiagram-v2", ...lines, "```", "", ...table, ""].join("\n")
}

describe("the machine of a server", () => {
  it(`keeps its rules in ${events} random events, and docs/lifecycle.md draws what they show`, () => {
    const edges: World.Edges = new Map()
    World.run(Lifecycle, events, edges)
    assert.include(readFileSync(new URL("../../docs/lifecycle.md", import.meta.url), "utf8"), picture(edges))
  }, 600_000)

  it.each(Object.entries(mutants))("breaks a rule if it %s", (_, mutant) => {
    const module = mutated(mutant)
    assert.throws(() => World.run(module, 100_000), /^seed /)
  })
})
