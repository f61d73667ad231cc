/**
 * YAML 1.2 (core schema) as maps, made of the parser's events one by one.
 *
 * @internal
 */
import {
  type AliasEvent,
  EVENT_ID,
  getScalarValue,
  type MappingEvent,
  SCALAR_STYLE,
  type ScalarEvent,
  type SequenceEvent
} from "js-yaml"
import type * as ConfigDocument from "../../ConfigDocument.ts"
import { DocumentFault, lines, name, type Parse, wellFormed } from "./parsed.ts"
import * as Positions from "./positions.ts"
import * as YamlEvents from "./yamlEvents.ts"
import * as YamlScalar from "./yamlScalar.ts"

/** How often what stands for other aliases may be multiplied with itself. */
const maxExpansion = 50

/** What the parser has for an offset where there is nothing. */
const absent = -1

/** Every line that begins with one of these ends a document, or begins one. */
const documentMark = /(?:^|[\r\n])(?:---|\.\.\.)(?=\s|$)/g

/** Tags that say of a text that it is no text. What others say is not for us. */
const coreTag = /^!(?:!|<tag:yaml\.org,2002:)(?:null|bool|int|float)>?$/

/** An escape of what is no character. */
const noCharacter = /(?:^|[^\\])(?:\\\\)*\\U(?!00(?:0[\dA-Fa-f]|10))/

/** What an anchor names, and how much more there is each time that it is named again. */
interface Anchored {
  readonly value: ConfigDocument.Value
  readonly entries: number
  readonly expansions: number
  readonly height: number
  uses: number
}

type Node = ScalarEvent | SequenceEvent | MappingEvent | AliasEvent

/** @internal */
export const parse: Parse = (text, { maxDepth, maxEntries }) => {
  const lineAt = lines(text)
  const events = YamlEvents.read(text, maxDepth, lineAt)
  const anchors = new Map<string, Anchored | "open">()
  let next = 0
  let offset = 0
  let entries = 0
  let expansions = 0
  let deepest = 0
  let positions = Positions.make(0)

  const line = () => lineAt(offset)
  const fail = (kind: DocumentFault["kind"], detail: string): never => {
    throw new DocumentFault(kind, detail, line())
  }

  /** Nothing at all is where the last node was. */
  const offsetOf = (event: Node): number => {
    switch (event.type) {
      case EVENT_ID.ALIAS:
        return event.anchorStart
      case EVENT_ID.SCALAR:
        if (event.valueStart === absent) return Math.max(event.anchorStart, event.tagStart, offset)
        // a block begins below the mark that says so
        return event.style === SCALAR_STYLE.LITERAL_BLOCK || event.style === SCALAR_STYLE.FOLDED_BLOCK
          ? event.valueStart - 1
          : event.valueStart
      default:
        return event.start
    }
  }

  const take = (): Node => {
    const event = events[next++]
    if (event === undefined || event.type === EVENT_ID.POP || event.type === EVENT_ID.DOCUMENT) {
      return fail("syntax", "no YAML")
    }
    offset = offsetOf(event)
    return event
  }

  const isMore = (): boolean => next < events.length && events[next]?.type !== EVENT_ID.POP

  const count = (more: number) => {
    entries += more
    if (entries > maxEntries) fail("too-many-entries", `more than ${maxEntries}`)
  }
  const reach = (depth: number) => {
    if (depth > maxDepth) fail("nesting-too-deep", `more than ${maxDepth} levels`)
    deepest = Math.max(deepest, depth)
  }

  const alias = (event: AliasEvent, depth: number): ConfigDocument.Value => {
    const anchored = anchors.get(text.slice(event.anchorStart, event.anchorEnd))
    if (anchored === undefined) return fail("syntax", "an alias without its anchor")
    if (anchored === "open") return fail("alias-limit", "an alias inside of what it stands for")
    expansions += 1 + anchored.expansions
    if (++anchored.uses * anchored.expansions > maxExpansion || entries + anchored.entries > maxEntries) {
      fail("alias-limit", "aliases of aliases make too much of too little")
    }
    entries += anchored.entries
    reach(depth + anchored.height - 1)
    return anchored.value
  }

  const written = (event: ScalarEvent): string => {
    const value = getScalarValue(text, event)
    if (event.style !== SCALAR_STYLE.DOUBLE_QUOTED || event.fast) return value
    if (noCharacter.test(text.slice(event.valueStart, event.valueEnd))) fail("syntax", "an escape of no character")
    return wellFormed(value)
  }

  const scalar = (event: ScalarEvent): ConfigDocument.Value => {
    const value = written(event)
    const isBare = event.tagStart === absent
      ? event.style === SCALAR_STYLE.PLAIN
      : coreTag.test(text.slice(event.tagStart, event.tagEnd))
    return isBare ? YamlScalar.meant(value, line) : value
  }

  const table = (depth: number): ConfigDocument.Table => {
    const made = new Map<string, ConfigDocument.Value>()
    const offsets: Array<number> = []
    while (isMore()) {
      const event = take()
      count(1)
      if (event.type !== EVENT_ID.SCALAR) return fail("syntax", "a name that is no text")
      // as it is written: 1.10 is no number where it is a name
      const key = name(written(event), line)
      if (made.has(key)) fail("syntax", "a name that is there twice")
      offsets.push(offset)
      made.set(key, convert(take(), depth + 1))
    }
    next++
    positions.set(made, offsets)
    return made
  }

  const list = (depth: number): ReadonlyArray<ConfigDocument.Value> => {
    const made: Array<ConfigDocument.Value> = []
    const offsets: Array<number> = []
    while (isMore()) {
      const event = take()
      count(1)
      offsets.push(offset)
      made.push(convert(event, depth + 1))
    }
    next++
    positions.set(made, offsets)
    return made
  }

  const plain = (event: Exclude<Node, AliasEvent>, depth: number): ConfigDocument.Value => {
    if (event.type === EVENT_ID.SCALAR) return scalar(event)
    reach(depth)
    return event.type === EVENT_ID.MAPPING ? table(depth) : list(depth)
  }

  const convert = (event: Node, depth: number): ConfigDocument.Value => {
    if (event.type === EVENT_ID.ALIAS) return alias(event, depth)
    if (event.anchorStart === absent) return plain(event, depth)
    const anchor = text.slice(event.anchorStart, event.anchorEnd)
    const before = { entries, expansions, deepest }
    anchors.set(anchor, "open")
    deepest = depth - 1
    const value = plain(event, depth)
    anchors.set(anchor, {
      value,
      entries: entries - before.entries,
      expansions: expansions - before.expansions,
      height: deepest - depth + 1,
      uses: 0
    })
    deepest = Math.max(deepest, before.deepest)
    return value
  }

  const document = (): ConfigDocument.Value | undefined => {
    const event = events[next++]
    if (event?.type !== EVENT_ID.DOCUMENT) return undefined
    if (event.explicitStart) offset = text.indexOf("---") + 3
    const first = take()
    positions = Positions.make(offset)
    const isNothing = first.type === EVENT_ID.SCALAR && first.valueStart === absent && first.tagStart === absent
    const value = isNothing ? undefined : convert(first, 1)
    if (++next === events.length) return value
    documentMark.lastIndex = offset
    offset = (documentMark.exec(text)?.index ?? offset) + 1
    return fail("syntax", "more than one document")
  }

  const root = document()
  return {
    root,
    warnings: [],
    line: (pointer) => {
      const found = positions.find(root, pointer)
      return found === undefined ? undefined : lineAt(found)
    }
  }
}
