/**
 * What `mcp-runtime repl` does.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import * as Application from "../Application.ts"
import type * as Command from "../Command.ts"
import * as ExitCode from "../ExitCode.ts"
import * as Screen from "../Screen.ts"
import { Usage } from "../Usage.ts"
import * as CommandLine from "./commandLine.ts"
import * as Failure from "./failure.ts"
import * as Help from "./help.ts"
import * as ReplCommands from "./replCommands.ts"
import * as ReplLine from "./replLine.ts"
import { type Reading, Terminal } from "./replTerminal.ts"
import { format } from "./toolRef.ts"

/** A line that ends it, and is no command outside. */
const endings = new Set(["exit", "quit"])

const prompt = "mcp> "

const most = 16 * 1024 * 1024

/** The lines of a pipe, which ends with Ctrl-C as everything does. */
const piped: Effect.Effect<Reading, Usage, Screen.Screen> = Effect.gen(function*() {
  const screen = yield* Screen.Screen
  const input = yield* screen.input(most)
  if (input === undefined) return yield* new Usage({ detail: "The standard input is too large." })
  const left = input.split(/\r?\n/)
  return { next: () => Effect.sync(() => left.shift()), interrupted: Effect.never }
})

const ran = (
  words: ReadonlyArray<string>,
  commands: ReadonlyArray<Command.Command>
): Effect.Effect<ExitCode.ExitCode, Command.Failure, Screen.Screen> =>
  Effect.gen(function*() {
    const screen = yield* Screen.Screen
    const parsed = yield* CommandLine.parse(words, commands)
    switch (parsed._tag) {
      case "Run": {
        const { run } = yield* Effect.promise(parsed.command.load)
        return yield* run(parsed.invocation)
      }
      case "Help": {
        const columns = Math.min(screen.columns, 80)
        const lines = parsed.command === undefined
          ? [...commands.map(({ name, summary }) => `  ${name.padEnd(12)}${summary}`), "  exit        End it."]
          : Help.ofCommand(parsed.command, columns)
        yield* screen.out(...lines)
        return ExitCode.ok
      }
      default:
        return yield* new Usage({ detail: "That is for the program, and not for a line of it." })
    }
  })

const loop = (
  reading: Reading,
  json: boolean,
  commands: ReadonlyArray<Command.Command>,
  learn: Effect.Effect<void>
): Effect.Effect<ExitCode.ExitCode, never, Screen.Screen> =>
  Effect.gen(function*() {
    const screen = yield* Screen.Screen
    let last = ExitCode.ok
    for (;;) {
      const line = yield* reading.next(prompt)
      if (line === undefined || endings.has(line.trim())) return last
      if (line.trim() === "" || line.trimStart().startsWith("#")) continue
      const command = Effect.flatMap(
        ReplLine.words(line),
        (words) => ran(json && !words.includes("--json") ? [...words, "--json"] : words, commands)
      ).pipe(Effect.catchAll((error) => Failure.show(error, json)))
      const cancelled = Effect.as(reading.interrupted, undefined)
      const code = yield* Effect.raceFirst(command, cancelled)
      if (code === undefined) {
        screen.progress(undefined)
        yield* screen.err("cancelled")
      }
      last = code === ExitCode.ok ? last : code ?? ExitCode.interrupted
      yield* learn
    }
  })

/** @internal */
export const run: Command.Program["run"] = ({ shared }) =>
  Effect.scoped(Effect.gen(function*() {
    const screen = yield* Screen.Screen
    const terminal = yield* Terminal
    let names: ReadonlyArray<string> = []
    let tools: ReadonlyArray<string> = []
    const reading = screen.isInteractive
      ? yield* terminal.open((line) => ReplLine.completions(line, [...names, "help", "exit"], tools))
      : yield* piped
    // whoever is asked answers where lines are typed, and a document is one of many
    const asking = { ...screen, ask: reading.next, json: screen.jsonLine }
    const code = yield* Application.use(
      shared,
      () => Effect.succeed({ consent: shared.servers.length > 0, follow: true }),
      (application) =>
        Effect.gen(function*() {
          const commands = ReplCommands.make(application)
          names = commands.map(({ name }) => name)
          const learn = Effect.map(application.runtime.tools, (listed) => {
            tools = listed.tools.map(({ server, tool }) => format({ server, tool: tool.name }))
          })
          if (screen.isInteractive) {
            yield* screen.note("Commands are tools, call, read, status, reconnect, help and exit.")
            yield* Effect.forkScoped(learn)
          }
          return yield* loop(reading, shared.json, commands, screen.isInteractive ? learn : Effect.void)
        }).pipe(Effect.scoped)
    ).pipe(Effect.provideService(Screen.Screen, asking))
    // a person has seen what failed
    return screen.isInteractive ? ExitCode.ok : code
  }))
