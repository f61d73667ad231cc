// @effect-diagnostics nodeBuiltinImport:off -- this module edits lines on the terminal of the process
/** `mcp-runtime repl`: runs commands over open connections. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { createInterface } from "node:readline"
import { Writable } from "node:stream"
import * as ShellWords from "../../text/shellWords.ts"
import * as UntrustedText from "../../text/UntrustedText.ts"
import * as Application from "../Application.ts"
import * as Command from "../Command.ts"
import { type Usage, usage } from "../Command.ts"
import * as CommandLine from "../commandLine.ts"
import * as Commands from "../Commands.ts"
import * as Completions from "../completions.ts"
import * as ExitCode from "../ExitCode.ts"
import * as Failure from "../failure.ts"
import * as Help from "../help.ts"
import * as Latency from "../latency.ts"
import * as Offered from "../offered.ts"
import * as Screen from "../Screen.ts"

export interface Reading {
  /** Reads a line; `undefined` at the end of the input. */
  readonly next: (prompt: string) => Effect.Effect<string | undefined>
  /** Reads an answer, which is not kept in the history. A secret is not echoed. */
  readonly ask: (question: string, isSecret?: boolean) => Effect.Effect<string | undefined>
  /** Completes when Ctrl-C is pressed. */
  readonly interrupted: Effect.Effect<void>
}

export interface OpenTerminal {
  (complete: (line: string) => readonly [hits: Array<string>, word: string]): Effect.Effect<Reading, never, Scope.Scope>
}

const remembered = 1_000

/** A line editor over a keyboard and a screen. */
export const terminalOver = (stdin: NodeJS.ReadableStream, stderr: NodeJS.WritableStream): OpenTerminal => (complete) =>
  Effect.gen(function*() {
    let isMuted = false
    // readline wraps lines at this width
    const shown: Writable & { readonly columns?: number } = Object.defineProperty(
      new Writable({
        decodeStrings: false,
        write: (text, _encoding, done) => {
          if (!isMuted) stderr.write(text)
          done()
        }
      }),
      "columns",
      { get: () => "columns" in stderr ? stderr.columns : undefined }
    )
    const lines = yield* Effect.acquireRelease(Queue.unbounded<string | undefined>(), Queue.shutdown)
    const waiting = new Set<() => void>()
    const terminal = yield* Effect.acquireRelease(
      Effect.sync(() =>
        createInterface({
          input: stdin,
          output: shown,
          terminal: true,
          historySize: remembered,
          removeHistoryDuplicates: true,
          completer: (line: string) => [...complete(line)]
        })
      ),
      (terminal) =>
        Effect.sync(() => {
          terminal.close()
          stdin.pause()
        })
    )
    terminal.on("line", (line) => Queue.unsafeOffer(lines, line))
    let isOpen = true
    let isPrompting = false
    terminal.on("close", () => {
      isOpen = false
      // later output starts on a new line
      if (isPrompting) stderr.write("\n")
      Queue.unsafeOffer(lines, undefined)
    })
    terminal.on("SIGINT", () => {
      if (waiting.size > 0) {
        for (const wake of Array.from(waiting)) wake()
        return
      }
      // without a running command Ctrl-C clears the line
      terminal.write(null, { ctrl: true, name: "e" })
      terminal.write(null, { ctrl: true, name: "u" })
      stderr.write("\n(press Ctrl-D to exit)\n")
      terminal.prompt()
    })
    let isAnswer = false
    terminal.on("history", (history) => {
      if (isAnswer) history.shift()
    })
    const typed = (prompt: string, isAsked: boolean, isSecret = false) =>
      Effect.suspend(() => {
        isAnswer = isAsked
        // the input may have ended while a command ran
        if (isOpen) {
          terminal.setPrompt(prompt)
          terminal.prompt()
          isPrompting = true
          isMuted = isSecret
        }
        return Queue.take(lines)
      }).pipe(
        Effect.onInterrupt(() => Effect.sync(() => void stderr.write("\n"))),
        Effect.ensuring(Effect.sync(() => {
          isPrompting = false
          isAnswer = false
          if (isMuted) stderr.write("\n")
          isMuted = false
        }))
      )
    return {
      next: (prompt) => typed(prompt, false),
      ask: (question, isSecret) => typed(question, true, isSecret),
      interrupted: Effect.async<void>((resume) => {
        const wake = () => {
          waiting.delete(wake)
          resume(Effect.void)
        }
        waiting.add(wake)
        return Effect.sync(() => waiting.delete(wake))
      })
    }
  })

