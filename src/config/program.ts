// @effect-diagnostics nodeBuiltinImport:off
/**
 * Child programs: their environment, their command on this platform, and the output of a program that is run for it.
 * Platform's Command would give them the whole environment.
 */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import * as Path from "node:path"
import type { Readable } from "node:stream"
import * as Variables from "./environmentVariables.ts"
import type * as HostEnvironment from "./HostEnvironment.ts"
import type * as ServerConfig from "./ServerConfig.ts"

export interface Program {
  readonly argv: readonly [string, ...ReadonlyArray<string>]
  readonly host: HostEnvironment.Host
  readonly cwd?: string | undefined
}

// Environment

/** A function that bash exported is code, and no server asked for it. */
const isFunction = (value: string): boolean => value.startsWith("() {")

/** A folder that is not absolute is another one wherever a program is started: a workspace could be it. */
const absoluteOnly = (path: string, isWindows: boolean): string =>
  isWindows
    ? path.split(";").filter((folder) => /^"?([A-Za-z]:[\\/]|\\\\|%)/.test(folder)).join(";")
    : path.split(":").filter((folder) => folder.startsWith("/")).join(":")

/**
 * The environment of a server's process: what is safe of the host's, what the configuration asks for by name, and what
 * it declares.
 */
export const environment = (
  config: Pick<ServerConfig.StdioServer, "env" | "inheritEnv" | "withoutEnv">,
  host: HostEnvironment.Host
): Map<string, string> => {
  // Names on Windows ignore case, and the host's spelling is kept.
  const isWindows = host.platform === "win32"
  const key = (name: string): string => (isWindows ? name.toUpperCase() : name)
  const inherit = config.inheritEnv ?? false
  const asked = new Set(typeof inherit === "boolean" ? [] : inherit.map(key))
  const allowed = (name: string): boolean =>
    inherit === true || asked.has(name) || Variables.isInherited(name, isWindows ? "windows" : "posix")
  const variables = new Map<string, readonly [name: string, value: string]>()
  for (const [name, value] of Object.entries(host.variables())) {
    if (value === undefined || !allowed(key(name)) || isFunction(value)) continue
    variables.set(key(name), [name, key(name) === "PATH" ? absoluteOnly(value, isWindows) : value])
  }
  for (const name of config.withoutEnv ?? []) variables.delete(key(name))
  for (const [name, value] of config.env ?? []) {
    variables.set(key(name), [name, Redacted.value(value)])
  }
  return new Map(variables.values())
}

/** The declared variable that no process can be given, if there is one. */
export const invalidVariable = (config: Pick<ServerConfig.StdioServer, "env">): string | undefined => {
  for (const [name, value] of config.env ?? []) {
    if (name === "" || name.includes("=") || name.includes("\0") || Redacted.value(value).includes("\0")) return name
  }
  return undefined
}

// Command

export const isFile = (path: string): boolean => Fs.statSync(path, { throwIfNoEntry: false })?.isFile() ?? false

/** Windows itself finds only `.exe` files, `npx` is a `.cmd` file, and only `cmd.exe` can run those. */
const find = (command: string, cwd: string, environment: ReadonlyMap<string, string>): string => {
  const variable = (wanted: string): string =>
    Array.from(environment).find(([name]) => name.toUpperCase() === wanted)?.[1] ?? ""
  const extensions = ["", ...(variable("PATHEXT") || ".COM;.EXE;.BAT;.CMD").split(";")]
  const folders = /[\\/:]/.test(command) ? [cwd] : variable("PATH").split(";").filter((folder) => folder !== "")
  for (const folder of folders) {
    for (const extension of extensions) {
      const path = Path.win32.resolve(folder, command + extension)
      if ((extension !== "" || Path.win32.extname(command) !== "") && isFile(path)) return path
    }
  }
  return command
}

const meta = /[()\][%!^"`<>&|;, *?]/g

const quote = (argument: string): string => `"${argument.replace(/(\\*)"/g, "$1$1\\\"").replace(/(\\*)$/, "$1$1")}"`

const escapeTwice = (text: string): string => text.replace(meta, "^$&").replace(meta, "^$&")

/**
 * The arguments of `cmd.exe` for a `.cmd` or `.bat` file: one command line in which everything that `cmd.exe` would
 * interpret is escaped, twice for the arguments, because the file passes them on with `%*`. `undefined` if they hold a
 * line break, which cannot be escaped.
 */
export const batchArguments = (file: string, args: ReadonlyArray<string>): ReadonlyArray<string> | undefined => {
  if ([file, ...args].some((text) => /[\r\n\0]/.test(text))) return undefined
  const line = [file.replace(meta, "^$&"), ...args.map((argument) => escapeTwice(quote(argument)))].join(" ")
  return ["/d", "/s", "/c", `"${line}"`]
}

/** The first arguments of `ChildProcess.spawn`; `undefined` for arguments that no batch file can be given. */
export const command = ({ argv, cwd, host }: Program, environment: ReadonlyMap<string, string>) => {
  const [program, ...args] = argv
  const isWindows = host.platform === "win32"
  const file = isWindows ? find(program, cwd ?? ".", environment) : program
  const isBatch = isWindows && /\.(?:cmd|bat)$/i.test(file)
  const line = isBatch ? batchArguments(file, args) : args
  return line && {
    file: isBatch ? host.variables()["ComSpec"] ?? "cmd.exe" : file,
    args: line,
    options: {
      cwd,
      env: Object.fromEntries(environment),
      // a group of its own, so that ending it also ends what it has started
      detached: !isWindows,
      windowsHide: true,
      windowsVerbatimArguments: isBatch
    }
  }
}

// Output

const limit = 64 * 1024

/** The code of an error of Node, such as `ENOENT`. Its text quotes arguments. */
export const codeOf = (error: unknown): string =>
  typeof error === "object" && error !== null && "code" in error && typeof error.code === "string" ? error.code : "?"

/**
 * Runs a program (argv, no shell) and gives what it prints; bounded in time and output, and ended with all it has
 * started. It gets no more of the environment than a server. It fails with a sentence that holds nothing of what was printed, because that is secret.
 */
export const run = (program: Program): Effect.Effect<string, string> =>
  Effect.async<string, string>((resume) => {
    const failed = (error: unknown) => resume(Effect.fail(`could not be started (${codeOf(error)})`))
    const start = command(program, environment({}, program.host))
    if (start === undefined) return resume(Effect.fail("could not be started (a line break in its arguments)"))
    let child: ChildProcess.ChildProcessByStdio<null, Readable, null>
    try {
      child = ChildProcess.spawn(start.file, start.args, { ...start.options, stdio: ["ignore", "pipe", "ignore"] })
    } catch (error) {
      return failed(error)
    }
    const chunks: Array<Buffer> = []
    let bytes = 0
    const kill = () => {
      child.stdout.destroy()
      if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
      try {
        process.kill(-child.pid, "SIGKILL")
      } catch {
        child.kill("SIGKILL")
      }
    }
    child.on("error", failed)
    child.stdout.on("data", (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes <= limit) return void chunks.push(chunk)
      kill()
      resume(Effect.fail(`printed more than ${limit} bytes`))
    })
    child.on("close", (code, signal) =>
      resume(
        code === 0
          ? Effect.succeed(Buffer.concat(chunks).toString("utf8"))
          : Effect.fail(`ended with ${signal ?? `exit code ${code}`}`)
      ))
    return Effect.sync(kill)
  }).pipe(
    Effect.timeoutFail({ duration: "10 seconds", onTimeout: () => "did not end within 10 seconds" })
  )
