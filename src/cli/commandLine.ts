/**
 * Parses the command line in two steps: the name of the command among the options of every command, and then the rest with
 * the options of that command. An unknown option is an error with the nearest known one, where @effect/cli would take it for
 * an argument of a tool.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import { nearest, suggestion } from "../text/nearest.ts"
import * as UntrustedText from "../text/UntrustedText.ts"
import * as Command from "./Command.ts"
import { Usage, usage } from "./Command.ts"

/** The options of every command, which may stand before its name. */
export const sharedOptions: ReadonlyArray<Command.Option> = [
  { name: "json", about: "Write JSON: one document, or one a line where there is no end." },
  { name: "root", value: "DIR", about: "The workspace, in the place of the one around the current folder." },
  {
    name: "import",
    value: "HOST",
    repeated: true,
    about: "Read the files of this host too (claude-code, cursor, …, all)."
  },
  { name: "config", value: "FILE", repeated: true, about: "Read this file, and no others." },
  { name: "server", value: "NAME", repeated: true, about: "Only this server." },
  {
    name: "stdio",
    value: "COMMAND",
    repeated: true,
    yields: true,
    about: "Use the server that this command starts, and no others: --stdio \"npx -y @scope/server /tmp\"."
  },
  { name: "url", value: "URL", repeated: true, yields: true, about: "Use the server at this address, and no others." },
  {
    name: "name",
    value: "NAME",
    yields: true,
    about: "What the server of --stdio or --url is called (default: as its package or host)."
  },
  {
    name: "env",
    value: "NAME=VALUE",
    repeated: true,
    yields: true,
    about: "A variable for the server of --stdio. A NAME alone passes that of this environment."
  },
  {
    name: "header",
    value: "HEADER",
    repeated: true,
    yields: true,
    about: "A header for the server of --url: 'Authorization: Bearer ${env:TOKEN}'."
  },
  {
    name: "input",
    value: "ID=VALUE",
    repeated: true,
    about: "Answer ${input:ID} of a configuration. An ID alone asks for it again."
  },
  {
    name: "env-file",
    value: "FILE",
    repeated: true,
    about: "Read variables from this file too; those of the environment are stronger."
  },
  {
    name: "timeout",
    value: "DURATION",
    about: "How long a server may take to start, and then to answer: 500ms, 30s, 2m."
  },
  { name: "quiet", short: "q", about: "Write only results and errors." },
  { name: "verbose", short: "v", about: "Log to the standard error." },
  { name: "no-color", about: "Write no colours, as NO_COLOR does." }
]

/** The options that run no command. */
export const builtInOptions: ReadonlyArray<Command.Option> = [
  { name: "help", short: "h", about: "Explain the program, or the command." },
  { name: "version", about: "Print the version." },
  {
    name: "completions",
    value: "SHELL",
    choices: ["bash", "zsh", "fish", "sh"],
    about: "Write a completion script for this shell."
  }
]

export type Parsed =
  | { readonly _tag: "Run"; readonly command: Command.Loaded; readonly invocation: Command.Invocation }
  | { readonly _tag: "Help"; readonly command: Command.Loaded | undefined; readonly isAsked: boolean }
  | { readonly _tag: "Version" }
  | { readonly _tag: "Completions"; readonly shell: string }
  | { readonly _tag: "Complete"; readonly words: ReadonlyArray<string> }

/** Options by the words that stand for them. */
const byWord = (options: ReadonlyArray<Command.Option>): ReadonlyMap<string, Command.Option> =>
  new Map(options.flatMap((option) => [
    [`--${option.name}`, option] as const,
    ...(option.short === undefined ? [] : [[`-${option.short}`, option] as const])
  ]))

interface Split {
  readonly words: ReadonlyArray<string>
  /** The indices of words that are options of a tool. */
  readonly unknown: ReadonlySet<number>
  readonly given: ReadonlyMap<string, ReadonlyArray<string>>
}

