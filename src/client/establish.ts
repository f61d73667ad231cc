/**
 * The frame of a connect, which both connectors share: one limit for all of it, another attempt where the first answer
 * of the server asks for one, events, and nothing left open after a failure.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as ExecutionStrategy from "effect/ExecutionStrategy"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as Launcher from "../config/launcher.ts"
import * as Limits from "../config/Limits.ts"
import * as ServerConfig from "../config/ServerConfig.ts"
import * as McpError from "../McpError.ts"
import * as McpEvent from "../McpEvent.ts"
import * as Teardown from "../resilience/Teardown.ts"
import * as Redaction from "../safety/Redaction.ts"
import * as Transport from "../transport/Transport.ts"
import type * as Connector from "./Connector.ts"
import type * as Engine from "./engine.ts"
import * as EraMemory from "./EraMemory.ts"
import * as InputHandlers from "./InputHandlers.ts"
import * as McpClient from "./McpClient.ts"
import * as Reporting from "./reporting.ts"
import type * as SessionEra from "./sessionEra.ts"

export type Services = Transport.Transports | McpEvent.McpEvents | Teardown.Teardown | EraMemory.EraMemory

/** How the era is found: by asking, from the last connection, or from the configuration. */
export type Era = "auto" | "remembered" | "session" | "stateless"

/** How far an attempt has come. */
export interface Stage extends Engine.Stage {
  stderrTail: () => string | undefined
  /** True while a launcher installs the server. */
  installing: () => boolean
}

/** What a connection needs besides its transport. The configuration is not part of it, because it holds secrets. */
export interface Frame {
  readonly server: string
  readonly limits: Limits.Limits
  readonly handlers: InputHandlers.Handlers
  readonly stage: Stage
  readonly report: Reporting.Reporting
  readonly publish: (event: McpEvent.McpEvent) => void
  readonly drainTimeout: Duration.Duration
}

export interface Options {
  /** Whether servers of the stateless era can be reached. */
  readonly isStateless: boolean
  /** Connects over a transport in the scope of the connection. */
  readonly attempt: (
    open: Effect.Effect<Transport.Transport, McpError.ConnectError, Scope.Scope>,
    frame: Frame,
    era: Era
  ) => Effect.Effect<McpClient.Channel, McpError.ConnectError, Scope.Scope>
}

const firstPhase: { readonly [T in ServerConfig.ServerConfig["transport"]]: McpError.Phase } = {
  stdio: "spawn",
  docker: "spawn",
  "streamable-http": "open",
  sse: "endpoint",
  ws: "open"
}

/** A function of its own, because the connection keeps these closures, and those of the opening refer to its secrets. */
const watch = (stage: Stage, transport: Transport.Transport): void => {
  stage.stderrTail = () => transport.stderrTail()
  stage.installing = () => transport.installing?.() === true
}

export const make = (options: Options): Effect.Effect<Connector.Connector["Type"], never, Services> =>
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
        const handlers = yield* InputHandlers.current(built)
        const redaction = yield* Redaction.Redaction
        const report = Reporting.make({ server, redaction, publish, unset: given?.unset })
        const limits = ServerConfig.limits(config, base)
        const stage: Stage = { phase: "open", stderrTail: () => undefined, installing: () => false }
        const frame: Frame = { server, limits, handlers, stage, report, publish, drainTimeout }
        const attempt = (plan: Plan): Effect.Effect<McpClient.Channel, McpError.ConnectError, Scope.Scope> => {
          const open = Effect.suspend(() => {
            stage.phase = firstPhase[plan.config.transport]
            return Effect.map(transports.open(plan.config), (transport) => {
              watch(stage, transport)
              return transport
            })
          })
          return Effect.catchAll(owned(options.attempt(open, frame, plan.era)), (error) => {
            const next = followUp(plan, error, memory, stage.phase)
            return next === undefined ? Effect.fail(error) : attempt(next)
          })
        }
        publish(McpEvent.McpEvent.Connecting({ server, transport: config.transport }))
        const launcher = Launcher.of(config)
        const onInstall = ({ installs, program }: Launcher.Launcher): void =>
          publish(McpEvent.McpEvent.Installing({ server, launcher: program, installs, awaitedBy: "connect" }))
        const [took, channel] = yield* owned(
          Effect.flatMap(
            Effect.raceFirst(
              Effect.map(attempt({ config, era: firstEra(config, options, memory) }), Either.right),
              Effect.map(timeIsUp(limits, stage, launcher, onInstall), Either.left)
            ),
            (ended): Effect.Effect<McpClient.Channel, McpError.ConnectTimeout> =>
              Either.mapLeft(ended, ({ inInstall, limit }) =>
                new McpError.ConnectTimeout({
                  server,
                  phase: inInstall ? "install" : stage.phase,
                  limit,
                  stderrTail: stage.stderrTail()
                }))
          )
        ).pipe(Effect.timed, Effect.mapError((error) => report.error(McpError.notSent(error))))
        const { era, protocolVersion, transport } = channel
        memory.set(EraMemory.identity(config), { era, at: yield* Clock.currentTimeMillis })
        publish(McpEvent.McpEvent.Connected({ server, transport, era, protocolVersion, took }))
        return yield* Effect.provideService(McpClient.make(channel), McpEvent.McpEvents, events)
      })

    return { connect }
  })

