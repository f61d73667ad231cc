import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as BoundedWait from "../resilience/BoundedWait.ts"

/** The releases of a server's connections that are under way, oldest first. */
export interface Releases {
  readonly add: (release: Fiber.RuntimeFiber<void>) => void
  readonly count: () => number
  /** Waits until at most `most` are under way; each wait is bounded, so a release that hangs does not keep the server. */
  readonly downTo: (most: number) => Effect.Effect<void>
}

export const make = (bound: Duration.Duration): Releases => {
  const releases = new Set<Fiber.RuntimeFiber<void>>()
  const downTo = (most: number): Effect.Effect<void> =>
    Effect.suspend(() => {
      const [oldest] = releases
      if (oldest === undefined || releases.size <= most) return Effect.void
      return Effect.flatMap(BoundedWait.within(bound)(Fiber.await(oldest)), () => {
        releases.delete(oldest)
        return downTo(most)
      })
    })
  return {
    add: (release) => {
      releases.add(release)
      release.addObserver(() => releases.delete(release))
    },
    count: () => releases.size,
    downTo
  }
}
