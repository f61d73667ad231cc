/**
 * Docker's MCP gateway as a server: a stdio server that is looked for before each start.
 *
 * Before each start, two short commands ask whether Docker can run the gateway, so that an error says what is missing
 * instead of what a child wrote before it exited. The answers are not cached: they cost little beside the start of a
 * gateway, and a cached yes would be wrong after Docker was stopped.
 */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as HostEnvironment from "../config/HostEnvironment.ts"
import type * as ServerConfig from "../config/ServerConfig.ts"
import * as ServerEntry from "../config/serverEntry.ts"
import * as McpError from "../McpError.ts"
import * as ProcessLadder from "../resilience/processLadder.ts"
import * as Teardown from "../resilience/Teardown.ts"
import * as UntrustedText from "../text/UntrustedText.ts"
import * as Spawn from "./stdio/spawn.ts"
import * as StdioTransport from "./StdioTransport.ts"
import type * as Transport from "./Transport.ts"

export interface Options {
  /** How long Docker may take to answer each of the two questions, which are asked at the same time. */
  readonly answerTimeout: Duration.DurationInput
}

export const defaults: Options = { answerTimeout: Duration.seconds(3) }

export class DockerGateway extends Context.Tag("effect-mcp-runtime/transport/DockerGateway")<DockerGateway, {
  /** The version of the daemon that would run the gateway now. */
  readonly detect: (config: ServerConfig.DockerServer) => Effect.Effect<string, McpError.ConnectError>
  readonly open: Transport.Open<ServerConfig.DockerServer>
}>() {}

// Commands

/** Not all variables that begin with `DOCKER_`: many hosts keep the password of a registry in `DOCKER_PASSWORD`. */
const variables: ReadonlyArray<string> = "API_VERSION CERT_PATH CONFIG CONTEXT HOST TLS TLS_VERIFY".split(" ").map((
  name
) => `DOCKER_${name}`)

const command = (
  { inheritEnv = false, profile: _profile, servers: _servers, ...config }: ServerConfig.DockerServer,
  args: ReadonlyArray<string>
): ServerConfig.StdioServer => ({
  ...config,
  transport: "stdio",
  args,
  inheritEnv: inheritEnv === true ? true : [...variables, ...(inheritEnv === false ? [] : inheritEnv)]
})

// Questions

/** A command of Docker, and what it means if its answer is another than the expected one. */
interface Question {
  readonly args: ReadonlyArray<string>
  readonly isExpected: (stdout: string) => boolean
  readonly otherwise: readonly [reason: McpError.SpawnFailed["reason"], detail: string]
}

const help: Question = {
  args: ["mcp", "--help"],
  // Without the plugin, Docker prints its own help and exits with 0.
  isExpected: (stdout) => /^\s*usage:\s*\S.*\bmcp\b/im.test(stdout),
  otherwise: ["docker-no-mcp-plugin", "it printed the help of something else"]
}

const info: Question = {
  args: ["info", "--format", "{{.ServerVersion}}"],
  // Docker 28.0 prints nothing but its complaint, and exits with 0.
  isExpected: (stdout) => stdout.trim() !== "",
  otherwise: ["docker-daemon-down", "it printed no version"]
}

/** The beginning of the output and the end of stderr are kept. */
const keptBytes = { stdout: 64 * 1024, stderr: 2 * 1024 }
/** From the exit of a program to the end of its output, which a descendant may hold open for good. */
const drainTime = Duration.millis(500)
/** A question has nothing to clean up when it is given up. */
const termGrace = Duration.millis(250)

const observe = (started: Spawn.Started) => {
  const { child, signal } = started
  const output: Array<Buffer> = []
  let left = keptBytes.stdout
  child.stdout.on("data", (chunk: Buffer) => {
    // Output beyond the limit is still read, because a program that cannot write does not exit.
    if (left > 0) output.push(chunk.subarray(0, left))
    left -= chunk.length
  })
  child.stdout.resume()
  child.stdin.end()
  return { ...started, kill: () => signal("SIGKILL"), stdout: () => Buffer.concat(output).toString("utf8") }
}

