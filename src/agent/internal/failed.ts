/**
 * An error as a model is told it: our words first, and then what the server says of it, guarded and without secrets.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import * as McpError from "../../McpError.ts"
import type * as OutputGuard from "../../safety/OutputGuard.ts"
import type * as Redaction from "../../safety/Redaction.ts"

/** @internal */
export type Failed = (error: McpError.RuntimeError, tool: string) => Effect.Effect<string>

/** More of it says nothing new. */
const longest = 4096

/** @internal */
export const make = (guard: OutputGuard.OutputGuard["Type"], redactor: Redaction.Redactor): Failed => (error, tool) =>
  Effect.suspend(() => {
    const { next, theirs, what } = McpError.forModel(error)
    const ours = redactor.text(`Error (${error._tag}): ${what} ${next}`)
    // cut twice, so that half a secret at the first cut is gone with the second
    const said = redactor.text((theirs ?? "").slice(0, 4 * longest)).slice(0, longest).trim()
    if (said === "") return Effect.succeed(ours)
    const source: OutputGuard.Source = { server: error.server, tool, kind: "error" }
    return Effect.map(guard.renderText(said, source), ({ text }) => `${ours}\nThe server says:\n${text}`)
  })
