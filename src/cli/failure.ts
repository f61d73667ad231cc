/** Prints the error of a command and the next step. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as McpError from "../McpError.ts"
import * as StderrReader from "../stderrReader.ts"
import * as UntrustedText from "../text/UntrustedText.ts"
import type * as Command from "./Command.ts"
import * as ExitCode from "./ExitCode.ts"
import { wrapped } from "./layout.ts"
import * as Screen from "./Screen.ts"

export const Failed = Schema.Struct({
  error: Schema.Struct({
    tag: Schema.String,
    message: Schema.String,
    next: Schema.optional(Schema.String),
    server: Schema.optional(Schema.String),
    /** `unknown` if the server may have executed the request. */
    outcome: Schema.optional(Schema.String),
    exitCode: Schema.Number
  })
})

/** The last lines of stderr, unless there is only the line that the message contains. */
const below = (stderr: string | undefined): ReadonlyArray<string> => {
  const lines = StderrReader.tail(stderr, { frames: false })
  return lines.length < 2 ? [] : ["Last lines of stderr:", ...lines.map((line) => `  | ${line}`)]
}

const show = (error: Command.Failure, json: boolean): Effect.Effect<ExitCode.ExitCode, never, Screen.Screen> =>
  Effect.gen(function*() {
    const screen = yield* Screen.Screen
    const exitCode = ExitCode.of(error)
    const next = error._tag === "Usage" ? error.next : McpError.forPerson(error)
    const { message } = error
    const [what = "", ...more] = message.split("\n")
    yield* screen.err(
      ...Screen.titled("error: ", "bad", what, screen.columns),
      ...more.flatMap((line) => wrapped(line, screen.columns)),
      ...below("stderrTail" in error ? error.stderrTail : undefined),
      ...(next === undefined ? [] : wrapped(next, screen.columns))
    )
    if (json) {
      yield* screen.json(Failed, {
        error: {
          tag: error._tag === "Usage" ? error._tag : McpError.label(error),
          message,
          next,
          ...("server" in error && error.server !== "" ? { server: error.server } : {}),
          ...("outcome" in error ? { outcome: error.outcome } : {}),
          exitCode
        }
      })
    }
    return exitCode
  })

const bug = (defect: unknown): Effect.Effect<ExitCode.ExitCode, never, Screen.Screen> =>
  Effect.flatMap(Screen.Screen, (screen) => {
    const [what] = Cause.pretty(Cause.die(defect)).split("\n")
    return Effect.as(
      screen.err(
        [{ text: "error: ", style: "bad" }, `internal error: ${UntrustedText.excerpt(what ?? "", 300)}`],
        "This is a bug in mcp-runtime. Please report it with the command and the output of `mcp-runtime --version`."
      ),
      ExitCode.fault
    )
  })

/** Prints errors and defects instead of failing with them. */
export const shown = <R>(
  self: Effect.Effect<ExitCode.ExitCode | void, Command.Failure, R>,
  json: boolean
): Effect.Effect<ExitCode.ExitCode, never, R | Screen.Screen> =>
  Effect.map(self, (code) => code ?? ExitCode.ok).pipe(
    Effect.catchAll((error) => show(error, json)),
    Effect.catchAllDefect(bug)
  )
