/** YAML 1.2 (core schema), composed by `yaml` and read into the shape of every document. */
import {
  Composer,
  isAlias,
  isMap,
  isScalar,
  Lexer,
  LineCounter,
  type Node,
  type Pair,
  Parser,
  type Scalar,
  type YAMLMap,
  type YAMLSeq
} from "yaml"
import { backslash, Fault, maxDigits, number, type Parse, type Position, type Value, wellFormed } from "./document.ts"

/** Words, marks and spaces, which take most of the time. */
const maxTokens = 200_000
/** The time that they take is more than linear. */
const maxDirectives = 100
/** How often aliases of aliases may multiply (the rule of the library's `maxAliasCount`). */
const maxExpansion = 50

const faults: ReadonlyMap<string, string> = new Map([
  ["TAB_AS_INDENT", "a tab at the beginning of a line: indent with spaces"],
  ["BAD_INDENT", "inconsistent indentation"],
  ["BAD_DQ_ESCAPE", backslash],
  ["MULTILINE_IMPLICIT_KEY", "a name without a colon on its line"],
  ["MISSING_CHAR", "a colon, a comma, a quote or a closing bracket is missing"],
  ["UNEXPECTED_TOKEN", "an unexpected token"]
])

/** What an anchor names, and how many aliases are in it. */
interface Anchored {
  readonly value: Value
  readonly expansions: number
  uses: number
}

/**
 * Keeps the library quiet, which prints its tokens to stdout where one of these variables is set. What is done meanwhile
 * is synchronous, so nothing else misses them.
 */
const quietly = <A>(run: () => A): A => {
  const loud = Object.entries(process.env).filter(([name]) => name === "LOG_STREAM" || name === "LOG_TOKENS")
  for (const [name] of loud) delete process.env[name]
  try {
    return run()
  } finally {
    Object.assign(process.env, Object.fromEntries(loud))
  }
}

const manyAliases = "nested aliases expand to too many values"

/** The lexer and the parser of `yaml` do not recurse; its composer does, and gets what is not too deep. */
export const parse: Parse = (written, tree) => {
  // a carriage return alone ends a line, too
  const text = written.replace(/\r\n?/g, "\n")
  const lines = new LineCounter()
  lines.addNewLine(0)
  const position = (offset: number): Position => {
    const { col, line } = lines.linePos(offset)
    return { line, column: col }
  }
  const positionOf = (node: Node | null) => position(node?.range?.[0] ?? 0)

  const tokens = function*() {
    const parser = new Parser(lines.addNewLine)
    let count = 0
    for (const lexeme of new Lexer().lex(text)) {
      const at = position(parser.offset)
      if (++count > maxTokens) throw new Fault("too-many-entries", `more than ${maxTokens} words and marks`, at)
      const some = Array.from(parser.next(lexeme))
      yield* some
      // behind an error, or so many directives, there are only more of them
      if (some.some(({ type }) => type === "error" || (type === "directive" && count > maxDirectives))) break
      // beside the collections: the document, and a text that is not at its end
      tree.enter(parser.stack.length - 2, at)
    }
    yield* parser.end()
  }
  // its check for duplicate keys takes quadratic time
  const options = {
    schema: "core",
    merge: false,
    resolveKnownTags: false,
    intAsBigInt: true,
    uniqueKeys: false
  } as const
  const [document, second] = quietly(() => {
    const [first, next] = new Composer(options).compose(tokens(), true, text.length)
    return [first, next] as const
  })
  const [error] = (document?.errors ?? []).toSorted((one, other) => one.pos[0] - other.pos[0])
  if (error !== undefined) {
    throw new Fault("syntax", faults.get(error.code) ?? "no YAML", position(error.pos[0]))
  }
  if (second !== undefined) {
    const [, end = 0] = document?.range ?? []
    const mark = text.slice(end).search(/^(?:---|\.\.\.)/m)
    throw new Fault("syntax", "more than one document", position(end + Math.max(mark, 0)))
  }

  const anchors = new Map<string, Anchored | "open">()
  let expansions = 0

  /** Counts the parts of a value once more for each alias. */
  const recount = (value: Value, depth: number, at: Position): void => {
    if (!(value instanceof Map) && !Array.isArray(value)) return
    tree.enter(depth, at)
    for (const part of value.values()) {
      if (++tree.entries > tree.limits.maxEntries) throw new Fault("alias-limit", manyAliases, at)
      recount(part, depth + 1, at)
    }
  }

  const alias = (source: string, depth: number, at: Position): Value => {
    const anchored = anchors.get(source)
    if (anchored === undefined) throw new Fault("syntax", "an alias without an anchor", at)
    if (anchored === "open") throw new Fault("alias-limit", "an alias inside its own anchor", at)
    expansions += 1 + anchored.expansions
    if (++anchored.uses * anchored.expansions > maxExpansion) throw new Fault("alias-limit", manyAliases, at)
    recount(anchored.value, depth, at)
    return anchored.value
  }

  const scalar = ({ source = "", value }: Scalar, at: Position): Value => {
    if (typeof value === "string") return wellFormed(value)
    const isNumber = typeof value === "bigint" || (typeof value === "number" && source.length > maxDigits)
    return isNumber ? number(source, at) : value as Value
  }

  const convert = (node: Node | null, depth: number): Value => {
    const at = positionOf(node)
    if (node === null) return null
    if (isAlias(node)) return alias(node.source, depth, at)
    const before = expansions
    if (node.anchor !== undefined) anchors.set(node.anchor, "open")
    if (!isScalar(node)) tree.enter(depth, at)
    const value = isScalar(node) ? scalar(node, at) : isMap(node) ? table(node, depth) : list(node, depth)
    if (node.anchor !== undefined) anchors.set(node.anchor, { value, expansions: expansions - before, uses: 0 })
    return value
  }

  const table = (node: YAMLMap, depth: number): Value => {
    const made = new Map<string, Value>()
    for (const { key, value } of node.items as ReadonlyArray<Pair<Node | null, Node | null>>) {
      const at = positionOf(key)
      if (key !== null && !isScalar(key)) throw new Fault("syntax", "a key that is not a string", at)
      // as it is written: 1.10 is no number where it is a name
      const name = wellFormed(key?.source ?? "")
      if (made.has(name)) throw new Fault("syntax", "a duplicate key", at)
      tree.put(made, name, convert(value, depth + 1), at)
    }
    return made
  }

  const list = (node: YAMLSeq, depth: number): Value => {
    const made: Array<Value> = []
    for (const item of node.items as ReadonlyArray<Node>) tree.put(made, "", convert(item, depth + 1), positionOf(item))
    return made
  }

  const contents = document?.contents ?? null
  tree.position = positionOf(contents)
  const isEmpty = contents === null ||
    (isScalar(contents) && contents.type === "PLAIN" && contents.source === "" && contents.tag === undefined)
  return isEmpty ? undefined : convert(contents, 1)
}
