/**
 * How servers are ended, and the record of how each one went.
 *
 * @since 0.1.0
 */
import type * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Launcher from "../config/launcher.ts"
import type * as ServerConfig from "../config/ServerConfig.ts"
import * as Hold from "../internal/hold.ts"
import type * as Transport from "../transport/Transport.ts"
import * as LastResort from "./LastResort.ts"

/**
 * The bounds of each step, and of all of them together.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** How long requests in flight may still finish. */
  readonly drainTimeout: Duration.DurationInput
  /** From the end of stdin to SIGTERM. */
  readonly stdinGrace: Duration.DurationInput
  /** From SIGTERM to SIGKILL. */
  readonly termGrace: Duration.DurationInput
  /** A farewell over the network: the DELETE of a session, the close frame of a WebSocket. */
  readonly farewellTimeout: Duration.DurationInput
  /** Everything, whatever the steps say. */
  readonly deadline: Duration.DurationInput
  /**
   * How long a launcher (npx, uvx, …) that visibly installs its server may go on, from its start. It comes before the
   * other bounds and counts for none of them. It does not apply to docker, pipx and deno, nor on systems but Linux.
   */
  readonly installGrace: Duration.DurationInput
}

/**
 * @since 0.1.0
 * @category defaults
 */
export const defaults: Options = {
  drainTimeout: Duration.zero,
  stdinGrace: Duration.seconds(2),
  termGrace: Duration.seconds(2),
  farewellTimeout: Duration.seconds(1),
  deadline: Duration.seconds(10),
  installGrace: Duration.minutes(5)
}

/**
 * How one server ended. `how` is the strongest step that was needed.
 *
 * @since 0.1.0
 * @category models
 */
export interface ServerEnd {
  readonly server: string
  readonly transport: Transport.Transport["kind"]
  readonly how: "exited-before" | "closed" | "terminated" | "killed" | "abandoned"
  readonly took: Duration.Duration
  /** The processes that were still there at SIGKILL. */
  readonly killed: ReadonlyArray<number>
  readonly exit?: { readonly code: number | null; readonly signal: string | null } | undefined
}

/**
 * @since 0.1.0
 * @category models
 */
export interface Report {
  readonly servers: ReadonlyArray<ServerEnd>
}

/**
 * @since 0.1.0
 * @category tags
 */
export class Teardown extends Context.Tag("effect-mcp-runtime/resilience/Teardown")<Teardown, {
  readonly options: { readonly [K in keyof Options]: Duration.Duration }
  /** Called by a transport whose end is complete. */
  readonly record: (end: ServerEnd) => void
  /** What has ended so far. */
  readonly report: Effect.Effect<Report>
  /** Runs `kill`, synchronously, if the host process ends before the scope does. */
  readonly lastResort: (kill: () => void) => Effect.Effect<void, never, Scope.Scope>
}>() {}

/**
 * How long the close of connection attempts to these servers may take: the deadline, and before it the grace of an install
 * where the processes of a launcher can show one.
 *
 * @since 0.1.0
 * @category combinators
 */
export const bound = (
  { deadline, installGrace }: Teardown["Type"]["options"],
  servers: Iterable<ServerConfig.ServerConfig>
): Duration.Duration =>
  Array.from(servers).some((config) => Launcher.showsInstall(Launcher.of(config)))
    ? Duration.sum(installGrace, deadline)
    : deadline

/** An application that reconnects for months needs the last ends, not all of them. */
const keptEnds = 1024

/**
 * @since 0.1.0
 * @category constructors
 */
export const make = (options?: Partial<Options>): Effect.Effect<Teardown["Type"]> =>
  Effect.sync(() => {
    const { deadline, drainTimeout, farewellTimeout, installGrace, stdinGrace, termGrace } = { ...defaults, ...options }
    const ends: Array<ServerEnd> = []
    return {
      options: {
        drainTimeout: Duration.decode(drainTimeout),
        stdinGrace: Duration.decode(stdinGrace),
        termGrace: Duration.decode(termGrace),
        farewellTimeout: Duration.decode(farewellTimeout),
        deadline: Duration.decode(deadline),
        installGrace: Duration.decode(installGrace)
      },
      record: (end) => {
        ends.push(end)
        if (ends.length > keptEnds) ends.shift()
      },
      report: Effect.sync(() => ({ servers: ends.slice() })),
      lastResort: (kill) => Hold.listen(() => LastResort.add(kill))
    }
  })

/**
 * Servers are ended politely first, within the bounds of `defaults` or those given.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (options?: Partial<Options>): Layer.Layer<Teardown> => Layer.effect(Teardown, make(options))

/**
 * The bounds are an operator's.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerConfig = (
  options: Config.Config<Partial<Options>>
): Layer.Layer<Teardown, ConfigError.ConfigError> => Layer.effect(Teardown, Effect.flatMap(options, make))

/**
 * Nobody is waited for: whoever is still there when a scope closes is killed.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerImmediate: Layer.Layer<Teardown> = layer({
  drainTimeout: Duration.zero,
  stdinGrace: Duration.zero,
  termGrace: Duration.zero,
  farewellTimeout: Duration.zero,
  installGrace: Duration.zero
})
