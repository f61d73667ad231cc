/**
 * One list of one server: the value that was fetched last, how long it is fresh, and the fetches in flight. All state
 * changes are synchronous, so no fiber sees one half done.
 */
import * as Cause from "effect/Cause"
import type * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import type * as Scope from "effect/Scope"
import { isObject } from "../json/Json.ts"
import * as McpError from "../McpError.ts"
import type { Live } from "../runtime/Server.ts"
import type * as Transport from "../transport/Transport.ts"

/** A value with its origin; a snapshot was kept from an earlier run, and its generation is 0. */
export type Cached<A> = A & {
  readonly source: "server" | "snapshot"
  /** Milliseconds since 1970. */
  readonly fetchedAt: number
  /** The generation of the connection that the value came from. */
  readonly generation: number
}

/** A connection that the list can be fetched from. */
export interface Source<A> {
  /** Later connections of a server have higher ones. */
  readonly generation: number
  readonly era: Transport.Era
  /** Whether the server declares `listChanged` for this list (default: false). */
  readonly announcesChanges?: boolean | undefined
  readonly list: Effect.Effect<A, McpError.CallError>
}

/** The connection as a source of a list, with what the server declares for it. */
export const source = <A>(
  { generation, session }: Live,
  capability: "tools" | "resources" | "prompts",
  list: Effect.Effect<A, McpError.CallError>
): Source<A> => {
  const declared = session.capabilities[capability]
  const announcesChanges = isObject(declared) && declared["listChanged"] === true
  return { generation, era: session.era, announcesChanges, list }
}

export interface CachedList<A> {
  /** The newest value, however old. */
  readonly current: () => Cached<A> | undefined
  /**
   * Whether the newest value comes from a connection of this generation or a later one (default: any), is within its
   * lifetime, and was requested after the last invalidation.
   */
  readonly isFresh: (generation?: number) => boolean
  /**
   * Fetches the list, once for all concurrent callers; an interrupted caller takes the fetch from no other. A response to
   * an older request, or of an older connection, never replaces a newer value, and the newer value is returned instead.
   */
  readonly fetch: (source: Source<A>) => Effect.Effect<Cached<A>, McpError.CallError>
  /** The newest value if it is fresh for this connection, which is an `Exit` then, or a fetch. */
  readonly get: (source: Source<A>) => Effect.Effect<Cached<A>, McpError.CallError>
  /** Ends the freshness of the newest value, and of what fetches in flight will give. */
  readonly invalidate: () => void
  /** Supplies a value of an earlier run, unless the server has given one. */
  readonly restore: (value: A, fetchedAt: number) => void
}

export interface Options<A> {
  readonly server: string
  /** The method that lists, for errors. */
  readonly operation: string
  /** Owns the fetches. */
  readonly scope: Scope.Scope
  readonly clock: Clock.Clock
  /** The lifetime of a value in milliseconds, by the hint of its server and whether the server declares `listChanged`. */
  readonly lifetime: (hint: { readonly ttlMs: number | undefined; readonly announcesChanges: boolean }) => number
  /** Called synchronously with each value that becomes the newest. */
  readonly onFetched?: (value: Cached<A>, source: Source<A>) => void
}

interface Flight<A> {
  waiters: number
  fiber: Fiber.RuntimeFiber<void> | undefined
  readonly done: Deferred.Deferred<Cached<A>, McpError.CallError>
}

interface Newest<A> {
  readonly value: Cached<A>
  /** Later requests have higher ones. */
  readonly order: number
  /** The number of invalidations before the request. */
  readonly epoch: number
  readonly lifetime: number
}

export const make = <A extends { readonly ttlMs: number | undefined }>(
  { clock, lifetime, onFetched, operation, scope, server }: Options<A>
): CachedList<A> => {
  let newest: Newest<A> | undefined = undefined
  let epoch = 0
  let orders = 0
  /** The fetches that callers can join, by generation: those begun since the last invalidation. */
  let flights = new Map<number, Flight<A>>()

  const isOutdone = (generation: number, order: number, by: Newest<A>): boolean =>
    generation < by.value.generation || (generation === by.value.generation && order < by.order)

  const begin = (source: Source<A>, flight: Flight<A>) => {
    const { announcesChanges = false, generation } = source
    const of = { order: ++orders, epoch }
    flights.set(generation, flight)
    return Effect.interruptible(source.list).pipe(
      Effect.map((list) => {
        if (newest !== undefined && isOutdone(generation, of.order, newest)) return newest.value
        const value: Cached<A> = { ...list, source: "server", fetchedAt: clock.unsafeCurrentTimeMillis(), generation }
        newest = { ...of, value, lifetime: lifetime({ ttlMs: list.ttlMs, announcesChanges }) }
        onFetched?.(value, source)
        return value
      }),
      Effect.exit,
      Effect.map((exit) => {
        if (flights.get(generation) === flight) flights.delete(generation)
        // a waiting caller was not interrupted itself: the connection or the runtime has ended
        const isClosed = Exit.isFailure(exit) && Cause.isInterruptedOnly(exit.cause)
        const closed = new McpError.Closed({ server, operation, outcome: "unknown" })
        Deferred.unsafeDone(flight.done, isClosed ? Effect.fail(closed) : exit)
      }),
      Effect.forkIn(scope),
      Effect.map((fiber) => {
        flight.fiber = fiber
      })
    )
  }

  const isFresh: CachedList<A>["isFresh"] = (generation = 0) => {
    if (newest === undefined || newest.epoch !== epoch || newest.value.generation < generation) return false
    const age = clock.unsafeCurrentTimeMillis() - newest.value.fetchedAt
    // a clock that was set back must not prolong a lifetime
    return age >= 0 && age < newest.lifetime
  }

  const fetch: CachedList<A>["fetch"] = (source) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.suspend(() => {
        if (newest !== undefined && source.generation < newest.value.generation) return Effect.succeed(newest.value)
        const joined = flights.get(source.generation)
        const flight = joined ?? { waiters: 0, fiber: undefined, done: Deferred.unsafeMake(FiberId.none) }
        flight.waiters++
        const leave = Effect.sync(() => {
          if (--flight.waiters > 0) return
          // a later caller must not join a fetch that is being interrupted
          if (flights.get(source.generation) === flight) flights.delete(source.generation)
          flight.fiber?.unsafeInterruptAsFork(FiberId.none)
        })
        const wait = Effect.ensuring(restore(Deferred.await(flight.done)), leave)
        return joined === undefined ? Effect.zipRight(begin(source, flight), wait) : wait
      })
    )

  return {
    current: () => newest?.value,
    isFresh,
    fetch,
    get: (source) => newest !== undefined && isFresh(source.generation) ? Exit.succeed(newest.value) : fetch(source),
    invalidate: () => {
      epoch++
      flights = new Map()
    },
    restore: (list, fetchedAt) => {
      newest ??= { value: { ...list, source: "snapshot", fetchedAt, generation: 0 }, order: 0, epoch: -1, lifetime: 0 }
    }
  }
}
