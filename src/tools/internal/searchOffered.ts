/**
 * Tools as they are offered: each is measured and shortened once, and not again for every turn of a model.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import * as AutoSearch from "../AutoSearch.ts"
import type * as SearchSession from "../SearchSession.ts"
import type * as Tool from "../Tool.ts"
import type * as ToolIndex from "../ToolIndex.ts"
import { share } from "./searchBudget.ts"
import { gently } from "./searchTurns.ts"

/** @internal */
export interface SearchOffered {
  /** The characters of all definitions, or of so many of them that it is enough. */
  readonly size: (entries: ReadonlyArray<ToolIndex.Entry>, enough: number) => Effect.Effect<number>
  /** Definitions that keep both budgets. */
  readonly definitions: (entries: ReadonlyArray<ToolIndex.Entry>) => Effect.Effect<ReadonlyArray<SearchSession.Offered>>
}

interface Measured {
  readonly definition: AutoSearch.Definition
  readonly size: number
}

/** A definition, and how it looks in the limits that were asked for last. */
interface Kept extends Measured {
  readonly within: Map<number, Measured>
}

/** One is the budget of each tool. Another is what the budget of all leaves to it, and sessions may differ in that. */
const mostLimits = 4

/** What it takes, in characters that the search looks at: to see what is known, and to measure one character. */
const glance = 1
const measuring = 1 / 8

const measure = (definition: AutoSearch.Definition): Measured => ({
  definition,
  size: AutoSearch.sizeOf(definition)
})

/** @internal */
export const make = ({ perToolChars, totalChars }: AutoSearch.Options): SearchOffered => {
  // entries are made anew with every change of any tool, and tools are not
  const tools = new WeakMap<Tool.Tool, Kept>()

  const known = ({ name, tool }: ToolIndex.Entry): Kept | undefined => {
    const kept = tools.get(tool)
    return kept?.definition.name === name ? kept : undefined
  }

  const remember = ({ name, tool }: ToolIndex.Entry): Kept => {
    const { description = tool.title, inputSchema } = tool
    const kept = { ...measure({ name, description, inputSchema }), within: new Map() }
    tools.set(tool, kept)
    return kept
  }

  const of = (entry: ToolIndex.Entry): Kept => known(entry) ?? remember(entry)

  const within = (entry: ToolIndex.Entry, limit: number): Measured => {
    const kept = of(entry)
    if (kept.size <= limit) return kept
    let shorter = kept.within.get(limit)
    if (shorter === undefined) {
      for (const oldest of kept.within.keys()) if (kept.within.size >= mostLimits) kept.within.delete(oldest)
      kept.within.set(limit, shorter = measure(AutoSearch.withinBudget(kept.definition, limit)))
    }
    return shorter
  }

  /** All of them in a limit, a few in each turn of the event loop where that takes work. */
  const all = (entries: ReadonlyArray<ToolIndex.Entry>, limit: number): Effect.Effect<ReadonlyArray<Measured>> =>
    Effect.suspend(() => {
      const found: Array<Measured> = []
      return Effect.as(
        gently(entries, (entry) => {
          const before = known(entry)
          const isDone = before !== undefined && (before.size <= limit || before.within.has(limit))
          found.push(within(entry, limit))
          const { size } = of(entry)
          return isDone ? glance : size <= limit ? size * measuring : size
        }),
        found
      )
    })

  return {
    size: (entries, enough) =>
      Effect.suspend(() => {
        let total = 0
        return Effect.map(
          gently(entries, (entry) => {
            if (total >= enough) return 0
            const isKnown = known(entry) !== undefined
            const { size } = of(entry)
            total += size
            return isKnown ? glance : size * measuring
          }),
          () => total
        )
      }),
    definitions: (entries) =>
      Effect.gen(function*() {
        const fitting = yield* all(entries, perToolChars)
        const most = share(fitting.map(({ size }) => size), totalChars)
        const chosen = most < perToolChars ? yield* all(entries, most) : fitting
        return chosen.map(({ definition: { description, inputSchema, name } }, at) => ({
          name,
          description,
          inputSchema,
          entry: entries[at]
        }))
      })
  }
}
