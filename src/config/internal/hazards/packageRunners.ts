/**
 * @internal
 */
import { type Hazard, shown } from "./hazard.ts"
import { type Argument, argumentsOf, type Launched } from "./launched.ts"
import { nearName } from "./nearNames.ts"

type Ecosystem = "npm" | "python"

/**
 * A program that downloads a package and runs it. The package is in the options `named`, if there is one of them, and
 * else the first word.
 */
interface Runner {
  readonly ecosystem: Ecosystem
  /** The words after the program that make it one that runs packages. */
  readonly verbs: ReadonlyArray<ReadonlyArray<string>>
  readonly named: ReadonlyArray<string>
  /** Options whose values are other packages that are there too. */
  readonly also: ReadonlyArray<string>
  /** Options whose values are run by a shell. */
  readonly shell: ReadonlyArray<string>
  readonly valued: ReadonlyArray<string>
}

const npx: Runner = {
  ecosystem: "npm",
  verbs: [[]],
  named: ["-p", "--package"],
  also: [],
  shell: ["-c", "--call"],
  valued: ["-w", "--workspace", "--registry", "--cache", "--prefix", "--userconfig", "--loglevel", "-n", "--node-arg"]
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
  ]
}

const runners: ReadonlyMap<string, Runner> = new Map([
  ["npx", npx],
  ["pnpx", npx],
  ["bunx", npx],
  ["npm", { ...npx, verbs: [["exec"], ["x"]] }],
  ["pnpm", { ...npx, verbs: [["dlx"]] }],
  ["yarn", { ...npx, verbs: [["dlx"]] }],
  ["bun", { ...npx, verbs: [["x"]] }],
  ["uvx", uvx],
  ["uv", { ...uvx, verbs: [["tool", "run"], ["x"]] }],
  ["pipx", { ...uvx, verbs: [["run"]] }]
])

/** Where the packages of a runner's line are: `uv tool run x`, `pnpm --silent dlx x`. */
const verbEnd = ({ from, words }: Launched, { valued, verbs }: Runner): number | undefined => {
  if (verbs.some((verb) => verb.length === 0)) return from + 1
  let at = from + 1
  while (at < words.length && words[at]!.startsWith("-")) at += valued.includes(words[at]!) ? 2 : 1
  const verb = verbs.find((verb) => verb.every((word, offset) => words[at + offset] === word))
  return verb && at + verb.length
}

const elsewhere =
  /^(git[+:@]|git\+|github:|gitlab:|bitbucket:|gist:|https?:|ssh:|svn\+|hg\+)|^[\w.+-]+(\[[^\]]*\])?\s*@\s*(git\+|https?:|ssh:)|\.git(#|$)/i

/** `user/repository`, which npm takes from GitHub. */
const shorthand = /^[A-Za-z0-9][\w.-]*\/[\w.-]+(#.*)?$/

const isElsewhere = (spec: string, ecosystem: Ecosystem): boolean => {
  const start = spec.startsWith("npm:") ? spec.slice(4) : spec
  return elsewhere.test(start) ||
    (ecosystem === "npm" && (shorthand.test(start) || /.@(https?:|git[+:]|github:)/.test(start)))
}

interface Package {
  readonly name: string
  readonly exact: boolean
}

const npmVersion = /^[=v]?\d+\.\d+\.\d+(-[\w.-]+)?(\+[\w.-]+)?$/
const pythonVersion = /^\d[\w.!+-]*$/

/**
 * The name of a package, and whether exactly one version of it can be meant.
 *
 * @internal
 */
export const npmPackage = (spec: string): Package => {
  const text = spec.replace(/^(npm|jsr):\/?/, "")
  const at = text.indexOf("@", 1)
  return at === -1
    ? { name: text, exact: false }
    : { name: text.slice(0, at), exact: npmVersion.test(text.slice(at + 1).replace(/\/.*$/, "")) }
}

const pythonPackage = (spec: string): Package => {
  const name = /^[\w.-]+/.exec(spec)?.[0] ?? spec
  const rest = spec.slice(name.length).replace(/^\[[^\]]*\]/, "").trim()
  const version = /^(?:===?|@)\s*(\S+)$/.exec(rest)?.[1]
  return { name, exact: version !== undefined && pythonVersion.test(version) }
}

const isLocal = (spec: string): boolean => /^(\.{0,2}[\\/]|[A-Za-z]:[\\/]|file:|\$\{|~[\\/]|\.{1,2}$)/.test(spec)

/** @internal */
export const ofPackage = (spec: string, at: string, ecosystem: Ecosystem): ReadonlyArray<Hazard> => {
  if (spec === "" || isLocal(spec)) return []
  if (isElsewhere(spec, ecosystem)) {
    return [{
      kind: "remote-code",
      at,
      detail: "It runs code that is downloaded from an address or a repository, past any registry of packages."
    }]
  }
  const { exact, name } = ecosystem === "npm" ? npmPackage(spec) : pythonPackage(spec)
  const hazards: Array<Hazard> = []
  if (!exact) {
    hazards.push({
      kind: "unpinned-package",
      at,
      detail: `The package${
        shown(name)
      } is downloaded in whatever version is the newest; write an exact version after its name.`
    })
  }
  const meant = nearName(name)
  if (meant !== undefined) {
    hazards.push({
      kind: "near-name",
      at,
      detail: `The package${shown(name)} has nearly the name of ${meant}, and is not it; check how it is spelled.`
    })
  }
  return hazards
}

/**
 * The program looks for a package in its folder before it downloads one, and reads settings there.
 *
 * @internal
 */
export const runsPackages = ({ program }: Launched): boolean => runners.has(program)

/** @internal */
export const ofRunner = (line: Launched): ReadonlyArray<Hazard> => {
  const runner = runners.get(line.program)
  const from = runner && verbEnd(line, runner)
  if (runner === undefined || from === undefined) return []
  const takes = new Set([...runner.named, ...runner.also, ...runner.shell, ...runner.valued])
  const hazards: Array<Hazard> = []
  const of = ({ value = "", word }: Argument) => hazards.push(...ofPackage(value, line.at(word), runner.ecosystem))
  let first: Argument | undefined
  let named = false
  for (const argument of argumentsOf(line, from, (option) => !takes.has(option))) {
    const { option } = argument
    if (option === undefined) {
      first = argument
      // what follows belongs to the package
      break
    }
    if (runner.named.includes(option)) {
      named = true
      of(argument)
    } else if (runner.also.includes(option)) of(argument)
    else if (runner.shell.includes(option)) {
      hazards.push({
        kind: "remote-code",
        at: line.at(argument.word),
        detail: "It has a shell run the text of an argument."
      })
    }
  }
  if (first !== undefined && !named) of(first)
  return hazards
}
