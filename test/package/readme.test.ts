import { assert, describe, it } from "@effect/vitest"
import { Duration } from "effect"
import { readFileSync } from "node:fs"
import * as Limits from "../../src/config/Limits.ts"
import type { Row } from "../../src/errorRow.ts"
import { kinds, rows as errorTable } from "../../src/errorRows.ts"
import * as McpError from "../../src/McpError.ts"
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

interface ErrorRow {
  readonly tag: string
  /** The cell with the reasons and their meaning. */
  readonly meaning: string
  readonly facets: Readonly<Record<Facet, string>>
}

const facets = ["outcome", "isRetryable", "countsForBreaker"] as const
type Facet = typeof facets[number]

/** The rows of the table of errors; the first cell is empty in the further rows of a tag. */
const errorRows = (): ReadonlyArray<ErrorRow> => {
  let tag = ""
  return Array.from(
    sectionOf("Errors").matchAll(/^\| (?:`(\w+)`)? ?\| (.+) \| (.+) \| (.+) \| (.+) \|$/gm),
    ([, first, meaning, outcome, isRetryable, countsForBreaker]) => {
      tag = first ?? tag
      return {
        tag,
        meaning: meaning!,
        facets: { outcome: outcome!, isRetryable: isRetryable!, countsForBreaker: countsForBreaker! }
      }
    }
  ).filter((row) => row.tag !== "")
}

const tags = McpError.McpError.members.map(({ _tag }) => _tag)

/** The reasons of a tag: the literals of its field `reason` or `why`. */
const reasonsOf = (tag: string): ReadonlyArray<string> => {
  const fields: Readonly<Record<string, unknown>> = McpError.McpError.members.find(({ _tag }) => _tag === tag)?.fields
    ?? {}
  const literals = String(fields["reason"] ?? fields["why"]).matchAll(/"([\w-]+)"/g)
  // a field with a default names its literals twice
  return Array.from(new Set(Array.from(literals, ([, literal]) => literal!)))
}

/** The rules of a facet for a reason of a tag: more than one if other fields decide, too. */
const rulesOf = (tag: string, reason: string | undefined, facet: Facet): ReadonlyArray<unknown> => {
  // without a rule, the field decides the outcome, and the answer to the other two is no
  let rules: Array<Row[Facet]> = [undefined]
  for (const row of errorTable[tag]!) {
    const { reason: ofReason, why = ofReason, ...conditions } = row.when ?? {}
    if (why !== undefined && why !== reason) continue
    const value = row[facet] ?? kinds[row.kind ?? ""]?.[facet]
    const isSet = row.kind !== undefined || Object.hasOwn(row, facet)
    if (isSet) rules = Object.keys(conditions).length === 0 ? [value] : [...rules, value]
  }
  return rules
}

const plain: ReadonlySet<string> = new Set(["yes", "no", "if not sent"])

/** True if the cell has the one rule, or describes rules that differ or depend on fields in other words. */
const agrees = (facet: Facet, cell: string, rules: ReadonlyArray<unknown>): boolean => {
  const [rule, ...others] = new Set(rules)
  if (facet === "outcome") return cell === (others.length === 0 && rule !== undefined ? rule : "varies")
  if (others.length > 0) return !plain.has(cell)
  return cell === (rule === true ? "yes" : rule === "if not sent" ? rule : "no")
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
  it("lists every error tag, and every reason with facets of its own, with the facets of the table", () => {
    const rows = errorRows()
    assert.sameMembers(Array.from(new Set(rows.map(({ tag }) => tag))), tags)
    for (const tag of tags) {
      const reasons = reasonsOf(tag)
      const documented = rows.filter((row) => row.tag === tag)
      // a row alone stands for all reasons of its tag
      const shown = documented.map((row) => ({
        ...row,
        reasons: documented.length === 1 ? reasons : reasons.filter((reason) => row.meaning.includes(`\`${reason}\``))
      }))
      assert.sameMembers(shown.flatMap(({ reasons }) => reasons), [...reasons], tag)
      for (const row of shown) {
        for (const facet of facets) {
          const where = `${facet} of ${tag}, ${row.meaning}`
          assert.isTrue(
            agrees(
              facet,
              row.facets[facet],
              (row.reasons.length === 0 ? [undefined] : row.reasons).flatMap((reason) => rulesOf(tag, reason, facet))
            ),
            where
          )
        }
      }
    }
  })

  it("says what to do about every error tag", () => {
    const advice = Array.from(sectionOf("When something goes wrong").matchAll(/^\| (`.*?) \|/gm), ([, cell]) => cell!)
    const advised = advice.flatMap((cell) => Array.from(cell.matchAll(/`([\w/-]+)`/g), ([, label]) => label!))
    assert.lengthOf(new Set(advised), advised.length)
    assert.sameMembers(Array.from(new Set(advised.map((label) => label.split("/")[0]!))), tags)
    for (const label of advised) {
      const [tag, reason] = label.split("/")
      if (reason === undefined) continue
      assert.include(reasonsOf(tag!), reason, label)
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
