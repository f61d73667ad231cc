/** @internal */
// @effect-diagnostics nodeBuiltinImport:off - the one place that runs a program for headers
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as ChildProcess from "node:child_process"
import { Secrets } from "../../config/ServerConfig.ts"
import * as McpError from "../../McpError.ts"

const limit = 64 * 1024

const decode = Schema.decodeEither(Schema.parseJson(Secrets))

/**
 * Runs a program (argv, no shell) that prints a JSON object of headers; bounded in time and output. What it prints is
 * never told, because it is secret.
 *
 * @internal
 */
export const run = (
  server: string,
  argv: readonly [string, ...ReadonlyArray<string>]
): Effect.Effect<ReadonlyMap<string, Redacted.Redacted>, McpError.ConfigurationError> => {
  const failure = (detail: string) => new McpError.ConfigurationError({ server, path: "headersCommand", detail })
  const printed = Effect.async<string, McpError.ConfigurationError>((resume) => {
    const [command, ...args] = argv
    // A group of its own, so that ending it also ends what it has started.
    const child = ChildProcess.spawn(command, args, {
      stdio: ["ignore", "pipe", "ignore"],
      detached: true,
      shell: false
    })
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
    child.on("error", (error: NodeJS.ErrnoException) => resume(failure(`could not be started (${error.code ?? "?"})`)))
    child.stdout.on("data", (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes <= limit) return void chunks.push(chunk)
      kill()
      resume(failure(`printed more than ${limit} bytes`))
    })
    child.on("close", (code, signal) =>
      resume(
        code === 0
          ? Effect.succeed(Buffer.concat(chunks).toString("utf8"))
          : failure(`ended with ${signal ?? `exit code ${code}`}`)
      ))
    return Effect.sync(kill)
  })
  return printed.pipe(
    Effect.timeoutFail({ duration: "10 seconds", onTimeout: () => failure("did not end within 10 seconds") }),
    Effect.flatMap((text) => Either.mapLeft(decode(text), () => failure("did not print a JSON object of texts")))
  )
}
