/** Finds the program that a command line starts: behind wrappers, package runners (npx, uvx, …) and container engines. */
import * as ShellWords from "../text/shellWords.ts"
import { engineOptions, engines, type Runner, runners, wrappers } from "./launchers.ts"
import type * as ServerConfig from "./ServerConfig.ts"

export type Ecosystem = Runner["ecosystem"]

/** A command line word by word, and what its words are called in an entry. */
export interface Line {
  readonly words: ReadonlyArray<string>
  readonly at: (word: number) => string
}

/** A program on a command line. */
export interface Launched extends Line {
  /** The name of the program: without its folder and without what Windows adds. */
  readonly program: string
  /** The word with its name; its arguments come after it. */
  readonly from: number
}

const nameOf = (word: string): string =>
  word.slice(Math.max(word.lastIndexOf("/"), word.lastIndexOf("\\")) + 1).toLowerCase()
    .replace(/\.(exe|cmd|bat|com|ps1)$/, "")

/** The program of a command that is a whole line for a shell. A path may have spaces after its first slash. */
export const programOfLine = (command: string, args: ReadonlyArray<string>): string | undefined => {
  const [program = "", ...words] = command.trim().split(/\s+/)
  const isLine = words.length > 0 && (!/[\\/]/.test(program) || words.some((word) => /^--?\w/.test(word)))
  return isLine && args.length === 0 && !command.includes("${") ? program : undefined
}

/**
 * True for a word that begins with a variable whose value is not known, or has one in the name of an option, so that it
 * can be any option, subcommand, package or image. A path below the home or the workspace cannot.
 */
export const hasUnknownStart = (word: string): boolean =>
  /^(?:--[^=$]*|-[ditPq]*)?\$\{(?!(?:var:(?!workspaceFolderBasename\})\w+|env:HOME|env:USERPROFILE)\})/.test(word)

