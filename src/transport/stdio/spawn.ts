// @effect-diagnostics nodeBuiltinImport:off
/**
 * Starts the process of a server. Platform's Command would give it the whole environment of the host, and waits without
 * a bound at its end.
 */
import * as Deferred from "effect/Deferred"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FiberId from "effect/FiberId"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as ChildProcess from "node:child_process"
import * as Crypto from "node:crypto"
import * as Fs from "node:fs"
import * as Path from "node:path"
import type { Readable, Writable } from "node:stream"
import type * as HostEnvironment from "../../config/HostEnvironment.ts"
import * as Program from "../../config/program.ts"
import type * as ServerConfig from "../../config/ServerConfig.ts"
import * as McpError from "../../McpError.ts"
import * as BoundedWait from "../../resilience/BoundedWait.ts"
import type * as ProcessLadder from "../../resilience/processLadder.ts"
import * as ProcessTree from "../../resilience/processTree.ts"
import type * as Teardown from "../../resilience/Teardown.ts"
import * as UntrustedText from "../../text/UntrustedText.ts"
import * as ByteRing from "../byteRing.ts"

type Child = ChildProcess.ChildProcessByStdio<Writable, Readable, Readable>

/** A child process, with what it takes to watch and to end it. */
export type Started = ReturnType<typeof started>

/** The variable by which a descendant is found that has left the process tree. Its value is random for each process. */
const markerName = "MCP_RUNTIME_CONNECTION"

// Errors

const exhausted = "the system has run out of processes, files or memory"

const reasons: ReadonlyMap<string, string> = new Map([
  ["EACCES", "the file, or the working directory, may not be used: is it executable?"],
  ["ENOTDIR", "a part of the path is not a directory"],
  ["E2BIG", "the arguments and the environment are too long"],
  ["EAGAIN", exhausted],
  ["EMFILE", exhausted],
  ["ENFILE", exhausted],
  ["ENOMEM", exhausted]
])

type Fault = readonly [reason: McpError.SpawnFailed["reason"], detail: string]

/** Looks up what is wrong, because Node always blames the command, and its text quotes values. */
const fault = ({ command, cwd }: ServerConfig.StdioServer, errno: string): Fault => {
  const folder = cwd === undefined ? undefined : Fs.statSync(cwd, { throwIfNoEntry: false })
  if (cwd !== undefined && folder?.isDirectory() !== true) {
    const what = folder === undefined ? "does not exist" : "is not a directory"
    return ["folder", `the working directory ${UntrustedText.quote(cwd)} ${what}`]
  }
  if (errno !== "ENOENT") return ["command", reasons.get(errno) ?? "the system refused it"]
  if (!command.includes("/")) return ["command", "there is no such command on the PATH of the server"]
  const isFile = Program.isFile(Path.resolve(cwd ?? "", command))
  return [
    "file",
    isFile ? "the file exists, but the interpreter in its first line does not" : "there is no such file"
  ]
}

const failed = (config: ServerConfig.StdioServer, error: unknown): McpError.SpawnFailed => {
  const { command, cwd, name: server } = config
  const errno = Program.codeOf(error)
  // A path may be one that may not even be looked at.
  const [reason, detail] = Option.getOrElse(
    Option.liftThrowable(fault)(config, errno),
    (): Fault => ["command", "the file, or the working directory, may not be used"]
  )
  return new McpError.SpawnFailed({ server, reason, errno, command, ...(cwd === undefined ? {} : { cwd }), detail })
}

const invalid = (config: ServerConfig.StdioServer, path: string): McpError.ConfigurationError =>
  new McpError.ConfigurationError({
    server: config.name,
    path: UntrustedText.excerpt(path, 256),
    detail: "this cannot be given to a process"
  })

/** The field of a configuration that no process can be given, if there is one. */
const unusable = (config: ServerConfig.StdioServer): string | undefined => {
  const { args = [], command, cwd = "" } = config
  const variable = Program.invalidVariable(config)
  if (variable !== undefined) return `env.${variable}`
  const texts = new Map([["command", command], ["cwd", cwd]])
  for (const [index, argument] of args.entries()) texts.set(`args.${index}`, argument)
  return Array.from(texts).find(([, text]) => text.includes("\0"))?.[0]
}

