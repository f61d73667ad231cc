/** `mcp-runtime approve --tool`: approves the changed definition of a tool. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as McpError from "../McpError.ts"
import { nearest } from "../text/nearest.ts"
import * as ToolPins from "../tools/ToolPins.ts"
import * as Application from "./Application.ts"
import type * as Command from "./Command.ts"
import * as ExitCode from "./ExitCode.ts"
import * as Offered from "./offered.ts"
import * as Screen from "./Screen.ts"
import { reasonOf } from "./serverView.ts"
import { choice, identityOf } from "./toolFound.ts"
import { format, spelled } from "./toolRef.ts"
import { Usage } from "./Usage.ts"

/** The document of `approve --tool --json`. */
export const ToolApproval = Schema.Struct({
  server: Schema.String,
  tool: Schema.String,
  /** Of what it is now; nothing, if it is not set aside. */
  fingerprint: Schema.NullOr(Schema.String),
  changes: Schema.Array(Schema.String),
  /** `waiting`: there was no person to ask. */
  decision: Schema.Literal("approved", "refused", "waiting", "unneeded")
})

type Decision = typeof ToolApproval.Type["decision"]

/** Shows what has changed, and asks, or takes the fingerprint of what was shown before for a yes. */
const decide = (
  one: ToolPins.Quarantined,
  fingerprint: string | undefined,
  pins: ToolPins.ToolPins["Type"]
): Effect.Effect<Decision, Command.Failure, Screen.Screen> =>
  Effect.gen(function*() {
    const screen = yield* Screen.Screen
    yield* screen.err(
      [
        { text: spelled(one), style: "strong" },
        one.why === "changed" ? " is not what it was:" : " has to be approved:"
      ],
      ...ToolPins.render(one.changes).map((line) => `  ${line}`),
      [{ text: "  fingerprint: ", style: "weak" }, one.fingerprint]
    )
    if (fingerprint !== undefined && fingerprint !== one.fingerprint) {
      return yield* new Usage({
        detail: "The fingerprint is that of something else: the tool has changed since it was shown.",
        next: "Look at what it is now before you agree to it."
      })
    }
    if (fingerprint === undefined && one.changes.some(({ omitted = 0 }) => omitted > 0)) {
      yield* screen.err(
        [
          { text: "not asked: ", style: "warning" },
          "its new definition is too long to be shown whole, so it cannot be approved here."
        ],
        "Read the whole definition, or have the server's author explain it, and approve exactly this one with",
        `  mcp-runtime approve --tool ${format(one)} ${one.fingerprint}`
      )
      return "waiting"
    }
    if (!screen.isInteractive && fingerprint === undefined) {
      yield* screen.err(
        "There is no terminal to ask at. After reading this, approve it with",
        `  mcp-runtime approve --tool ${format(one)} ${one.fingerprint}`
      )
      return "waiting"
    }
    if (screen.isInteractive) {
      const answer = yield* screen.ask("Use it as it is now? [y/N] ")
      if (!/^y(es)?$/i.test((answer ?? "").trim())) return "refused"
    }
    yield* pins.approve(one.server, one.tool, one.fingerprint)
    yield* screen.note([{ text: "approved", style: "good" }, `: ${spelled(one)}`])
    return "approved"
  })

export const run = (
  ref: string,
  { args, shared }: Command.Invocation
): Effect.Effect<ExitCode.ExitCode, Command.Failure, Screen.Screen> =>
  Application.use(
    shared,
    (discovery) =>
      identityOf(ref, discovery) === undefined
        ? Effect.fail(new Usage({ detail: "The tool is to be named with its server.", next: "Write SERVER/TOOL." }))
        : choice(ref, discovery, shared),
    ({ discovery, pins, runtime, settled }) =>
      Effect.gen(function*() {
        const screen = yield* Screen.Screen
        const identity = identityOf(ref, discovery)!
        const { missing, quarantined, tools } = yield* Offered.asking(Effect.zipRight(settled, runtime.tools))
        const absent = missing.find(({ server }) => server === identity.server)
        if (absent !== undefined) return yield* reasonOf(absent)
        const one = quarantined.find(({ server, tool }) => server === identity.server && tool === identity.tool)
        const known = tools.filter(({ serverName }) => serverName === identity.server).map(({ tool }) => tool.name)
        if (one === undefined && !known.includes(identity.tool)) {
          const names = [...known, ...quarantined.map(({ tool }) => tool)]
          return yield* new McpError.NotFound({
            server: identity.server,
            kind: "tool",
            name: identity.tool,
            suggestions: nearest(identity.tool, names)
          })
        }
        if (one === undefined) yield* screen.note(`${spelled(identity)} has not changed, so it needs no approval.`)
        const decision = one === undefined ? "unneeded" : yield* decide(one, args[0]?.toLowerCase(), pins)
        if (shared.json) {
          yield* screen.json(ToolApproval, {
            ...identity,
            fingerprint: one?.fingerprint ?? null,
            changes: one === undefined ? [] : ToolPins.render(one.changes),
            decision
          })
        }
        return decision === "approved" || decision === "unneeded" ? ExitCode.ok : ExitCode.permission
      })
  )
