// @effect-diagnostics nodeBuiltinImport:off
// The one place that runs a program for what it prints: platform's Command inherits the whole environment.
import * as Effect from "effect/Effect"
import * as ChildProcess from "node:child_process"
import type { Readable } from "node:stream"
import * as ChildEnvironment from "./childEnvironment.ts"
import type * as HostEnvironment from "./HostEnvironment.ts"
import * as PlatformCommand from "./platformCommand.ts"

const limit = 64 * 1024

export interface Program {
  readonly argv: readonly [string, ...ReadonlyArray<string>]
  /** It gets no more of the environment than a server. */
  readonly host: HostEnvironment.Host
  readonly cwd?: string | undefined
}

/** The code of an error of Node, such as `ENOENT`. Its text quotes arguments. */
export const codeOf = (error: unknown): string =>
  typeof error === "object" && error !== null && "code" in error && typeof error.code === "string" ? error.code : "?"

/**
 * Runs a program (argv, no shell) and gives what it prints; bounded in time and output, and ended with all it has
 * started. It fails with a sentence that holds nothing of what was printed, because that is secret.
 */
export const run = ({ argv, cwd, host }: Program): Effect.Effect<string, string> =>
  Effect.async<string, string>((resume) => {
    const failed = (error: unknown) => resume(Effect.fail(`could not be started (${codeOf(error)})`))
    const environment = ChildEnvironment.make({}, host)
    const command = PlatformCommand.make(argv, cwd, host, environment)
    if (command === undefined) return resume(Effect.fail("could not be started (a line break in its arguments)"))
    let child: ChildProcess.ChildProcessByStdio<null, Readable, null>
    try {
      // A group of its own, so that ending it also ends what it has started.
      child = ChildProcess.spawn(command.file, command.args, {
        stdio: ["ignore", "pipe", "ignore"],
        detached: true,
        shell: false,
        windowsHide: true,
        windowsVerbatimArguments: command.isVerbatim,
        cwd,
        env: Object.fromEntries(environment)
      })
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
