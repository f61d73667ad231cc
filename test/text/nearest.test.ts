import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { isOneEdit, nearest, nearestOf, suggestion } from "../../src/text/nearest.ts"
import { runs } from "../support/runs.ts"

const word = FastCheck.stringMatching(/^[a-z]{4,12}$/)

describe("nearest", () => {
  const names = ["list", "tools", "show", "call", "github", "gitlab"]
  const near: ReadonlyArray<readonly [typed: string, found: ReadonlyArray<string>]> = [
    ["lsit", ["list"]],
    ["tool", ["tools"]],
    ["SHOW", ["show"]],
    ["githbu", ["github"]],
    ["git", ["github", "gitlab"]],
    ["shwo", ["show"]],
    ["nothing", []]
  ]
  for (const [typed, found] of near) {
    it(`finds ${found.join(" and ") || "nothing"} for ${typed}`, () => {
      assert.deepStrictEqual(nearest(typed, names), found)
    })
  }

  it("bounds the time for a very long text", () => {
    assert.deepStrictEqual(nearest("x".repeat(1_000_000), names), [])
    assert.deepStrictEqual(nearest("list", ["x".repeat(1_000_000)]), [])
  })

  it("finds a name with one character left out, doubled or swapped with the next", () => {
    FastCheck.assert(
      FastCheck.property(word, FastCheck.nat(11), (name, place) => {
        const at = place % (name.length - 1)
        for (
          const slip of [
            name.slice(0, at) + name.slice(at + 1),
            name.slice(0, at + 1) + name.slice(at),
            name.slice(0, at) + name[at + 1]! + name[at]! + name.slice(at + 2)
          ]
        ) {
          assert.deepStrictEqual(nearest(slip, [name]), [name], slip)
          assert.isTrue(isOneEdit(slip, name), slip)
        }
      }),
      { numRuns: runs(1000) }
    )
  })

  it("returns some of the candidates, each once, the exact name first", () => {
    FastCheck.assert(
      FastCheck.property(
        FastCheck.uniqueArray(word, { minLength: 1, maxLength: 30 }),
        FastCheck.nat(29),
        (names, at) => {
          const name = names[at % names.length]!
          const found = nearestOf(name, names, (name) => [name], 5)
          assert.strictEqual(found[0], name)
          assert.strictEqual(new Set(found).size, found.length)
          for (const one of found) assert.include(names, one)
        }
      ),
      { numRuns: runs(500) }
    )
  })
})

describe("isOneEdit", () => {
  it("allows one insertion, deletion, replacement or swap, and no more", () => {
    for (const near of ["abcd", "abc", "abcde", "abxd", "bacd", "xabcd"]) assert.isTrue(isOneEdit("abcd", near), near)
    for (const far of ["ab", "abcdef", "axxd", "dcba", ""]) assert.isFalse(isOneEdit("abcd", far), far)
  })
})

describe("suggestion", () => {
  it("is a question, or nothing without names", () => {
    assert.strictEqual(suggestion(["a", "b"]), "Did you mean \"a\" or \"b\"?")
    assert.isUndefined(suggestion([]))
  })
})
