/**
 * Snapshots in a store that may be slow, broken or stuck: reads are bounded, and writes happen one after the other in a
 * fiber of their own.
 *
 * @internal
 */
import type * as KeyValueStore from "@effect/platform/KeyValueStore"
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as FiberId from "effect/FiberId"
import type * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import * as BoundedWait from "../../resilience/BoundedWait.ts"
import * as UntrustedText from "../../text/UntrustedText.ts"

/** @internal */
export interface SnapshotStore {
  /** The text, or why it cannot be read. Sees all that was written or removed before. */
  readonly get: (key: string) => Effect.Effect<Either.Either<Option.Option<string>, string>>
  /** Writes as soon as it can, unless something newer is to be written by then. */
  readonly put: (key: string, text: () => string, onFault: (detail: string) => void) => void
  /** Removes as soon as it can. */
  readonly remove: (key: string, onFault: (detail: string) => void) => void
  /** Waits until there is nothing more to be done about a key. */
  readonly settled: (key: string) => Effect.Effect<void>
}

const operationLimit = Duration.seconds(5)
const flushLimit = Duration.seconds(2)

// Detached, because a file system that is stuck does not let go of whoever asked it.
const bounded = <A, E extends { readonly message: string }>(
  operation: Effect.Effect<A, E>
): Effect.Effect<Either.Either<A, string>> =>
  operation.pipe(
    Effect.disconnect,
    Effect.timeoutFail({ duration: operationLimit, onTimeout: () => ({ message: "the store does not answer" }) }),
    Effect.map(Either.right),
    Effect.catchAllCause((cause) => Effect.succeed(Either.left(detailOf(cause))))
  )

const detailOf = (cause: Cause.Cause<{ readonly message: string }>): string => {
  const failure = Cause.failureOption(cause)
  return failure._tag === "Some" ? UntrustedText.excerpt(failure.value.message, 256) : "the store broke down"
}

interface Task {
  readonly key: string
  readonly operation: Effect.Effect<unknown, { readonly message: string }>
  readonly onFault: (detail: string) => void
  readonly done: Deferred.Deferred<void>
}

/** @internal */
export const make = (store: KeyValueStore.KeyValueStore): Effect.Effect<SnapshotStore, never, Scope.Scope> =>
  Effect.gen(function*() {
    const tasks = yield* Queue.unbounded<Task>()
    /** The newest task of each key that has not ended. */
    const newest = new Map<string, Task>()
    let open = true

    const finish = (task: Task) => {
      if (newest.get(task.key) === task) newest.delete(task.key)
      Deferred.unsafeDone(task.done, Effect.void)
    }

    const perform = (task: Task) =>
      newest.get(task.key) === task
        ? Effect.map(bounded(task.operation), (outcome) => {
          if (Either.isLeft(outcome)) task.onFault(outcome.left)
          finish(task)
        })
        : Effect.sync(() => finish(task))

    yield* Queue.take(tasks).pipe(Effect.flatMap(perform), Effect.forever, Effect.interruptible, Effect.forkScoped)

    const add = (key: string, operation: Task["operation"], onFault: Task["onFault"]): void => {
      if (!open) return
      const task = { key, operation, onFault, done: Deferred.unsafeMake<void>(FiberId.none) }
      newest.set(key, task)
      tasks.unsafeOffer(task)
    }

    const settled = (key: string): Effect.Effect<void> =>
      Effect.suspend(() => {
        const task = newest.get(key)
        return task === undefined ? Effect.void : Deferred.await(task.done)
      })

    const flush = Effect.suspend(() => {
      open = false
      return Effect.forEach(Array.from(newest.keys()), settled, { discard: true })
    })
    // What is not written by then is not written: nobody may wait for it any longer.
    yield* Effect.addFinalizer(() =>
      Effect.map(BoundedWait.within(flushLimit)(flush), () => Array.from(newest.values()).forEach(finish))
    )

    return {
      get: (key) => Effect.zipRight(settled(key), bounded(store.get(key))),
      put: (key, text, onFault) => add(key, Effect.suspend(() => store.set(key, text())), onFault),
      remove: (key, onFault) => add(key, store.remove(key), onFault),
      settled
    }
  })
