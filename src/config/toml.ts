/** TOML, read by `smol-toml` into the shape of every document, with the lines of its tables and keys. */
import { parse as parseToml, TomlError } from "smol-toml"
import {
  backslash,
  type Container,
  Fault,
  lineBreak,
  maxDigits,
  member,
  type Parse,
  type Tree,
  type Value
} from "./document.ts"

/** What the library says, as far as it is known that it quotes nothing: the words are for people only. */
const faults: ReadonlyMap<string, string> = new Map([
  ["trying to redefine an already defined table or value", "a table or key that appears twice"],
  ["invalid value", "not a value: strings need quotes"],
  ["each key-value declaration must be followed by an end-of-line", "unexpected text after the end of a value"],
  ["illegal character in key", "neither a table nor a key with a value, or a key that needs quotes"],
  ["control characters are not allowed in strings", "a string that is not closed, or has a control character"],
  ["unrecognised escape sequence", backslash],
  ["expected comma or end of structure", "a comma or the end of a list or table is missing"]
])

/** A header or a key of TOML, and the line at which it begins. */
interface Statement {
  readonly keys: Array<string>
  readonly line: number
  /** 0 for a key, 1 for a table, 2 for a table of a list. */
  brackets: number
}

const pieces =
  /[ \t]+|#[^\r\n]*|\r\n?|\n|[[\]{}=,.]|"""[^"\\]*(?:(?:\\[^]|""?(?!"))[^"\\]*)*"{0,5}|'''[^']*(?:''?(?!')[^']*)*'{0,5}|"[^"\\\n]*(?:\\[^\n]?[^"\\\n]*)*"?|'[^'\n]*'?|[^ \t\r\n#"'[\]{}=,.]+/g

/** The text of a quoted name without escapes. */
const unquoted = (piece: string): string => /^["']/.test(piece) && !piece.includes("\\") ? piece.slice(1, -1) : piece

/** The statements of a TOML text, whose lines the parser does not tell. What is not TOML is left to the parser. */
const survey = (text: string): ReadonlyArray<Statement> => {
  const statements: Array<Statement> = []
  let statement: Statement | undefined
  let isValue = false
  let next = 1
  /** The brackets of its value that are open. */
  let open = 0
  for (const [piece] of text.matchAll(pieces)) {
    const line = next
    const [first = ""] = piece
    if (/[\r\n]/.test(piece)) next += piece.split(lineBreak).length - 1
    if (/^[ \t#]/.test(first)) continue
    if (/^[\r\n]/.test(first)) {
      if (open <= 0) [statement, isValue, open] = [undefined, false, 0]
      continue
    }
    if (piece.length > maxDigits && !/^["']/.test(first)) {
      throw new Fault("syntax", `more than ${maxDigits} characters in a row that are neither quoted nor separated`)
    }
    if (statement === undefined) statements.push(statement = { keys: [], line, brackets: 0 })
    if (isValue) open += "[{".includes(first) ? 1 : "]}".includes(first) ? -1 : 0
    else if (first === "[" && statement.keys.length === 0) statement.brackets++
    else if (first === "=" || first === "]") isValue = true
    else if (first !== ".") statement.keys.push(unquoted(piece))
  }
  return statements
}

/** Gives the parts of a document the lines of the statements that made them. */
const placed = (root: Value, statements: ReadonlyArray<Statement>, tree: Tree): void => {
  const lengths = new Map<unknown, number>()
  let table: Value | undefined = root
  for (const { brackets, keys, line } of statements) {
    let at: Value | undefined = brackets === 0 ? table : root
    for (const [index, key] of keys.entries()) {
      if (at !== undefined && tree.positionOf(at, key) === undefined) tree.mark(at, key, { line, column: undefined })
      const list: Value | undefined = member(at, key)
      at = list
      if (!Array.isArray(list)) continue
      const isNew = brackets === 2 && index === keys.length - 1
      const length = (lengths.get(list) ?? 0) + (isNew ? 1 : 0)
      lengths.set(list, length)
      if (isNew) tree.mark(list, length - 1, { line, column: undefined })
      // through a list of tables a name goes by the last of them
      at = member(list, length - 1)
    }
    if (brackets > 0) table = at
  }
}

export const parse: Parse = (text, tree) => {
  const statements = survey(text)
  const convert = (value: unknown, depth: number): Value => {
    if (typeof value !== "object" || value === null || value instanceof Date) return value as Value
    tree.enter(depth)
    const made: Container = Array.isArray(value) ? [] : new Map()
    for (const [key, item] of Object.entries(value)) tree.put(made, key, convert(item, depth + 1))
    return made
  }
  const parsed = (): object => {
    try {
      // the document is a level itself
      return parseToml(text, { integersAsBigInt: "asNeeded", maxDepth: tree.limits.maxDepth - 1 })
    } catch (error) {
      if (!(error instanceof TomlError)) throw error
      const line = text.split("\n", error.line)[error.line - 1] ?? ""
      // its message quotes the lines around the fault
      const said = /^Invalid TOML document: ([^\n]*)/.exec(error.message)?.[1] ?? ""
      const position = { line: error.line, column: error.column }
      if (said.startsWith("document contains excessively nested")) tree.enter(Infinity, position)
      const detail = /".*\\.*"/.test(line.slice(0, maxDigits)) ? backslash : faults.get(said) ?? "no TOML"
      throw new Fault("syntax", detail, position)
    }
  }
  const root = convert(parsed(), 1)
  placed(root, statements, tree)
  return root instanceof Map && root.size === 0 ? undefined : root
}
