// @effect-diagnostics strictEffectProvide:off -- the arguments decide what is provided
/** The program `mcp-runtime`: from its arguments to an exit code. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as HashMap from "effect/HashMap"
import type * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as UntrustedText from "../text/UntrustedText.ts"
import * as Answers from "./answers.ts"
import type * as Command from "./Command.ts"
import * as CommandLine from "./commandLine.ts"
import * as Commands from "./Commands.ts"
import * as ExitCode from "./ExitCode.ts"
import * as Failure from "./failure.ts"
import * as Help from "./help.ts"
import * as Screen from "./Screen.ts"

export interface Options {
  readonly argv: ReadonlyArray<string>
  readonly version: string
  readonly device: Screen.Device
  /** Default: all commands. */
  readonly commands?: ReadonlyArray<Command.Entry> | undefined
}

/** Writes escaped log lines. */
const logging = (write: (line: string) => void): Layer.Layer<never> =>
  Logger.replace(
    Logger.defaultLogger,
    Logger.make(({ annotations, cause, logLevel, message }) => {
      const words = (Array.isArray(message) ? message : [message]).map((one) =>
        typeof one === "string" ? one : JSON.stringify(one)
      )
      const about = Array.from(HashMap.entries(annotations), ([name, value]) => `${name}=${String(value)}`)
      const why = Cause.isEmpty(cause) ? [] : [Cause.pretty(cause).split("\n")[0]!]
      write(UntrustedText.excerpt([logLevel.label.toLowerCase(), ...words, ...about, ...why].join(" "), 2_048))
    })
  )

const completions = Effect.promise(() => import("./completions.ts"))

const act = (
  parsed: CommandLine.Parsed,
  { commands = Commands.all, version }: Options
): Effect.Effect<ExitCode.ExitCode | void, Command.Failure, Screen.Screen> =>
  Effect.gen(function*() {
    const screen = yield* Screen.Screen
    switch (parsed._tag) {
      case "Run":
        return yield* Answers.withEnvFiles(parsed.invocation.shared.envFiles, parsed.command.run(parsed.invocation))
      case "Help": {
        const lines = parsed.command === undefined
          ? Help.ofProgram(commands, screen.columns)
          : Help.ofCommand(parsed.command, screen.columns)
        if (parsed.isAsked) return yield* screen.out(...lines)
        yield* screen.err(...lines)
        return ExitCode.usage
      }
      case "Version":
        return yield* screen.out(version)
      case "Completions":
        return yield* screen.out(...(yield* completions).script(parsed.shell).split("\n"))
      case "Complete":
        return yield* (yield* completions).print(parsed.words, commands)
    }
  })

/**
 * Runs a command line. Errors are printed and become the exit code. Ends early and silently when the reader of the output
 * closes the pipe.
 */
export const run = (options: Options): Effect.Effect<ExitCode.ExitCode> => {
  const { argv, commands = Commands.all, device } = options
  return Effect.flatMap(Effect.exit(CommandLine.parse(argv, commands)), (parsed) => {
    const shared = Exit.isSuccess(parsed) && parsed.value._tag === "Run" ? parsed.value.invocation.shared : undefined
    const screen = Screen.make(device, {
      colour: shared?.colour ?? !argv.includes("--no-color"),
      quiet: shared?.quiet ?? false
    })
    const ran = Effect.flatMap(parsed, (read) => act(read, options))
    const program = Failure.shown(ran, shared?.json ?? argv.includes("--json")).pipe(
      Logger.withMinimumLogLevel(shared?.verbose === true ? LogLevel.Debug : LogLevel.None),
      Effect.provide(logging(screen.log)),
      Effect.provideService(Screen.Screen, screen),
      // an interrupted command must not leave a progress line
      Effect.ensuring(Effect.sync(() => screen.progress(undefined)))
    )
    return Effect.raceFirst(program, Effect.as(screen.outputClosed, ExitCode.ok))
  })
}
