/**
 * Tool definitions as they are pinned: their fingerprints, and the differences between two of them.
 *
 * Every field counts, unknown ones included, because a definition is passed on as it came and a later protocol may give a
 * field its meaning. Only `icons` do not: no model and no gate reads them, and signed addresses change with every list.
 */
import { canonicalJson, elements, fields, sha256, staysSchema } from "../json/canonical.ts"
import { isObject } from "../json/Json.ts"
import { pointer } from "../json/schema.ts"
import { visible } from "../text/UntrustedText.ts"
import { once } from "./once.ts"
import type * as Tool from "./Tool.ts"

type Raw = Tool.Tool["raw"]

export interface Fingerprints {
  readonly whole: string
  /** Of everything but the annotations, which a snapshot does not have. */
  readonly bare: string
}

const isSchema = (field: string): boolean => field === "inputSchema" || field === "outputSchema"

const pinned = (raw: Raw): ReadonlyArray<readonly [string, unknown]> =>
  Object.entries(raw).filter(([field, value]) => field !== "icons" && value !== undefined)

/** The text of a definition, to be kept. */
export const written = (raw: Raw): string => canonicalJson(Object.fromEntries(pinned(raw)))

const hashOf = (parts: ReadonlyArray<string>): string => `sha256:${sha256(JSON.stringify(parts))}`

export const fingerprints = once((tool: Tool.Tool): Fingerprints => {
  const body = pinned(tool.raw)
    .filter(([field]) => field !== "annotations")
    .map(([field, value]) => `${JSON.stringify(field)}:${canonicalJson(value, isSchema(field))}`)
    .toSorted()
  // the decoded values are what gates and models read, so they count where they differ from the raw ones
  const { annotations, description, inputSchema, name, outputSchema, raw, taskSupport, title } = tool
  const decoded = canonicalJson({ name, title, description, taskSupport })
  const schemas = [[inputSchema, raw["inputSchema"]], [outputSchema, raw["outputSchema"]]].map(([schema, given]) =>
    schema === given ? "" : canonicalJson(schema, true)
  )
  const bare = hashOf(["tool", ...body, decoded, ...schemas])
  const given = raw["annotations"] === undefined ? "" : canonicalJson(raw["annotations"])
  return { bare, whole: hashOf([bare, given, canonicalJson(annotations)]) }
})

/**
 * The identity (`sha256:…`) of everything that a model or a gate reads of a tool: each field of its definition but its
 * icons. The order of keys makes no difference, nor does that of `required` and `type` in a schema.
 */
export const fingerprint = (tool: Tool.Tool): string => fingerprints(tool).whole

/**
 * One place (a JSON pointer) at which two definitions differ. A long value is cut to the part that differs; `undefined`
 * stands for an absent one. An empty `path` is about the whole definition.
 */
export interface Change {
  readonly path: string
  readonly before: unknown
  readonly after: unknown
  /** The omitted part of the new definition: characters of this value, or a number of whole changes. */
  readonly omitted?: number | undefined
}

/** More changes are counted only. */
const maxChanges = 64

/** Characters of a value. */
const maxLength = 2_048

/** Characters before and after the changed part of a text. */
const context = 64

/** Deeper values are compared as a whole. */
const maxDepth = 32

/** Characters of arrays that are searched for insertions; larger ones are one change. */
const maxAligned = 1024 * 1024

/** Characters of a key. */
const maxKey = 256

const shortened = (key: string): string => key.length <= maxKey ? key : `${key.slice(0, maxKey)}…`

const excess = (length: number, limit: number): number => Math.max(0, length - limit)

const cut = (text: string): string =>
  text.length <= maxLength ? text : `${text.slice(0, maxLength)}… (${text.length - maxLength} more characters)`

const bounded = (value: unknown): { readonly value: unknown; readonly omitted: number } => {
  const isText = typeof value === "string"
  if (!isText && (typeof value !== "object" || value === null)) return { value, omitted: 0 }
  const text = isText ? value : canonicalJson(value)
  const omitted = excess(text.length, maxLength)
  return { value: omitted === 0 ? value : cut(text), omitted }
}

const change = (path: string, before: unknown, after: unknown, omitted: number): Change =>
  omitted === 0 ? { path, before, after } : { path, before, after, omitted }

/** A change of two values, both bounded; `key` is a new one, of which a long rest is omitted too. */
const changed = (path: string, before: unknown, after: unknown, key = ""): Change => {
  const now = bounded(after)
  const omitted = after === undefined ? 0 : now.omitted + excess(key.length, maxKey)
  return change(path, bounded(before).value, now.value, omitted)
}

