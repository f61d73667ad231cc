/**
 * The default connector: speaks both eras by itself, over any transport. A connect has one limit for all of it, another
 * attempt where the first answer of the server asks for one, events, and nothing left open after a failure.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as ExecutionStrategy from "effect/ExecutionStrategy"
import * as Exit from "effect/Exit"
import * as FiberSet from "effect/FiberSet"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Launcher from "../config/launcher.ts"
import * as Limits from "../config/Limits.ts"
import * as ServerConfig from "../config/ServerConfig.ts"
import * as McpError from "../McpError.ts"
import * as McpEvent from "../McpEvent.ts"
import * as Outcome from "../outcome.ts"
import * as Teardown from "../resilience/Teardown.ts"
import * as Redaction from "../safety/Redaction.ts"
import type * as JsonRpc from "../transport/JsonRpc.ts"
import * as Transport from "../transport/Transport.ts"
import * as Connector from "./Connector.ts"
import * as EraMemory from "./EraMemory.ts"
import * as Handshake from "./handshake.ts"
import * as InputHandlers from "./InputHandlers.ts"
import * as McpClient from "./McpClient.ts"
import { objectOf, textOf } from "./messages.ts"
import * as Protocol from "./Protocol.ts"
import * as Reporting from "./reporting.ts"
import * as RequestEngine from "./RequestEngine.ts"
import * as ServerRequests from "./serverRequests.ts"
import * as SessionEra from "./sessionEra.ts"
import * as StatelessEra from "./statelessEra.ts"

export type Services = Transport.Transports | McpEvent.McpEvents | Teardown.Teardown | EraMemory.EraMemory

/** How the era is found: by asking, from the last connection, or from the configuration. */
type Era = "auto" | "remembered" | "session" | "stateless"

/** What a connection needs besides its transport. */
interface Frame extends Pick<Handshake.Connection, "server" | "limits" | "report" | "handlers"> {
  readonly publish: (event: McpEvent.McpEvent) => void
  readonly drainTimeout: Duration.Duration
}

/** Puts a client of the session era between the request engine and the transport. */
export type Through = (
  transport: Transport.Transport,
  frame: Pick<Handshake.Connection, "server" | "handlers">
) => Effect.Effect<Transport.Transport, never, Scope.Scope>

const firstPhase: { readonly [T in ServerConfig.ServerConfig["transport"]]: McpError.Phase } = {
  stdio: "spawn",
  docker: "spawn",
  "streamable-http": "open",
  sse: "endpoint",
  ws: "open"
}

/** The connector; with `through`, of the session era only. */
export const connector = (through?: Through): Effect.Effect<Connector.Connector["Type"], never, Services> =>
  Effect.gen(function*() {
    const transports = yield* Transport.Transports
    const events = yield* McpEvent.McpEvents
    const { drainTimeout } = (yield* Teardown.Teardown).options
    const memory = yield* EraMemory.EraMemory
    const built = yield* InputHandlers.InputHandlers
    const base = yield* Limits.CurrentLimits
    const { publish } = events

    const connect: Connector.Connector["Type"]["connect"] = (config, given) =>
      Effect.gen(function*() {
        const server = config.name
        const handlers = yield* ServerRequests.current(built)
        const redaction = yield* Redaction.Redaction
        const report = Reporting.make({ server, redaction, publish })
        const limits = ServerConfig.limits(config, base)
        const frame: Frame = { server, limits, handlers, report, publish, drainTimeout }
        let opened: Transport.Transport | undefined = undefined
        const attempt = (plan: Plan): Effect.Effect<McpClient.Channel, McpError.ConnectError, Scope.Scope> => {
          const open = Effect.suspend(() => {
            report.phase = firstPhase[plan.config.transport]
            return Effect.tap(transports.open(plan.config), (transport) => {
              opened = transport
            })
          })
          const channel = Effect.flatMap(open, (transport) => over(transport, frame, plan.era, through))
          return Effect.catchAll(owned(channel), (error) => {
            const next = followUp(plan, error, memory, report.phase)
            return next === undefined ? Effect.fail(error) : attempt(next)
          })
        }
        publish(McpEvent.McpEvent.Connecting({ server, transport: config.transport }))
        const late = timeIsUp(frame, given?.began, Launcher.of(config), () => opened?.installing?.() === true)
        const [took, channel] = yield* owned(
          Effect.raceFirst(
            Effect.map(attempt({ config, era: firstEra(config, through === undefined, memory) }), Effect.succeed),
            Effect.map(late, ({ limit, phase = report.phase }) =>
              // suspended, because the output of a server that is being ended is part of its tail
              Effect.suspend(() =>
                new McpError.ConnectTimeout({ server, phase, limit, stderrTail: opened?.stderrTail() })
              ))
          ).pipe(Effect.flatten)
        ).pipe(Effect.timed, Effect.mapError((error) => report.error(Outcome.notSent(error))))
        const { era, protocolVersion, transport } = channel
        memory.set(EraMemory.identity(config), era)
        publish(McpEvent.McpEvent.Connected({ server, transport, era, protocolVersion, took }))
        return yield* Effect.provideService(McpClient.make(channel), McpEvent.McpEvents, events)
      })

    return { connect }
  })

