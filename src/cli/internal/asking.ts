/**
 * Asks the person at the terminal, and takes anything but a yes for a no.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Interpolation from "../../config/Interpolation.ts"
import * as Trust from "../../config/Trust.ts"
import type * as McpError from "../../McpError.ts"
import * as Approval from "../../safety/Approval.ts"
import * as Screen from "../Screen.ts"
import { shellWord } from "./shellWord.ts"

const yes = (answer: string | undefined): boolean => /^y(es)?$/i.test((answer ?? "").trim())

const label = (text: string): string => `  ${text}: `.padEnd(16)

/** @internal */
export const candidate = (one: Trust.Candidate): ReadonlyArray<Screen.Line> =>
  Trust.consent(one).map(({ label: name, level, text }): Screen.Line => [
    { text: label(name), style: "weak" },
    { text, style: level === "warning" ? "warning" : "plain" }
  ])

/**
 * Shows each of these servers that waits for somebody, and approves those that are agreed to: whether there were any.
 *
 * @internal
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
      const since = one.why === "new" ? "wants to be started for the first time" : "is not what was agreed to"
      const credentials = one.variables.filter(Interpolation.isCredential)
      const granting = credentials.flatMap((name) => ["--variable", shellWord(name)])
      yield* screen.err(
        [{ text: one.server, style: "strong" }, ` ${since}:`],
        ...candidate(one),
        // what is agreed to here cannot be asked for again
        ...(credentials.length === 0 ? [] : [
          `To let it have ${credentials.join(", ")}, say no, and write`,
          `  ${["mcp-runtime", "approve", shellWord(one.server), ...granting].join(" ")}`
        ])
      )
      if (!yes(yield* screen.ask("Start it, now and from now on? [y/N] "))) continue
      yield* trust.approve(one.fingerprint)
      hasAgreed = true
    }
    return hasAgreed
  })

/** What will be sent is long sometimes; its end may matter most. */
const most = 4_000

const shown = (args: unknown): ReadonlyArray<string> => {
  const text = JSON.stringify(args ?? {}, null, 2)
  const whole = text.length <= most ? text : `${text.slice(0, most / 2)}\n…\n${text.slice(-most / 2)}`
  return whole.split("\n").map((line) => `    ${line}`)
}

/**
 * Who is asked where a rule wants it: the person, or nobody.
 *
 * @param turns - one question at a time
 * @internal
 */
export const layer = (screen: Screen.Screen["Type"], turns: Effect.Semaphore): Layer.Layer<Approval.Approval> =>
  screen.isInteractive
    ? Approval.layer((request) =>
      turns.withPermits(1)(Effect.gen(function*() {
        const { args, kind, name, server } = request.subject
        yield* screen.err(
          [
            `A rule wants this ${kind} to be agreed to`,
            ...(request.rule === undefined ? [] : [` (${request.rule})`]),
            ":"
          ],
          [{ text: label(kind), style: "weak" }, { text: name, style: "strong" }, ` of ${server}`],
          ...(args === undefined ? [] : [[{ text: label("arguments"), style: "weak" }] as const, ...shown(args)])
        )
        return yes(yield* screen.ask("Send it? [y/N] ")) ? { _tag: "Once" as const } : { _tag: "Deny" as const }
      }))
    )
    : Approval.layerNobody
