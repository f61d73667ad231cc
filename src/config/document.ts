/**
 * Configuration files as data: JSON with comments, TOML and YAML in one shape, with the line of each part. Size, depth,
 * entries and aliases are bounded before a parser recurses, and tables are maps, so that no key reaches a prototype.
 */
import * as Effect from "effect/Effect"
import * as UntrustedText from "../text/UntrustedText.ts"
import type * as ConfigIssue from "./ConfigIssue.ts"

/** `json`: a host that takes no comments and no trailing commas; they are read, with a warning. */
export type Format = "json" | "jsonc" | "toml" | "yaml"

export type Table = ReadonlyMap<string, Value>

/** `Date` is a date of TOML; a `bigint` is an integer beyond 2^53. */
export type Value = null | boolean | number | bigint | string | Date | ReadonlyArray<Value> | Table

/** The way from the top of a document to a part of it. */
export type Pointer = ReadonlyArray<string | number>

/** Where a part begins, from 1. TOML has no columns. */
export interface Position {
  readonly line: number | undefined
  readonly column: number | undefined
}

/** A fault or a warning about the whole file, without its path. */
export interface DocumentIssue extends Partial<Position> {
  readonly kind: ConfigIssue.FileFault | ConfigIssue.Warning
  readonly severity: "error" | "warning"
  /** For duplicate keys: the keys from the top, with `/` between (`mcpServers/a/command`). */
  readonly at?: string | undefined
  /** Text of this module: it quotes nothing of the file, because a secret may be next to a fault. */
  readonly detail?: string | undefined
}

export interface Document {
  /** Absent when an issue is an error: half a file is never used, because it may have lost a deny list. */
  readonly root: Table | undefined
  readonly issues: ReadonlyArray<DocumentIssue>
  /** Where a part begins; unknown for the parts of a value in TOML. */
  readonly position: (pointer: Pointer) => Position | undefined
}

export interface Limits {
  readonly maxBytes: number
  readonly maxDepth: number
  /** The members of all tables and lists of the file, counted together. */
  readonly maxEntries: number
}

const json: Limits = { maxBytes: 16 * 1024 * 1024, maxDepth: 64, maxEntries: 250_000 }
/** The parsers of TOML and YAML are slower, so fewer bytes are as much work. */
const slow: Limits = { maxBytes: 2 * 1024 * 1024, maxDepth: 64, maxEntries: 100_000 }

export const defaults: { readonly [F in Format]: Limits } = { json, jsonc: json, toml: slow, yaml: slow }

/** A longer name of a table or field is an attack on what shows or compares it. */
const maxName = 8192
/** Longer numbers take more than linear time to read. */
export const maxDigits = 1000
/** Each duplicate is a warning to keep. */
const maxDuplicates = 1000
/** Every text is searched for variables several times. */
const maxVariables = 100_000
const maxBraces = 300_000

/** Thrown by the parsers, and caught in `read`. */
export class Fault extends Error {
  readonly kind: ConfigIssue.FileFault
  readonly detail: string
  readonly position: Position | undefined
  constructor(kind: ConfigIssue.FileFault, detail: string, position?: Position) {
    super(detail)
    this.kind = kind
    this.detail = detail
    this.position = position
  }
}

export const lineBreak = /\r\n?|\n/

const positionAt = (text: string, offset: number): Position => {
  const lines = text.slice(0, offset).split(lineBreak)
  return { line: lines.length, column: lines.at(-1)!.length + 1 }
}

/** Escapes can spell halves of characters, which UTF-8 cannot. */
export const wellFormed = (text: string): string => text.replace(/\p{Surrogate}/gu, "\ufffd")

/** A number as it is written: exact, if it is a decimal integer. */
export const number = (text: string, position: Position | undefined): number | bigint => {
  if (text.length > maxDigits) throw new Fault("syntax", `a number of more than ${maxDigits} digits`, position)
  const value = Number(text)
  return !Number.isSafeInteger(value) && /^[-+]?\d+$/.test(text) ? BigInt(text) : value
}

export type Container = Map<string, Value> | Array<Value>

/** The parts of one document while they are read: their positions, their warnings, and how many they are. */
export class Tree {
  readonly limits: Limits
  readonly warnings: Array<DocumentIssue> = []
  entries = 0
  /** Of the root. */
  position: Position = { line: 1, column: 1 }
  readonly #positions = new Map<unknown, Map<string | number, Position>>()

  constructor(limits: Limits) {
    this.limits = limits
  }

  enter(depth: number, at?: Position): void {
    if (depth > this.limits.maxDepth) {
      throw new Fault("nesting-too-deep", `more than ${this.limits.maxDepth} levels`, at)
    }
  }

