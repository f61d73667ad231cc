/**
 * One attempt to connect, in the scope that will be the connection's.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import type * as Scope from "effect/Scope"
import type * as Limits from "../../config/Limits.ts"
import type * as ServerConfig from "../../config/ServerConfig.ts"
import * as RuntimeLog from "../../internal/runtimeLog.ts"
import type * as McpError from "../../McpError.ts"
import * as McpEvent from "../../McpEvent.ts"
import type * as Teardown from "../../resilience/Teardown.ts"
import type * as JsonRpc from "../../transport/JsonRpc.ts"
import type * as Transport from "../../transport/Transport.ts"
import type * as InputHandlers from "../InputHandlers.ts"
import type * as McpClient from "../McpClient.ts"
import * as Protocol from "../Protocol.ts"
import type * as Adapter from "./adapter.ts"
import * as Bridge from "./bridge.ts"
import * as Connected from "./connected.ts"
import * as Diagnostics from "./diagnostics.ts"
import * as Handshake from "./handshake.ts"
import type * as Hiding from "./hiding.ts"
import * as Inputs from "./inputs.ts"
import * as Wire from "./wire.ts"

/**
 * How the era is found: asked for, known from last time, or given by the configuration.
 *
 * @internal
 */
export type Era = "auto" | "remembered" | "session" | "stateless"

/**
 * How far the attempt has come, for the error that says so.
 *
 * @internal
 */
export interface Stage {
  phase: McpError.Phase
  stderrTail: () => string | undefined
  /** True while a launcher installs the server. */
  installing: () => boolean
}

/** @internal */
export interface Options {
  readonly transports: Transport.Transports["Type"]
  readonly events: McpEvent.McpEvents["Type"]
  readonly teardown: Teardown.Teardown["Type"]
  readonly handlers: InputHandlers.Handlers
  readonly load: Effect.Effect<Adapter.Loaded>
  readonly limits: Limits.Limits
  readonly stage: Stage
  readonly hiding: Hiding.Hiding
}

const firstPhase: { readonly [T in ServerConfig.ServerConfig["transport"]]: McpError.Phase } = {
  stdio: "spawn",
  docker: "spawn",
  "streamable-http": "open",
  sse: "endpoint",
  ws: "open"
}

/** @internal */
export const make = (
  options: Options,
  config: ServerConfig.ServerConfig,
  era: Era
): Effect.Effect<McpClient.Channel, McpError.ConnectError, Scope.Scope> => {
  const opening = Effect.suspend(() => {
    options.stage.phase = firstPhase[config.transport]
    return options.transports.open(config)
  })
  return Effect.flatMap(
    // the child starts while the SDK loads: neither waits for the other
    era === "stateless" ? opening : Effect.zipRight(Effect.forkScoped(options.load), opening),
    (transport) => over(transport, options, config.name, era)
  )
}

/** A function of its own, so that the connection does not hold on to the configuration, which has secrets in it. */
const over = (
  transport: Transport.Transport,
  options: Options,
  server: string,
  era: Era
): Effect.Effect<McpClient.Channel, McpError.ConnectError, Scope.Scope> =>
  Effect.gen(function*() {
    const { events, handlers, hiding, limits, stage } = options
    stage.stderrTail = () => transport.stderrTail()
    stage.installing = () => transport.installing?.() === true
    const publish = Diagnostics.make(server, events.publish, hiding.text)
    // A callback and no fiber that waits for it: most connections spend their lives idle.
    let lost: McpError.ConnectError | undefined
    const tell = (): void => {
      if (lost === undefined || lost._tag === "Closed" || stage.phase !== "ready") return
      events.publish(McpEvent.McpEvent.Disconnected({ server, error: lost }))
    }
    const onEnded = (error: McpError.ConnectError): void => {
      lost = error
      tell()
    }
    const wire = yield* Wire.make({ server, limits, transport, diagnostic: publish, hiding })
    wire.ending.on(onEnded)
    yield* Effect.addFinalizer(() => wire.close(options.teardown.options.drainTimeout))
    const track = Effect.sync(() => {
      stage.phase = wire.phase
    })

    const capabilities = Inputs.capabilities(handlers)
    const envelope: JsonRpc.JsonObject = {
      [Protocol.metaKey.protocolVersion]: Protocol.firstStatelessVersion,
      [Protocol.metaKey.clientInfo]: Protocol.clientInfo,
      [Protocol.metaKey.clientCapabilities]: capabilities
    }
    // code of the application, which logs where the application does although it runs in a fiber of the connection
    const ask = (method: string, params: JsonRpc.JsonObject) =>
      RuntimeLog.asApplication(Inputs.answer(server, handlers, method, params))
    const run = yield* FiberSet.makeRuntime<never, JsonRpc.JsonObject | void, Inputs.Refused>()

    const handshake: Handshake.Options = {
      server,
      limits,
      wire,
      transport,
      envelope,
      bridge: () =>
        Bridge.make(wire, {
          server,
          negotiated: (negotiated) => transport.negotiated(negotiated),
          lenient: (detail) => publish({ kind: "lenient", detail })
        }),
      initialize: (bridge) =>
        Effect.flatMap(Effect.zipLeft(options.load, track), (sdk) =>
          sdk.handshake({
            server,
            transport: bridge.transport,
            clientInfo: Protocol.clientInfo,
            capabilities,
            methods: Inputs.methods(handlers),
            asked: (method, params, signal) => Connected.asPromise(run(ask(method, params)), signal)
          }))
    }
    const negotiation = era === "auto"
      ? Handshake.negotiate(handshake)
      : era === "stateless"
      ? Handshake.onlyStateless(handshake)
      : Handshake.inSession(handshake)
    const settled = yield* Effect.onExit(negotiation, () => track)
    wire.phase = stage.phase = "ready"

    const connection = yield* Connected.make({ server, limits, wire, transport, settled, envelope, ask, run })
    tell()
    const stderrTail = Effect.map(connection.stderrTail, (tail) => tail === undefined ? undefined : hiding.text(tail))
    return { ...connection, stderrTail }
  })
