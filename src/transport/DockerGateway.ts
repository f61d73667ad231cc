/**
 * Docker's MCP gateway as a server: looked for before each start, started as a child process, ended like one.
 *
 * Before each start, two short commands ask whether Docker can run the gateway, so that an error says what is missing
 * and not what a child wrote before it died. Their answers are not remembered: they cost little beside the start of a
 * gateway, and a remembered yes would be wrong when it matters, after Docker was stopped.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as HostEnvironment from "../config/HostEnvironment.ts"
import type * as ServerConfig from "../config/ServerConfig.ts"
import type * as McpError from "../McpError.ts"
import * as Teardown from "../resilience/Teardown.ts"
import * as DockerCommand from "./internal/dockerCommand.ts"
import * as DockerRun from "./internal/dockerRun.ts"
import * as DockerVerdict from "./internal/dockerVerdict.ts"
import * as StdioTransport from "./StdioTransport.ts"
import type * as Transport from "./Transport.ts"

/**
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** How long Docker may take to answer each of the two questions; they are asked at the same time. */
  readonly answerTimeout: Duration.DurationInput
}

/**
 * @since 0.1.0
 * @category defaults
 */
export const defaults: Options = { answerTimeout: Duration.seconds(3) }

/**
 * Opens Docker's gateway. Its transport is a stdio transport, in every way.
 *
 * @since 0.1.0
 * @category tags
 */
export class DockerGateway extends Context.Tag("effect-mcp-runtime/transport/DockerGateway")<DockerGateway, {
  /** The version of the daemon that would run the gateway now, if one can. */
  readonly detect: (config: ServerConfig.DockerServer) => Effect.Effect<string, McpError.ConnectError>
  readonly open: Transport.Open<ServerConfig.DockerServer>
}>() {}

/**
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  options?: Partial<Options>
): Effect.Effect<DockerGateway["Type"], never, StdioTransport.StdioTransport | Teardown.Teardown> =>
  Effect.gen(function*() {
    const stdio = yield* StdioTransport.StdioTransport
    const teardown = yield* Teardown.Teardown
    const host = yield* HostEnvironment.HostEnvironment
    const limit = Duration.decode({ ...defaults, ...options }.answerTimeout)

    const ask = (question: ServerConfig.StdioServer) =>
      Effect.scoped(DockerRun.run(question, { host, teardown, limit }))

    // untraced, because a span would keep an error as it is before its secrets are hidden
    const detect = Effect.fnUntraced(function*(config: ServerConfig.DockerServer) {
      const [help, info] = yield* Effect.all([ask(DockerCommand.help(config)), ask(DockerCommand.info(config))], {
        concurrency: 2
      }).pipe(Effect.mapError((error) => error._tag === "SpawnFailed" ? DockerVerdict.notStarted(error) : error))
      return yield* DockerVerdict.of(config.name, limit, help, info)
    })

    return {
      detect,
      open: Effect.fnUntraced(function*(config) {
        yield* detect(config)
        return yield* stdio.open(DockerCommand.gateway(config))
      })
    }
  })

/**
 * Other bounds.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerWith = (
  options: Partial<Options>
): Layer.Layer<DockerGateway, never, StdioTransport.StdioTransport | Teardown.Teardown> =>
  Layer.effect(DockerGateway, make(options))

/**
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<DockerGateway, never, StdioTransport.StdioTransport | Teardown.Teardown> = layerWith({})
