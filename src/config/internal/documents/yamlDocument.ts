/**
 * YAML 1.2 (core schema), read by `yaml` in its three steps, so that each can be stopped when there is too much, and
 * turned into maps.
 *
 * @internal
 */
import {
  type Alias,
  Composer,
  type CST,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  Parser,
  type Scalar,
  type YAMLMap,
  type YAMLSeq
} from "yaml"
import type * as ConfigDocument from "../../ConfigDocument.ts"
import { DocumentFault, lines, name, number, type Parse, wellFormed } from "./parsed.ts"
import * as Positions from "./positions.ts"

/** What one word costs can be ten times what one byte costs, so that the size of a file says little. */
const maxWords = 200_000

/** How often what stands for other aliases may be multiplied with itself. */
const maxExpansion = 50

type Line = (offset: number) => number

/** Where in the text the parser's report is about. */
const offsetOf = (source: unknown): number => {
  if (typeof source === "number") return source
  if (Array.isArray(source)) return offsetOf(source[0])
  return typeof source === "object" && source !== null && "offset" in source ? offsetOf(source.offset) : 0
}

const tokensOf = (text: string, maxDepth: number, lineAt: Line): ReadonlyArray<CST.Token> => {
  const parser = new Parser()
  const tokens: Array<CST.Token> = []
  let words = 0
  let offset = 0
  for (const word of new Lexer().lex(text)) {
    if (++words > maxWords) throw new DocumentFault("too-many-entries", `more than ${maxWords} words`, lineAt(offset))
    for (const token of parser.next(word)) {
      if (token.type === "error") throw new DocumentFault("syntax", "unexpected token", lineAt(token.offset))
      tokens.push(token)
    }
    // above the collections there are a document, a value, and a key that may become another collection
    if (parser.stack.length > maxDepth + 3) {
      throw new DocumentFault("nesting-too-deep", `more than ${maxDepth} levels`, lineAt(offset))
    }
    offset += word.length
  }
  for (const token of parser.end()) tokens.push(token)
  return tokens
}

const documentOf = (text: string, maxDepth: number, lineAt: Line): Document.Parsed => {
  // names that are there twice are looked for below, because this takes quadratic time
  const composer = new Composer({ uniqueKeys: false, schema: "core", prettyErrors: false })
  let fault: DocumentFault | undefined
  const refuse = (code: string, source: unknown): never => {
    // what is thrown passes through the composer, which reports it anew
    fault ??= new DocumentFault("syntax", code.toLowerCase().replaceAll("_", " "), lineAt(offsetOf(source)))
    throw fault
  }
  // The composer goes on after an error, and each costs; the first is enough. If it should once have no such method, the
  // errors are found in the document.
  Reflect.set(composer, "onError", (source: unknown, code: string, _message: string, isWarning?: boolean) => {
    if (isWarning !== true) refuse(code, source)
  })
  let found: Document.Parsed | undefined
  for (const document of composer.compose(tokensOf(text, maxDepth, lineAt), true, text.length)) {
    if (found !== undefined) {
      throw new DocumentFault("syntax", "more than one document", lineAt(document.range[0]))
    }
    const error = document.errors[0]
    if (error !== undefined) refuse(error.code, error.pos)
    found = document
  }
  if (found === undefined) throw new DocumentFault("syntax", "no document")
  return found
}

/** What an anchor names, and how much more there is each time that it is named again. */
interface Anchored {
  readonly value: ConfigDocument.Value
  readonly entries: number
  readonly expansions: number
  readonly height: number
  uses: number
}

