/** Errors for people and programs: what, why, and the next step. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as McpError from "../McpError.ts"
import * as UntrustedText from "../text/UntrustedText.ts"
import type * as Command from "./Command.ts"
import * as ExitCode from "./ExitCode.ts"
import * as LastWords from "./lastWords.ts"
import * as Screen from "./Screen.ts"
import { wrapped } from "./wrapped.ts"

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

/** The server of an error that is about a file as a whole. */
export const fileItself = "(file)"

const show = (error: Command.Failure, json: boolean): Effect.Effect<ExitCode.ExitCode, never, Screen.Screen> =>
  Effect.gen(function*() {
    const screen = yield* Screen.Screen
    const exitCode = ExitCode.of(error)
    const next = error._tag === "Usage" ? error.next : McpError.forPerson(error)
    // a file is no server, and its name is in the message
    const message = "server" in error && error.server === fileItself
      ? error.message.slice(`${fileItself}: `.length)
      : error.message
    const [what = "", ...more] = message.split("\n")
    yield* screen.err(
      ...Screen.titled("error: ", "bad", what, screen.columns),
      ...more.flatMap((line) => wrapped(line, screen.columns)),
      ...LastWords.below("stderrTail" in error ? error.stderrTail : undefined),
      ...(next === undefined ? [] : wrapped(next, screen.columns))
    )
    if (json) {
      yield* screen.json(Failed, {
        error: {
          tag: error._tag === "Usage" ? error._tag : McpError.label(error),
          message,
          next,
          ...("server" in error && error.server !== "" && error.server !== fileItself ? { server: error.server } : {}),
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
        [{ text: "error: ", style: "bad" }, `this is a bug of mcp-runtime: ${UntrustedText.excerpt(what ?? "", 300)}`],
        "Please report it to the maintainers of effect-mcp-runtime, with the command and `mcp-runtime --version`."
      ),
      ExitCode.fault
    )
  })

/** Shows the error of a command, or the defect of the program, in place of failing with it. */
export const shown = <R>(
  self: Effect.Effect<ExitCode.ExitCode, Command.Failure, R>,
  json: boolean
): Effect.Effect<ExitCode.ExitCode, never, R | Screen.Screen> =>
  Effect.catchAllDefect(Effect.catchAll(self, (error) => show(error, json)), bug)
