import * as FastCheck from "effect/FastCheck"
import * as Texts from "../support/texts.ts"

const hashLike = ["0123456789bc", "bcdfghjklmnp", "zzzzzzzzzzzz"]

const pieces = [
  "_",
  "__",
  "-",
  ".",
  "a",
  "b",
  "A",
  "é",
  "e\u0301",
  "工",
  "🔧",
  "\ud83d",
  "\udd27",
  " ",
  "*",
  "?",
  "/",
  "mcp_",
  "tool",
  "server",
  "constructor",
  "__proto__",
  ...hashLike,
  ...hashLike.map((hash) => `_${hash}`),
  "x".repeat(15),
  "y".repeat(44)
]

/** Names made to be mistaken for each other: of few pieces, among them separators and what looks like a hash. */
export const treacherous: FastCheck.Arbitrary<string> = FastCheck.oneof(
  { weight: 6, arbitrary: FastCheck.array(FastCheck.constantFrom(...pieces), { minLength: 1, maxLength: 5 }) },
  { weight: 2, arbitrary: FastCheck.array(FastCheck.constantFrom("_", "a", "-"), { minLength: 1, maxLength: 6 }) },
  { weight: 1, arbitrary: FastCheck.array(FastCheck.constantFrom("a", "B", "_"), { minLength: 20, maxLength: 70 }) },
  { weight: 1, arbitrary: FastCheck.string({ unit: Texts.unit, minLength: 1, maxLength: 80 }).map((text) => [text]) }
).map((parts) => parts.join(""))

/** Names as people give them. */
export const ordinary: FastCheck.Arbitrary<string> = FastCheck.stringMatching(/^[a-z]{1,6}([_-][a-z]{1,4}){0,2}$/)

export const name: FastCheck.Arbitrary<string> = FastCheck.oneof(treacherous, ordinary)

export const identity = FastCheck.record({ server: name, tool: name })
