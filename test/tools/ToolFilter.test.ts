import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import * as ToolFilter from "../../src/tools/ToolFilter.ts"
import { runs } from "../support/runs.ts"

/** What the patterns mean, written without a thought for time. */
const fits = (pattern: ReadonlyArray<string>, text: ReadonlyArray<string>): boolean => {
  const [first, ...rest] = pattern
  if (first === undefined) return text.length === 0
  if (first === "*") return fits(rest, text) || text.length > 0 && fits(pattern, text.slice(1))
  return text.length > 0 && (first === "?" || first === text[0]) && fits(rest, text.slice(1))
}

const matches = (pattern: string, text: string): boolean => fits(Array.from(pattern), Array.from(text))

const text = FastCheck.array(FastCheck.constantFrom("a", "b", "ab", "_", "🔧", "\ud83d", "\udd27"), { maxLength: 7 })
  .map((parts) => parts.join(""))

const pattern = FastCheck.array(FastCheck.constantFrom("a", "b", "*", "?", "**", "🔧", "\ud83d", "\udd27", ".", "["), {
  maxLength: 6
}).map((parts) => parts.join(""))

const patterns = FastCheck.option(FastCheck.array(FastCheck.oneof(pattern, text), { maxLength: 4 }), { nil: undefined })

describe("ToolFilter", () => {
  it("offers what is enabled, or all if nothing says what is, without what is disabled", () => {
    FastCheck.assert(
      FastCheck.property(patterns, patterns, text, (enabledTools, disabledTools, tool) => {
        const any = (patterns: ReadonlyArray<string>) => patterns.some((pattern) => matches(pattern, tool))
        const expected = (enabledTools === undefined || any(enabledTools)) && !any(disabledTools ?? [])
        assert.strictEqual(ToolFilter.make({ enabledTools, disabledTools })(tool), expected)
      }),
      { numRuns: runs(5000) }
    )
  })

  it("fits a pattern to a text exactly if the pattern says so", () => {
    FastCheck.assert(
      FastCheck.property(pattern, text, (pattern, tool) => {
        assert.strictEqual(ToolFilter.make({ enabledTools: [pattern] })(tool), matches(pattern, tool))
      }),
      { numRuns: runs(5000) }
    )
  })

  it("offers everything without lists, and nothing if the list of what is enabled is empty", () => {
    assert.isTrue(ToolFilter.make({})("a"))
    assert.isTrue(ToolFilter.make({ disabledTools: [] })("a"))
    assert.isFalse(ToolFilter.make({ enabledTools: [] })("a"))
  })

  it("lets what is disabled win", () => {
    const filter = ToolFilter.make({ enabledTools: ["get_issue", "get_*"], disabledTools: ["*_issue"] })
    assert.deepStrictEqual(["get_issue", "get_user", "put_user"].map(filter), [false, true, false])
  })

  it("tells upper from lower case and takes nothing else for special", () => {
    const filter = ToolFilter.make({ enabledTools: ["Get", "a.c", "[ab]", "\\*", "constructor"] })
    assert.deepStrictEqual(
      ["get", "Get", "abc", "a.c", "a", "[ab]", "\\x", "constructor", "toString"].map(filter),
      [false, true, false, true, false, true, true, true, false]
    )
  })

  it("takes no long time, whatever the patterns and the names", () => {
    const begun = process.cpuUsage()
    const filter = ToolFilter.make({
      enabledTools: [
        "*a".repeat(200) + "b",
        "*?".repeat(200) + "b",
        "*".repeat(10_000) + "b",
        "*" + "a".repeat(60) + "b"
      ],
      disabledTools: Array.from({ length: 10_000 }, (_, at) => `tool_${at}`)
    })
    for (let at = 0; at < 1000; at++) assert.isFalse(filter("a".repeat(128)))
    assert.isFalse(filter("a".repeat(10_000)))
    const { system, user } = process.cpuUsage(begun)
    assert.isBelow((user + system) / 1000, 2000)
  })
})
