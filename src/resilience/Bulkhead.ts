/**
 * How many calls a server has to bear at once, and how many may wait for their turn.
 *
 * @since 0.1.0
 */
import * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as ServerConfig from "../config/ServerConfig.ts"
import { observed } from "../internal/observed.ts"
import * as McpError from "../McpError.ts"
import * as internal from "./internal/places.ts"

/**
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** Calls at once per server; a server's `concurrency` wins. */
  readonly concurrency: number
  /** Calls that may wait per server. */
  readonly queue: number
}

/**
 * @since 0.1.0
 * @category defaults
 */
export const defaults: Options = { concurrency: 64, queue: 1_024 }

/**
 * The places of one server.
 *
 * @since 0.1.0
 * @category models
 */
export interface Places {
  /** Runs when there is a place, first come first served; fails at once when too many wait. */
  readonly within: <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E | McpError.Overloaded, R>
  /** Takes a place if there is one, for those who are certain to `give` it back. */
  readonly take: () => boolean
  readonly give: () => void
  readonly taken: () => number
  readonly waiting: () => number
  /** Whether whoever comes now gets a place at once. */
  readonly hasRoom: () => boolean
}

/**
 * @since 0.1.0
 * @category tags
 */
export class Bulkhead extends Context.Tag("effect-mcp-runtime/resilience/Bulkhead")<Bulkhead, {
  /** The places of a server, the same for all who ask; a changed `concurrency` holds from the next call on. */
  readonly for: (config: ServerConfig.ServerConfig) => Places
}>() {}

const nothing = (): void => undefined

const makePlaces = (server: string, places: internal.Places, limit: number): Places => ({
  within: <A, E, R>(self: Effect.Effect<A, E, R>) =>
    Effect.uninterruptibleMask((restore): Effect.Effect<A, E | McpError.Overloaded, R> => {
      const guest: internal.Guest = { held: false, admitted: nothing }
      const leave = () => places.leave(guest)
      if (places.enter(guest)) return observed(restore(self), leave)
      const queued = places.waiting
      if (queued >= limit) return Effect.fail(new McpError.Overloaded({ server, queue: "calls", queued, limit }))
      const turn = Effect.async<void>((resume) => {
        guest.admitted = () => resume(Effect.void)
        places.queue(guest)
      })
      return observed(restore(Effect.zipRight(turn, self)), leave)
    }),
  take: places.take,
  give: places.give,
  taken: () => places.taken,
  waiting: () => places.waiting,
  hasRoom: () => places.hasRoom
})

const makeWith = (
  queue: number,
  concurrencyOf: (config: ServerConfig.ServerConfig) => number
): Effect.Effect<Bulkhead["Type"]> =>
  Effect.sync(() => {
    const servers = new Map<string, { readonly places: internal.Places; readonly shown: Places }>()
    return {
      for: (config) => {
        const concurrency = concurrencyOf(config)
        const known = servers.get(config.name)
        if (known !== undefined) {
          known.places.resize(concurrency)
          return known.shown
        }
        const places = new internal.Places(concurrency)
        const shown = makePlaces(config.name, places, queue)
        servers.set(config.name, { places, shown })
        return shown
      }
    }
  })

/**
 * @since 0.1.0
 * @category constructors
 */
export const make = (options?: Partial<Options>): Effect.Effect<Bulkhead["Type"]> => {
  const { concurrency, queue } = { ...defaults, ...options }
  // without a single place everybody would wait for ever
  return makeWith(queue, (config) => Math.max(1, config.concurrency ?? concurrency))
}

/**
 * @since 0.1.0
 * @category layers
 */
export const layer = (options?: Partial<Options>): Layer.Layer<Bulkhead> => Layer.effect(Bulkhead, make(options))

/**
 * The numbers are an operator's.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerConfig = (
  options: Config.Config.Wrap<Partial<Options>>
): Layer.Layer<Bulkhead, ConfigError.ConfigError> =>
  Layer.effect(Bulkhead, Effect.flatMap(Config.unwrap(options), make))

/**
 * Every call goes through at once, whatever a server's `concurrency` is; they are counted all the same.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerUnbounded: Layer.Layer<Bulkhead> = Layer.effect(Bulkhead, makeWith(0, () => Infinity))
