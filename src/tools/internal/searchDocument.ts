/**
 * What of a tool is looked at in a search: all of it is a server's, so all of it is bounded.
 *
 * @internal
 */
import { subschemas } from "../../json/schema.ts"
import * as JsonRpc from "../../transport/JsonRpc.ts"
import type * as ToolIndex from "../ToolIndex.ts"
import { recognizing } from "./searchRuns.ts"
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

const upTo = (text: string, length: number): string => text.length > length ? text.slice(0, length) : text

interface Parameters {
  readonly names: Array<string>
  readonly descriptions: Array<string>
  size: number
}

const parameters = (schema: JsonRpc.JsonObject): Parameters => {
  const found: Parameters = { names: [], descriptions: [], size: 0 }
  const visit = (node: unknown, left: number): void => {
    if (!JsonRpc.isObject(node) || left === 0) return
    for (const { keyword, name, schema } of subschemas(node)) {
      if (keyword === "properties" && name !== undefined) {
        if (found.names.length === mostParams || found.size > paramsLength) return
        const description = JsonRpc.isObject(schema) ? schema["description"] : undefined
        found.names.push(upTo(name, nameLength))
        found.size += Math.min(name.length, nameLength)
        if (typeof description === "string") {
          found.descriptions.push(upTo(description, paramLength))
          found.size += Math.min(description.length, paramLength)
        }
      }
      if (keyword === "properties" || keyword === "items") visit(schema, left - 1)
    }
  }
  visit(schema, depth)
  return found
}

/** A stretch of a text, as the terms of one index. Most have one, and many none, whose list is not looked at. */
interface Known<T extends Term> extends Term {
  readonly terms: ReadonlyArray<T>
  readonly size: number
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
  // one list for all parts, of which each keeps a copy without room to grow
  const found: Array<T> = []
  let count = 0
  let end = 0

  const learn = (words: ReadonlyArray<Word>): Known<T> => {
    const terms: Array<T> = []
    for (const word of words) {
      met(word)
      for (const term of word.terms) terms.push(termOf(term))
    }
    return { terms, size: terms.length, seen: 0 }
  }

  /** Takes the terms of texts until there are enough, and of each what was not there before. */
  const taking = (prose: boolean) => {
    const known = recognizing((run) => learn(ofRun(run, prose)))
    const isLast = (text: string, from: number, to: number, hash: number): boolean => {
      const run = known(text, from, to, hash)
      if (run.seen === documents) return false
      run.seen = documents
      for (let at = 0; at < run.size; at++) {
        const term = run.terms[at]!
        if (term.seen === documents) continue
        term.seen = documents
        found[count++] = term
      }
      return count >= end
    }
    return (texts: ReadonlyArray<string>): void => {
      end = count + termsOfPart
      for (const text of texts) {
        if (count >= end) return
        eachRun(text, isLast)
      }
    }
  }

  const names = taking(false)
  const prose = taking(true)

  const taken = (take: () => void): ReadonlyArray<T> => {
    count = 0
    take()
    return found.slice(0, count)
  }

  return ({ server, tool }) => {
    documents += 1
    const description = upTo(tool.description ?? "", descriptionLength)
    const title = tool.title ?? tool.annotations.title ?? ""
    const params = parameters(tool.inputSchema)
    const terms: Readonly<Record<Field, ReadonlyArray<T>>> = {
      name: taken(() => {
        names([upTo(tool.name, nameLength)])
        prose([upTo(title, nameLength)])
      }),
      server: taken(() => names([upTo(server, nameLength)])),
      summary: taken(() => prose([upTo(description, summaryLength)])),
      rest: taken(() => {
        prose([description.slice(summaryLength)])
        names(params.names)
        prose(params.descriptions)
      })
    }
    return { terms: fields.map((field) => terms[field]), size: 100 + description.length + params.size }
  }
}