/** A function of its own, so that nothing in a connection refers to the opening, which holds secrets. */
const over = (
  opened: Transport.Transport,
  frame: Frame,
  era: Era,
  through: Through | undefined
): Effect.Effect<McpClient.Channel, McpError.ConnectError, Scope.Scope> =>
  Effect.gen(function*() {
    const { drainTimeout, handlers, limits, publish, report, server } = frame
    const transport = through === undefined ? opened : yield* through(opened, frame)
    const methods = ServerRequests.methods(handlers)
    const engine = yield* RequestEngine.make({
      server,
      transport,
      report,
      maxServerRequests: limits.maxServerRequests,
      serve: (method, params) =>
        methods.includes(method)
          ? ServerRequests.answer(frame, method, params)
          : new ServerRequests.Refused({ code: -32601, reason: "Method not found" })
    })
    yield* Effect.addFinalizer(() => engine.close(drainTimeout))
    const run = yield* FiberSet.makeRuntime<never, void>()
    const connection = { server, limits, report, handlers, transport, engine, run }
    const settled = yield* era === "auto"
      ? Handshake.negotiate(connection)
      : era === "stateless"
      ? Handshake.onlyStateless(connection)
      : Handshake.initialize(connection)
    const { protocolVersion, result } = settled
    const ofEra = settled.era === "session"
      ? SessionEra.make(connection, settled)
      : StatelessEra.make(connection, settled)
    report.phase = "ready"
    engine.onEnded((error) => {
      if (error._tag !== "Closed") publish(McpEvent.McpEvent.Disconnected({ server, error }))
    })
    return {
      server,
      transport: transport.kind,
      limits,
      era: settled.era,
      protocolVersion,
      serverInfo: serverInfoOf(result),
      capabilities: objectOf(result["capabilities"]),
      instructions: textOf(result["instructions"]),
      ...ofEra,
      notify: engine.notify,
      onNotification: engine.onNotification,
      ended: engine.ended,
      onEnded: engine.onEnded,
      stderrTail: Effect.sync(() => {
        const tail = transport.stderrTail()
        return tail === undefined ? undefined : report.text(tail)
      })
    }
  })

const serverInfoOf = (result: JsonRpc.JsonObject): McpClient.Channel["serverInfo"] => {
  const { name, title, version } = objectOf(
    objectOf(result["_meta"])[Protocol.metaKey.serverInfo] ?? result["serverInfo"]
  )
  if (typeof name !== "string") return undefined
  return { name, version: textOf(version) ?? "", ...(typeof title === "string" ? { title } : {}) }
}

