/**
 * What is not the same in two definitions, place by place, cut to what a person can look at.
 *
 * @internal
 */
import { canonicalJson, elements, fields, staysSchema } from "../../../json/canonical.ts"
import { visible } from "../../../text/UntrustedText.ts"
import type * as Tool from "../../Tool.ts"
import type * as ToolPins from "../../ToolPins.ts"
import { isSchema, pinned } from "./fingerprinting.ts"

/** More are counted, and not told. */
const maxChanges = 64

/** Characters of a value. */
const maxLength = 2_048

/** What stands before and after the part of a text that has changed. */
const around = 64

/** Deeper values are compared as a whole. */
const maxDepth = 32

/** Characters of lists that are looked through for what was put in or taken out; of more it is only told that they differ. */
const maxAligned = 1024 * 1024

type Change = ToolPins.Change

/** Characters of a key; what has a longer one is found by its beginning. */
const maxKey = 256

const pointer = (path: string, key: string | number): string => {
  const name = String(key)
  const shown = name.length <= maxKey ? name : `${name.slice(0, maxKey)}…`
  return `${path}/${shown.replaceAll("~", "~0").replaceAll("/", "~1")}`
}

const excess = (length: number, limit: number): number => Math.max(0, length - limit)

const lengthOf = (texts: ReadonlyArray<string>): number => texts.reduce((sum, text) => sum + text.length, 0)

const cut = (text: string): string =>
  text.length <= maxLength ? text : `${text.slice(0, maxLength)}… (${text.length - maxLength} more characters)`

const bounded = (value: unknown): unknown => {
  if (typeof value === "string") return cut(value)
  if (typeof value !== "object" || value === null) return value
  const text = canonicalJson(value)
  return text.length <= maxLength ? value : cut(text)
}

const textLength = (value: unknown): number =>
  typeof value === "string"
    ? value.length
    : typeof value === "object" && value !== null
    ? canonicalJson(value).length
    : 0

/** One change, both values bounded. A key of more than `maxKey` characters is left out like a value that is too long. */
const change = (path: string, before: unknown, after: unknown, key = ""): Change => {
  const omitted = after === undefined ? 0 : excess(textLength(after), maxLength) + excess(key.length, maxKey)
  return { path, before: bounded(before), after: bounded(after), ...(omitted === 0 ? {} : { omitted }) }
}

/** The parts of two texts that differ: what was put at the end of a long description must be seen. */
const texts = (path: string, before: string, after: string): Change => {
  if (before.length <= maxLength && after.length <= maxLength) return { path, before, after }
  const shorter = Math.min(before.length, after.length)
  let start = 0
  while (start < shorter && before[start] === after[start]) start++
  let end = 0
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end++
  const from = Math.max(0, start - around)
  const range = (text: string): string => text.slice(from, Math.min(text.length, text.length - end + around))
  const part = (text: string): string => `${from === 0 ? "" : "…"}${cut(range(text))}${end <= around ? "" : "…"}`
  const omitted = excess(range(after).length, maxLength)
  return { path, before: part(before), after: part(after), ...(omitted === 0 ? {} : { omitted }) }
}

const isFields = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value)

class Comparison {
  readonly changes: Array<Change> = []
  untold = 0
  #aligned = 0

  add(change: Change): void {
    if (this.changes.length < maxChanges) this.changes.push(change)
    else this.untold++
  }

  /** Two values of which it is not known whether they differ. Each part of them is looked at once, or hardly more. */
  compare(
    path: string,
    before: unknown,
    after: unknown,
    schema: boolean,
    key: string | undefined,
    depth: number
  ): void {
    if (typeof before === "string" && typeof after === "string") {
      if (before !== after) this.add(texts(path, before, after))
    } else if (depth < maxDepth && Array.isArray(before) && Array.isArray(after)) {
      this.#arrays(path, elements(key, before, schema), elements(key, after, schema), schema, depth + 1)
    } else if (depth < maxDepth && isFields(before) && isFields(after)) {
      this.fields(path, fields(before), fields(after), (key) => schema && staysSchema(key), depth + 1)
    } else if (canonicalJson(before, schema, key) !== canonicalJson(after, schema, key)) {
      this.add(change(path, before, after))
    }
  }

  fields(
    path: string,
    before: ReadonlyArray<readonly [string, unknown]>,
    after: ReadonlyArray<readonly [string, unknown]>,
    schema: (key: string) => boolean,
    depth: number
  ): void {
    const then = new Map(before)
    const now = new Map(after)
    for (const key of Array.from(new Set([...then.keys(), ...now.keys()])).toSorted()) {
      const at = pointer(path, key)
      if (!then.has(key)) this.add(change(at, undefined, now.get(key), key))
      else if (!now.has(key)) this.add(change(at, then.get(key), undefined))
      else this.compare(at, then.get(key), now.get(key), schema(key), key, depth)
    }
  }

  /** What one array has in front and at the end of what is the same moves nothing else. */
  #arrays(
    path: string,
    before: ReadonlyArray<unknown>,
    after: ReadonlyArray<unknown>,
    schema: boolean,
    depth: number
  ): void {
    const shorter = Math.min(before.length, after.length)
    let start = 0
    let end = 0
    if (before.length !== after.length) {
      const then = before.map((each) => canonicalJson(each, schema))
      const now = after.map((each) => canonicalJson(each, schema))
      this.#aligned += lengthOf(then) + lengthOf(now)
      if (this.#aligned > maxAligned) return this.add(change(path, before, after))
      while (start < shorter && then[start] === now[start]) start++
      while (end < shorter - start && then.at(-1 - end) === now.at(-1 - end)) end++
    }
    const both = shorter - start - end
    for (let at = start; at < start + both; at++) {
      this.compare(pointer(path, at), before[at], after[at], schema, undefined, depth)
    }
    for (let at = start + both; at < before.length - end; at++) {
      this.add(change(pointer(path, at), before[at], undefined))
    }
    for (let at = start + both; at < after.length - end; at++) {
      this.add(change(pointer(path, at), undefined, after[at]))
    }
  }
}

/** @internal */
export const diff = (before: Tool.Tool["raw"], after: Tool.Tool["raw"]): ReadonlyArray<Change> => {
  const comparison = new Comparison()
  comparison.fields("", pinned(before), pinned(after), isSchema, 0)
  const { changes, untold } = comparison
  return untold === 0
    ? changes
    : [...changes, { path: "", before: undefined, after: `${untold} more changes`, omitted: untold }]
}

/** Not cut again, because the values are bounded and every escape must stay visible. */
const value = (of: unknown): string => visible(canonicalJson(of))

/** @internal */
export const render = (changes: ReadonlyArray<Change>): ReadonlyArray<string> =>
  changes.map(({ after, before, path }) => {
    const place = path === "" ? "all of it" : visible(JSON.stringify(path))
    if (before === undefined) return `${place} is new: ${value(after)}`
    if (after === undefined) return `${place} is gone: ${value(before)}`
    return `${place} was ${value(before)} and is ${value(after)}`
  })
