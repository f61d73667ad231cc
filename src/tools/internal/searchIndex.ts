/**
 * The tools that can be found, kept in step with those that there are.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import type * as ToolIndex from "../ToolIndex.ts"
import type * as ToolSearch from "../ToolSearch.ts"
import * as Document from "./searchDocument.ts"
import * as Postings from "./searchPostings.ts"
import * as Query from "./searchQuery.ts"
import { gently } from "./searchTurns.ts"
import * as Vocabulary from "./searchVocabulary.ts"

interface Item {
  readonly id: number
  readonly entry: ToolIndex.Entry
}

/** One index, and what is in it. */
interface Shelf {
  readonly postings: Postings.Postings
  readonly words: Query.Vocabulary
  readonly read: (entry: ToolIndex.Entry) => Document.SearchDocument<Postings.Term>
  readonly byId: Map<number, Item>
  readonly byServer: Map<string, Map<string, Item>>
  removed: number
}

/** A new index is made when more has been taken out of the old one than this, and than a third of what is in it. */
const leastRemoved = 256

/** What it takes to see that a tool is the same as before, or to take it out, in characters looked at. */
const glance = 8

const mostHits = 100

const empty = (): Shelf => {
  const postings = Postings.make()
  const words = Vocabulary.make(postings.has)
  return {
    postings,
    words,
    read: Document.reader(postings.termOf, words.add),
    byId: new Map(),
    byServer: new Map(),
    removed: 0
  }
}

const put = (shelf: Shelf, item: Item): void => {
  const { entry: { server, tool } } = item
  let tools = shelf.byServer.get(server)
  if (tools === undefined) shelf.byServer.set(server, tools = new Map())
  tools.set(tool.name, item)
  shelf.byId.set(item.id, item)
}

const take = (shelf: Shelf, { entry: { server, tool }, id }: Item): void => {
  shelf.postings.remove(id)
  shelf.byId.delete(id)
  const tools = shelf.byServer.get(server)
  tools?.delete(tool.name)
  if (tools?.size === 0) shelf.byServer.delete(server)
  shelf.removed += 1
}

/** Has a tool found from now on, and tells how many characters were looked at. */
const add = (shelf: Shelf, entry: ToolIndex.Entry): number => {
  const known = shelf.byServer.get(entry.server)?.get(entry.tool.name)
  if (known?.entry.tool === entry.tool) {
    if (known.entry.name !== entry.name) put(shelf, { ...known, entry })
    return glance
  }
  const { size, terms } = shelf.read(entry)
  if (known !== undefined && shelf.postings.holds(known.id, terms)) {
    put(shelf, { ...known, entry })
    return size
  }
  if (known !== undefined) take(shelf, known)
  put(shelf, { id: shelf.postings.add(terms), entry })
  return size
}

interface Ranked {
  readonly entry: ToolIndex.Entry
  readonly score: number
}

const isBetter = (a: Ranked, b: Ranked): boolean =>
  a.score > b.score || (a.score === b.score && a.entry.name < b.entry.name)

/** Keeps the best, in order. */
const keep = (best: Array<Ranked>, most: number, one: Ranked): void => {
  let at = best.length
  while (at > 0 && isBetter(one, best[at - 1]!)) at -= 1
  if (at >= most) return
  best.splice(at, 0, one)
  if (best.length > most) best.pop()
}

/** @internal */
export const make = ({ limit }: ToolSearch.Options): Effect.Effect<ToolSearch.ToolSearch["Type"]> =>
  Effect.gen(function*() {
    const alone = yield* Effect.makeSemaphore(1)
    let shelf = empty()

    /** The same tools in a new index, while the old one still answers. */
    const remade = (old: Shelf): Effect.Effect<void> =>
      Effect.suspend(() => {
        const made = empty()
        return Effect.map(gently(Array.from(old.byId.values()), ({ entry }) => add(made, entry)), () => {
          shelf = made
        })
      })

    /** Takes out what is not there any more. */
    const forget = (present: Shelf, tools: ReadonlyArray<ToolIndex.Entry>): Effect.Effect<void> =>
      Effect.suspend(() => {
        const wanted = new Map<string, Set<string>>()
        const want = gently(tools, ({ server, tool }) => {
          const names = wanted.get(server)
          if (names === undefined) wanted.set(server, new Set([tool.name]))
          else names.add(tool.name)
          return glance
        })
        return Effect.zipRight(
          want,
          gently(Array.from(present.byId.values()), (item) => {
            const { server, tool } = item.entry
            if (wanted.get(server)?.has(tool.name) !== true) take(present, item)
            return glance
          })
        )
      })

    const index = (tools: ReadonlyArray<ToolIndex.Entry>): Effect.Effect<void> =>
      Effect.gen(function*() {
        const present = shelf
        if (present.byId.size > 0) yield* forget(present, tools)
        yield* gently(tools, (entry) => add(present, entry))
        if (present.removed > Math.max(leastRemoved, present.byId.size / 3)) yield* remade(present)
      })

    const search = (query: string, options?: ToolSearch.SearchOptions): ReadonlyArray<ToolSearch.Hit> => {
      const { byId, postings, words } = shelf
      const { accepts, server } = options ?? {}
      const asked = options?.limit ?? limit
      const most = Math.max(1, Math.min(mostHits, Number.isFinite(asked) ? Math.floor(asked) : limit))
      const best: Array<Ranked> = []
      postings.search(Query.weigh(query, words), (id, score) => {
        if (best.length === most && score < best[most - 1]!.score) return
        const entry = byId.get(id)?.entry
        if (entry === undefined || (server !== undefined && entry.server !== server)) return
        if (accepts?.(entry) !== false) keep(best, most, { entry, score })
      })
      return best.map(({ entry: { name, server, tool }, score }) => ({
        server,
        tool: tool.name,
        name,
        score,
        description: tool.description
      }))
    }

    return {
      index: (tools) => alone.withPermits(1)(index(tools)),
      search: (query, options) => Effect.sync(() => search(query, options))
    }
  })
