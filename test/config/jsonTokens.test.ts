import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import * as Jsonc from "jsonc-parser"
import * as JsonTokens from "../../src/config/internal/documents/jsonTokens.ts"
import { runs } from "../support/runs.ts"

type Seen = readonly [kind: string, offset: number, value: string | undefined, isBroken: boolean]

/** By their numbers, because the package has them as an enum that is gone when it runs. */
const kinds: ReadonlyMap<number, JsonTokens.Kind> = new Map(
  (["{", "}", "[", "]", ",", ":", "null", "true", "false", "text", "number", "comment", "comment"] as const).map(
    (kind, at) => [at + 1, kind]
  )
)

const blank = new Set([14, 15])

const end = 17

/** Up to the first fault: what comes behind one means nothing. */
const isLast = ([kind, , , isBroken]: Seen): boolean => kind === "end" || kind === "unknown" || isBroken

const theirs = (text: string): ReadonlyArray<Seen> => {
  const scanner = Jsonc.createScanner(text, false)
  const all: Array<Seen> = []
  for (;;) {
    const token: number = scanner.scan()
    if (blank.has(token)) continue
    const kind = token === end ? "end" : kinds.get(token) ?? "unknown"
    const error: number = scanner.getTokenError()
    const isBroken = error !== 0
    const value = kind === "text" && !isBroken ? scanner.getTokenValue() : undefined
    const seen: Seen = [kind, scanner.getTokenOffset(), value, isBroken && kind !== "unknown"]
    all.push(seen)
    if (isLast(seen)) return all
  }
}

const ours = (text: string): ReadonlyArray<Seen> => {
  const tokens = JsonTokens.make(text)
  const all: Array<Seen> = []
  for (;;) {
    const kind = tokens.next()
    const value = kind === "text" && !tokens.isBroken() ? tokens.value() : undefined
    const seen: Seen = [kind, tokens.offset(), value, tokens.isBroken()]
    all.push(seen)
    if (isLast(seen)) return all
  }
}

const pieces = FastCheck.constantFrom(
  "{",
  "}",
  "[",
  "]",
  ",",
  ":",
  "null",
  "true",
  "false",
  "nul",
  "-",
  "0",
  "01",
  "1.5e+3",
  "1.",
  "2E9",
  "\"",
  "\\",
  "\\u0041",
  "\\u00",
  "\\n",
  "\\x",
  "//",
  "/*",
  "*/",
  "/",
  "*",
  "\n",
  "\r\n",
  "\t",
  " ",
  "\u2028",
  "é",
  "\ud800",
  "a"
)

describe("the words of a JSON text", () => {
  it.prop("are those that another reader finds", [
    FastCheck.array(FastCheck.oneof(pieces, FastCheck.json(), FastCheck.string({ maxLength: 4 })), { maxLength: 12 })
  ], ([parts]) => {
    const text = parts.join("")
    assert.deepStrictEqual(ours(text), theirs(text), JSON.stringify(text))
  }, { fastCheck: { numRuns: runs(5_000) } })

  it.prop("of what JSON.stringify writes are all of them", [FastCheck.json()], ([text]) => {
    assert.deepStrictEqual(ours(text), theirs(text))
  }, { fastCheck: { numRuns: runs(1_000) } })
})
