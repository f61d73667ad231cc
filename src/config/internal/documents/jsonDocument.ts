/**
 * JSON with comments and trailing commas, read token by token into maps. There is no recursion that a file could make too
 * deep, and no object whose prototype it could set.
 *
 * @internal
 */
import { createScanner } from "jsonc-parser"
import * as UntrustedText from "../../../UntrustedText.ts"
import type * as ConfigDocument from "../../ConfigDocument.ts"
import { DocumentFault, lines, name, number, type Parse, wellFormed } from "./parsed.ts"
import * as Positions from "./positions.ts"

/** The scanner's kinds of tokens; as constants, because its own are an enum that only exists for the compiler. */
const kinds = {
  openTable: 1,
  closeTable: 2,
  openList: 3,
  closeList: 4,
  comma: 5,
  colon: 6,
  null: 7,
  true: 8,
  false: 9,
  string: 10,
  number: 11,
  lineComment: 12,
  blockComment: 13,
  lineBreak: 14,
  space: 15,
  unknown: 16,
  end: 17
} as const

/** Nobody writes so many keys twice by mistake, and each is a warning to keep. */
const maxDuplicates = 1000

/** A table or list whose end was not seen yet. */
interface Open {
  readonly container: Map<string, ConfigDocument.Value> | Array<ConfigDocument.Value>
  readonly offsets: Array<number>
  /** In a table: the name that was read last. */
  key: string
}

type Expected = "value" | "value or ]" | "key or }" | ":" | ", or end" | "nothing"

const faults: { readonly [E in Expected]: string } = {
  "value": "expected a value",
  "value or ]": "expected a value or the end of the list",
  "key or }": "expected a name in double quotes or the end of the table",
  ":": "expected a colon after the name",
  ", or end": "expected a comma or the end",
  "nothing": "something follows the end of the document"
}

/** @internal */
export const parse: Parse = (text, { maxDepth, maxEntries }, format) => {
  const scanner = createScanner(text, false)
  const lineAt = lines(text)
  const stack: Array<Open> = []
  const duplicates: Array<ConfigDocument.DocumentIssue> = []
  const told = new Set<string>()
  let positions = Positions.make(0)
  let root: ConfigDocument.Value | undefined
  // as wide as it is: it changes where the compiler does not look
  let expected = "value" as Expected
  let entries = 0
  let lenient: number | undefined
  let commaAt: number | undefined

  const line = () => lineAt(scanner.getTokenOffset())
  const fail = (detail: string): never => {
    throw new DocumentFault("syntax", detail, line())
  }

  const inTable = () => stack.at(-1)?.container instanceof Map
  const after = () => {
    expected = stack.length === 0 ? "nothing" : ", or end"
  }

  const put = (value: ConfigDocument.Value, offset: number): void => {
    const open = stack.at(-1)
    if (open === undefined) {
      root = value
      positions = Positions.make(offset)
      return
    }
    if (++entries > maxEntries) throw new DocumentFault("too-many-entries", `more than ${maxEntries}`, line())
    if (open.container instanceof Map) {
      open.container.set(open.key, value)
      return
    }
    open.container.push(value)
    open.offsets.push(offset)
  }

  const open = (container: Open["container"], offset: number): void => {
    if (stack.length >= maxDepth) throw new DocumentFault("nesting-too-deep", `more than ${maxDepth} levels`, line())
    put(container, offset)
    stack.push({ container, offsets: [], key: "" })
    expected = container instanceof Map ? "key or }" : "value or ]"
  }

  const close = (): void => {
    const closed = stack.pop()
    if (closed !== undefined) positions.set(closed.container, closed.offsets)
    lenient ??= commaAt
    after()
  }

  const key = (text: string, offset: number): void => {
    expected = ":"
    const open = stack.at(-1)
    if (open === undefined || !(open.container instanceof Map)) return
    open.key = text
    if (!open.container.has(text)) {
      open.offsets.push(offset)
      return
    }
    positions.moved(open.container, text, offset)
    const at = UntrustedText.excerpt(
      stack.map(({ container, key }) => container instanceof Map ? key : container.length - 1).join("/")
    )
    if (told.has(at)) return
    told.add(at)
    if (told.size > maxDuplicates) fail(`more than ${maxDuplicates} names that are there twice`)
    duplicates.push({ kind: "duplicate-key", severity: "warning", at, line: lineAt(offset) })
  }

  const string = (offset: number): string => {
    const value = scanner.getTokenValue()
    // two quotes and the text: nothing in it was escaped
    return value.length === scanner.getPosition() - offset - 2 ? value : wellFormed(value)
  }

  const value = (value: ConfigDocument.Value, offset: number): void => {
    if (expected !== "value" && expected !== "value or ]") fail(faults[expected])
    put(value, offset)
    after()
  }

  for (;;) {
    const kind: number = scanner.scan()
    if (kind === kinds.space || kind === kinds.lineBreak) continue
    const offset = scanner.getTokenOffset()
    if (kind === kinds.lineComment || kind === kinds.blockComment) {
      if (scanner.getTokenError() !== 0) fail("a comment without an end")
      lenient ??= offset
      continue
    }
    if (kind === kinds.end) {
      if (root !== undefined && expected !== "nothing") fail("the file ends too early")
      break
    }
    if (scanner.getTokenError() !== 0) {
      fail(kind === kinds.number ? "a number that is none" : "a text without its end, or with what must be escaped")
    }
    switch (kind) {
      case kinds.openTable:
      case kinds.openList:
        if (expected !== "value" && expected !== "value or ]") fail(faults[expected])
        open(kind === kinds.openTable ? new Map() : [], offset)
        break
      case kinds.closeTable:
        if (expected !== "key or }" && !(expected === ", or end" && inTable())) fail(faults[expected])
        close()
        break
      case kinds.closeList:
        if (expected !== "value or ]" && !(expected === ", or end" && !inTable())) fail(faults[expected])
        close()
        break
      case kinds.comma:
        if (expected !== ", or end") fail(faults[expected])
        expected = inTable() ? "key or }" : "value or ]"
        commaAt = offset
        continue
      case kinds.colon:
        if (expected !== ":") fail(faults[expected])
        expected = "value"
        break
      case kinds.string:
        if (expected === "key or }") key(name(string(offset), line), offset)
        else value(string(offset), offset)
        break
      case kinds.number:
        value(number(scanner.getTokenValue(), line), offset)
        break
      case kinds.null:
        value(null, offset)
        break
      case kinds.true:
      case kinds.false:
        value(kind === kinds.true, offset)
        break
      default:
        fail(faults[expected])
    }
    commaAt = undefined
  }

  const warnings = format === "json" && lenient !== undefined
    ? [{ kind: "jsonc-in-strict-json", severity: "warning", line: lineAt(lenient) } as const, ...duplicates]
    : duplicates
  return {
    root,
    warnings,
    line: (pointer) => {
      const offset = positions.find(root, pointer)
      return offset === undefined ? undefined : lineAt(offset)
    }
  }
}