/** The errors of a program that does not exist or is none; for other errors Docker is not to blame. */
const notThere: ReadonlySet<string> = new Set(["ENOENT", "EACCES", "ENOTDIR"])

const notStarted = (error: McpError.SpawnFailed | McpError.ConfigurationError) => {
  if (error._tag !== "SpawnFailed" || !notThere.has(error.errno ?? "")) return error
  const detail = `${error.command}: ${error.detail}`
  return new McpError.SpawnFailed({ server: error.server, reason: "docker-not-installed", detail })
}

// Layers

export const make = (
  options?: Partial<Options>
): Effect.Effect<DockerGateway["Type"], never, StdioTransport.StdioTransport | Teardown.Teardown> =>
  Effect.gen(function*() {
    const stdio = yield* StdioTransport.StdioTransport
    const teardown = yield* Teardown.Teardown
    const host = yield* HostEnvironment.HostEnvironment
    const limit = Duration.decode({ ...defaults, ...options }.answerTimeout)
    const graces = {
      ...teardown.options,
      stdinGrace: Duration.zero,
      termGrace: Duration.min(termGrace, teardown.options.termGrace)
    }

    /** The output of a command of Docker that has exited. It and its descendants are ended in any case. */
    const ask = (config: ServerConfig.DockerServer, { args, isExpected, otherwise }: Question) =>
      Effect.scoped(Effect.gen(function*() {
        const fault = (reason: McpError.SpawnFailed["reason"], detail: string) =>
          new McpError.SpawnFailed({ server: config.name, reason, detail })
        const start = Effect.mapBoth(Spawn.spawn(command(config, args), host, keptBytes.stderr), {
          onFailure: notStarted,
          onSuccess: observe
        })
        const run = yield* Spawn.scoped(
          teardown,
          start,
          (run) =>
            ProcessLadder.make({ ...run, endInput: () => undefined }, graces).run("lost").pipe(
              Effect.zipRight(Effect.sync(run.release))
            )
        )
        yield* Spawn.settled(run.exited, limit)
        const { code, signal } = run.exit() ?? { code: undefined, signal: undefined }
        if (code === undefined || code === null) {
          const what = code === null ? `was ended by ${signal}` : `took longer than ${Duration.format(limit)}`
          return yield* fault("docker-timeout", `"docker ${args.join(" ")}" ${what}`)
        }
        yield* Spawn.settled(run.closed, drainTime)
        const stdout = run.stdout()
        if (code === 0 && isExpected(stdout)) return stdout
        const [reason, detail] = otherwise
        return yield* fault(
          reason,
          run.stderr.tail().trim() || (code === 0 ? detail : `it ended with exit code ${code}`)
        )
      }))

    // Untraced, because a span would retain an error as it is before its secrets are hidden.
    const detect = Effect.fnUntraced(function*(config: ServerConfig.DockerServer) {
      const [plugin, version] = yield* Effect.zip(
        Effect.either(ask(config, help)),
        Effect.either(ask(config, info)),
        { concurrent: true }
      )
      const faults = [plugin, version].filter(Either.isLeft).map(({ left }) => left)
      // No retry mends another error, and an answer says more than a silence, which may have the same cause.
      const isAnswer = (error: McpError.ConnectError) =>
        error._tag !== "SpawnFailed" || error.reason !== "docker-timeout"
      const fault = faults.find(isAnswer) ?? faults[0]
      if (fault !== undefined) return yield* fault
      return UntrustedText.excerpt(Either.getOrThrow(version).trim(), 64)
    })

    return {
      detect,
      open: Effect.fnUntraced(function*(config) {
        yield* detect(config)
        return yield* stdio.open(command(config, ServerEntry.gatewayArgs(config)))
      })
    }
  })

export const layer = (
  options?: Partial<Options>
): Layer.Layer<DockerGateway, never, StdioTransport.StdioTransport | Teardown.Teardown> =>
  Layer.effect(DockerGateway, make(options))