  put(container: Container, key: string, value: Value, at?: Position): void {
    if (++this.entries > this.limits.maxEntries) {
      throw new Fault("too-many-entries", `more than ${this.limits.maxEntries}`, at)
    }
    if (at !== undefined) this.mark(container, Array.isArray(container) ? container.length : key, at)
    if (Array.isArray(container)) container.push(value)
    else if (key.length <= maxName) container.set(key, value)
    else throw new Fault("syntax", `a name of more than ${maxName} characters`, at)
  }

  mark(container: Value, key: string | number, at: Position): void {
    const known = this.#positions.get(container)
    if (known === undefined) this.#positions.set(container, new Map([[key, at]]))
    else known.set(key, at)
  }

  positionOf(container: Value, key: string | number): Position | undefined {
    return this.#positions.get(container)?.get(key)
  }
}

export const member = (value: Value | undefined, key: string | number): Value | undefined => {
  if (value instanceof Map) return value.get(String(key))
  return Array.isArray(value) && typeof key === "number" ? value[key] : undefined
}

/** Reads a text into a tree; nothing, if there is nothing but space and comments. */
export type Parse = (text: string, tree: Tree, format: Format) => Value | undefined

/** `visit` recurses once per level and is stopped by what its visitor throws: at a level too many, or at the first error. */
const loadJson = async (): Promise<Parse> => {
  const { printParseErrorCode, visit } = await import("jsonc-parser")
  return (text, tree, format) => {
    const open: Array<Container> = []
    const duplicates = new Set<string>()
    let key = ""
    let keyAt: Position | undefined
    let root: Value | undefined
    let comma: Position | undefined
    let lenient: Position | undefined

    // the positions that it tells begin at 0
    const position = (line: number, character: number): Position => ({ line: line + 1, column: character + 1 })
    const put = (value: Value, line: number, character: number): void => {
      const container = open.at(-1)
      comma = undefined
      if (container instanceof Map) tree.put(container, key, value, keyAt)
      else if (container !== undefined) tree.put(container, key, value, position(line, character))
      else [root, tree.position] = [value, position(line, character)]
    }
    const begin = (container: Container, line: number, character: number): void => {
      tree.enter(open.length + 1, position(line, character))
      put(container, line, character)
      open.push(container)
    }
    const end = (): void => {
      lenient ??= comma
      comma = undefined
      open.pop()
    }
    visit(text, {
      onObjectBegin: (_offset, _length, line, character) => begin(new Map(), line, character),
      onArrayBegin: (_offset, _length, line, character) => begin([], line, character),
      onObjectEnd: end,
      onArrayEnd: end,
      onObjectProperty: (written, _offset, _length, line, character, pathOf) => {
        const table = open.at(-1)
        key = wellFormed(written)
        keyAt = position(line, character)
        comma = undefined
        if (!(table instanceof Map) || !table.has(key)) return
        const at = UntrustedText.excerpt([...pathOf(), key].join("/"))
        if (duplicates.has(at)) return
        duplicates.add(at)
        if (duplicates.size > maxDuplicates) {
          throw new Fault("syntax", `more than ${maxDuplicates} duplicate names`, keyAt)
        }
        tree.warnings.push({ kind: "duplicate-key", severity: "warning", at, ...keyAt })
      },
      onLiteralValue: (value, offset, length, line, character) => {
        const read = typeof value === "number"
          ? number(text.slice(offset, offset + length), position(line, character))
          : value
        put(typeof read === "string" ? wellFormed(read) : read, line, character)
      },
      onSeparator: (mark, _offset, _length, line, character) => {
        if (mark === ",") comma = position(line, character)
      },
      onComment: (_offset, _length, line, character) => {
        lenient ??= position(line, character)
      },
      onError: (code, offset, _length, line, character) => {
        const name = printParseErrorCode(code).replace(/\B[A-Z]/g, " $&").toLowerCase()
        throw new Fault("syntax", offset < text.length ? name : "the file ends unexpectedly", position(line, character))
      }
    }, { allowTrailingComma: true, allowEmptyContent: true })
    if (format === "json" && lenient !== undefined) {
      tree.warnings.unshift({ kind: "jsonc-in-strict-json", severity: "warning", ...lenient })
    }
    return root
  }
}

/** A detail of two formats, for their most common fault. */
export const backslash = "a backslash in double quotes begins an escape: write paths in single quotes"

/** Each parser is loaded when the first file of its format is read. */
const parsers: { readonly [F in Format]: () => Promise<Parse> } = {
  json: loadJson,
  jsonc: loadJson,
  toml: () => import("./toml.ts").then(({ parse }) => parse),
  yaml: () => import("./yaml.ts").then(({ parse }) => parse)
}

const occursMore = (text: string, mark: string, most: number): boolean => {
  let count = 0
  for (let at = text.indexOf(mark); at !== -1; at = text.indexOf(mark, at + 1)) if (++count > most) return true
  return false
}

const utf8 = new TextDecoder("utf-8", { fatal: true })