/** The parts of two texts that differ, because an insertion at the end of a long description must be seen. */
const changedText = (path: string, before: string, after: string): Change => {
  if (before.length <= maxLength && after.length <= maxLength) return { path, before, after }
  const shorter = Math.min(before.length, after.length)
  let start = 0
  while (start < shorter && before[start] === after[start]) start++
  let end = 0
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end++
  const from = Math.max(0, start - context)
  const range = (text: string): string => text.slice(from, Math.min(text.length, text.length - end + context))
  const part = (text: string): string => `${from === 0 ? "" : "…"}${cut(range(text))}${end <= context ? "" : "…"}`
  return change(path, part(before), part(after), excess(range(after).length, maxLength))
}

type Fields = ReadonlyArray<readonly [string, unknown]>

/**
 * All differences of two definitions, in the order of their places; none if they have one fingerprint. Of very many
 * changes, the last element counts the rest.
 */
export const diff = (before: Raw, after: Raw): ReadonlyArray<Change> => {
  const changes: Array<Change> = []
  let unlisted = 0
  let aligned = 0
  const add = (change: Change): void => {
    if (changes.length < maxChanges) changes.push(change)
    else unlisted++
  }

  const compare = (
    path: string,
    before: unknown,
    after: unknown,
    schema: boolean,
    key: string | undefined,
    depth: number
  ): void => {
    if (typeof before === "string" && typeof after === "string") {
      if (before !== after) add(changedText(path, before, after))
    } else if (depth < maxDepth && Array.isArray(before) && Array.isArray(after)) {
      compareArrays(path, elements(key, before, schema), elements(key, after, schema), schema, depth + 1)
    } else if (depth < maxDepth && isObject(before) && isObject(after)) {
      compareFields(path, fields(before), fields(after), (key) => schema && staysSchema(key), depth + 1)
    } else if (canonicalJson(before, schema, key) !== canonicalJson(after, schema, key)) {
      add(changed(path, before, after))
    }
  }

  const compareFields = (
    path: string,
    before: Fields,
    after: Fields,
    schema: (key: string) => boolean,
    depth: number
  ): void => {
    const then = new Map(before)
    const now = new Map(after)
    for (const key of Array.from(new Set([...then.keys(), ...now.keys()])).toSorted()) {
      const at = pointer(path, shortened(key))
      if (!then.has(key)) add(changed(at, undefined, now.get(key), key))
      else if (!now.has(key)) add(changed(at, then.get(key), undefined))
      else compare(at, then.get(key), now.get(key), schema(key), key, depth)
    }
  }

  /** Arrays are aligned at both ends, so that an insertion is one change. */
  const compareArrays = (
    path: string,
    before: ReadonlyArray<unknown>,
    after: ReadonlyArray<unknown>,
    schema: boolean,
    depth: number
  ): void => {
    const shorter = Math.min(before.length, after.length)
    let start = 0
    let end = 0
    if (before.length !== after.length) {
      const [then, now] = [before, after].map((all) => all.map((each) => canonicalJson(each, schema)))
      for (const text of [...then!, ...now!]) aligned += text.length
      if (aligned > maxAligned) return add(changed(path, before, after))
      while (start < shorter && then![start] === now![start]) start++
      while (end < shorter - start && then!.at(-1 - end) === now!.at(-1 - end)) end++
    }
    const both = shorter - end
    for (let at = start; at < both; at++) compare(pointer(path, at), before[at], after[at], schema, undefined, depth)
    for (let at = both; at < before.length - end; at++) add(changed(pointer(path, at), before[at], undefined))
    for (let at = both; at < after.length - end; at++) add(changed(pointer(path, at), undefined, after[at]))
  }

  compareFields("", pinned(before), pinned(after), isSchema, 0)
  return unlisted === 0 ? changes : [...changes, change("", undefined, `${unlisted} more changes`, unlisted)]
}

/** One line for each change, for a person to decide by: safe to print, with hidden characters made visible. */
export const render = (changes: ReadonlyArray<Change>): ReadonlyArray<string> =>
  changes.map(({ after, before, path }) => {
    const place = path === "" ? "the definition" : visible(JSON.stringify(path))
    // not cut again, because every escape must stay visible
    const [was, is] = [before, after].map((value) => visible(canonicalJson(value)))
    if (before === undefined) return `${place} is new: ${is}`
    if (after === undefined) return `${place} is removed: ${was}`
    return `${place} was ${was} and is ${is}`
  })
