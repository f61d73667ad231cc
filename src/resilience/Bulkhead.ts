/**
 * Bounds the calls that a server executes at once, and the calls that wait for a permit.
 */
import * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { observed } from "../internal/observed.ts"
import * as McpError from "../McpError.ts"

export interface Options {
  /** Calls at once per server; a server's `concurrency` wins. */
  readonly concurrency: number
  /** Calls that may wait per server. */
  readonly queue: number
}

export const defaults: Options = { concurrency: 64, queue: 1_024 }

/** The settings, read when a runtime is built. */
export class Bulkhead extends Context.Reference<Bulkhead>()("effect-mcp-runtime/resilience/Bulkhead", {
  defaultValue: () => defaults
}) {}

export const layer = (options?: Partial<Options>): Layer.Layer<Bulkhead> =>
  Layer.succeed(Bulkhead, { ...defaults, ...options })

export const layerConfig = (
  options: Config.Config.Wrap<Partial<Options>>
): Layer.Layer<Bulkhead, ConfigError.ConfigError> =>
  Layer.effect(Bulkhead, Config.map(Config.unwrap(options), (read) => ({ ...defaults, ...read })))

export interface State {
  /** Calls that hold a permit. */
  readonly active: number
  /** Calls that wait for one. */
  readonly queued: number
}

/** The permits of one server. */
export interface Permits {
  /** Runs with a permit, first come first served; fails at once with `Overloaded` when the queue is full. */
  readonly withPermit: <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E | McpError.Overloaded, R>
  readonly take: () => boolean
  readonly give: () => void
  readonly hasRoom: () => boolean
  readonly state: () => State
  /** A larger number admits calls from the queue; a smaller one ends none. */
  readonly resize: (concurrency: number) => void
}

/** A call that holds a permit, waits for one, or neither. */
interface Ticket {
  held: boolean
  readonly admit: () => void
}

/**
 * The permits of one server, in the order of arrival: a permit that is given back goes to the first call in the queue,
 * because `Effect.Semaphore` lets a new call overtake one that was woken.
 */
export const make = (options: Options & { readonly server: string }): Permits => {
  const { queue: limit, server } = options
  // without a permit every call would wait for ever
  let concurrency = Math.max(1, options.concurrency)
  let active = 0
  const queue = new Set<Ticket>()

  const admit = (): void => {
    for (const ticket of queue) {
      if (active >= concurrency) return
      queue.delete(ticket)
      active++
      ticket.held = true
      ticket.admit()
    }
  }
  const give = (): void => {
    active--
    admit()
  }
  const take = (): boolean => {
    if (active >= concurrency) return false
    active++
    return true
  }
  return {
    withPermit: <A, E, R>(self: Effect.Effect<A, E, R>) =>
      Effect.uninterruptibleMask((restore): Effect.Effect<A, E | McpError.Overloaded, R> => {
        if (take()) return observed(restore(self), give)
        const queued = queue.size
        if (queued >= limit) return Effect.fail(new McpError.Overloaded({ server, queue: "calls", queued, limit }))
        let ticket: Ticket | undefined = undefined
        const admitted = Effect.async<void>((resume) => {
          ticket = { held: false, admit: () => resume(Effect.void) }
          queue.add(ticket)
        })
        return observed(restore(Effect.zipRight(admitted, self)), () => {
          if (ticket === undefined) return
          if (ticket.held) give()
          else queue.delete(ticket)
        })
      }),
    take,
    give,
    hasRoom: () => active < concurrency,
    state: () => ({ active, queued: queue.size }),
    resize: (permits) => {
      concurrency = Math.max(1, permits)
      admit()
    }
  }
}