const textOf = (bytes: Uint8Array): string => {
  let text: string | undefined
  try {
    text = utf8.decode(bytes)
  } catch {
    text = undefined
  }
  // UTF-16 has NUL characters, and so has binary data
  if (text === undefined || text.includes("\0")) throw new Fault("encoding", "not UTF-8: save it as UTF-8")
  if (occursMore(text, "$", maxVariables) || occursMore(text, "{", maxBraces)) {
    throw new Fault("too-many-entries", `more than ${maxVariables} variables`)
  }
  return text
}

const faultOf = (error: unknown, text: string): Fault => {
  const fault = error instanceof Fault ? error : new Fault("syntax", "the parser failed")
  // a merge that is not finished explains any fault
  const conflict = fault.kind === "syntax" ? text.search(/^(?:<{7}|>{7})(?: |$)/m) : -1
  return conflict === -1
    ? fault
    : new Fault("syntax", "it contains merge conflict markers", positionAt(text, conflict))
}

const failed = (warnings: ReadonlyArray<DocumentIssue>, { detail, kind, position }: Fault): Document => ({
  root: undefined,
  issues: [...warnings, { kind, severity: "error", ...position, detail: UntrustedText.excerpt(detail) }],
  position: () => undefined
})

const read = (bytes: Uint8Array, format: Format, parse: Parse, limits: Limits): Document => {
  const hasMark = [0xef, 0xbb, 0xbf].every((byte, at) => bytes[at] === byte)
  const before: ReadonlyArray<DocumentIssue> = hasMark ? [{ kind: "bom-stripped", severity: "warning" }] : []
  const tree = new Tree(limits)
  let text = ""
  let root: Value | undefined
  try {
    text = textOf(bytes)
    root = parse(text, tree, format)
  } catch (error) {
    return failed(before, faultOf(error, text))
  }
  const issues = [...before, ...tree.warnings]
  if (root !== undefined && !(root instanceof Map)) {
    return failed(issues, new Fault("root-not-object", "expected an object at the top level", tree.position))
  }
  return {
    root: root ?? new Map(),
    issues: root === undefined ? [...issues, { kind: "empty-file", severity: "warning" }] : issues,
    position: (pointer) => {
      let part: Value | undefined = root
      let position: Position | undefined = tree.position
      for (const key of pointer) {
        position = part === undefined ? undefined : tree.positionOf(part, key)
        part = member(part, key)
      }
      return part === undefined ? undefined : position
    }
  }
}

/** Reads bytes. Never fails: a fault is an issue. */
export type Decode = (bytes: Uint8Array, format: Format, limits?: Partial<Limits>) => Document

/** Loads the parsers of these formats, so that all their files are read in one go. */
export const decoder = (formats: ReadonlySet<Format>): Effect.Effect<Decode> =>
  Effect.map(
    Effect.forEach(formats, (format) => Effect.option(Effect.tryPromise(parsers[format])), {
      concurrency: "unbounded"
    }),
    (loaded) => {
      const known = new Map(Array.from(formats, (format, at) => [format, loaded[at]]))
      return (bytes, format, limits) => {
        const allowed = { ...defaults[format], ...limits }
        if (bytes.length > allowed.maxBytes) {
          return failed([], new Fault("file-too-large", `more than ${allowed.maxBytes} bytes`))
        }
        const parse = known.get(format)
        return parse?._tag === "Some" ? read(bytes, format, parse.value, allowed) : failed(
          [],
          new Fault("syntax", "the parser could not be loaded: for a bundled program see docs/files.md, Bundling")
        )
      }
    }
  )

/** Reads the bytes of one document. */
export const decode = (bytes: Uint8Array, format: Format, limits?: Partial<Limits>): Effect.Effect<Document> =>
  Effect.map(decoder(new Set([format])), (decode) => decode(bytes, format, limits))

export const isTable = (value: Value | undefined): value is Table => value instanceof Map

export const isList = (value: Value | undefined): value is ReadonlyArray<Value> => Array.isArray(value)

export const isText = (value: Value | undefined): value is string => typeof value === "string"

export const table = (value: Value | undefined): Table => isTable(value) ? value : new Map()

export const list = (value: Value | undefined): ReadonlyArray<Value> => isList(value) ? value : []

export const tables = (value: Value | undefined): ReadonlyArray<Table> => list(value).filter(isTable)

/** A text, or a number or a boolean as its text. */
export const scalar = (value: Value | undefined): string | undefined =>
  typeof value === "string" || typeof value === "number" || typeof value === "boolean" || typeof value === "bigint"
    ? String(value)
    : undefined

/** The part of a table at the end of these keys. */
export const partAt = (root: Value | undefined, keys: ReadonlyArray<string>): Value | undefined =>
  keys.reduce<Value | undefined>((from, key) => isTable(from) ? from.get(key) : undefined, root)

/** A table without its nulls, which YAML has where a field is left empty. */
export const withoutNulls = (value: Table): Table => new Map(Array.from(value).filter(([, part]) => part !== null))

export const without = (value: Table, key: string): Table => new Map(Array.from(value).filter(([name]) => name !== key))