/** The terminal of this process, unless another is provided. */
export class Terminal extends Context.Reference<Terminal>()("effect-mcp-runtime/cli/commands/repl/Terminal", {
  defaultValue: (): { readonly open: OpenTerminal } => ({ open: terminalOver(process.stdin, process.stderr) })
}) {}

/** Lines that exit the repl. */
const endings = new Set(["exit", "quit"])

const prompt = "mcp> "

/** Reads the lines of a pipe. Ctrl-C interrupts the program. */
const piped: Effect.Effect<Reading, Usage, Screen.Screen> = Effect.map(Screen.piped, (input) => {
  const left = input.split(/\r?\n/)
  const next = () => Effect.sync(() => left.shift())
  return { next, ask: next, interrupted: Effect.never }
})

const reconnect: Command.Command = {
  args: [{ name: "server", about: "Server to reconnect", required: true }],
  options: [],
  examples: [["reconnect files", "Reconnect one server"]],
  run: ({ args: [server = ""], shared }) =>
    Application.use(
      shared,
      Offered.choice(server, shared),
      ({ ask, runtime }) => ask(runtime.servers.reconnect(server))
    )
}

/** The commands of the program that are available in the repl. */
const outside = new Set("list tools show call resources read prompts prompt status events".split(" "))

const all: ReadonlyArray<Command.Entry> = [
  ...Commands.all.filter(({ name }) => outside.has(name)),
  {
    name: "reconnect",
    summary: "Close the connection of a server and open a new one",
    load: () => Promise.resolve({ command: reconnect })
  }
]

const words: ReadonlyArray<Command.Named> = [
  ...all,
  { name: "help", summary: "Show help for a command: help call" },
  { name: "exit", summary: "Exit, like Ctrl-D" }
]

/** The completions of the last word of a line, and that word. */
export const complete = (
  line: string,
  commands: ReadonlyArray<Command.Loaded>,
  known: Completions.Known
): readonly [hits: Array<string>, word: string] => {
  const blank = Math.max(line.lastIndexOf(" "), line.lastIndexOf("\t"))
  const word = line.slice(blank + 1)
  const before = line.slice(0, blank + 1).split(/\s+/).filter((one) => one !== "")
  const command = commands.find(({ name }) => name === before[0])
  const hits = Completions.candidates(before, word, words, command, known)
  return [hits.map((hit) => hit.word.endsWith("=") ? hit.word : `${hit.word} `), word]
}

const explained = (command?: string): string => command === undefined ? "Type `help`." : `Type \`help ${command}\`.`

const ran = (
  line: ReadonlyArray<string>
): Effect.Effect<ExitCode.ExitCode | void, Command.Failure, Screen.Screen> =>
  Effect.gen(function*() {
    const screen = yield* Screen.Screen
    const parsed = yield* CommandLine.parse(line, all, explained)
    if (parsed._tag === "Run") return yield* parsed.command.run(parsed.invocation)
    if (parsed._tag !== "Help") return yield* usage("this option does not work in the repl")
    return yield* screen.out(
      ...parsed.command === undefined
        ? Help.pairs(words.map(({ name, summary }) => [name, summary]), screen.columns)
        : Help.ofCommand(parsed.command, screen.columns)
    )
  })

