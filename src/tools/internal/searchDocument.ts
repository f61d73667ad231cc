/**
 * What of a tool is looked at in a search: all of it is a server's, so all of it is bounded.
 *
 * @internal
 */
import * as JsonRpc from "../../transport/JsonRpc.ts"
import type * as ToolIndex from "../ToolIndex.ts"
import { ofRun, type Word } from "./searchTerms.ts"
import { eachRun } from "./searchWords.ts"

const nameLength = 128
const descriptionLength = 4096
const mostParams = 200
const paramLength = 200
const paramsLength = 4096
const depth = 4

/** What a tool is for stands at the beginning of its description. */
const summaryLength = 240

/** How many terms of one part count. Measured: more cost time and find nothing. */
const termsOfPart = 40

/** @internal */
export const fields = ["name", "server", "summary", "rest"] as const

/** @internal */
export type Field = (typeof fields)[number]

/**
 * A term of an index.
 *
 * @internal
 */
export interface Term {
  /** The last document in which it was seen: the documents of one index are counted. */
  seen: number
}

/**
 * The terms of a tool, each where it says most, in the order of `fields`.
 *
 * @internal
 */
export interface SearchDocument<T extends Term> {
  readonly terms: ReadonlyArray<ReadonlyArray<T>>
  /** How many characters were looked at, which is what it took. */
  readonly size: number
}

interface Parameters {
  readonly names: Array<string>
  readonly descriptions: Array<string>
  size: number
}

const parameters = (schema: JsonRpc.JsonObject): Parameters => {
  const found: Parameters = { names: [], descriptions: [], size: 0 }
  const visit = (node: unknown, left: number): void => {
    if (!JsonRpc.isObject(node) || left === 0) return
    const properties = node["properties"]
    if (JsonRpc.isObject(properties)) {
      for (const [name, property] of Object.entries(properties)) {
        if (found.names.length === mostParams || found.size > paramsLength) return
        found.names.push(name.slice(0, nameLength))
        found.size += Math.min(name.length, nameLength)
        if (!JsonRpc.isObject(property)) continue
        const description = property["description"]
        if (typeof description === "string") {
          found.descriptions.push(description.slice(0, paramLength))
          found.size += Math.min(description.length, paramLength)
        }
        visit(property, left - 1)
      }
    }
    visit(node["items"], left - 1)
  }
  visit(schema, depth)
  return found
}

/** The same stretches come again and again. A server with many others only makes this slower. */
const cacheSize = 20_000

/** A word, as the terms of one index. */
interface Known<T extends Term> extends Term {
  readonly terms: ReadonlyArray<T>
}

/**
 * Makes documents for one index, which is told of words when they are met first and has a term for each text.
 *
 * @internal
 */
export const reader = <T extends Term>(
  termOf: (text: string) => T,
  met: (word: Word) => void
): (entry: ToolIndex.Entry) => SearchDocument<T> => {
  let documents = 0
  let found: Array<T> = []
  let end = 0

  const learn = (word: Word): Known<T> => {
    met(word)
    return { terms: word.terms.map(termOf), seen: 0 }
  }

  const isEnough = (word: Known<T>): boolean => {
    if (word.seen === documents) return false
    word.seen = documents
    for (const term of word.terms) {
      if (term.seen === documents) continue
      term.seen = documents
      found.push(term)
    }
    return found.length >= end
  }

  /** Takes the terms of texts until there are enough, and of each what was not there before. */
  const taking = (prose: boolean) => {
    const cache = new Map<string, ReadonlyArray<Known<T>>>()
    const isLast = (run: string): boolean => {
      let words = cache.get(run)
      if (words === undefined) {
        if (cache.size >= cacheSize) cache.clear()
        cache.set(run, words = ofRun(run, prose).map(learn))
      }
      for (const word of words) if (isEnough(word)) return true
      return false
    }
    return (texts: ReadonlyArray<string>): void => {
      end = found.length + termsOfPart
      for (const text of texts) {
        if (found.length >= end) return
        eachRun(text, isLast)
      }
    }
  }

  const names = taking(false)
  const prose = taking(true)

  const taken = (take: () => void): ReadonlyArray<T> => {
    found = []
    take()
    return found
  }

  return ({ server, tool }) => {
    documents += 1
    const description = (tool.description ?? "").slice(0, descriptionLength)
    const title = tool.title ?? tool.annotations.title ?? ""
    const params = parameters(tool.inputSchema)
    const terms: Readonly<Record<Field, ReadonlyArray<T>>> = {
      name: taken(() => {
        names([tool.name.slice(0, nameLength)])
        prose([title.slice(0, nameLength)])
      }),
      server: taken(() => names([server.slice(0, nameLength)])),
      summary: taken(() => prose([description.slice(0, summaryLength)])),
      rest: taken(() => {
        prose([description.slice(summaryLength)])
        names(params.names)
        prose(params.descriptions)
      })
    }
    return { terms: fields.map((field) => terms[field]), size: 100 + description.length + params.size }
  }
}
