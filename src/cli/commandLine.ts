/**
 * Parses the command line. An unknown option is an error that suggests the nearest known option, because @effect/cli would
 * pass it to the tool as an argument.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import { nearest, suggestion } from "../text/nearest.ts"
import * as UntrustedText from "../text/UntrustedText.ts"
import * as Command from "./Command.ts"
import { Usage, usage } from "./Command.ts"

/** The options of every command, which may precede its name. */
export const sharedOptions: ReadonlyArray<Command.Option> = [
  { name: "json", about: "Print JSON: one document, or one per line for streams" },
  { name: "root", value: "DIR", about: "Workspace folder (default: found from the current folder)" },
  {
    name: "import",
    value: "HOST",
    repeated: true,
    about: "Also read the configuration of this host: cursor, vscode, …, or all"
  },
  { name: "config", value: "FILE", repeated: true, about: "Read only this configuration file" },
  { name: "server", value: "NAME", repeated: true, about: "Use only this server" },
  {
    name: "stdio",
    value: "COMMAND",
    repeated: true,
    about: "Use only the server that this command starts: \"npx -y @scope/server /tmp\""
  },
  { name: "url", value: "URL", repeated: true, precedesTool: true, about: "Use only the server at this URL" },
  {
    name: "name",
    value: "NAME",
    precedesTool: true,
    about: "Name of the --stdio or --url server (default: its package or host)"
  },
  {
    name: "env",
    value: "NAME=VALUE",
    repeated: true,
    precedesTool: true,
    about: "Environment variable for the --stdio server; NAME alone passes its current value"
  },
  {
    name: "header",
    value: "HEADER",
    repeated: true,
    precedesTool: true,
    about: "HTTP header for the --url server: 'Authorization: Bearer ${env:TOKEN}'"
  },
  {
    name: "input",
    value: "ID=VALUE",
    repeated: true,
    about: "Value for ${input:ID} in the configuration; ID alone prompts again"
  },
  {
    name: "env-file",
    value: "FILE",
    repeated: true,
    about: "Read environment variables from this file; variables that are already set win"
  },
  {
    name: "timeout",
    value: "DURATION",
    about: "Time limit for a server to start, and for each request: 500ms, 30s, 2m"
  },
  { name: "quiet", short: "q", about: "Print only results and errors" },
  { name: "verbose", short: "v", about: "Log to stderr" },
  { name: "no-color", about: "Disable colors, like NO_COLOR" }
]

/** The options that replace the run of a command. */
export const builtInOptions: ReadonlyArray<Command.Option> = [
  { name: "help", short: "h", about: "Show help for the program or a command" },
  { name: "version", about: "Print the version" },
  {
    name: "completions",
    value: "SHELL",
    choices: ["bash", "zsh", "fish", "sh"],
    about: "Print a shell completion script"
  }
]

export type Parsed =
  | { readonly _tag: "Run"; readonly command: Command.Loaded; readonly invocation: Command.Invocation }
  | { readonly _tag: "Help"; readonly command: Command.Loaded | undefined; readonly isAsked: boolean }
  | { readonly _tag: "Version" }
  | { readonly _tag: "Completions"; readonly shell: string }
  | { readonly _tag: "Complete"; readonly words: ReadonlyArray<string> }

/** A command line, split into words and options. */
export interface Read {
  readonly words: ReadonlyArray<string>
  /** The indices of words that are options of a tool. */
  readonly unknown: ReadonlySet<number>
  /** The values by option. */
  readonly given: ReadonlyMap<string, ReadonlyArray<string>>
  /** The last option, if its value is missing. */
  readonly open: Command.Option | undefined
  /** The first fault. Reading continues after it, because shells complete lines that are not valid yet. */
  readonly fault: Usage | undefined
}

const { quote } = UntrustedText

const always = [...sharedOptions, ...builtInOptions]

/** Separates the options from the words. Without a command only the options of every command are known. */
export const read = (argv: ReadonlyArray<string>, command?: Command.Loaded): Read => {
  const options = [...always, ...command?.options ?? []]
  const byWord = new Map<string, Command.Option>([
    ...options.map((option) => [`--${option.name}`, option] as const),
    ...options.filter(({ short }) => short !== undefined).map((option) => [`-${option.short}`, option] as const)
  ])
  // the options of a tool follow its name, which is the word at this position
  const first = (command?.args ?? []).findIndex(({ takesOptions }) => takesOptions === true) + 1
  const words: Array<string> = []
  const unknown = new Set<number>()
  const given = new Map<string, Array<string>>()
  let open: Command.Option | undefined
  let fault: Usage | undefined
  const wrong = (detail: string, next?: string) => {
    fault ??= new Usage({ detail, next })
  }
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
    const [, name = word, inline] = /^(--[^=]*)=(.*)$/s.exec(word) ?? []
    const isBehindTool = first > 0 && words.length >= first
    const known = byWord.get(name)
    const option = known?.precedesTool === true && isBehindTool ? undefined : known
    if (option === undefined) {
      const isValue = unknown.has(words.length - 1) && !words.at(-1)!.includes("=") && /^-[^-]/.test(word)
      if (!isBehindTool || (!isValue && !word.startsWith("--"))) {
        wrong(`unknown option ${quote(name)}`, suggestion(nearest(name, byWord.keys())))
        continue
      }
      if (!isValue) unknown.add(words.length)
      words.push(word)
      continue
    }
    const values = given.get(option.name) ?? []
    given.set(option.name, values)
    if (option.value === undefined) {
      if (inline !== undefined) wrong(`option ${quote(name)} takes no value`)
      values.push("")
      continue
    }
    const value = inline ?? argv[++at]
    if (value === undefined) open = option
    if (value === undefined || value === "") {
      wrong(`option ${quote(name)} needs a value`, `Usage: ${name} ${option.value}`)
      continue
    }
    const { choices = [value] } = option
    if (!choices.includes(value)) {
      wrong(
        `invalid value ${quote(value)} for option ${quote(name)}`,
        suggestion(nearest(value, choices)) ?? `Valid values: ${choices.join(", ")}`
      )
    }
    if (values.length > 0 && option.repeated !== true) wrong(`option ${quote(name)} can be used only once`)
    values.push(value)
  }
  return { words, unknown, given, open, fault }
}

