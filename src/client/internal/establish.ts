/**
 * Connecting: transport, handshake, and another way at once where the first answer of the server asks for one. All of it
 * has one limit, and everything opened on the way is closed before an error is given.
 *
 * @internal
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as ExecutionStrategy from "effect/ExecutionStrategy"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as Launcher from "../../config/launcher.ts"
import * as Limits from "../../config/Limits.ts"
import * as ServerConfig from "../../config/ServerConfig.ts"
import * as McpError from "../../McpError.ts"
import * as McpEvent from "../../McpEvent.ts"
import * as Teardown from "../../resilience/Teardown.ts"
import * as Redaction from "../../safety/Redaction.ts"
import * as Transport from "../../transport/Transport.ts"
import type * as Connector from "../Connector.ts"
import * as EraMemory from "../EraMemory.ts"
import * as InputHandlers from "../InputHandlers.ts"
import * as McpClient from "../McpClient.ts"
import type * as Adapter from "./adapter.ts"
import * as Attempt from "./attempt.ts"
import * as Hiding from "./hiding.ts"

/** @internal */
export type Services = Transport.Transports | McpEvent.McpEvents | Teardown.Teardown | EraMemory.EraMemory

/** @internal */
export const make = (adapter: Adapter.Adapter): Effect.Effect<Connector.Connector["Type"], never, Services> =>
  Effect.gen(function*() {
    const transports = yield* Transport.Transports
    const events = yield* McpEvent.McpEvents
    const teardown = yield* Teardown.Teardown
    const memory = yield* EraMemory.EraMemory
    const handlers = yield* InputHandlers.InputHandlers
    const base = yield* Limits.CurrentLimits

    const connect = (config: ServerConfig.ServerConfig, given?: Connector.ConnectOptions) =>
      Effect.flatMap(Redaction.Redaction, (redaction) => {
        // whoever connects knows the secrets, so it is asked for here and not where the connector was made
        const hiding = Hiding.make(redaction, given?.unset)
        const limits = ServerConfig.limits(config, base)
        const stage: Attempt.Stage = { phase: "open", stderrTail: () => undefined, installing: () => false }
        const options: Attempt.Options = {
          transports,
          events,
          teardown,
          handlers,
          load: adapter.load,
          limits,
          stage,
          hiding
        }
        const launcher = Launcher.of(config)
        const onInstall = ({ installs, program }: Launcher.Launcher): void =>
          events.publish(
            McpEvent.McpEvent.Installing({ server: config.name, launcher: program, installs, awaitedBy: "connect" })
          )
        const first: Plan = { config, era: firstEra(config, adapter, memory) }
        const run = (plan: Plan): Effect.Effect<McpClient.Channel, McpError.ConnectError, Scope.Scope> =>
          Effect.catchAll(owned(Attempt.make(options, plan.config, plan.era)), (error) => {
            const next = follow(plan, error, memory, stage.phase)
            return next === undefined ? Effect.fail(error) : run(next)
          })
        events.publish(McpEvent.McpEvent.Connecting({ server: config.name, transport: config.transport }))
        return owned(
          Effect.flatMap(
            Effect.raceFirst(
              Effect.map(run(first), Either.right),
              Effect.map(timeIsUp(limits, stage, launcher, onInstall), Either.left)
            ),
            // the interruption of the attempt updates the phase
            (ended) =>
              Either.mapLeft(ended, ({ inInstall, limit }) =>
                new McpError.ConnectTimeout({
                  server: config.name,
                  phase: inInstall ? "install" : stage.phase,
                  limit,
                  stderrTail: stage.stderrTail()
                }))
          )
        ).pipe(
          Effect.timed,
          Effect.flatMap(([took, channel]) =>
            Effect.gen(function*() {
              const { era, protocolVersion, transport } = channel
              memory.set(EraMemory.identity(config), { era, at: yield* Clock.currentTimeMillis })
              events.publish(
                McpEvent.McpEvent.Connected({ server: config.name, transport, era, protocolVersion, took })
              )
              return yield* Effect.provideService(McpClient.make(channel), McpEvent.McpEvents, events)
            })
          ),
          Effect.mapError((error) => hiding.error(McpError.notSent(error)))
        )
      })

    return { connect }
  })

/** How often a launcher is asked how far it is, and when it is told: many only need a moment to start. */
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
  stage: Attempt.Stage,
  launcher: Launcher.Launcher | undefined,
  onInstall: (launcher: Launcher.Launcher) => void
): Effect.Effect<TimeIsUp> =>
  Effect.flatMap(Clock.currentTimeMillis, (began) => {
    const longest = Duration.max(installTimeout, startupTimeout)
    let isTold = false
    const wait = (until: number, wasInstalling: boolean): Effect.Effect<TimeIsUp> =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => {
        const installing = launcher !== undefined && stage.installing()
        if (installing && !isTold && now >= began + Duration.toMillis(installNews)) {
          isTold = true
          onInstall(launcher)
        }
        const leftToInstall = began + Duration.toMillis(longest) - now
        const anew = now + Duration.toMillis(startupTimeout)
        const over = installing ? (leftToInstall > 0 ? anew : now) : wasInstalling ? anew : until
        if (now >= over) {
          return Effect.succeed({ limit: installing ? longest : startupTimeout, inInstall: installing })
        }
        const left = Duration.millis(installing ? Math.min(over - now, leftToInstall) : over - now)
        return Effect.delay(
          Effect.suspend(() => wait(over, installing)),
          launcher === undefined ? left : Duration.min(left, installLook)
        )
      })
    return wait(began + Duration.toMillis(startupTimeout), false)
  })

interface Plan {
  readonly config: ServerConfig.ServerConfig
  readonly era: Attempt.Era
}

const firstEra = (
  config: ServerConfig.ServerConfig,
  adapter: Adapter.Adapter,
  memory: EraMemory.EraMemory["Type"]
): Attempt.Era => {
  if (!adapter.stateless) return "session"
  if (config.protocol === "session" || config.protocol === "stateless") return config.protocol
  return memory.get(EraMemory.identity(config))?.era === "session" ? "remembered" : "auto"
}

/** The plan to try after a failure that asks for one. */
const follow = (
  plan: Plan,
  error: McpError.ConnectError,
  memory: EraMemory.EraMemory["Type"],
  phase: McpError.Phase
): Plan | undefined => {
  switch (error._tag) {
    case "ConnectionLost":
      // some servers end at a question that they do not know: start it once more without asking
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

/** Gives an effect a scope of its own inside the present one, closed at once if it does not succeed. */
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
