/**
 * Docker's MCP gateway as a server: a stdio server that is looked for before each start.
 *
 * Before each start, two short commands ask whether Docker can run the gateway, so that an error says what is missing
 * instead of what a child wrote before it exited. The answers are not cached: they cost little beside the start of a
 * gateway, and a cached yes would be wrong after Docker was stopped.
 */
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as FiberId from "effect/FiberId"
import * as Layer from "effect/Layer"
import * as HostEnvironment from "../config/HostEnvironment.ts"
import type * as ServerConfig from "../config/ServerConfig.ts"
import * as McpError from "../McpError.ts"
import * as ProcessLadder from "../resilience/processLadder.ts"
import * as Teardown from "../resilience/Teardown.ts"
import * as UntrustedText from "../text/UntrustedText.ts"
import * as ByteRing from "./byteRing.ts"
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
const variables: ReadonlyArray<string> = [
  "DOCKER_API_VERSION",
  "DOCKER_CERT_PATH",
  "DOCKER_CONFIG",
  "DOCKER_CONTEXT",
  "DOCKER_HOST",
  "DOCKER_TLS",
  "DOCKER_TLS_VERIFY"
]

const command = (config: ServerConfig.DockerServer, args: ReadonlyArray<string>): ServerConfig.StdioServer => {
  const { inheritEnv = false, profile: _profile, servers: _servers, ...rest } = config
  return {
    ...rest,
    transport: "stdio",
    args,
    inheritEnv: inheritEnv === true ? true : [...variables, ...(inheritEnv === false ? [] : inheritEnv)]
  }
}

const gateway = (config: ServerConfig.DockerServer): ServerConfig.StdioServer =>
  command(config, [
    "mcp",
    "gateway",
    "run",
    ...(config.profile === undefined ? [] : ["--profile", config.profile]),
    ...(config.servers === undefined ? [] : ["--servers", config.servers.join(",")]),
    ...(config.args ?? [])
  ])

// Questions

/** The output of a program that has exited by itself. */
interface Answer {
  readonly code: number
  /** The beginning of its output. */
  readonly stdout: string
  /** The end of its stderr. */
  readonly stderr: string
}

const stdoutBytes = 64 * 1024
const stderrBytes = 2 * 1024
/** From the exit of a program to the end of its output, which a descendant may hold open for good. */
const drainTime = Duration.millis(500)
/** A question has nothing to clean up when it is given up. */
const termGrace = Duration.millis(250)

const observe = (started: Spawn.Started) => {
  const { child } = started
  const closed = Deferred.unsafeMake<void>(FiberId.none)
  const stderr = ByteRing.make(stderrBytes)
  const output: Array<Buffer> = []
  let left = stdoutBytes
  child.stdout.on("data", (chunk: Buffer) => {
    // Output beyond the limit is still read, because a program that cannot write does not exit.
    if (left > 0) output.push(chunk.subarray(0, left))
    left -= chunk.length
  })
  child.stdout.resume()
  child.stderr.on("data", stderr.push)
  child.once("close", () => Deferred.unsafeDone(closed, Effect.void))
  child.stdin.end()
  return {
    ...started,
    closed,
    output: () => ({ stdout: Buffer.concat(output).toString("utf8"), stderr: stderr.tail() })
  }
}