/** Which of the words are options, and what belongs to them. */
const split = (
  argv: ReadonlyArray<string>,
  options: ReadonlyArray<Command.Option>,
  args: ReadonlyArray<Command.Argument>
): Either.Either<Split, Usage> => {
  const byName = byWord(options)
  const words: Array<string> = []
  const unknown = new Set<number>()
  // the name of the command and the arguments before
  const first = args.findIndex(({ takesOptions }) => takesOptions === true) + 1
  const given = new Map<string, Array<string>>()
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at]!
    if (word === "--") {
      words.push(...argv.slice(at + 1))
      break
    }
    if (!word.startsWith("-") || word === "-") {
      words.push(word)
      continue
    }
    const equals = word.startsWith("--") ? word.indexOf("=") : -1
    const name = equals < 0 ? word : word.slice(0, equals)
    const known = byName.get(name)
    const option = known?.yields === true && first > 0 && words.length >= first ? undefined : known
    const isValue = unknown.has(words.length - 1) && !words.at(-1)!.includes("=") && /^-[^-]/.test(word)
    if (option === undefined && first > 0 && words.length >= first && (word.startsWith("--") || isValue)) {
      if (!isValue) unknown.add(words.length)
      words.push(word)
      continue
    }
    if (option === undefined) {
      return usage(`There is no option ${UntrustedText.quote(name)}.`, suggestion(nearest(name, byName.keys())))
    }
    const values = given.get(option.name) ?? []
    given.set(option.name, values)
    if (option.value === undefined) {
      if (equals >= 0) return usage(`The option ${UntrustedText.quote(name)} takes no value.`)
      values.push("")
      continue
    }
    const value = equals >= 0 ? word.slice(equals + 1) : argv[++at]
    if (value === undefined || value === "") {
      return usage(`The option ${UntrustedText.quote(name)} needs a value.`, `Write ${name} ${option.value}.`)
    }
    if (option.choices !== undefined && !option.choices.includes(value)) {
      return usage(
        `The option ${UntrustedText.quote(name)} cannot be ${UntrustedText.quote(value)}.`,
        suggestion(nearest(value, option.choices)) ?? `It is one of ${option.choices.join(", ")}.`
      )
    }
    if (values.length > 0 && option.repeated !== true) {
      return usage(`The option ${UntrustedText.quote(name)} is given twice.`)
    }
    values.push(value)
  }
  return Either.right({ words, unknown, given })
}

const units = new Map([["ms", 1], ["s", 1_000], ["m", 60_000], ["h", 3_600_000]])

/** `500ms`, `30s`, `2m`, `1h`; a number alone is seconds. Effect's own way of writing it is read too. */
export const duration = (text: string): Duration.Duration | undefined => {
  const short = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(text.trim())
  const read = short === null
    ? Option.getOrUndefined(Duration.decodeUnknown(text.trim()))
    : Duration.millis(Number(short[1]) * units.get(short[2] ?? "s")!)
  return read !== undefined && Duration.greaterThan(read, Duration.zero) ? read : undefined
}

export const sharedOf = (
  given: ReadonlyMap<string, ReadonlyArray<string>>,
  timeout?: Duration.Duration
): Command.Shared => ({
  json: given.has("json"),
  root: given.get("root")?.at(-1),
  imports: given.get("import") ?? [],
  configs: given.get("config") ?? [],
  servers: given.get("server") ?? [],
  stdio: given.get("stdio") ?? [],
  urls: given.get("url") ?? [],
  name: given.get("name")?.at(-1),
  env: given.get("env") ?? [],
  headers: given.get("header") ?? [],
  inputs: given.get("input") ?? [],
  envFiles: given.get("env-file") ?? [],
  timeout,
  quiet: given.has("quiet"),
  verbose: given.has("verbose"),
  colour: !given.has("no-color")
})

const invocationOf = ({ given, unknown, words }: Split): Either.Either<Command.Invocation, Usage> => {
  const values = (name: string) => given.get(name) ?? []
  const value = (name: string) => values(name).at(-1)
  const isSet = (name: string) => given.has(name)
  const time = value("timeout")
  const timeout = time === undefined ? undefined : duration(time)
  if (time !== undefined && timeout === undefined) {
    return usage(`${UntrustedText.quote(time)} is no duration.`, "Write 500ms, 30s or 2m.")
  }
  return Either.right({
    args: words.slice(1),
    unknown: new Set(Array.from(unknown, (at) => at - 1)),
    values,
    value,
    isSet,
    shared: sharedOf(given, timeout)
  })
}

