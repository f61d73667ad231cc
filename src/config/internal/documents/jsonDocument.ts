/**
 * JSON with comments and trailing commas, read token by token into maps. There is no recursion that a file could make too
 * deep, and no object whose prototype it could set.
 *
 * @internal
 */
import * as UntrustedText from "../../../text/UntrustedText.ts"
import type * as ConfigDocument from "../../ConfigDocument.ts"
import * as JsonTokens from "./jsonTokens.ts"
import { DocumentFault, lines, name, number, type Parse, wellFormed } from "./parsed.ts"
import * as Positions from "./positions.ts"

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
  const tokens = JsonTokens.make(text)
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

  const line = () => lineAt(tokens.offset())
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

  const string = (): string => tokens.isEscaped() ? wellFormed(tokens.value()) : tokens.value()

  const value = (value: ConfigDocument.Value, offset: number): void => {
    if (expected !== "value" && expected !== "value or ]") fail(faults[expected])
    put(value, offset)
    after()
  }

  for (;;) {
    const kind = tokens.next()
    const offset = tokens.offset()
    if (kind === "comment") {
      if (tokens.isBroken()) fail("a comment without an end")
      lenient ??= offset
      continue
    }
    if (kind === "end") {
      if (root !== undefined && expected !== "nothing") fail("the file ends too early")
      break
    }
    if (tokens.isBroken()) {
      fail(kind === "number" ? "a number that is none" : "a text without its end, or with what must be escaped")
    }
    switch (kind) {
      case "{":
      case "[":
        if (expected !== "value" && expected !== "value or ]") fail(faults[expected])
        open(kind === "{" ? new Map() : [], offset)
        break
      case "}":
        if (expected !== "key or }" && !(expected === ", or end" && inTable())) fail(faults[expected])
        close()
        break
      case "]":
        if (expected !== "value or ]" && !(expected === ", or end" && !inTable())) fail(faults[expected])
        close()
        break
      case ",":
        if (expected !== ", or end") fail(faults[expected])
        expected = inTable() ? "key or }" : "value or ]"
        commaAt = offset
        continue
      case ":":
        if (expected !== ":") fail(faults[expected])
        expected = "value"
        break
      case "text":
        if (expected === "key or }") key(name(string(), line), offset)
        else value(string(), offset)
        break
      case "number":
        value(number(tokens.value(), line), offset)
        break
      case "null":
        value(null, offset)
        break
      case "true":
      case "false":
        value(kind === "true", offset)
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
