/** The programs that start other programs or install packages, as rows of `launcher.ts`. */

/** A program that only starts another one. */
export interface Wrapper {
  /** Its options that take a value. */
  readonly valued?: ReadonlyArray<string>
  /** How many arguments it takes before the program. */
  readonly operands?: number
  /** The option that takes a whole command line as one word. The word may follow it without a space. */
  readonly line?: RegExp
  /** Its other arguments before the program, if they are not as usual: `-x`, `NAME=value`. */
  readonly isOption?: RegExp
}

export const wrappers: ReadonlyMap<string, Wrapper> = new Map([
  ["env", { valued: ["-u", "--unset", "-C", "--chdir"], line: /^(?:-[0iv]*S|--split-string=|--split-string$)/ }],
  ["sudo", { valued: ["-u", "--user", "-g", "--group", "-h", "--host", "-p", "--prompt", "-C", "-D", "--chdir"] }],
  ["doas", { valued: ["-u", "-C"] }],
  ["nohup", {}],
  ["setsid", {}],
  ["time", { valued: ["-f", "-o"] }],
  ["timeout", { valued: ["-k", "--kill-after", "-s", "--signal"], operands: 1 }],
  ["gtimeout", { valued: ["-k", "--kill-after", "-s", "--signal"], operands: 1 }],
  ["nice", { valued: ["-n", "--adjustment"] }],
  ["ionice", { valued: ["-c", "--class", "-n", "--classdata"] }],
  ["stdbuf", { valued: ["-i", "-o", "-e"] }],
  ["wsl", { valued: ["-d", "--distribution", "-u", "--user", "--cd"] }],
  ["cmd", { line: /^\/(?:[^ckr]*\/)?[ckr]/i, isOption: /^(?!--$)[-/]|^\w+=/ }],
  ["command", {}],
  ["exec", { valued: ["-a"] }],
  ["corepack", {}]
])

/**
 * A program that downloads a package and runs it. An option in `named` has the package; without one it is the first
 * word.
 */
export interface Runner {
  readonly ecosystem: "npm" | "python"
  /** The subcommands that run a package; an empty list where the program needs none. */
  readonly verbs: ReadonlyArray<ReadonlyArray<string>>
  /** The subcommand that runs a program of the project, so that only the packages in `also` are downloaded. */
  readonly projectVerb?: string
  readonly named: ReadonlyArray<string>
  /** Options whose values are additional packages. */
  readonly also: ReadonlyArray<string>
  /** Options whose values are run by a shell. */
  readonly shell: ReadonlyArray<string>
  readonly valued: ReadonlyArray<string>
  /**
   * How to tell the server's process from those of the install. `marked`: npm sets `npm_lifecycle_event=npx` for the
   * server only. `child`: the server is a child in the runner's folder; install scripts run in other folders. `same`:
   * the runner's process becomes the server, so they cannot be told apart.
   */
  readonly server: "marked" | "child" | "same"
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

export const runners: ReadonlyMap<string, Runner> = new Map([
  ["npx", npx],
  ["npm", { ...npx, verbs: [["exec"], ["x"]] }],
  ["pnpx", { ...npx, server: "child" }],
  ["pnpm", { ...npx, verbs: [["dlx"]], server: "child" }],
  ["yarn", { ...npx, verbs: [["dlx"]], server: "child" }],
  ["bunx", { ...npx, server: "child" }],
  ["bun", { ...npx, verbs: [["x"]], server: "child" }],
  ["uvx", uvx],
  ["uv", {
    ...uvx,
    verbs: [["tool", "run"], ["x"]],
    projectVerb: "run",
    valued: [...uvx.valued, "--extra", "--no-extra", "--group", "--no-group", "--only-group", "--package"]
  }],
  ["pipx", { ...uvx, verbs: [["run"]], server: "same" }]
])

/** Programs that run containers. */
export const engines: ReadonlyArray<string> = ["docker", "podman", "nerdctl", "finch"]

/** Their options before `run` that take a value. */
export const engineOptions: ReadonlyArray<string> = [
  "-c",
  "--context",
  "-H",
  "--host",
  "-l",
  "--log-level",
  "--config"
]

/** Programs that can run the text of an argument, and the options that make them do so. */
export const interpreters: ReadonlyArray<readonly [programs: string, text: RegExp]> = [
  ["sh bash zsh dash ash ksh fish csh tcsh nu", /^(-[a-z]*c|--command$)/i],
  ["cmd", /^\/.*[ckr]/i],
  ["node", /^(-e|--eval|-p|--print|-pe)(=|$)|^(-r|--require|--import|--loader|--experimental-loader)=(data|https?):/],
  ["bun", /^(-e|--eval|-p|--print)(=|$)/],
  ["python python3 py", /^-c/],
  ["perl", /^-[a-z]*[eE]/],
  ["ruby", /^-[a-z]*e/],
  ["php", /^-r/],
  ["osascript", /^-e/]
]

/** Their options whose value is the next word. */
export const interpreterOptions =
  "-o +o -O +O --rcfile --init-file -r --require --import --loader -C --conditions -W -X -I"

/** The options of `run` of a container engine that take no value. */
export const containerSwitches =
  `--detach --disable-content-trust --init --interactive --no-healthcheck --oom-kill-disable --privileged --publish-all
   --quiet --read-only --replace --rm --sig-proxy --tty --use-api-socket`
