/**
 * Reads what was typed. One pass, no guesses: what is not known is an error that says what comes near. The parser of
 * @effect/cli takes `--timeot 3` for arguments of the tool that is called, and loading it costs 40 ms of processor time at
 * each start, where all of `--help` takes 60; what is only in there, completions and questions, is loaded when it is wanted.
 */
import * as Duration from "effect/Duration"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import { nearest, suggestion } from "../../text/nearest.ts"
import * as UntrustedText from "../../text/UntrustedText.ts"
import type * as Command from "../Command.ts"
import { Usage } from "../Usage.ts"
import { builtInOptions, sharedOptions } from "./sharedOptions.ts"

/** @internal */
export type Parsed =
  | { readonly _tag: "Run"; readonly command: Command.Command; readonly invocation: Command.Invocation }
  | { readonly _tag: "Help"; readonly command: Command.Command | undefined; readonly isAsked: boolean }
  | { readonly _tag: "Version" }
  | { readonly _tag: "Completions"; readonly shell: string }

const fail = (detail: string, next?: string) => Either.left(new Usage({ detail, next }))

interface Split {
  readonly words: ReadonlyArray<string>
  readonly given: ReadonlyMap<string, ReadonlyArray<string>>
}

/** Which of the words are options, and what belongs to them. */
const split = (argv: ReadonlyArray<string>, options: ReadonlyArray<Command.Option>): Either.Either<Split, Usage> => {
  const byName = new Map<string, Command.Option>()
  for (const option of options) {
    byName.set(`--${option.name}`, option)
    if (option.short !== undefined) byName.set(`-${option.short}`, option)
  }
  const words: Array<string> = []
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
    const option = byName.get(name)
    if (option === undefined) {
      return fail(`There is no option ${UntrustedText.quote(name)}.`, suggestion(nearest(name, byName.keys())))
    }
    const values = given.get(option.name) ?? []
    given.set(option.name, values)
    if (option.value === undefined) {
      if (equals >= 0) return fail(`The option ${UntrustedText.quote(name)} takes no value.`)
      values.push("")
      continue
    }
    const value = equals >= 0 ? word.slice(equals + 1) : argv[++at]
    if (value === undefined || value === "") {
      return fail(`The option ${UntrustedText.quote(name)} needs a value.`, `Write ${name} ${option.value}.`)
    }
    if (option.choices !== undefined && !option.choices.includes(value)) {
      return fail(
        `The option ${UntrustedText.quote(name)} cannot be ${UntrustedText.quote(value)}.`,
        suggestion(nearest(value, option.choices)) ?? `It is one of ${option.choices.join(", ")}.`
      )
    }
    if (values.length > 0 && option.repeated !== true) {
      return fail(`The option ${UntrustedText.quote(name)} is given twice.`)
    }
    values.push(value)
  }
  return Either.right({ words, given })
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

const invocationOf = ({ given }: Split, args: ReadonlyArray<string>): Either.Either<Command.Invocation, Usage> => {
  const values = (name: string) => given.get(name) ?? []
  const value = (name: string) => values(name).at(-1)
  const isSet = (name: string) => given.has(name)
  const time = value("timeout")
  const timeout = time === undefined ? undefined : duration(time)
  if (time !== undefined && timeout === undefined) {
    return fail(`${UntrustedText.quote(time)} is no duration.`, "Write 500ms, 30s or 2m.")
  }
  return Either.right({
    args,
    values,
    value,
    isSet,
    shared: {
      json: isSet("json"),
      root: value("root"),
      imports: values("import"),
      configs: values("config"),
      servers: values("server"),
      timeout,
      quiet: isSet("quiet"),
      verbose: isSet("verbose"),
      colour: !isSet("no-color")
    }
  })
}

/** What explains the program, or a command of it, from outside. */
export const outside = (command?: string): string =>
  command === undefined ? "See mcp-runtime --help." : `See mcp-runtime ${command} --help.`

const tooMany = (
  command: Command.Command,
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

/**
 * The first word that is neither an option nor its value: an option of a command may stand before it. Where some commands
 * give an option a value and others do not, what follows it is its value, unless it is one of those others.
 */
const nameIn = (
  argv: ReadonlyArray<string>,
  always: ReadonlyArray<Command.Option>,
  commands: ReadonlyArray<Command.Command>
): string | undefined => {
  const all = [...always, ...commands.flatMap(({ options }) => options)]
  const valued = new Set(all.flatMap(({ name, value }) => value === undefined ? [] : [`--${name}`]))
  const isFlagOf = (option: string, command: string): boolean =>
    commands.some(({ name, options }) =>
      name === command && options.some(({ name, value }) => `--${name}` === option && value === undefined)
    )
  return argv.find((word, at) => {
    const before = argv[at - 1] ?? ""
    return !word.startsWith("-") && (!valued.has(before) || isFlagOf(before, word))
  })
}

/** @internal */
export const parse = (
  argv: ReadonlyArray<string>,
  commands: ReadonlyArray<Command.Command>,
  help = outside
): Either.Either<Parsed, Usage> => {
  const always = [...sharedOptions, ...builtInOptions]
  const name = nameIn(argv, always, commands)
  const command = commands.find((one) => one.name === name)
  if (name !== undefined && name !== "help" && command === undefined) {
    return fail(
      `There is no command ${UntrustedText.quote(name)}.`,
      suggestion(nearest(name, commands.map((one) => one.name))) ?? help()
    )
  }
  return Either.flatMap(split(argv, [...always, ...(command?.options ?? [])]), (read) => {
    const { given, words } = read
    if (given.has("version")) return Either.right<Parsed>({ _tag: "Version" })
    const shell = given.get("completions")?.at(-1)
    if (shell !== undefined) return Either.right<Parsed>({ _tag: "Completions", shell })
    if (name === "help") {
      const about = commands.find((one) => one.name === words[1])
      return words[1] !== undefined && about === undefined
        ? parse([words[1]], commands, help)
        : Either.right<Parsed>({ _tag: "Help", command: about, isAsked: true })
    }
    if (given.has("help") || command === undefined) {
      return Either.right<Parsed>({ _tag: "Help", command, isAsked: given.has("help") })
    }
    const args = words.slice(1)
    const wrong = tooMany(command, args, given, help)
    return wrong === undefined
      ? Either.map(invocationOf(read, args), (invocation): Parsed => ({ _tag: "Run", command, invocation }))
      : Either.left(wrong)
  })
}