/** The words of a command line that is one argument. The path of a program on Windows may have spaces. */
const unpacked = (text = ""): ReadonlyArray<string> => {
  if (!/[\s"']/.test(text)) return text === "" ? [] : [text]
  const words = ShellWords.split(text, { ...ShellWords.prose, opens: ShellWords.shell.opens }).words
  const isPath = /^(?:[A-Za-z]:|\\)/.test(text) && !words.some((word) => /^--?\w/.test(word.text))
  return isPath ? [text] : words.map((word) => word.text)
}

/**
 * Looks through programs that only start another one (`env A=b npx …`, `cmd /c npx …`): the programs on the line, the
 * last one at the end. A command line that is one word (`env -S "npx …"`) is split.
 */
export const launched = ({ at, words: written }: Line): ReadonlyArray<Launched> => {
  const read: Array<{ readonly text: string; readonly origin: number }> = []
  const rest = written.map((text, origin) => ({ text, origin })).toReversed()
  const next = (): string | undefined => rest.at(-1)?.text
  const take = (count: number): void => {
    while (count-- > 0 && rest.length > 0) read.push(rest.pop()!)
  }
  const starts: Array<{ readonly program: string; readonly from: number }> = []
  for (let word = next(); word !== undefined; word = next()) {
    const program = nameOf(word)
    starts.push({ program, from: read.length })
    take(1)
    const wrapper = wrappers.get(program)
    if (wrapper === undefined) break
    const { isOption = /^(?!--$)-|^\w+=/, line, operands = 0, valued = [] } = wrapper
    for (let word = next(); word !== undefined; word = next()) {
      const [name] = line?.exec(word) ?? []
      if (name !== undefined) {
        const { origin } = rest.pop()!
        read.push({ text: name, origin })
        const packed = name === word ? rest.pop() : { text: word.slice(name.length), origin }
        for (const text of unpacked(packed?.text).toReversed()) rest.push({ text, origin: packed?.origin ?? origin })
      } else if (valued.includes(word)) take(2)
      else if (isOption.test(word)) take(1)
      else break
    }
    take(operands + (next() === "--" ? 1 : 0))
  }
  const all = read.concat(rest.toReversed())
  const words = all.map(({ text }) => text)
  return starts.map(({ from, program }) => ({ program, from, words, at: (word) => at(all[word]?.origin ?? word) }))
}

/** A value on a command line, and the word that has it. */
export interface Argument {
  readonly value: string | undefined
  readonly word: number
}

/** `--name` or `-n` with its value, wherever that is written; without one, `word` is the option itself. */
export interface Option extends Argument {
  readonly option: string
  /** The word of the option. */
  readonly start: number
}

/** The options from a word on, and the first word that is none, or whose start is unknown. An option that is not a switch takes the word after it. */
export const optionsOf = (
  words: ReadonlyArray<string>,
  from: number,
  isSwitch: (option: string) => boolean,
  isOption = /^-./s
) => {
  const options: Array<Option> = []
  for (let at = from; at < words.length; at++) {
    const word = words[at]!
    if (!isOption.test(word) || word === "--" || hasUnknownStart(word)) {
      const first = word === "--" ? at + 1 : at
      return { options, first: first < words.length ? { value: words[first]!, word: first } : undefined }
    }
    const equals = word.indexOf("=")
    const start = at
    if (equals !== -1) options.push({ option: word.slice(0, equals), value: word.slice(equals + 1), word: at, start })
    else if (isSwitch(word) || at + 1 >= words.length) options.push({ option: word, value: undefined, word: at, start })
    else options.push({ option: word, value: words[++at], word: at, start })
  }
  return { options, first: undefined }
}

/** True if the program looks for the package and its settings in the current folder before it downloads one. */
export const isPackageRunner = ({ program }: Launched): boolean => runners.has(program)

export interface PackageRun {
  readonly runner: Runner
  /** It runs a program of the project, and the packages are additional ones. */
  readonly isProject: boolean
  /** The packages in the order of the line; unless it is of the project, the server is in the first. */
  readonly packages: ReadonlyArray<Argument>
  /** Command lines that a shell runs in place of a package. */
  readonly shell: ReadonlyArray<Argument>
}

/** The word with the subcommand of a package runner or container engine, if the program takes one. */
export const verbAt = ({ from, program, words }: Launched): number | undefined => {
  const runner = runners.get(program)
  const hasVerb = runner === undefined ? engines.includes(program) : runner.verbs.every(({ length }) => length > 0)
  if (!hasVerb) return undefined
  const valued = runner?.valued ?? engineOptions
  return optionsOf(words, from + 1, (option) => !valued.includes(option)).first?.word ?? words.length
}

const isVerb = (word: string | undefined, verb: string): boolean => word === verb || hasUnknownStart(word ?? "")

/** The first argument of a runner (after `uv tool run`, `pnpm --silent dlx`), and if the arguments start with a package. */
const argumentsOf = (line: Launched, { projectVerb, verbs }: Runner) => {
  const at = verbAt(line)
  if (at === undefined) return { from: line.from + 1, isProject: false }
  const verb = verbs.find((verb) => verb.every((word, offset) => isVerb(line.words[at + offset], word)))
  if (verb !== undefined) return { from: at + verb.length, isProject: false }
  return projectVerb !== undefined && line.words[at] === projectVerb ? { from: at + 1, isProject: true } : undefined
}

/** The packages of a line whose program is a package runner. */
export const packageRun = (line: Launched): PackageRun | undefined => {
  const runner = runners.get(line.program)
  const run = runner && argumentsOf(line, runner)
  if (runner === undefined || run === undefined) return undefined
  const { also, named, shell, valued } = runner
  const takes = new Set([...named, ...also, ...shell, ...valued])
  // the words after the first that is no option are arguments of the package
  const { first, options } = optionsOf(line.words, run.from, (option) => !takes.has(option))
  const isNamed = run.isProject || options.some(({ option }) => named.includes(option))
  // a word with an unknown start may be an option, even where another option names the package; uv runs addresses
  const isPackage = !isNamed || (first !== undefined && (hasUnknownStart(first.value) || /^https?:/.test(first.value)))
  return {
    runner,
    isProject: run.isProject,
    packages: [
      ...options.filter(({ option }) => named.includes(option) || also.includes(option)),
      ...(first !== undefined && isPackage ? [first] : [])
    ],
    shell: options.filter(({ option }) => shell.includes(option))
  }
}

/** The first option of a container, if the program runs one. */
export const containerRun = (line: Launched): number | undefined => {
  const at = engines.includes(line.program) ? verbAt(line) : undefined
  if (at === undefined) return undefined
  const verb = line.words[at] === "container" ? at + 1 : at
  return ["run", "create"].some((name) => isVerb(line.words[verb], name)) ? verb + 1 : undefined
}

/** The launcher of a server, and the package that it may have to install. */
export interface Launcher {
  readonly program: string
  /** The package as the configuration names it. */
  readonly installs: string | undefined
  readonly server: Runner["server"]
}

/** True if the processes of the launcher tell an install from the server. */
export const showsInstall = (launcher: Launcher | undefined): boolean =>
  launcher !== undefined && launcher.server !== "same"

/** The launcher of a server, if it has one. */
export const of = (config: ServerConfig.ServerConfig): Launcher | undefined => {
  if (config.transport !== "stdio") return undefined
  const line = launched({ words: [config.command, ...config.args ?? []], at: String }).at(-1)
  if (line === undefined) return undefined
  const { from, program, words } = line
  const run = packageRun(line)
  if (run?.isProject === false) return { program, installs: run.packages[0]?.value, server: run.runner.server }
  if (containerRun(line) !== undefined) return { program, installs: undefined, server: "same" }
  const spec = program === "deno" ? words.find((word, at) => at > from && /^(npm|jsr):/.test(word)) : undefined
  return spec === undefined ? undefined : { program, installs: spec, server: "same" }
}
