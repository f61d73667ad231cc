/**
 * The tools of one server: what is known, and the fetches under way. All of it is decided in synchronous steps, so no
 * two fibers ever see it half changed.
 *
 * @internal
 */
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import type * as Scope from "effect/Scope"
import * as McpError from "../../McpError.ts"
import type * as Transport from "../../transport/Transport.ts"
import type * as Tool from "../Tool.ts"
import type * as ToolCache from "../ToolCache.ts"
import { type ToolsContent, toolsContent } from "./toolsContent.ts"

/** @internal */
export interface Fetched {
  readonly list: Tool.ToolList
  readonly era: Transport.Era
  readonly fetchedAt: number
  readonly content: ToolsContent | undefined
}

/** @internal */
export interface Options {
  readonly server: string
  /** Owns the fetches. */
  readonly scope: Scope.Scope
  readonly now: () => number
  readonly lifetime: ToolCache.ToolCache["Type"]["lifetime"]
  /** Called with each list that becomes the known one. */
  readonly onFetched: (fetched: Fetched) => void
}

/** @internal */
export interface Offerable extends ToolCache.ServerTools {
  /** What was kept from an earlier run, for as long as the server itself has said nothing. */
  readonly offer: (snapshot: ToolCache.Manifest) => void
}

interface Known {
  readonly manifest: ToolCache.Manifest
  readonly order: number
  readonly epoch: number
  readonly lifetime: number
  /** Only asked for when there is something to compare with: there is no time for it at the start. */
  readonly identity: () => string | undefined
}

interface Flight {
  readonly generation: number
  readonly era: Transport.Era
  readonly announcesChanges: boolean
  /** Later fetches have higher ones. */
  readonly order: number
  /** How often there was an invalidation before it began. */
  readonly epoch: number
  readonly done: Deferred.Deferred<ToolCache.Manifest, McpError.RuntimeError>
  waiters: number
  fiber: Fiber.RuntimeFiber<void> | undefined
}

/** @internal */
export const make = ({ lifetime, now, onFetched, scope, server }: Options): Offerable => {
  let known: Known | undefined = undefined
  let epoch = 0
  let order = 0
  const flights = new Set<Flight>()
  const listeners = new Set<(manifest: ToolCache.Manifest) => void>()

  const isOutdone = (flight: Flight, by: Known): boolean =>
    flight.generation < by.manifest.generation ||
    (flight.generation === by.manifest.generation && flight.order < by.order)

  const take = (flight: Flight, list: Tool.ToolList): ToolCache.Manifest => {
    if (known !== undefined && isOutdone(flight, known)) return known.manifest
    const { rejected, tools } = list
    const fetchedAt = now()
    const content = toolsContent(tools, rejected)
    const before = known?.identity()
    const identity = content?.identity
    const manifest: ToolCache.Manifest = {
      source: "server",
      tools,
      rejected,
      fetchedAt,
      generation: flight.generation
    }
    known = {
      manifest,
      order: flight.order,
      epoch: flight.epoch,
      lifetime: lifetime({ ttlMs: list.ttlMs, announcesChanges: flight.announcesChanges }),
      identity: () => identity
    }
    onFetched({ list, era: flight.era, fetchedAt, content })
    const isOther = before === undefined || before !== identity
    if (isOther) { for (const listener of listeners) listener(manifest) }
    return manifest
  }

  const settle = (flight: Flight, exit: Exit.Exit<ToolCache.Manifest, McpError.RuntimeError>): void => {
    flights.delete(flight)
    // Whoever waits was not interrupted himself: what ended the fetch was the end of the cache, or of the connection.
    const ended = Exit.isFailure(exit) && Cause.isInterruptedOnly(exit.cause)
      ? Effect.fail(new McpError.Closed({ server, operation: "tools/list", outcome: "unknown" }))
      : exit
    Deferred.unsafeDone(flight.done, ended)
  }

  const run = (flight: Flight, source: ToolCache.Source): Effect.Effect<void> =>
    Effect.interruptible(source.list).pipe(
      Effect.map((list) => take(flight, list)),
      Effect.exit,
      Effect.map((exit) => settle(flight, exit))
    )

  const begin = ({ announcesChanges = false, era, generation }: ToolCache.Source): Flight => {
    const flight: Flight = {
      generation,
      era,
      announcesChanges,
      order: ++order,
      epoch,
      done: Deferred.unsafeMake(FiberId.none),
      waiters: 1,
      fiber: undefined
    }
    flights.add(flight)
    return flight
  }

  /** The fetch under way that gives what this source would give now. */
  const join = ({ generation }: ToolCache.Source): Flight | undefined => {
    for (const flight of flights) {
      if (flight.generation !== generation || flight.epoch !== epoch) continue
      flight.waiters++
      return flight
    }
    return undefined
  }

  const leave = (flight: Flight): void => {
    // Nobody may join it any more, or he would get the interruption of this one.
    if (--flight.waiters === 0 && flights.delete(flight)) flight.fiber?.unsafeInterruptAsFork(FiberId.none)
  }

  return {
    offer: (snapshot) => {
      known ??= {
        manifest: snapshot,
        order: 0,
        epoch: -1,
        lifetime: 0,
        identity: () => toolsContent(snapshot.tools, snapshot.rejected)?.identity
      }
    },
    current: () => known?.manifest,
    isFresh: () => {
      if (known === undefined || known.epoch !== epoch) return false
      const age = now() - known.manifest.fetchedAt
      // A clock that was set back must not make a list last longer.
      return age >= 0 && age < known.lifetime
    },
    fetch: (source) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.suspend(() => {
          if (known !== undefined && source.generation < known.manifest.generation) {
            return Effect.succeed(known.manifest)
          }
          const wait = (flight: Flight) =>
            Effect.ensuring(restore(Deferred.await(flight.done)), Effect.sync(() => leave(flight)))
          const joined = join(source)
          if (joined !== undefined) return wait(joined)
          const flight = begin(source)
          return Effect.flatMap(Effect.forkIn(run(flight, source), scope), (fiber) => {
            flight.fiber = fiber
            return wait(flight)
          })
        })
      ),
    invalidate: () => {
      epoch++
    },
    onChange: (listener) => {
      listeners.add(listener)
      return () => {
        listeners.delete(listener)
      }
    }
  }
}
