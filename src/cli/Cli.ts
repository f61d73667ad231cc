// @effect-diagnostics strictEffectProvide:off -- what is typed decides what is provided
/** The program `mcp-runtime`: from what was typed to an exit code. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import type * as Command from "./Command.ts"
import * as Commands from "./Commands.ts"
import * as ExitCode from "./ExitCode.ts"
import * as CommandLine from "./internal/commandLine.ts"
import * as Failure from "./internal/failure.ts"
import * as Help from "./internal/help.ts"
import * as LogLine from "./internal/logLine.ts"
import * as Screen from "./Screen.ts"

export interface Options {
  readonly argv: ReadonlyArray<string>
  readonly version: string
  readonly device: Screen.Device
  /** Default: all there are. */
  readonly commands?: ReadonlyArray<Command.Command> | undefined
}

const act = (
  parsed: CommandLine.Parsed,
  { version, commands = Commands.all }: Options
): Effect.Effect<ExitCode.ExitCode, Command.Failure, Screen.Screen> =>
  Effect.flatMap(Screen.Screen, (screen): Effect.Effect<ExitCode.ExitCode, Command.Failure, Screen.Screen> => {
    switch (parsed._tag) {
      case "Run":
        return Effect.flatMap(Effect.promise(parsed.command.load), ({ run }) => run(parsed.invocation))
      case "Help": {
        const columns = Math.min(screen.columns, 80)
        const lines = parsed.command === undefined
          ? Help.ofProgram(commands, columns)
          : Help.ofCommand(parsed.command, columns)
        return parsed.isAsked
          ? Effect.as(screen.out(...lines), ExitCode.ok)
          : Effect.as(screen.err(...lines), ExitCode.usage)
      }
      case "Version":
        return Effect.as(screen.out(version), ExitCode.ok)
      case "Completions":
        return Effect.promise(() => import("./internal/completions.ts")).pipe(
          Effect.flatMap(({ script }) => script(parsed.shell, commands)),
          Effect.flatMap((lines) => screen.out(...lines)),
          Effect.as(ExitCode.ok)
        )
    }
  })

/**
 * Runs what was typed to its end. It fails with nothing: what went wrong has been shown, and is in the exit code. If
 * whoever reads the output leaves, it ends early and quietly.
 */
export const run = (options: Options): Effect.Effect<ExitCode.ExitCode> => {
  const { argv, commands = Commands.all, device } = options
  const parsed = CommandLine.parse(argv, commands)
  const shared = Either.isRight(parsed) && parsed.right._tag === "Run" ? parsed.right.invocation.shared : undefined
  const screen = Screen.make(device, {
    colour: shared?.colour ?? !argv.includes("--no-color"),
    quiet: shared?.quiet ?? false
  })
  const program = Effect.flatMap(parsed, (one) => act(one, options)).pipe(
    Effect.catchAll((error) => Failure.show(error, shared?.json ?? argv.includes("--json"))),
    Effect.catchAllDefect((defect) => Failure.bug(Cause.die(defect))),
    Logger.withMinimumLogLevel(shared?.verbose === true ? LogLevel.Debug : LogLevel.None),
    Effect.provide(LogLine.layer(screen.log)),
    Effect.provideService(Screen.Screen, screen),
    // whoever interrupts a command has a clean line again
    Effect.ensuring(Effect.sync(() => screen.progress(undefined)))
  )
  return Effect.raceFirst(program, Effect.as(screen.left, ExitCode.ok))
}
