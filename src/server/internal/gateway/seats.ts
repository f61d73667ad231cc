/**
 * Which runtime serves whom: one for what all share, one for each session, and for callers without sessions one at a time
 * for each request that may be asked something.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as ExecutionStrategy from "effect/ExecutionStrategy"
import * as Exit from "effect/Exit"
import * as FiberSet from "effect/FiberSet"
import * as Schedule from "effect/Schedule"
import * as Scope from "effect/Scope"
import { canonicalJson } from "../../../json/canonical.ts"
import type * as JsonRpc from "../../../transport/JsonRpc.ts"
import type * as McpServe from "../../McpServe.ts"
import * as McpServer from "../../McpServer.ts"
import type * as Runtimes from "../../Runtimes.ts"
import * as Seat from "./seat.ts"

type Opened = Effect.Effect<Seat.Seat, McpServer.Refusal>

/** @internal */
export interface Seats {
  readonly shared: Opened
  /** The one of a session, opened when it is first used. */
  readonly own: (visit: McpServer.Visit) => Effect.Effect<Own, never, Scope.Scope>
  /** One that nobody else uses until the scope closes. */
  readonly lease: (
    caller: McpServer.Caller,
    /** Runs once for each, in its own scope. */
    onOpened: (seat: Seat.Seat) => Effect.Effect<void, never, Scope.Scope>
  ) => Effect.Effect<Seat.Seat, McpServer.Refusal, Scope.Scope>
  /** For the one program that is there, which has no session: one for each set of things that it can be asked. */
  readonly only: (
    capabilities: JsonRpc.JsonObject,
    /** Runs once for each, in its own scope. Lists come from the first of them. */
    onOpened: (seat: Seat.Seat, isFirst: boolean) => Effect.Effect<void, never, Scope.Scope>
  ) => Opened
  readonly size: () => number
}

/** @internal */
export interface Own {
  readonly seat: Opened
  /** If it was used already. */
  readonly there: () => Seat.Seat | undefined
}

interface Idle {
  readonly key: string
  readonly seat: Seat.Seat
  readonly scope: Scope.CloseableScope
  readonly since: number
}

const full = new McpServer.Refusal({
  code: McpServer.codes.overloaded,
  message: "Too many callers have connections of their own"
})

/** @internal */
export const make = (
  options: McpServe.Options
): Effect.Effect<Seats, never, Runtimes.Runtimes | Scope.Scope> =>
  Effect.gen(function*() {
    const context = yield* Effect.context<Runtimes.Runtimes>()
    const all = yield* Scope.fork(yield* Effect.scope, ExecutionStrategy.parallel)
    const run = yield* FiberSet.makeRuntime<never, void>()
    const timeout = Duration.toMillis(options.seatTimeout)
    const isLabelled = options.naming === "qualified"
    let idle: Array<Idle> = []
    let count = 0

    const close = ({ scope }: Idle): void => {
      count--
      run(Scope.close(scope, Exit.void))
    }

    /** Room for one more, if need be in the place of one that waits for nobody in particular. */
    const claim = Effect.suspend((): Effect.Effect<void, McpServer.Refusal> => {
      if (count >= options.maxSeats) {
        const [oldest, ...rest] = idle
        if (oldest === undefined) return Effect.fail(full)
        idle = rest
        close(oldest)
      }
      count++
      return Effect.void
    })

    const opening = (seat: Omit<Seat.Options, "isLabelled">, scope: Scope.Scope): Opened =>
      Seat.open({ ...seat, isLabelled }).pipe(Scope.extend(scope), Effect.provide(context))

    /** Once for all who want it; whoever is interrupted takes it from nobody. */
    const once = (open: Opened): Own => {
      const lock = Effect.unsafeMakeSemaphore(1)
      let there: Seat.Seat | undefined
      const first = Effect.suspend(() =>
        there !== undefined
          ? Effect.succeed(there)
          : Effect.map(open, (seat) => there = seat)
      )
      return {
        seat: Effect.suspend(() => there === undefined ? lock.withPermits(1)(first) : Effect.succeed(there)),
        there: () => there
      }
    }

    const shared = once(
      opening({ lazy: false, capabilities: {}, otherwise: undefined, isShared: true }, all)
    )

    const own: Seats["own"] = (visit) =>
      Effect.gen(function*() {
        const scope = yield* Effect.scope
        const { capabilities } = visit.caller
        const open = opening({ lazy: !options.single, capabilities, otherwise: visit.ask, isShared: false }, scope)
        return once(
          Effect.zipRight(
            claim,
            Effect.onExit(open, (exit) =>
              Exit.isFailure(exit)
                ? Effect.sync(() => count--)
                : Scope.addFinalizer(scope, Effect.sync(() => count--)))
          )
        )
      })

    /** One with a scope of its own, which is closed if there is none in the end. */
    const apart = (
      capabilities: JsonRpc.JsonObject,
      lazy: boolean,
      onOpened: Parameters<Seats["lease"]>[1],
      held: (made: Pick<Idle, "seat" | "scope">) => void = () => undefined
    ) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.gen(function*() {
          yield* claim
          const scope = yield* Scope.fork(all, ExecutionStrategy.sequential)
          const opened = restore(Effect.tap(
            opening({ lazy, capabilities, otherwise: undefined, isShared: false }, scope),
            (seat) => Scope.extend(onOpened(seat), scope)
          ))
          const seat = yield* Effect.onExit(
            opened,
            (exit) =>
              Exit.isFailure(exit) ? Effect.zipRight(Effect.sync(() => count--), Scope.close(scope, exit)) : Effect.void
          )
          held({ seat, scope })
          return { seat, scope }
        })
      )

    const onlys = new Map<string, Own>()

    const only: Seats["only"] = (capabilities, onOpened) =>
      Effect.suspend(() => {
        const key = canonicalJson(capabilities)
        const isFirst = onlys.size === 0
        const own = onlys.get(key) ??
          once(Effect.map(apart(capabilities, !isFirst, (seat) => onOpened(seat, isFirst)), ({ seat }) => seat))
        onlys.set(key, own)
        return own.seat
      })

    const lease: Seats["lease"] = (caller, onOpened) =>
      Effect.gen(function*() {
        const key = canonicalJson([caller.principal ?? "", caller.capabilities])
        let taken: Omit<Idle, "since"> | undefined
        // before there is one, because nobody may be interrupted between having it and giving it back
        yield* Effect.addFinalizer(() =>
          Effect.map(Clock.currentTimeMillis, (since) => {
            if (taken !== undefined) idle.push({ ...taken, since })
          })
        )
        // the last that was used: what its servers remember is what came just before
        const found = idle.findLast((one) => one.key === key)
        idle = idle.filter((one) => one !== found)
        taken = found
        if (found !== undefined) return found.seat
        const { seat } = yield* apart(caller.capabilities, true, onOpened, ({ scope, seat }) => {
          taken = { key, seat, scope }
        })
        return seat
      })

    const expire = Effect.map(Clock.currentTimeMillis, (now) => {
      const old = idle.filter(({ since }) => now - since >= timeout)
      idle = idle.filter((one) => !old.includes(one))
      for (const one of old) close(one)
    })
    yield* Effect.forkScoped(
      Effect.repeat(expire, Schedule.spaced(Duration.millis(Math.max(50, Math.min(timeout / 4, 30_000)))))
    )

    return { shared: shared.seat, own, lease, only, size: () => count }
  })