/** How often a launcher is looked at, and after which time its installation is published. */
const installLook = 1_000
const installNews = 3_000

/**
 * Waits for the end of the time to connect, and gives the limit. It begins anew when a launcher has installed, up to
 * `installTimeout`.
 */
const timeIsUp = (
  { limits: { installTimeout, startupTimeout }, publish, server }: Frame,
  given: number | undefined,
  launcher: Launcher.Launcher | undefined,
  isInstalling: () => boolean
): Effect.Effect<{ readonly limit: Duration.Duration; readonly phase?: "install" }> =>
  Effect.gen(function*() {
    const began = given ?? (yield* Clock.currentTimeMillis)
    const longest = Duration.max(installTimeout, startupTimeout)
    const installedBy = began + Duration.toMillis(longest)
    let until = began + Duration.toMillis(startupTimeout)
    let isPublished = false
    while (true) {
      const now = yield* Clock.currentTimeMillis
      let next = until
      if (launcher !== undefined && isInstalling()) {
        if (!isPublished && now >= began + installNews) {
          isPublished = true
          const { installs, program } = launcher
          publish(McpEvent.McpEvent.Installing({ server, launcher: program, installs, awaitedBy: "connect" }))
        }
        if (now >= installedBy) return { limit: longest, phase: "install" }
        until = now + Duration.toMillis(startupTimeout)
        next = Math.min(until, installedBy)
      } else if (now >= until) return { limit: startupTimeout }
      yield* Effect.sleep(Math.min(next - now, launcher === undefined ? Infinity : installLook))
    }
  })

interface Plan {
  readonly config: ServerConfig.ServerConfig
  readonly era: Era
}

const firstEra = (
  config: ServerConfig.ServerConfig,
  isStateless: boolean,
  memory: EraMemory.EraMemory["Type"]
): Era => {
  if (!isStateless) return "session"
  if (config.protocol === "session" || config.protocol === "stateless") return config.protocol
  return memory.get(EraMemory.identity(config)) === "session" ? "remembered" : "auto"
}

/** Statuses with which servers of the older HTTP transport answer a POST. */
const olderTransport: ReadonlySet<number | undefined> = new Set([400, 404, 405])

/** The attempt after a failure that asks for one. */
const followUp = (
  { config, era }: Plan,
  error: McpError.ConnectError,
  memory: EraMemory.EraMemory["Type"],
  phase: McpError.Phase
): Plan | undefined => {
  if (error._tag === "ConnectionLost" && error.reason === "exited" && era === "auto" && phase === "discover") {
    // some servers exit at a method that they do not know
    return { config, era: "session" }
  }
  if (error._tag === "HttpError" && error.reason === "status" && olderTransport.has(error.status)) {
    const mayBeOlder = config.transport === "streamable-http" && config.sseFallback !== false
    return mayBeOlder ? { config: { ...config, transport: "sse" }, era } : undefined
  }
  if (error._tag !== "HandshakeFailed" || era !== "remembered") return undefined
  memory.set(EraMemory.identity(config), undefined)
  return { config, era: "auto" }
}

/** Gives an effect a scope of its own inside the current one, closed at once if it does not succeed. */
const owned = <A, E, R>(self: Effect.Effect<A, E, R | Scope.Scope>): Effect.Effect<A, E, R | Scope.Scope> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(
      Effect.scope,
      (outer) =>
        Effect.flatMap(Scope.fork(outer, ExecutionStrategy.sequential), (scope) =>
          Effect.onExit(
            restore(Effect.provideService(self, Scope.Scope, scope)),
            (exit) => Exit.isSuccess(exit) ? Effect.void : Scope.close(scope, exit)
          ))
    )
  )

export const make: Effect.Effect<Connector.Connector["Type"], never, Services> = connector()

export const layer: Layer.Layer<Connector.Connector, never, Services> = Layer.effect(Connector.Connector, make)
