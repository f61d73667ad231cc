/** Shows a server or tool that needs approval, and asks for it. Anything but yes is no. */
import * as Effect from "effect/Effect"
import * as Scope from "../config/Scope.ts"
import * as Trust from "../config/Trust.ts"
import type * as McpError from "../McpError.ts"
import * as Approval from "../safety/Approval.ts"
import { isCredential } from "../text/credentialName.ts"
import * as ShellWords from "../text/shellWords.ts"
import * as Ask from "./Ask.ts"
import * as Screen from "./Screen.ts"

/** A server or tool that needs approval. Its fingerprint approves exactly this version, without a terminal too. */
export interface Waiting {
  readonly name: string
  readonly fingerprint: string
  /** All that the approval covers. */
  readonly lines: ReadonlyArray<Screen.Line>
  /** Shown instead, without a question, if the lines are too long: then only the fingerprint approves. */
  readonly unseen: ReadonlyArray<Screen.Line>
  /** Options of `approve` that precede the fingerprint. */
  readonly options?: string
  readonly question: string
  readonly approve: Effect.Effect<void, McpError.NotFound | McpError.TrustNotKept>
}

/** `waiting`: no terminal, or too long to be shown. */
export type Decision = "approved" | "refused" | "waiting"

/** Asks on a terminal. Without one only the fingerprint approves. */
export const decide = (
  { approve, fingerprint, lines, name, options = "", question, unseen }: Waiting,
  wanted?: string
): Effect.Effect<Decision, McpError.NotFound | McpError.TrustNotKept, Screen.Screen> =>
  Effect.gen(function*() {
    const screen = yield* Screen.Screen
    const isExact = wanted === fingerprint
    const isSeen = isExact || unseen.length === 0
    yield* screen.err(...(isSeen ? lines : unseen))
    if (!isExact && !(isSeen && screen.isInteractive)) {
      if (isSeen) yield* screen.err("There is no terminal to ask. After reviewing the entry, approve it with:")
      yield* screen.err(`  mcp-runtime approve ${options}${fingerprint}`)
      return "waiting"
    }
    if (screen.isInteractive && !(yield* Ask.confirm(screen, question))) return "refused"
    yield* approve
    yield* screen.note([{ text: "approved", style: "good" }, `: ${name}`])
    return "approved"
  })

export const label = (text: string): Screen.Span => ({ text: `  ${text}: `.padEnd(16), style: "weak" })

/** The start and the end of a text that is longer than the limit. */
const ends = (text: string, limit: number): string =>
  text.length <= limit
    ? text
    : [
      text.slice(0, limit / 2),
      `(${text.length - limit} of ${text.length} characters not shown)`,
      text.slice(-limit / 2)
    ].join(" … ")

export const lines = (all: ReadonlyArray<Trust.ConsentLine>, limit = Infinity): ReadonlyArray<Screen.Line> =>
  all.map(({ label: name, level, text }): Screen.Line => [
    label(name),
    { text: ends(text, limit), style: level === "warning" ? "warning" : "plain" }
  ])

/** How many lines, and characters per line, of an entry that is too long are shown. */
const maxLines = 40
const maxEnds = 200

/** The limit of an entry in characters, because the start of a longer one scrolls off the screen. */
const maxConsent = 4 * Approval.maxShown

/** What a short line counts as, because many short lines scroll the screen too. */
const width = 80

const lengthOf = (all: ReadonlyArray<Trust.ConsentLine>): number =>
  all.reduce((sum, { text }) => sum + Math.max(width, text.length), 0)

/** True if these lines do not fit on a screen. */
export const isTooMuch = (all: ReadonlyArray<Trust.ConsentLine>): boolean => lengthOf(all) > maxConsent

const unseen = (one: Trust.Pending, all: ReadonlyArray<Trust.ConsentLine>): ReadonlyArray<Screen.Line> =>
  !isTooMuch(all) ? [] : [
    ...lines(all.slice(0, maxLines), maxEnds),
    ...(all.length <= maxLines ? [] : [`  … and ${all.length - maxLines} more lines`]),
    [
      { text: one.server, style: "strong" },
      ` cannot be approved at the prompt: its entry has ${lengthOf(all)} characters, and the limit is ${maxConsent}.`
    ],
    `Read it in ${Scope.format(one.provenance)}, then approve exactly this entry:`
  ]

/**
 * A server that needs approval.
 *
 * @param why - the end of the first line
 * @param more - lines below the entry
 * @param variables - the variables that it may read (default: all that do not look like credentials)
 */
export const server = (
  trust: Trust.Trust["Type"],
  one: Trust.Pending,
  why: string,
  more: ReadonlyArray<Screen.Line>,
  variables?: ReadonlyArray<string>
): Waiting => {
  const { detail, fingerprint, server } = one
  const all = Trust.consent(one)
  return {
    name: server,
    fingerprint,
    lines: [
      [{ text: server, style: "strong" }, why],
      ...(detail === undefined ? [] : [`  ${detail}`]),
      ...lines(all),
      ...more
    ],
    unseen: unseen(one, all),
    question: "Approve and start this server?",
    approve: trust.approve(fingerprint, { variables })
  }
}

/** Asks about each of these servers that needs approval. True if one was approved. */
export const atFirstUse = (
  trust: Trust.Trust["Type"],
  names: ReadonlySet<string>
): Effect.Effect<boolean, McpError.NotFound | McpError.TrustNotKept, Screen.Screen> =>
  Effect.gen(function*() {
    const { isInteractive } = yield* Screen.Screen
    if (!isInteractive) return false
    const waiting = (yield* trust.pending).filter(({ server }) => names.has(server))
    const decided = yield* Effect.forEach(waiting, (one) => {
      const credentials = one.variables.filter(isCredential)
      const granting = credentials.flatMap((name) => ["--variable", ShellWords.quote(name)])
      const why = one.why === "new" ? "needs approval before its first start" : "has changed since it was approved"
      // variables cannot be added to an approval
      const more = credentials.length === 0 ? [] : [
        `To let it read ${credentials.join(", ")}, answer no and run`,
        `  ${["mcp-runtime", "approve", ShellWords.quote(one.server), ...granting].join(" ")}`
      ]
      return decide(server(trust, one, ` ${why}:`, more))
    })
    return decided.includes("approved")
  })