/** The channel of a connection whose handshake is done. */
export const channelOf = (
  { limits, publish, report, server, stage }: Frame,
  transport: Transport.Transport,
  engine: Engine.Engine,
  ofEra: SessionEra.OfEra
): McpClient.Channel => {
  stage.phase = "ready"
  engine.onEnded((error) => {
    if (error._tag !== "Closed") publish(McpEvent.McpEvent.Disconnected({ server, error }))
  })
  return {
    server,
    transport: transport.kind,
    limits,
    ...ofEra,
    notify: (method, params) =>
      Effect.suspend(() => {
        const error = engine.notify(method, params)
        return error === undefined ? Effect.void : Effect.fail(error)
      }),
    onNotification: engine.onNotification,
    ended: engine.ended,
    onEnded: (listener) => engine.onEnded(listener),
    stderrTail: Effect.sync(() => {
      const tail = transport.stderrTail()
      return tail === undefined ? undefined : report.text(tail)
    })
  }
}

/** How often a launcher is looked at, and after which time its installation is published. */
const installLook = Duration.seconds(1)
const installNews = Duration.seconds(3)

interface TimeIsUp {
  readonly limit: Duration.Duration
  /** The launcher was still installing. */
  readonly inInstall: boolean
}

/** Waits for the end of the time to connect. It begins anew when a launcher has installed, up to `installTimeout`. */
const timeIsUp = (
  { installTimeout, startupTimeout }: Limits.Limits,
  stage: Stage,
  launcher: Launcher.Launcher | undefined,
  onInstall: (launcher: Launcher.Launcher) => void
): Effect.Effect<TimeIsUp> =>
  Effect.gen(function*() {
    const began = yield* Clock.currentTimeMillis
    const longest = Duration.max(installTimeout, startupTimeout)
    const installedBy = began + Duration.toMillis(longest)
    let until = began + Duration.toMillis(startupTimeout)
    let isPublished = false
    while (true) {
      const now = yield* Clock.currentTimeMillis
      const inInstall = launcher !== undefined && stage.installing()
      if (inInstall) {
        if (!isPublished && now >= began + Duration.toMillis(installNews)) {
          isPublished = true
          onInstall(launcher)
        }
        if (now >= installedBy) return { limit: longest, inInstall }
        until = now + Duration.toMillis(startupTimeout)
      } else if (now >= until) return { limit: startupTimeout, inInstall }
      const left = Duration.millis(Math.min(until - now, inInstall ? installedBy - now : Infinity))
      yield* Effect.sleep(launcher === undefined ? left : Duration.min(left, installLook))
    }
  })

interface Plan {
  readonly config: ServerConfig.ServerConfig
  readonly era: Era
}

const firstEra = (config: ServerConfig.ServerConfig, options: Options, memory: EraMemory.EraMemory["Type"]): Era => {
  if (!options.isStateless) return "session"
  if (config.protocol === "session" || config.protocol === "stateless") return config.protocol
  return memory.get(EraMemory.identity(config))?.era === "session" ? "remembered" : "auto"
}

/** The attempt after a failure that asks for one. */
const followUp = (
  plan: Plan,
  error: McpError.ConnectError,
  memory: EraMemory.EraMemory["Type"],
  phase: McpError.Phase
): Plan | undefined => {
  switch (error._tag) {
    case "ConnectionLost":
      // some servers exit at a method that they do not know
      return error.reason === "exited" && plan.era === "auto" && phase === "discover"
        ? { ...plan, era: "session" }
        : undefined
    case "HttpError":
      return error.reason === "status" && plan.config.transport === "streamable-http" &&
          plan.config.sseFallback !== false &&
          (error.status === 400 || error.status === 404 || error.status === 405)
        ? { ...plan, config: { ...plan.config, transport: "sse" } }
        : undefined
    case "HandshakeFailed":
      if (plan.era !== "remembered") return undefined
      memory.forget(EraMemory.identity(plan.config))
      return { ...plan, era: "auto" }
    default:
      return undefined
  }
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
