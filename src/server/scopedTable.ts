/** A limited number of values, each with a scope that closes when the value has been idle for a time. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as ExecutionStrategy from "effect/ExecutionStrategy"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberSet from "effect/FiberSet"
import * as Schedule from "effect/Schedule"
import * as Scope from "effect/Scope"
import * as Nonce from "../safety/Nonce.ts"

export interface Options<A> {
  readonly max: number
  readonly timeout: Duration.DurationInput
  /** True while a value is in use. A value in use does not expire. */
  readonly isBusy: (value: A) => boolean
  /** Removes the value that has been idle longest when the table is full. Otherwise `open` fails. */
  readonly evicts: boolean
}

export interface ScopedTable<A> {
  /** Makes a value under a random id, or fails with `full`. Returns the result of the first use. */
  readonly open: <B, E, R>(
    make: (id: string) => Effect.Effect<readonly [value: A, first: B], E, R>,
    full: NoInfer<E>
  ) => Effect.Effect<B, E, Exclude<R, Scope.Scope>>
  /** A lookup counts as a use. */
  readonly find: (id: string) => A | undefined
  /** Removes a value at once, and returns the fiber that closes its scope. */
  readonly remove: (id: string) => Effect.Effect<Fiber.Fiber<void>>
  readonly values: () => ReadonlyArray<A>
}

export const make = <A>(
  { evicts, isBusy, max, timeout }: Options<A>
): Effect.Effect<ScopedTable<A>, never, Scope.Scope> =>
  Effect.gen(function*() {
    const clock = yield* Effect.clock
    const nonce = yield* Nonce.Nonce
    const all = yield* Scope.fork(yield* Effect.scope, ExecutionStrategy.parallel)
    const closing = yield* FiberSet.make<void>()
    const entries = new Map<string, { readonly value: A; readonly scope: Scope.CloseableScope; usedAt: number }>()
    const limit = Duration.toMillis(timeout)
    let opening = 0
    const now = () => clock.unsafeCurrentTimeMillis()

    const remove = (id: string): Effect.Effect<Fiber.Fiber<void>> =>
      Effect.suspend(() => {
        const entry = entries.get(id)
        entries.delete(id)
        return entry === undefined
          ? Effect.succeed(Fiber.void)
          : FiberSet.run(closing, Effect.uninterruptible(Scope.close(entry.scope, Exit.void)))
      })

    /** The idle values, those idle longest first. */
    const idle = () =>
      Array.from(entries, ([id, { usedAt, value }]) => ({ id, usedAt, value }))
        .filter(({ value }) => !isBusy(value))
        .toSorted((one, other) => one.usedAt - other.usedAt)

    const expire = Effect.suspend(() => {
      for (const entry of entries.values()) if (isBusy(entry.value)) entry.usedAt = now()
      const expired = idle().filter(({ usedAt }) => now() - usedAt >= limit)
      return Effect.forEach(expired, ({ id }) => remove(id), { discard: true })
    })
    const interval = Duration.millis(Math.max(50, Math.min(limit / 4, 30_000)))
    yield* Effect.forkScoped(Effect.repeat(expire, Schedule.spaced(interval)))

    return {
      open: (make, full) =>
        Effect.uninterruptibleMask((restore) =>
          Effect.gen(function*() {
            if (entries.size + opening >= max) {
              const [oldest] = evicts ? idle() : []
              if (oldest === undefined) return yield* Effect.fail(full)
              yield* remove(oldest.id)
            }
            opening++
            const scope = yield* Scope.fork(all, ExecutionStrategy.sequential)
            const id = yield* nonce
            const [value, first] = yield* restore(Scope.extend(make(id), scope)).pipe(
              Effect.onError((cause) => Scope.close(scope, Exit.failCause(cause))),
              Effect.ensuring(Effect.sync(() => opening--))
            )
            entries.set(id, { value, scope, usedAt: now() })
            return first
          })
        ),
      find: (id) => {
        const entry = entries.get(id)
        if (entry !== undefined) entry.usedAt = now()
        return entry?.value
      },
      remove,
      values: () => Array.from(entries.values(), ({ value }) => value)
    }
  })
