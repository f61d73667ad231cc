/**
 * Bounds the calls that a server executes at once, and the calls that wait for a permit.
 */
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberId from "effect/FiberId"
import * as Layer from "effect/Layer"
import * as McpError from "../McpError.ts"
import * as Deadline from "./Deadline.ts"
import { onExitSync, uninterruptibleMask } from "./onExitSync.ts"

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

export interface State {
  /** Calls that hold a permit. */
  readonly active: number
  /** Calls that wait for one. */
  readonly queued: number
}

type Permitted<A, E, R> = Effect.Effect<A, E | McpError.Overloaded | McpError.RequestTimeout, R>

/** The permits of one server. */
export interface Permits {
  /**
   * Runs the effect with a permit. Permits are granted in the order of arrival; the wait is bounded by the deadline of
   * the call, and fails at once with `Overloaded` if the queue is full.
   */
  readonly withPermit: (
    deadline: Deadline.Deadline
  ) => <A, E, R>(self: Effect.Effect<A, E, R>) => Permitted<A, E, R>
  /** The refusal of a call that would begin now, if the queue is full: cheaper than to build the call first. */
  readonly refusal: () => McpError.Overloaded | undefined
  readonly state: () => State
  /** A larger number admits calls from the queue; a smaller one ends none. */
  readonly resize: (concurrency: number) => void
}

/**
 * The permits of one server. A released permit goes straight to the first call in the queue, because with
 * `Effect.Semaphore` a new call can overtake a waiter that was woken.
 */
export const make = (options: Options & { readonly server: string }): Permits => {
  const { queue: limit, server } = options
  // at least one, because without permits every call would wait until its deadline
  let concurrency = Math.max(1, options.concurrency)
  let active = 0
  /** The calls that wait. One that is admitted is removed. */
  const queue = new Set<Deferred.Deferred<void>>()

  const admit = (): void => {
    for (const admitted of queue) {
      if (active >= concurrency) return
      queue.delete(admitted)
      active++
      Deferred.unsafeDone(admitted, Exit.void)
    }
  }
  const release = (): void => {
    active--
    if (queue.size > 0) admit()
  }
  const refusal = (): McpError.Overloaded | undefined =>
    active < concurrency || queue.size < limit
      ? undefined
      : new McpError.Overloaded({ server, queue: "calls", queued: queue.size, limit })
  return {
    refusal,
    withPermit: (deadline) => <A, E, R>(self: Effect.Effect<A, E, R>) =>
      uninterruptibleMask((restore): Permitted<A, E, R> => {
        if (active < concurrency) {
          active++
          return onExitSync(restore(self), release)
        }
        const refused = refusal()
        if (refused !== undefined) return Effect.fail(refused)
        const admitted = Deferred.unsafeMake<void>(FiberId.none)
        queue.add(admitted)
        const wait = Deadline.boundWait(deadline, () => ({ waitedFor: "permit" }), Deferred.await(admitted))
        return onExitSync(restore(Effect.zipRight(wait, self)), () => {
          if (!queue.delete(admitted)) release()
        })
      }),
    state: () => ({ active, queued: queue.size }),
    resize: (permits) => {
      concurrency = Math.max(1, permits)
      admit()
    }
  }
}
