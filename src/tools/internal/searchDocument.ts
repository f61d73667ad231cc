/**
 * What of a tool is looked at in a search: all of it is a server's, so all of it is bounded.
 *
 * @internal
 */
import * as JsonRpc from "../../transport/JsonRpc.ts"
import type * as ToolIndex from "../ToolIndex.ts"
import { ofName, ofProse, type Word } from "./searchTerms.ts"

const nameLength = 128
const descriptionLength = 4096
const params = 200
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
 * The terms of a tool, each where it says most, and its words as they are written, for what is misspelled.
 *
 * @internal
 */
export interface SearchDocument {
  readonly terms: Readonly<Record<Field, ReadonlyArray<string>>>
  readonly words: ReadonlySet<Word>
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
        if (found.names.length === params || found.size > paramsLength) return
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

type Text = ReadonlyArray<Word>

/** Takes the words of texts until there are enough, and of each what was not there before. */
const take = (
  texts: ReadonlyArray<Text>,
  words: Set<Word>,
  seen: Set<string>,
  found: Array<string>
): void => {
  const end = found.length + termsOfPart
  for (const text of texts) {
    for (const word of text) {
      if (words.has(word)) continue
      words.add(word)
      for (const term of word.terms) {
        if (seen.has(term)) continue
        seen.add(term)
        found.push(term)
      }
      if (found.length >= end) return
    }
  }
}

/** @internal */
export const document = ({ server, tool }: ToolIndex.Entry): SearchDocument => {
  const words = new Set<Word>()
  const seen = new Set<string>()
  const terms = (...parts: ReadonlyArray<ReadonlyArray<Text>>): ReadonlyArray<string> => {
    const found: Array<string> = []
    for (const texts of parts) take(texts, words, seen, found)
    return found
  }
  const description = (tool.description ?? "").slice(0, descriptionLength)
  const title = tool.title ?? tool.annotations.title ?? ""
  const { descriptions, names, size } = parameters(tool.inputSchema)
  return {
    terms: {
      name: terms([ofName(tool.name.slice(0, nameLength))], [ofProse(title.slice(0, nameLength))]),
      server: terms([ofName(server.slice(0, nameLength))]),
      summary: terms([ofProse(description.slice(0, summaryLength))]),
      rest: terms([ofProse(description.slice(summaryLength))], names.map(ofName), descriptions.map(ofProse))
    },
    words,
    size: 100 + description.length + size
  }
}