/** @internal */
export const parse: Parse = (text, { maxDepth, maxEntries }) => {
  const lineAt = lines(text)
  const { contents } = documentOf(text, maxDepth, lineAt)
  const positions = Positions.make(contents?.range?.[0] ?? 0)
  const anchors = new Map<string, Anchored | "open">()
  let entries = 0
  let expansions = 0
  let deepest = 0

  const startOf = (node: unknown): number =>
    typeof node === "object" && node !== null && "range" in node ? offsetOf(node.range) : 0
  const fail = (kind: DocumentFault["kind"], detail: string, node: unknown): never => {
    throw new DocumentFault(kind, detail, lineAt(startOf(node)))
  }
  const count = (more: number, node: unknown) => {
    entries += more
    if (entries > maxEntries) fail("too-many-entries", `more than ${maxEntries}`, node)
  }
  const reach = (depth: number, node: unknown) => {
    if (depth > maxDepth) fail("nesting-too-deep", `more than ${maxDepth} levels`, node)
    deepest = Math.max(deepest, depth)
  }

  const alias = (node: Alias, depth: number): ConfigDocument.Value => {
    const anchored = anchors.get(node.source)
    if (anchored === undefined) return fail("syntax", "an alias without its anchor", node)
    if (anchored === "open") return fail("alias-limit", "an alias inside of what it stands for", node)
    expansions += 1 + anchored.expansions
    if (++anchored.uses * anchored.expansions > maxExpansion || entries + anchored.entries > maxEntries) {
      fail("alias-limit", "aliases of aliases make too much of too little", node)
    }
    entries += anchored.entries
    reach(depth + anchored.height - 1, node)
    return anchored.value
  }

  const scalar = (node: Scalar): ConfigDocument.Value => {
    const { source, value } = node
    switch (typeof value) {
      case "string":
        return wellFormed(value)
      case "number":
        return source !== undefined && /^[-+]?\d+$/.test(source) ? number(source, () => lineAt(startOf(node))) : value
      case "bigint":
      case "boolean":
        return value
      default:
        return null
    }
  }

  const keyOf = (node: unknown): string => {
    const line = () => lineAt(startOf(node))
    if (!isScalar(node)) return fail("syntax", "a name that is no text", node)
    // as it is written: 1.10 is no number where it is a name
    return wellFormed(name(typeof node.value === "string" ? node.value : node.source ?? "", line))
  }

  const table = (node: YAMLMap, depth: number): ConfigDocument.Table => {
    const made = new Map<string, ConfigDocument.Value>()
    const offsets: Array<number> = []
    for (const { key, value } of node.items) {
      count(1, key)
      const text = keyOf(key)
      if (made.has(text)) fail("syntax", "a name that is there twice", key)
      offsets.push(startOf(key))
      made.set(text, convert(value, depth + 1))
    }
    positions.set(made, offsets)
    return made
  }

  const list = (node: YAMLSeq, depth: number): ReadonlyArray<ConfigDocument.Value> => {
    const made: Array<ConfigDocument.Value> = []
    const offsets: Array<number> = []
    for (const item of node.items) {
      count(1, item)
      offsets.push(startOf(item))
      made.push(convert(item, depth + 1))
    }
    positions.set(made, offsets)
    return made
  }

  const plain = (node: unknown, depth: number): ConfigDocument.Value => {
    if (isScalar(node)) return scalar(node)
    if (isMap(node) || isSeq(node)) {
      reach(depth, node)
      return isMap(node) ? table(node, depth) : list(node, depth)
    }
    return null
  }

  const convert = (node: unknown, depth: number): ConfigDocument.Value => {
    if (isAlias(node)) return alias(node, depth)
    const anchor = isScalar(node) || isMap(node) || isSeq(node) ? node.anchor : undefined
    if (anchor === undefined) return plain(node, depth)
    const before = { entries, expansions, deepest }
    anchors.set(anchor, "open")
    deepest = depth - 1
    const value = plain(node, depth)
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

  const root = contents === null || (isScalar(contents) && contents.value === null && contents.source === "")
    ? undefined
    : convert(contents, 1)
  return {
    root,
    warnings: [],
    line: (pointer) => {
      const offset = positions.find(root, pointer)
      return offset === undefined ? undefined : lineAt(offset)
    }
  }
}
