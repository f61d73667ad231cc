/** @internal */
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as BoundedWait from "../../resilience/BoundedWait.ts"
import type * as Teardown from "../../resilience/Teardown.ts"
import type * as ProcessTree from "./processTree.ts"

/** @internal */
export interface Exit {
  readonly code: number | null
  readonly signal: string | null
}

/** @internal */
export interface Process {
  readonly tree: ProcessTree.ProcessTree
  readonly exited: Deferred.Deferred<Exit>
  readonly exit: () => Exit | undefined
  /** The polite request to end: there is nothing more to read. */
  readonly endInput: () => void
}

/** @internal */
export interface Outcome {
  readonly how: Teardown.ServerEnd["how"]
  readonly killed: ReadonlyArray<number>
}

/** @internal */
export interface Ladder {
  /** Ends the process and all that came of it. Can be interrupted and run again; it then does what is left to do. */
  readonly run: Effect.Effect<void>
  /** How far it had to go, over all its runs. */
  readonly outcome: () => Outcome
}

const strength: ReadonlyArray<Teardown.ServerEnd["how"]> = [
  "exited-before",
  "closed",
  "terminated",
  "killed",
  "abandoned"
]

/** Processes that saw their parent end are on their way: what they get before SIGTERM, out of `stdinGrace`. */
const settleTime = Duration.millis(100)
/** SIGKILL works at once or, on a process that hangs in the kernel, never. */
const killTime = Duration.seconds(1)
/** The time between two checks whether an install is over. */
const installPause = Duration.millis(100)
/** Nothing tells of the end of a process that is not one's child, so it is looked for, less and less often. */
const firstLook = 2
const longestLook = 25

/**
 * A launcher, and if it visibly installs the server.
 *
 * @internal
 */
export interface Install {
  readonly isRunning: () => boolean
  /** When the launcher was started. */
  readonly since: number
  /** Called when the end of the process has to wait for the install. */
  readonly onWait: () => void
}

/**
 * End of stdin, SIGTERM, SIGKILL: each step only if the one before was not enough, each with its bound, and the
 * deadline over them all. An install may finish before SIGTERM, because stopping a launcher in mid-install can corrupt
 * its cache permanently; the installed server then reads the end of stdin.
 *
 * @internal
 */
export const make = (
  process: Process,
  options: Teardown.Teardown["Type"]["options"],
  install?: Install
): Ladder => {
  const { tree } = process
  let how: Teardown.ServerEnd["how"] = "exited-before"
  let killed: ReadonlyArray<number> = []

  const needed = (step: Teardown.ServerEnd["how"]): void => {
    if (strength.indexOf(step) > strength.indexOf(how)) how = step
  }

  const isGone = (): boolean => process.exit() !== undefined && tree.remaining().length === 0

  const othersGone = Effect.gen(function*() {
    for (let pause = firstLook; tree.remaining().length > 0; pause = Math.min(2 * pause, longestLook)) {
      yield* Effect.sleep(pause)
    }
  })
  const allGone = Effect.zipRight(Deferred.await(process.exited), othersGone)

  const kill = Effect.gen(function*() {
    for (let pause = firstLook; !isGone(); pause = Math.min(2 * pause, longestLook)) {
      // Again and again: a process may have started another one between the look and the signal.
      tree.refresh()
      tree.signal("SIGKILL")
      yield* Effect.sleep(pause)
    }
  })

  const installed = Effect.flatMap(Clock.currentTimeMillis, (now) => {
    if (install?.isRunning() !== true) return Effect.void
    const left = Duration.millis(install.since + Duration.toMillis(options.installGrace) - now)
    if (Duration.toMillis(left) === 0) return Effect.void
    install.onWait()
    const done = Effect.repeat(Effect.delay(Effect.sync(install.isRunning), installPause), { until: (is) => !is })
    return BoundedWait.within(left)(Effect.raceFirst(Deferred.await(process.exited), done))
  })

  // Each wait is cut short by itself: what goes on between them must not be, and is over at once.
  const run = Effect.gen(function*() {
    if (isGone()) return
    // Before anything ends: descendants are found through their parents.
    tree.refresh()
    if (process.exit() === undefined) {
      needed("closed")
      process.endInput()
      yield* installed
    }
    const until = (yield* Clock.currentTimeMillis) + Duration.toMillis(options.deadline)
    const waitFor = (limit: Duration.Duration) => (wait: Effect.Effect<unknown>) =>
      Effect.flatMap(
        Clock.currentTimeMillis,
        (now) => BoundedWait.within(Duration.min(limit, Duration.millis(until - now)))(wait)
      )
    tree.refresh()
    if (process.exit() === undefined) yield* waitFor(options.stdinGrace)(Deferred.await(process.exited))
    if (process.exit() !== undefined) yield* waitFor(Duration.min(settleTime, options.stdinGrace))(othersGone)
    if (isGone()) return
    needed("terminated")
    tree.refresh()
    tree.signal("SIGTERM")
    yield* waitFor(options.termGrace)(allGone)
    if (isGone()) return
    needed("killed")
    killed = tree.remaining()
    yield* BoundedWait.within(killTime)(kill)
    if (!isGone()) needed("abandoned")
  })

  return { run, outcome: () => ({ how, killed }) }
}
