/** The programs that start other programs or install packages, as rows of `launcher.ts`. */

/** Programs that only start another one, with those of their options that take a value. */
export const wrappers: ReadonlyMap<string, ReadonlyArray<string>> = new Map([
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

/**
 * A program that downloads a package and runs it. An option in `named` has the package; without one it is the first
 * word.
 */
export interface Runner {
  readonly ecosystem: "npm" | "python"
  /** The subcommands that run a package; an empty list where the program needs none. */
  readonly verbs: ReadonlyArray<ReadonlyArray<string>>
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
  ["uv", { ...uvx, verbs: [["tool", "run"], ["x"]] }],
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