// Starting

/** Listens for good, because an error event without a listener ends the host; holds nothing in memory. */
const ignore = (): void => undefined

const started = (child: Child, pid: number, marker: string, platform: string, stderrBytes: number) => {
  const tree = ProcessTree.make(pid, marker, () => ProcessTree.table(platform), ProcessTree.sender(platform))
  const exited = Deferred.unsafeMake<ProcessLadder.Exit>(FiberId.none)
  const closed = Deferred.unsafeMake<void>(FiberId.none)
  const stderr = ByteRing.make(stderrBytes)
  let exit: ProcessLadder.Exit | undefined
  child.stderr.on("data", stderr.push)
  child.once("close", () => Deferred.unsafeDone(closed, Effect.void))
  child.once("exit", (code, signal) => {
    exit = { code, signal }
    tree.leaderEnded()
    Deferred.unsafeDone(exited, Effect.succeed(exit))
  })
  return {
    child,
    pid,
    tree,
    exited,
    exit: () => exit,
    /** Done when the process has exited and its output has ended. */
    closed,
    stderr,
    /** Signals all of its processes, at once and synchronously. */
    signal: (signal: ProcessTree.Signal): void => {
      tree.sweep()
      tree.signal(signal)
    },
    /** Destroys the pipes and unrefs the process; only errors are still listened to. */
    release: (): void => {
      for (const pipe of [child.stdin, child.stdout, child.stderr]) pipe.destroy()
      child.unref()
    }
  }
}

/**
 * Starts the process of a server: its own group, its own environment, three pipes. The child has its pid when this
 * returns and is ready on the next tick, so there is nothing to wait for or to interrupt.
 */
export const spawn = (
  config: ServerConfig.StdioServer,
  host: HostEnvironment.Host,
  stderrBytes: number
): Effect.Effect<Started, McpError.SpawnFailed | McpError.ConfigurationError> =>
  Effect.async((resume) => {
    const field = unusable(config)
    if (field !== undefined) return resume(invalid(config, field))
    const id = Crypto.randomUUID()
    const environment = Program.environment(config, host).set(markerName, id)
    const { args = [], command, cwd } = config
    const start = Program.command({ argv: [command, ...args], cwd, host }, environment)
    if (start === undefined) return resume(invalid(config, "args"))
    let child: Child
    try {
      child = ChildProcess.spawn(start.file, start.args, { ...start.options, stdio: ["pipe", "pipe", "pipe"] })
    } catch (error) {
      return resume(failed(config, error))
    }
    for (const source of [child, child.stdin, child.stdout, child.stderr]) source.on("error", ignore)
    // Paused from the start, because Node discards the output of an ended process that nothing has paused or read.
    child.stdout.pause()
    if (child.pid === undefined) child.once("error", (error) => resume(failed(config, error)))
    else resume(Effect.succeed(started(child, child.pid, `${markerName}=${id}`, host.platform, stderrBytes)))
  })

/**
 * A process that ends with the scope; the last resort covers it from its first moment. No closure here refers to `start`,
 * because that would retain the configuration, which has secrets in it.
 */
export const scoped = <A extends { readonly kill: () => void }, E>(
  teardown: Teardown.Teardown["Type"],
  start: Effect.Effect<A, E>,
  end: (process: A) => Effect.Effect<void>
): Effect.Effect<A, E, Scope.Scope> => {
  const last = { kill: (): void => undefined }
  const started = Effect.tap(Effect.acquireRelease(start, end), ({ kill }) => Object.assign(last, { kill }))
  return Effect.zipRight(teardown.lastResort(() => last.kill()), started)
}

/** One turn of the event loop, in which what lies ready in a pipe is read. */
const turn = Effect.async<void>((resume) => {
  setImmediate(() => resume(Effect.void))
})

/** Waits for an event of a child; if time passed because this process was held up, what lies ready is read first. */
export const settled = <A>(event: Deferred.Deferred<A>, limit: Duration.Duration): Effect.Effect<void> =>
  Effect.flatMap(
    BoundedWait.within(limit)(Deferred.await(event)),
    (came) => Option.isSome(came) ? Effect.void : Effect.asVoid(Effect.repeatN(turn, 2))
  )
