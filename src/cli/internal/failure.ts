/**
 * The one place where an error is shown: what, why, and what to do next. Never where in our code.
 *
 * @internal
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as UntrustedText from "../../UntrustedText.ts"
import type * as Command from "../Command.ts"
import * as ExitCode from "../ExitCode.ts"
import * as Screen from "../Screen.ts"
import * as Advice from "./advice.ts"

/** @internal */
export const Failed = Schema.Struct({
  error: Schema.Struct({
    tag: Schema.String,
    message: Schema.String,
    next: Schema.optional(Schema.String),
    server: Schema.optional(Schema.String),
    /** Whether the server may have carried it out. */
    outcome: Schema.optional(Schema.String),
    exitCode: Schema.Number
  })
})

/** @internal */
export const show = (error: Command.Failure, json: boolean): Effect.Effect<ExitCode.ExitCode, never, Screen.Screen> =>
  Effect.gen(function*() {
    const screen = yield* Screen.Screen
    const exitCode = ExitCode.of(error)
    const next = Advice.next(error)
    const [what, ...more] = error.message.split("\n")
    yield* screen.err(
      [{ text: "error: ", style: "bad" }, what!],
      ...more,
      ...(next === undefined ? [] : [next])
    )
    if (json) {
      yield* screen.json(Failed, {
        error: {
          tag: error._tag,
          message: error.message,
          ...(next === undefined ? {} : { next }),
          ...("server" in error && error.server !== "" ? { server: error.server } : {}),
          ...("outcome" in error ? { outcome: error.outcome } : {}),
          exitCode
        }
      })
    }
    return exitCode
  })

/** @internal */
export const bug = (cause: Cause.Cause<never>): Effect.Effect<ExitCode.ExitCode, never, Screen.Screen> =>
  Effect.flatMap(Screen.Screen, (screen) => {
    const [what] = Cause.pretty(cause).split("\n")
    return Effect.as(
      screen.err(
        [{ text: "error: ", style: "bad" }, `this is a bug of mcp-runtime: ${UntrustedText.excerpt(what ?? "", 300)}`],
        "Please report it to whoever maintains effect-mcp-runtime, with the command and `mcp-runtime --version`."
      ),
      ExitCode.fault
    )
  })
