// @effect-diagnostics nodeBuiltinImport:off
// The one module that starts processes: platform's Command inherits the whole environment and waits for ever at its end.
/** @internal */
import * as Effect from "effect/Effect"
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import * as Path from "node:path"
import type { Readable, Writable } from "node:stream"
import * as Environment from "../../config/childEnvironment.ts"
import type * as HostEnvironment from "../../config/HostEnvironment.ts"
import type * as ServerConfig from "../../config/ServerConfig.ts"
import * as McpError from "../../McpError.ts"
import * as UntrustedText from "../../text/UntrustedText.ts"
import * as BatchCommand from "./batchCommand.ts"

/** @internal */
export type Child = ChildProcess.ChildProcessByStdio<Writable, Readable, Readable> & { readonly pid: number }

const isFile = (path: string): boolean => Fs.statSync(path, { throwIfNoEntry: false })?.isFile() ?? false

/** Windows itself finds only `.exe` files; `npx` and its like are `.cmd` files. */
const findOnWindows = (command: string, cwd: string, environment: ReadonlyMap<string, string>): string => {
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

const codeOf = (error: Error): string => "code" in error && typeof error.code === "string" ? error.code : "UNKNOWN"

const name = (text: string): string => `"${UntrustedText.excerpt(text, 256)}"`

/** Node blames the command for whatever is wrong, so what is wrong is looked up. Never Node's text: it quotes values. */
const reason = (config: ServerConfig.StdioServer, errno: string): string => {
  const { command, cwd } = config
  if (cwd !== undefined) {
    const found = Fs.statSync(cwd, { throwIfNoEntry: false })
    if (found === undefined) return `the working directory ${name(cwd)} does not exist`
    if (!found.isDirectory()) return `the working directory ${name(cwd)} is not a directory`
  }
  switch (errno) {
    case "ENOENT":
      if (!command.includes("/")) return "there is no such command on the PATH of the server"
      return isFile(Path.resolve(cwd ?? "", command))
        ? "the file exists, but the interpreter in its first line does not"
        : "there is no such file"
    case "EACCES":
      return "the file, or the working directory, may not be used: is it executable?"
    case "ENOTDIR":
      return "a part of the path is not a directory"
    case "E2BIG":
      return "the arguments and the environment are too long"
    case "EAGAIN":
    case "EMFILE":
    case "ENFILE":
    case "ENOMEM":
      return "the system has run out of processes, files or memory"
    default:
      return "the system refused it"
  }
}

const failed = (config: ServerConfig.StdioServer, error: Error): McpError.SpawnFailed => {
  const errno = codeOf(error)
  let detail: string
  try {
    detail = reason(config, errno)
  } catch {
    // A path that may not even be looked at.
    detail = "the file, or the working directory, may not be used"
  }
  return new McpError.SpawnFailed({
    server: config.name,
    errno,
    command: config.command,
    ...(config.cwd === undefined ? {} : { cwd: config.cwd }),
    detail
  })
}

const invalid = (config: ServerConfig.StdioServer, path: string): McpError.ConfigurationError =>
  new McpError.ConfigurationError({
    server: config.name,
    path: UntrustedText.excerpt(path, 256),
    detail: "this cannot be given to a process"
  })

const hasNul = (text: string): boolean => text.includes("\0")

const check = (config: ServerConfig.StdioServer): McpError.ConfigurationError | undefined => {
  const variable = Environment.invalid(config)
  if (variable !== undefined) return invalid(config, `env.${variable}`)
  const argument = (config.args ?? []).findIndex(hasNul)
  if (argument !== -1) return invalid(config, `args.${argument}`)
  if (hasNul(config.command)) return invalid(config, "command")
  return config.cwd !== undefined && hasNul(config.cwd) ? invalid(config, "cwd") : undefined
}

/**
 * Starts the process of a server: its own group, its own environment, three pipes. The child has its pid when this
 * returns, and it is ready on the next tick, so there is nothing to wait for or to interrupt.
 *
 * @internal
 */
export const spawn = (
  config: ServerConfig.StdioServer,
  host: HostEnvironment.Host
): Effect.Effect<Child, McpError.SpawnFailed | McpError.ConfigurationError> =>
  Effect.async((resume) => {
    const problem = check(config)
    if (problem !== undefined) return resume(Effect.fail(problem))
    const environment = Environment.make(config, host)
    const isWindows = host.platform === "win32"
    let command = config.command
    let args: ReadonlyArray<string> = config.args ?? []
    let verbatim = false
    if (isWindows) {
      command = findOnWindows(command, config.cwd ?? ".", environment)
      if (BatchCommand.isBatch(command)) {
        const line = BatchCommand.make(command, args)
        if (line === undefined) return resume(Effect.fail(invalid(config, "args")))
        command = host.variables()["ComSpec"] ?? "cmd.exe"
        args = line
        verbatim = true
      }
    }
    let child: ChildProcess.ChildProcessByStdio<Writable, Readable, Readable>
    try {
      child = ChildProcess.spawn(command, args, {
        stdio: ["pipe", "pipe", "pipe"],
        env: Object.fromEntries(environment),
        cwd: config.cwd,
        detached: !isWindows,
        windowsHide: true,
        windowsVerbatimArguments: verbatim
      })
    } catch (error) {
      return resume(Effect.fail(failed(config, error instanceof Error ? error : new Error("unknown"))))
    }
    for (const source of [child, child.stdin, child.stdout, child.stderr]) source.on("error", ignore)
    // Held back from the first moment on, since the end of a process that nobody listens to throws its output away.
    child.stdout.pause()
    if (child.pid !== undefined) resume(Effect.succeed(child as Child))
    else child.once("error", (error) => resume(Effect.fail(failed(config, error))))
  })

/** Listens for good, since an error event without a listener would end the host, and so holds nothing in memory. */
const ignore = (): void => undefined

/**
 * Runs a program of the system to its end, within a second, and returns what it printed.
 *
 * @internal
 */
export const run = (command: string, args: ReadonlyArray<string>): string =>
  ChildProcess.spawnSync(command, args, {
    timeout: 1000,
    killSignal: "SIGKILL",
    maxBuffer: 8 * 1024 * 1024,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
    windowsHide: true
  }).stdout ?? ""
