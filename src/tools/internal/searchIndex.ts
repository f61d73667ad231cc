/**
 * The tools that can be found, kept in step with those that there are.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import type * as ToolIndex from "../ToolIndex.ts"
import type * as ToolSearch from "../ToolSearch.ts"
import * as Document from "./searchDocument.ts"
import type * as Engine from "./searchEngine.ts"
import { weigh } from "./searchQuery.ts"

interface Item {
  readonly id: number
  readonly entry: ToolIndex.Entry
  readonly document: Document.SearchDocument
}

/** One index, and what is in it. */
interface Shelf {
  readonly engine: Engine.SearchEngine
  readonly byId: Map<number, Item>
  readonly byServer: Map<string, Map<string, Item>>
  removed: number
}

/** Characters looked at in one turn of the event loop, which is a few milliseconds of work. */
const charactersOfTurn = 16_384

/** A new index is made when more has been taken out of the old one than this, and than a third of what is in it. */
const leastRemoved = 256

const mostHits = 100

const turn = Effect.async<void>((resume) => {
  const handle = setImmediate(() => resume(Effect.void))
  return Effect.sync(() => clearImmediate(handle))
})

/** Does one thing after the other, and lets others have their turn in between. */
const gently = <A>(all: ReadonlyArray<A>, each: (one: A) => number): Effect.Effect<void> =>
  Effect.gen(function*() {
    let characters = 0
    for (const one of all) {
      characters += each(one)
      if (characters < charactersOfTurn) continue
      characters = 0
      yield* turn
    }
  })

const put = (shelf: Shelf, item: Item): void => {
  const { entry: { server, tool } } = item
  let tools = shelf.byServer.get(server)
  if (tools === undefined) shelf.byServer.set(server, tools = new Map())
  tools.set(tool.name, item)
  shelf.byId.set(item.id, item)
}

const take = (shelf: Shelf, { entry: { server, tool }, id }: Item): void => {
  shelf.engine.remove(id)
  shelf.byId.delete(id)
  const tools = shelf.byServer.get(server)
  tools?.delete(tool.name)
  if (tools?.size === 0) shelf.byServer.delete(server)
  shelf.removed += 1
}

const isSame = (a: Document.SearchDocument, b: Document.SearchDocument): boolean =>
  Document.fields.every((field) => {
    const terms = a.terms[field]
    return terms.length === b.terms[field].length && terms.every((term, at) => term === b.terms[field][at])
  })

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
    let shelf: Shelf | undefined
    let next = 0

    const empty: Effect.Effect<Shelf> = Effect.map(
      Effect.promise(() => import("./searchEngine.ts")),
      ({ make }) => ({ engine: make(), byId: new Map(), byServer: new Map(), removed: 0 })
    )

    const add = (to: Shelf) => (entry: ToolIndex.Entry): number => {
      const known = to.byServer.get(entry.server)?.get(entry.tool.name)
      if (known?.entry.tool === entry.tool) {
        if (known.entry.name !== entry.name) put(to, { ...known, entry })
        return 0
      }
      const document = Document.document(entry)
      if (known !== undefined && isSame(known.document, document)) {
        put(to, { ...known, entry })
        return document.size
      }
      if (known !== undefined) take(to, known)
      const item = { id: next++, entry, document }
      to.engine.add(item.id, document)
      put(to, item)
      return document.size
    }

    /** The same tools in a new index, while the old one still answers. */
    const remade = (old: Shelf): Effect.Effect<void> =>
      Effect.flatMap(empty, (made) =>
        Effect.map(
          gently(Array.from(old.byId.values()), (item) => {
            made.engine.add(item.id, item.document)
            put(made, item)
            return item.document.size
          }),
          () => {
            shelf = made
          }
        ))

    const index = (tools: ReadonlyArray<ToolIndex.Entry>): Effect.Effect<void> =>
      Effect.gen(function*() {
        if (shelf === undefined) {
          if (tools.length === 0) return
          shelf = yield* empty
        }
        const present = shelf
        const wanted = new Map<string, Set<string>>()
        for (const { server, tool } of tools) {
          const names = wanted.get(server)
          if (names === undefined) wanted.set(server, new Set([tool.name]))
          else names.add(tool.name)
        }
        const gone = Array.from(present.byId.values())
          .filter(({ entry }) => wanted.get(entry.server)?.has(entry.tool.name) !== true)
        for (const item of gone) take(present, item)
        yield* gently(tools, add(present))
        if (present.removed > Math.max(leastRemoved, present.byId.size / 3)) yield* remade(present)
      })

    const search = (query: string, options?: ToolSearch.SearchOptions): ReadonlyArray<ToolSearch.Hit> => {
      if (shelf === undefined) return []
      const { byId, engine } = shelf
      const { accepts, server } = options ?? {}
      const asked = options?.limit ?? limit
      const most = Math.max(1, Math.min(mostHits, Number.isFinite(asked) ? Math.floor(asked) : limit))
      const best: Array<Ranked> = []
      const accepted = (id: number): boolean => {
        const entry = byId.get(id)?.entry
        return entry !== undefined && (server === undefined || entry.server === server) && accepts?.(entry) !== false
      }
      for (const { id, score } of engine.search(weigh(query, engine.vocabulary), accepted)) {
        const entry = byId.get(id)?.entry
        if (entry !== undefined) keep(best, most, { entry, score })
      }
      return best
        .map(({ entry: { name, server, tool }, score }) => ({
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
