/**
 * The table of launchers, which install a server before they run it: package runners (npx, uvx, …), container engines,
 * and deno with a package.
 *
 * @internal
 */
import type * as ServerConfig from "./ServerConfig.ts"

/**
 * A command line word by word, and what its words are called in an entry.
 *
 * @internal
 */
export interface Line {
  readonly words: ReadonlyArray<string>
  readonly at: (word: number) => string
}

/**
 * What is started in the end.
 *
 * @internal
 */
export interface Launched extends Line {
  /** The name of the program: without its folder and without what Windows adds. */
  readonly program: string
  /** Where its name is; its arguments come after it. */
  readonly from: number
}

const name = (word: string): string =>
  word.slice(Math.max(word.lastIndexOf("/"), word.lastIndexOf("\\")) + 1).toLowerCase().replace(
    /\.(exe|cmd|bat|com|ps1)$/,
    ""
  )

/** Programs that start another one, with those of their options that take a value. */
const wrappers: ReadonlyMap<string, ReadonlyArray<string>> = new Map([
  ["env", ["-u", "--unset", "-C", "--chdir"]],
  ["sudo", ["-u", "--user", "-g", "--group", "-h", "--host", "-p", "--prompt", "-C", "-D", "--chdir"]],
  ["doas", ["-u", "-C"]],
  ["nohup", []],
  ["setsid", []],
  ["time", ["-f", "-o"]],
  ["nice", ["-n", "--adjustment"]],
  ["stdbuf", ["-i", "-o", "-e"]],
  ["wsl", ["-d", "--distribution", "-u", "--user", "--cd"]],
  ["cmd", []],
  ["command", []],
  ["exec", ["-a"]],
  ["corepack", []]
])

const afterOptions = ({ words }: Line, from: number, valued: ReadonlyArray<string>, cmd: boolean): number => {
  let at = from
  while (at < words.length) {
    const word = words[at]!
    if (word === "--") return at + 1
    if (valued.includes(word)) at += 2
    else if (word.startsWith("-") || (cmd && word.startsWith("/")) || /^\w+=/.test(word)) at += 1
    else return at
  }
  return at
}

/**
 * Looks through programs that only start another one (`env A=b npx …`, `cmd /c npx …`): the programs on the way, the
 * last one at the end.
 *
 * @internal
 */
export const launched = (line: Line): ReadonlyArray<Launched> => {
  const way: Array<Launched> = []
  let from = 0
  while (from < line.words.length) {
    const program = name(line.words[from]!)
    way.push({ ...line, program, from })
    const valued = wrappers.get(program)
    if (valued === undefined) break
    from = afterOptions(line, from + 1, valued, program === "cmd")
  }
  return way
}

/**
 * One argument: its option, if it is one, and the value of that, wherever it is written.
 *
 * @internal
 */
export interface Argument {
  /** `--name` or `-n`; undefined for a word that is no option. */
  readonly option: string | undefined
  readonly value: string | undefined
  /** The word that has the value, or the option if it has none. */
  readonly word: number
}

/**
 * The arguments from a word on, up to the first that `stop` says is the last; an option that is not a switch takes the
 * word after it.
 *
 * @internal
 */
export const argumentsOf = (
  { words }: Line,
  from: number,
  isSwitch: (option: string) => boolean
): ReadonlyArray<Argument> => {
  const all: Array<Argument> = []
  let at = from
  let plain = false
  while (at < words.length) {
    const word = words[at]!
    if (plain || word === "-" || !word.startsWith("-")) all.push({ option: undefined, value: word, word: at })
    else if (word === "--") plain = true
    else {
      const equals = word.indexOf("=")
      if (equals !== -1) all.push({ option: word.slice(0, equals), value: word.slice(equals + 1), word: at })
      else if (isSwitch(word) || at + 1 >= words.length) all.push({ option: word, value: undefined, word: at })
      else {
        at += 1
        all.push({ option: word, value: words[at]!, word: at })
      }
    }
    at += 1
  }
  return all
}

/** @internal */
export type Ecosystem = "npm" | "python"

/**
 * How to tell the server's process from those of the install. `marked`: npm sets `npm_lifecycle_event=npx` for the
 * server only. `child`: the server is a child in the runner's folder; install scripts run in other folders. `same`: the
 * runner's process becomes the server, so they cannot be told apart.
 *
 * @internal
 */
export type Visible = "marked" | "child" | "same"

/**
 * A program that downloads a package and runs it. An option in `named` has the package; without one it is the first
 * word.
 *
 * @internal
 */
export interface Runner {
  readonly ecosystem: Ecosystem
  /** The subcommands that run a package; an empty list where the program needs none. */
  readonly verbs: ReadonlyArray<ReadonlyArray<string>>
  readonly named: ReadonlyArray<string>
  /** Options whose values are additional packages. */
  readonly also: ReadonlyArray<string>
  /** Options whose values are run by a shell. */
  readonly shell: ReadonlyArray<string>
  readonly valued: ReadonlyArray<string>
  readonly server: Visible
}

const npx: Runner = {
  ecosystem: "npm",
  verbs: [[]],
  named: ["-p", "--package"],
  also: [],
  shell: ["-c", "--call"],
  valued: ["-w", "--workspace", "--registry", "--cache", "--prefix", "--userconfig", "--loglevel", "-n", "--node-arg"],
  server: "marked"
}