/** What explains the program, or a command of it, from outside. */
export const outside = (command?: string): string =>
  command === undefined ? "See mcp-runtime --help." : `See mcp-runtime ${command} --help.`

const wrongArguments = (
  command: Command.Loaded,
  args: ReadonlyArray<string>,
  given: Split["given"],
  help: typeof outside
): Usage | undefined => {
  const missing =
    command.args.filter(({ required, unless }) => required && (unless === undefined || !given.has(unless)))[args.length]
  if (missing !== undefined) {
    return new Usage({
      detail: `The command "${command.name}" needs ${missing.name.toUpperCase()}: ${missing.about}`,
      next: help(command.name)
    })
  }
  const takesAll = command.args.some(({ repeated }) => repeated === true)
  const extra = takesAll ? undefined : args[command.args.length]
  return extra === undefined ? undefined : new Usage({
    detail: `The command "${command.name}" does not know what to do with ${UntrustedText.quote(extra)}.`,
    next: help(command.name)
  })
}

/** The shared options by the words that stand for them. */
const shared = byWord([...sharedOptions, ...builtInOptions])

/**
 * The row of the command: the first known name among the words that are neither options nor values of shared options. The
 * options of a command may stand before its name, so a word that follows an option of a command may be its value.
 */
export const entryIn = (
  argv: ReadonlyArray<string>,
  entries: ReadonlyArray<Command.Entry>,
  help = outside
): Either.Either<Command.Entry | "help" | undefined, Usage> => {
  let unknown: string | undefined
  let mayBeValue = false
  for (let at = 0; at < argv.length && argv[at] !== "--"; at++) {
    const word = argv[at]!
    if (word.startsWith("-")) {
      const option = shared.get(word)
      mayBeValue = option === undefined && !word.includes("=")
      if (option?.value !== undefined) at++
      continue
    }
    const entry = word === "help" ? word : entries.find(({ name }) => name === word)
    if (entry !== undefined && unknown === undefined) return Either.right(entry)
    if (!mayBeValue) unknown ??= word
    mayBeValue = false
  }
  return unknown === undefined ? Either.right(undefined) : usage(
    `There is no command ${UntrustedText.quote(unknown)}.`,
    suggestion(nearest(unknown, entries.map(({ name }) => name))) ?? help()
  )
}

const explained = (
  words: ReadonlyArray<string>,
  entries: ReadonlyArray<Command.Entry>,
  help: typeof outside
): Effect.Effect<Parsed, Usage> =>
  Effect.flatMap(entryIn(words, entries, help), (entry) =>
    entry === undefined || entry === "help"
      ? Effect.succeed<Parsed>({ _tag: "Help", command: undefined, isAsked: true })
      : Effect.map(Command.load(entry), (command) => ({ _tag: "Help", command, isAsked: true })))

/** What was typed, with the options of its command, which is loaded for that. */
export const parse = (
  argv: ReadonlyArray<string>,
  entries: ReadonlyArray<Command.Entry>,
  help = outside
): Effect.Effect<Parsed, Usage> =>
  Effect.gen(function*() {
    // the scripts of shells write it, and people do not
    if (argv[0] === "--complete") return { _tag: "Complete", words: argv.slice(1) }
    const entry = yield* entryIn(argv, entries, help)
    const command = entry === undefined || entry === "help" ? undefined : yield* Command.load(entry)
    const options = [...sharedOptions, ...builtInOptions, ...(command?.options ?? [])]
    const read = yield* split(argv, options, command?.args ?? [])
    const { given, words } = read
    if (given.has("version")) return { _tag: "Version" }
    const shell = given.get("completions")?.at(-1)
    if (shell !== undefined) return { _tag: "Completions", shell }
    if (entry === "help") return yield* explained(words.slice(1), entries, help)
    if (given.has("help") || command === undefined) return { _tag: "Help", command, isAsked: given.has("help") }
    const wrong = wrongArguments(command, words.slice(1), given, help)
    return wrong === undefined
      ? { _tag: "Run", command, invocation: yield* invocationOf(read) }
      : yield* wrong
  })