const units = new Map([["ms", 1], ["s", 1_000], ["m", 60_000], ["h", 3_600_000]])

/** `500ms`, `30s`, `2m`, `1h`, a number of seconds, or the notation of Effect (`2 minutes`). */
export const duration = (text: string): Duration.Duration | undefined => {
  const short = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(text.trim())
  const read = short === null
    ? Option.getOrUndefined(Duration.decodeUnknown(text.trim()))
    : Duration.millis(Number(short[1]) * units.get(short[2] ?? "s")!)
  return read !== undefined && Duration.greaterThan(read, Duration.zero) ? read : undefined
}

/** The duration of an option, if it is given. */
export const time = (text: string | undefined): Either.Either<Duration.Duration | undefined, Usage> => {
  const read = text === undefined ? undefined : duration(text)
  return text === undefined || read !== undefined
    ? Either.right(read)
    : usage(`invalid duration ${quote(text)}`, "Use a duration such as 500ms, 30s or 2m.")
}

export const sharedOf = (
  given: Read["given"],
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

/** Refers to the help of the program or of a command, from a shell. */
export const outside = (command?: string): string =>
  command === undefined ? "Run `mcp-runtime --help`." : `Run \`mcp-runtime ${command} --help\`.`

/** The first command among the words. A word before it may be the value of an option that only the command knows. */
export const entryIn = (
  { words }: Pick<Read, "words">,
  entries: ReadonlyArray<Command.Entry>
): Command.Entry | undefined => {
  const named = words.find((word) => entries.some(({ name }) => name === word))
  return entries.find(({ name }) => name === named)
}

const invocationOf = (
  command: Command.Loaded,
  args: ReadonlyArray<string>,
  { given, unknown }: Read,
  help: typeof outside
): Either.Either<Command.Invocation, Usage> =>
  Either.gen(function*() {
    const needed = command.args.filter(({ required, unless }) =>
      required && (unless === undefined || !given.has(unless))
    )
    const missing = needed[args.length]
    if (missing !== undefined) {
      const detail = `missing argument ${missing.name.toUpperCase()}: ${missing.about}`
      return yield* usage(detail, help(command.name))
    }
    const extra = command.args.some(({ repeated }) => repeated === true) ? undefined : args[command.args.length]
    if (extra !== undefined) {
      const detail = `unexpected argument ${quote(extra)}`
      return yield* usage(detail, help(command.name))
    }
    const values = (name: string) => given.get(name) ?? []
    const value = (name: string) => values(name).at(-1)
    return {
      args,
      // without the name of the command
      unknown: new Set(Array.from(unknown, (at) => at - 1)),
      values,
      value,
      isSet: (name) => given.has(name),
      shared: sharedOf(given, yield* time(value("timeout")))
    }
  })

/** Loads the command that the words name, and parses them with its options. */
export const parse = (
  argv: ReadonlyArray<string>,
  entries: ReadonlyArray<Command.Entry>,
  help = outside
): Effect.Effect<Parsed, Usage> =>
  Effect.gen(function*() {
    // completion scripts use it, people do not
    if (argv[0] === "--complete") return { _tag: "Complete", words: argv.slice(1) }
    const entry = entryIn(read(argv), entries)
    const command = entry && (yield* Command.load(entry))
    const all = read(argv, command)
    const { fault, given, words } = all
    const isHelp = words[0] === "help"
    const [name, ...args] = isHelp ? words.slice(1) : words
    if (name !== undefined && name !== command?.name) {
      const near = suggestion(nearest(name, entries.map(({ name }) => name)))
      return yield* usage(`unknown command ${quote(name)}`, near ?? help())
    }
    if (fault !== undefined) return yield* fault
    if (given.has("version")) return { _tag: "Version" }
    const shell = given.get("completions")?.at(-1)
    if (shell !== undefined) return { _tag: "Completions", shell }
    const isAsked = isHelp || given.has("help")
    return isAsked || command === undefined
      ? { _tag: "Help", command, isAsked }
      : { _tag: "Run", command, invocation: yield* invocationOf(command, args, all, help) }
  })
