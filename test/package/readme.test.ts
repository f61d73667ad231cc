import { assert, describe, it } from "@effect/vitest"
import { Duration } from "effect"
import { readFileSync } from "node:fs"
import * as Limits from "../../src/config/Limits.ts"
import { root, sources } from "./project.ts"

const readme = readFileSync(new URL("README.md", root), "utf8")
const operations = readFileSync(new URL("docs/operations.md", root), "utf8")

const sectionOf = (heading: string): string =>
  operations.split(/^## /m).find((text) => text.startsWith(`${heading}\n`)) ?? ""

/** The rows of the table below a heading, by the code in their first cell. */
const table = (heading: string): ReadonlyMap<string, ReadonlyArray<string>> => {
  const section = sectionOf(heading)
  return new Map(Array.from(section.matchAll(/^\| `(\w+)` \|(.*)\|$/gm), ([, key, cells]) => [
    key!,
    cells!.split("|").map((cell) => cell.trim())
  ]))
}

/** What the source of an error class says of a facet: a constant, or an expression. */
const facet = (body: string, name: string): string => {
  const expression = new RegExp(`get ${name}\\(\\)[^{]*\\{\\s*return (.*)`).exec(body)?.[1] ?? "(a field)"
  switch (expression) {
    case "true":
      return "yes"
    case "false":
      return "no"
    case `this.outcome === "not-sent"`:
      return "if not sent"
    default:
      return /^"([\w-]+)"$/.exec(expression)?.[1] ?? "(depends)"
  }
}

describe("the README", () => {
  it("opens with the two commands", () => {
    const commands = /```sh\n([\s\S]*?)```/.exec(readme)?.[1] ?? ""
    assert.match(commands, /^npm install && npm run demo\b.*\nnpm install && npm test\b.*\n$/)
    assert.isBelow(readme.indexOf(commands), 100)
  })

  it("is no longer than a person reads", () => {
    assert.isBelow(readme.split("\n").length, 350)
  })
})

describe("the page on operations", () => {
  it("lists every error tag with the facets that the class has, and says what to do about each", () => {
    const rows = table("Errors")
    const classes = new Map(
      sources.filter(({ path }) => /^error\/\w+\.ts$/.test(path)).flatMap(({ text }) =>
        text.split(/^export class /m).slice(1).map((body) => [/^\w+/.exec(body)![0], body] as const)
      )
    )
    assert.sameMembers([...rows.keys()], [...classes.keys()])
    const advice = Array.from(sectionOf("When something goes wrong").matchAll(/^\| (`.*?) \|/gm), ([, cell]) => cell!)
    const advised = advice.flatMap((cell) => Array.from(cell.matchAll(/`(\w+)`/g), ([, tag]) => tag!))
    assert.sameMembers(advised, [...classes.keys()])
    const plain = ["yes", "no", "if not sent"]
    for (const [tag, [, outcome, retry, health]] of rows) {
      const body = classes.get(tag)!
      const actual = facet(body, "outcome")
      assert.strictEqual(outcome, actual === "(depends)" ? "varies" : actual, `outcome of ${tag}`)
      const retryable = facet(body, "isRetryable")
      if (retryable === "(depends)") assert.notInclude(plain, retry, `isRetryable of ${tag}`)
      else assert.strictEqual(retry, retryable, `isRetryable of ${tag}`)
      const counts = facet(body, "countsForBreaker")
      if (counts === "(depends)") assert.notInclude(plain, health, `countsForBreaker of ${tag}`)
      else assert.strictEqual(health, counts, `countsForBreaker of ${tag}`)
    }
  })

  it("lists every limit with its default", () => {
    const expected = Object.entries(Limits.defaults).map(([limit, value]) =>
      `${limit} ${Duration.isDuration(value) ? Duration.toMillis(value) : value}`
    )
    const listed = Array.from(table("Limits"), ([limit, [value]]) => {
      const duration = /^(\d+)([smh])$/.exec(value!)
      if (duration === null) return `${limit} ${value}`
      const unit = { s: 1_000, m: 60_000, h: 3_600_000 }[duration[2] as "s" | "m" | "h"]
      return `${limit} ${Number(duration[1]) * unit}`
    })
    assert.sameMembers(listed, expected)
  })
})

describe("the README's links", () => {
  it("lead to files that exist", () => {
    for (const [, target] of readme.matchAll(/\]\((?!https?:)([^)]+)\)/g)) {
      assert.doesNotThrow(() => new URL(target!, root))
    }
    for (const [, path] of readme.matchAll(/`(src\/[\w./]+)`/g)) {
      const inside = path!.slice("src/".length)
      assert.isTrue(sources.some((source) => source.path === inside || source.path.startsWith(`${inside}/`)), path)
    }
  })
})