const uvx: Runner = {
  ecosystem: "python",
  verbs: [[]],
  named: ["--from", "--spec"],
  also: ["--with", "-w"],
  shell: [],
  valued: [
    "-p",
    "--python",
    "--index",
    "--index-url",
    "-i",
    "--extra-index-url",
    "--default-index",
    "--find-links",
    "-f",
    "--cache-dir",
    "--directory",
    "--project",
    "--env-file",
    "--with-requirements",
    "--with-editable",
    "--refresh-package",
    "--prerelease",
    "--pip-args"
  ],
  server: "child"
}

const runners: ReadonlyMap<string, Runner> = new Map([
  ["npx", npx],
  ["npm", { ...npx, verbs: [["exec"], ["x"]] }],
  ["pnpx", { ...npx, server: "child" }],
  ["pnpm", { ...npx, verbs: [["dlx"]], server: "child" }],
  ["yarn", { ...npx, verbs: [["dlx"]], server: "child" }],
  ["bunx", { ...npx, server: "child" }],
  ["bun", { ...npx, verbs: [["x"]], server: "child" }],
  ["uvx", uvx],
  ["uv", { ...uvx, verbs: [["tool", "run"], ["x"]] }],
  // the process becomes the server
  ["pipx", { ...uvx, verbs: [["run"]], server: "same" }]
])

/**
 * True if the program looks for the package and its settings in the current folder before it downloads one.
 *
 * @internal
 */
export const runsPackages = ({ program }: Launched): boolean => runners.has(program)

/** Where the packages of a runner's line are: `uv tool run x`, `pnpm --silent dlx x`. */
const verbEnd = ({ from, words }: Launched, { valued, verbs }: Runner): number | undefined => {
  if (verbs.some((verb) => verb.length === 0)) return from + 1
  let at = from + 1
  while (at < words.length && words[at]!.startsWith("-")) at += valued.includes(words[at]!) ? 2 : 1
  const verb = verbs.find((verb) => verb.every((word, offset) => words[at + offset] === word))
  return verb && at + verb.length
}

/** @internal */
export interface PackageRun {
  readonly runner: Runner
  /** The packages in the order of the line; the server is in the first. */
  readonly packages: ReadonlyArray<Argument>
  /** Command lines that a shell runs in place of a package. */
  readonly shell: ReadonlyArray<Argument>
}

/**
 * The packages of a line whose program is a package runner.
 *
 * @internal
 */
export const packageRun = (line: Launched): PackageRun | undefined => {
  const runner = runners.get(line.program)
  const from = runner && verbEnd(line, runner)
  if (runner === undefined || from === undefined) return undefined
  const takes = new Set([...runner.named, ...runner.also, ...runner.shell, ...runner.valued])
  const packages: Array<Argument> = []
  const shell: Array<Argument> = []
  let named = false
  for (const argument of argumentsOf(line, from, (option) => !takes.has(option))) {
    const { option } = argument
    if (option === undefined) {
      if (!named) packages.push(argument)
      // the words that follow are arguments of the package
      break
    }
    if (runner.named.includes(option)) {
      named = true
      packages.push(argument)
    } else if (runner.also.includes(option)) packages.push(argument)
    else if (runner.shell.includes(option)) shell.push(argument)
  }
  return { runner, packages, shell }
}

const engines: ReadonlySet<string> = new Set(["docker", "podman", "nerdctl", "finch"])

/** The options before `run`, of the program itself. */
const valuedGlobals: ReadonlySet<string> = new Set(["-c", "--context", "-H", "--host", "-l", "--log-level", "--config"])

/**
 * Where the options of a container begin, if the program runs one.
 *
 * @internal
 */
export const containerRun = ({ from, program, words }: Launched): number | undefined => {
  if (!engines.has(program)) return undefined
  let at = from + 1
  while (at < words.length && words[at]!.startsWith("-")) at += valuedGlobals.has(words[at]!) ? 2 : 1
  if (words[at] === "container") at += 1
  return words[at] === "run" || words[at] === "create" ? at + 1 : undefined
}

/**
 * The launcher of a server, and the package that it may have to install.
 *
 * @internal
 */
export interface Launcher {
  readonly program: string
  /** The package as the configuration names it. */
  readonly installs: string | undefined
  readonly server: Visible
}

/**
 * True if the processes of the launcher tell an install from the server.
 *
 * @internal
 */
export const showsInstall = (launcher: Launcher | undefined): boolean =>
  launcher !== undefined && launcher.server !== "same"

/**
 * The launcher of a server, if it has one.
 *
 * @internal
 */
export const of = (config: ServerConfig.ServerConfig): Launcher | undefined => {
  if (config.transport !== "stdio") return undefined
  const line = launched({ words: [config.command, ...config.args ?? []], at: String }).at(-1)
  if (line === undefined) return undefined
  const { from, program, words } = line
  const run = packageRun(line)
  if (run !== undefined) return { program, installs: run.packages[0]?.value, server: run.runner.server }
  if (containerRun(line) !== undefined) return { program, installs: undefined, server: "same" }
  const spec = program === "deno" ? words.find((word, at) => at > from && /^(npm|jsr):/.test(word)) : undefined
  return spec === undefined ? undefined : { program, installs: spec, server: "same" }
}