const wordsOf = (line: string): Either.Either<ReadonlyArray<string>, Usage> => {
  const { unclosed, words } = ShellWords.split(line, ShellWords.shell)
  return unclosed === undefined
    ? Either.right(words.map(({ text }) => text))
    : usage(`unterminated ${unclosed}`, `Write \\${unclosed} for a literal ${unclosed}.`)
}

const loop = (
  reading: Reading,
  json: boolean
): Effect.Effect<ExitCode.ExitCode, never, Screen.Screen> =>
  Effect.gen(function*() {
    const screen = yield* Screen.Screen
    let last = ExitCode.ok
    for (;;) {
      const line = yield* reading.next(prompt)
      if (line === undefined || endings.has(line.trim())) return last
      if (line.trim() === "" || line.trimStart().startsWith("#")) continue
      const command = Effect.flatMap(
        wordsOf(line),
        (words) => ran(json && !words.includes("--json") ? [...words, "--json"] : words)
      )
      const cancelled = Effect.as(reading.interrupted, undefined)
      // a failed line does not end the repl
      const code = yield* Effect.raceFirst(Failure.shown(command, json), cancelled)
      if (code === undefined) {
        screen.progress(undefined)
        yield* screen.err("cancelled")
      }
      last = code === ExitCode.ok ? last : code ?? ExitCode.interrupted
    }
  })

/** The screen of commands in the repl: asks through the line editor, and prints each document on one line. */
const within = (screen: Screen.Screen["Type"], reading: Reading): Screen.Screen["Type"] => ({
  ...screen,
  get columns() {
    return screen.columns
  },
  ask: (question, isSecret) =>
    Effect.suspend(() => {
      screen.progress(undefined)
      // Ctrl-C cancels a question too
      return Effect.raceFirst(
        reading.ask(UntrustedText.escape(question), isSecret),
        Effect.as(reading.interrupted, undefined)
      )
    }),
  input: () =>
    usage(
      "stdin is not available, because the repl reads its lines from it",
      "Pass the arguments with --args or key:=json."
    ),
  json: screen.jsonLine
})

const run: Command.Command["run"] = ({ shared }) =>
  Effect.scoped(Effect.gen(function*() {
    const screen = yield* Screen.Screen
    const terminal = yield* Terminal
    const commands = yield* Effect.forEach(all, Command.load)
    let known = Completions.unknown
    const reading = screen.isInteractive
      ? yield* terminal.open((line) => complete(line, commands, known))
      : yield* piped
    const code = yield* Application.use(
      shared,
      () => Effect.succeed({ answers: true, consent: shared.servers.length > 0, follow: true }),
      (application) =>
        Effect.gen(function*() {
          const learn = Effect.map(Effect.flatMap(application.renewed, Completions.knownOf), (one) => {
            known = one
          })
          const latency = Latency.make(application.runtime, shared.timeout)
          yield* Effect.forkScoped(latency.listen)
          if (screen.isInteractive) {
            yield* screen.note("Type a command, or help. Ctrl-C cancels a command, Ctrl-D exits.")
            const changes = Stream.debounce(application.runtime.servers.changes, "100 millis")
            yield* Effect.forkScoped(Stream.runForEach(changes, () => learn))
          }
          return yield* Effect.provideService(loop(reading, shared.json), Application.Open, { application, latency })
        }).pipe(Effect.scoped)
    ).pipe(Effect.provideService(Screen.Screen, within(screen, reading)))
    // failures were already shown interactively
    return screen.isInteractive ? ExitCode.ok : code
  }))

export const command: Command.Command = {
  description: [
    "Each line is a command: list, tools, show, call, resources, read, prompts, prompt, status, events, reconnect, help "
    + "or exit. Tab completes, Ctrl-C cancels the running command, and Ctrl-D exits.",
    "Lines from a pipe run in order; lines that start with # are comments. The exit code is that of the last line that "
    + "failed. With --json each command prints one line of JSON."
  ],
  args: [],
  options: [],
  examples: [
    ["repl --server files", "Connect to one server only"],
    ["repl --json < lines.txt", "Run the lines of a file and print JSON"]
  ],
  run
}
