/**
 * Programs that install what they run: package runners (npx, uvx, …), container engines, and deno with a package. The one
 * table of them.
 *
 * @internal
 */
import type * as ServerConfig from "../config/ServerConfig.ts"
import { type Argument, argumentsOf, type Launched, launched } from "./launched.ts"

/** @internal */
export type Ecosystem = "npm" | "python"

/**
 * How the process of the server is told from those that install it. `marked`: npm sets `npm_lifecycle_event` to `npx` for
 * it alone. `child`: it is a child in the folder that the runner was started in; scripts of an install run elsewhere.
 * `same`: there is no other process, so it cannot be told.
 *
 * @internal
 */
export type Visible = "marked" | "child" | "same"

/**
 * A program that downloads a package and runs it. The package is in the options `named`, if there is one of them, and
 * else the first word.
 *
 * @internal
 */
export interface Runner {
  readonly ecosystem: Ecosystem
  /** The words after the program that make it one that runs packages. */
  readonly verbs: ReadonlyArray<ReadonlyArray<string>>
  readonly named: ReadonlyArray<string>
  /** Options whose values are other packages that are there too. */
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
  // it becomes the server
  ["pipx", { ...uvx, verbs: [["run"]], server: "same" }]
])

/**
 * The program looks for a package in its folder before it downloads one, and reads settings there.
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
  /** Texts that a shell runs in their place. */
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
      // what follows belongs to the package
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
 * A server that is started by a program that may have to install it first.
 *
 * @internal
 */
export interface Launcher {
  readonly program: string
  /** The package, as it is written in the configuration. */
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