/** Runs a docker command to its exit; fails with why it gave no answer. It and its descendants are ended in any case. */
const ask = (
  question: ServerConfig.StdioServer,
  host: HostEnvironment.Host,
  teardown: Teardown.Teardown["Type"],
  limit: Duration.Duration
) =>
  Effect.scoped(Effect.gen(function*() {
    const options = {
      ...teardown.options,
      stdinGrace: Duration.zero,
      termGrace: Duration.min(termGrace, teardown.options.termGrace)
    }
    let kill = (): void => undefined
    yield* teardown.lastResort(() => kill())
    const run = yield* Effect.acquireRelease(
      Effect.map(Spawn.spawn(question, host), observe),
      (run) =>
        ProcessLadder.make({ ...run, endInput: () => undefined }, options).run("lost").pipe(
          Effect.zipRight(Effect.sync(run.release))
        )
    )
    kill = () => run.kill("SIGKILL")
    yield* Spawn.settled(run.exited, limit)
    const exit = run.exit()
    if (exit === undefined) return Either.left(`took longer than ${Duration.format(limit)}`)
    if (exit.code === null) return Either.left(`was ended by ${exit.signal}`)
    yield* Spawn.settled(run.closed, drainTime)
    return Either.right<Answer>({ code: exit.code, ...run.output() })
  }))

// Answers

/** The help is about `mcp`: without the plugin, Docker prints its own help and exits with 0. */
const isHelpOfMcp = /^\s*usage:\s*\S.*\bmcp\b/im

/** The errors of a program that does not exist or is none; for other errors Docker is not to blame. */
const notThere: ReadonlySet<string> = new Set(["ENOENT", "EACCES", "ENOTDIR"])

const notStarted = (error: McpError.SpawnFailed | McpError.ConfigurationError) => {
  if (error._tag !== "SpawnFailed" || !notThere.has(error.errno ?? "")) return error
  const detail = `${error.command}: ${error.detail}`
  return new McpError.SpawnFailed({ server: error.server, reason: "docker-not-installed", detail })
}

const complaint = ({ code, stderr }: Answer, otherwise: string): string =>
  stderr.trim() !== "" ? stderr.trim() : code === 0 ? otherwise : `it ended with exit code ${code}`

/** Judges what no retry can mend first, and an answer before a silence, which may have the same cause. */
const judge = (
  server: string,
  help: Either.Either<Answer, string>,
  info: Either.Either<Answer, string>
): Either.Either<string, McpError.SpawnFailed> => {
  const unavailable = (reason: McpError.SpawnFailed["reason"], detail: string) =>
    Either.left(new McpError.SpawnFailed({ server, reason, detail }))
  if (Either.isRight(help) && (help.right.code !== 0 || !isHelpOfMcp.test(help.right.stdout))) {
    return unavailable("docker-no-mcp-plugin", complaint(help.right, "it printed the help of something else"))
  }
  if (Either.isLeft(info)) return unavailable("docker-timeout", `"docker info" ${info.left}`)
  // Docker 28.0 prints nothing but its complaint, and exits with 0.
  const version = info.right.stdout.trim()
  if (info.right.code !== 0 || version === "") {
    return unavailable("docker-daemon-down", complaint(info.right, "it told no version"))
  }
  return Either.isLeft(help)
    ? unavailable("docker-timeout", `"docker mcp --help" ${help.left}`)
    : Either.right(UntrustedText.excerpt(version, 64))
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

    // Untraced, because a span would retain an error as it is before its secrets are hidden.
    const detect = Effect.fnUntraced(function*(config: ServerConfig.DockerServer) {
      const question = (...args: ReadonlyArray<string>) => ask(command(config, args), host, teardown, limit)
      const [help, info] = yield* Effect.zip(
        question("mcp", "--help"),
        question("info", "--format", "{{.ServerVersion}}"),
        { concurrent: true }
      ).pipe(Effect.mapError(notStarted))
      return yield* judge(config.name, help, info)
    })

    return {
      detect,
      open: Effect.fnUntraced(function*(config) {
        yield* detect(config)
        return yield* stdio.open(gateway(config))
      })
    }
  })

export const layerWith = (
  options: Partial<Options>
): Layer.Layer<DockerGateway, never, StdioTransport.StdioTransport | Teardown.Teardown> =>
  Layer.effect(DockerGateway, make(options))

export const layer: Layer.Layer<DockerGateway, never, StdioTransport.StdioTransport | Teardown.Teardown> = layerWith({})
