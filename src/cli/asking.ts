/** Asks the person at the terminal, and takes anything but a yes for a no. */
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Scope from "../config/Scope.ts"
import * as Trust from "../config/Trust.ts"
import type * as McpError from "../McpError.ts"
import * as Approval from "../safety/Approval.ts"
import { isCredential } from "../text/credentialName.ts"
import * as ShellWords from "../text/shellWords.ts"
import * as Screen from "./Screen.ts"

const label = (text: string): string => `  ${text}: `.padEnd(16)

/** A text that is longer than the limit as its length and both ends. */
const ends = (text: string, limit: number): string =>
  text.length <= limit
    ? text
    : [
      text.slice(0, limit / 2),
      `(${text.length - limit} of ${text.length} characters are not shown)`,
      text.slice(-limit / 2)
    ].join(" … ")

export const consentLines = (lines: ReadonlyArray<Trust.ConsentLine>, limit = Infinity): ReadonlyArray<Screen.Line> =>
  lines.map(({ label: name, level, text }): Screen.Line => [
    { text: label(name), style: "weak" },
    { text: ends(text, limit), style: level === "warning" ? "warning" : "plain" }
  ])

export const candidate = (one: Trust.Candidate, limit = Infinity): ReadonlyArray<Screen.Line> =>
  consentLines(Trust.consent(one), limit)

/** Lines and characters of a line that are shown of an entry that is too long. */
const maxLines = 40
const maxEnds = 200

/** The most characters of an entry that a person is asked about, because the start of a longer one scrolls away. */
const maxConsent = 4 * Approval.maxShown

/** The fewest characters that a line counts as, because many short lines scroll the screen too. */
const width = 80

const lengthOf = (lines: ReadonlyArray<Trust.ConsentLine>): number =>
  lines.reduce((sum, { text }) => sum + Math.max(width, text.length), 0)

/** Whether a person who is asked about these lines could not see all of them. */
export const isTooMuch = (lines: ReadonlyArray<Trust.ConsentLine>): boolean => lengthOf(lines) > maxConsent

/** Reports that an entry is too long to be shown, so that only its fingerprint approves it. */
export const tooLong = (one: Trust.Candidate): ReadonlyArray<Screen.Line> => {
  const all = candidate(one, maxEnds)
  const length = lengthOf(Trust.consent(one))
  return length <= maxConsent ? [] : [
    ...all.slice(0, maxLines),
    ...(all.length <= maxLines ? [] : [`  … and ${all.length - maxLines} more lines`]),
    [
      { text: one.server, style: "strong" },
      ` cannot be approved here: its entry takes ${length} characters, and at most ${maxConsent} can be shown.`
    ],
    `Read it in ${Scope.format(one.provenance)}, and approve exactly this entry with`,
    `  mcp-runtime approve ${one.fingerprint}`
  ]
}

/**
 * Shows each of these servers that waits for approval, and approves it after a yes. True if there was one.
 */
export const consent = (
  trust: Trust.Trust["Type"],
  names: ReadonlySet<string>
): Effect.Effect<boolean, McpError.NotFound | McpError.TrustNotKept, Screen.Screen> =>
  Effect.gen(function*() {
    const screen = yield* Screen.Screen
    let hasAgreed = false
    if (!screen.isInteractive) return hasAgreed
    for (const one of yield* trust.pending) {
      if (!names.has(one.server)) continue
      const instead = tooLong(one)
      if (instead.length > 0) {
        yield* screen.err(...instead)
        continue
      }
      const since = one.why === "new" ? "wants to be started for the first time" : "has changed since it was approved"
      const credentials = one.variables.filter(isCredential)
      const granting = credentials.flatMap((name) => ["--variable", ShellWords.quote(name)])
      yield* screen.err(
        [{ text: one.server, style: "strong" }, ` ${since}:`],
        ...candidate(one),
        // what is agreed to here cannot be asked for again
        ...(credentials.length === 0 ? [] : [
          `To let it have ${credentials.join(", ")}, say no, and write`,
          `  ${["mcp-runtime", "approve", ShellWords.quote(one.server), ...granting].join(" ")}`
        ])
      )
      if (!(yield* Screen.confirm(screen, "Start it, now and from now on?"))) continue
      yield* trust.approve(one.fingerprint)
      hasAgreed = true
    }
    return hasAgreed
  })

/** The rows of one page, and the characters of a row: what fits the smallest usual terminal with its question. */
const pageRows = 20

/** The most characters of arguments that a person is asked to read, page by page. */
const maxPaged = 25 * Approval.maxShown

/** The lines in pages that fit the screen; a line that is longer than a row takes several. */
const pages = (lines: ReadonlyArray<string>): ReadonlyArray<ReadonlyArray<string>> => {
  const rows = lines.flatMap((line) => line === "" ? [""] : line.match(new RegExp(`.{1,${width}}`, "gsu")) ?? [])
  return Array.from(
    { length: Math.ceil(rows.length / pageRows) },
    (_, at) => rows.slice(at * pageRows, (at + 1) * pageRows)
  )
}

/** Shows each page after a key, and asks at the end; a person who stops before has not seen all, and so refuses. */
const read = (
  screen: Screen.Screen["Type"],
  lines: ReadonlyArray<string>
): Effect.Effect<boolean> =>
  Effect.gen(function*() {
    const all = pages(lines)
    for (const [at, page] of all.entries()) {
      yield* screen.err(...page)
      if (at === all.length - 1) continue
      const answer = yield* screen.ask(`Page ${at + 1} of ${all.length}. Enter shows the next one, n refuses: `)
      if (answer === undefined || answer.trim() !== "") return false
    }
    return yield* Screen.confirm(screen, "Send it?")
  })

/** Asks the person at the terminal where a rule wants it, one question at a time; without a terminal, no person. */
export const layer = (screen: Screen.Screen["Type"], turns: Effect.Semaphore): Layer.Layer<Approval.Approval> =>
  screen.isInteractive
    ? Approval.layer(
      Approval.whole(
        ({ lines, name, server }, { rule, subject: { kind } }) =>
          turns.withPermits(1)(Effect.gen(function*() {
            yield* screen.err(
              rule === undefined
                ? `No rule decides on this ${kind}:`
                : `A rule asks for approval of this ${kind} (${rule}):`,
              [{ text: label(kind), style: "weak" }, { text: name, style: "strong" }, ` of ${server}`],
              ...(lines.length === 0 ? [] : [[{ text: label("arguments"), style: "weak" }] as const])
            )
            const isAgreed = yield* read(screen, lines.map((line) => `    ${line}`))
            return isAgreed ? { _tag: "Once" as const } : { _tag: "Deny" as const }
          })),
        maxPaged
      )
    )
    : Approval.layerNobody
