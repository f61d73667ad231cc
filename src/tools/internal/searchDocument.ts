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
const termsOfPart = 64

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

const names = (schema: JsonRpc.JsonObject): { readonly names: string; readonly prose: string } => {
  let count = 0
  let names = ""
  let prose = ""
  const visit = (node: unknown, left: number): void => {
    if (!JsonRpc.isObject(node) || left === 0) return
    const properties = node["properties"]
    if (JsonRpc.isObject(properties)) {
      for (const [name, property] of Object.entries(properties)) {
        if (count === params || names.length + prose.length > paramsLength) return
        count += 1
        names += `${name.slice(0, nameLength)} `
        if (!JsonRpc.isObject(property)) continue
        const description = property["description"]
        if (typeof description === "string") prose += `${description.slice(0, paramLength)} `
        visit(property, left - 1)
      }
    }
    visit(node["items"], left - 1)
  }
  visit(schema, depth)
  return { names, prose }
}

/** Takes the words of a text until there are enough, and of each what was not there before. */
const take = (
  text: ReadonlyArray<ReadonlyArray<Word>>,
  words: Set<Word>,
  seen: Set<string>,
  meanings: boolean,
  found: Array<string>
): void => {
  const end = found.length + termsOfPart
  for (const run of text) {
    for (const word of run) {
      if (words.has(word)) continue
      words.add(word)
      for (const term of meanings ? word.terms : [word.stem]) {
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
  const terms = (meanings: boolean, ...parts: ReadonlyArray<ReadonlyArray<ReadonlyArray<Word>>>) => {
    const found: Array<string> = []
    for (const part of parts) take(part, words, seen, meanings, found)
    return found
  }
  const description = (tool.description ?? "").slice(0, descriptionLength)
  const title = tool.title ?? tool.annotations.title ?? ""
  const { names: paramNames, prose } = names(tool.inputSchema)
  return {
    terms: {
      name: terms(true, ofName(tool.name.slice(0, nameLength)), ofProse(title.slice(0, nameLength))),
      server: terms(true, ofName(server.slice(0, nameLength))),
      summary: terms(true, ofProse(description.slice(0, summaryLength))),
      rest: terms(true, ofProse(description.slice(summaryLength)), ofName(paramNames), ofProse(prose))
    },
    words,
    size: 100 + description.length + paramNames.length + prose.length
  }
}
