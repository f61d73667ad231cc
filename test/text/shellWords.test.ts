import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import * as ShellWords from "../../src/text/shellWords.ts"
import { runs } from "../support/runs.ts"

const words = (line: string, rules: ShellWords.Rules): ReadonlyArray<string> | undefined => {
  const { unclosed, words } = ShellWords.split(line, rules)
  return unclosed === undefined ? words.map(({ text }) => text) : undefined
}

describe("ShellWords.split", () => {
  it("reads a line as a shell does", () => {
    const shell = (line: string) => words(line, ShellWords.shell)
    assert.deepStrictEqual(shell(""), [])
    assert.deepStrictEqual(shell("  call  a/b\tx=1 "), ["call", "a/b", "x=1"])
    assert.deepStrictEqual(shell(`a '' "b c" d'e f'g`), ["a", "", "b c", "de fg"])
    assert.deepStrictEqual(shell(`'a\\b' "c\\"d" e\\ f`), ["a\\b", "c\"d", "e f"])
    assert.isUndefined(shell("a 'b"))
    assert.isUndefined(shell("a \"b"))
  })

  it("gives back any words that were quoted", () => {
    const text = FastCheck.array(FastCheck.constantFrom("a", " ", "\t", "\n", "'", "\"", "\\", "$", "~", "🔧", "x=1"), {
      maxLength: 8
    }).map((parts) => parts.join(""))
    FastCheck.assert(
      FastCheck.property(FastCheck.array(text, { maxLength: 6 }), (all) => {
        assert.deepStrictEqual(words(all.map(ShellWords.quote).join(" "), ShellWords.shell), all)
      }),
      { numRuns: runs(5000) }
    )
  })

  it("keeps apostrophes and backslashes of prose, and says which words begin in quotes", () => {
    assert.deepStrictEqual(ShellWords.split("don't C:\\temp \"a=b\" c=\"d e\" f\\ g", ShellWords.prose).words, [
      { text: "don't", quoted: false },
      { text: "C:\\temp", quoted: false },
      { text: "a=b", quoted: true },
      { text: "c=d e", quoted: false },
      { text: "f g", quoted: false }
    ])
    assert.deepStrictEqual(words("it's 'never closed", ShellWords.prose), undefined)
  })
})

describe("ShellWords.withoutShell", () => {
  const split = (line: string) => ShellWords.withoutShell(line, { home: "/h", isWindows: false })

  it("splits a line that needs no shell", () => {
    assert.deepStrictEqual(split(" gh  auth 'a b'\"c\" ~/x '' "), ["gh", "auth", "a bc", "/h/x", ""])
    assert.deepStrictEqual(split("echo '~/x' '$A|`' \"it's\" ~"), ["echo", "~/x", "$A|`", "it's", "/h"])
    assert.deepStrictEqual(ShellWords.withoutShell("C:\\a.exe 'x|y'", { home: undefined, isWindows: true }), [
      "C:\\a.exe",
      "x|y"
    ])
  })

  it("refuses a line that a shell would read differently", () => {
    const lines = ["a | b", "a&", "a;b", "a<b", "a > b", "$A", "`a`", "a $(b)", "\"$A\"", "\"a\\b\"", "a\\ b", "a\nb"]
    for (const line of [...lines, "'a", "\"a", "a*", "~b", "a 'b' \"c", "'a\u0000'", ""]) {
      assert.isUndefined(split(line), line)
    }
    assert.isUndefined(ShellWords.withoutShell("~/x", { home: undefined, isWindows: false }))
  })
})
