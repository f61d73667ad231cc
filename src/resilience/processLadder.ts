import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as BoundedWait from "./BoundedWait.ts"
import type * as ProcessTree from "./processTree.ts"
import type * as Teardown from "./Teardown.ts"

export interface Exit {
  readonly code: number | null
  readonly signal: string | null
}

/** A child process as the ladder sees it. */
export interface Process {
  readonly tree: ProcessTree.ProcessTree
  readonly exited: Deferred.Deferred<Exit>
  readonly exit: () => Exit | undefined
  /** Ends stdin, the polite request to exit. */
  readonly endInput: () => void
}

/** A launcher that may still be installing its server. */
interface Install {
  readonly isRunning: () => boolean
  /** When the launcher was started. */
  readonly since: number
  /** Called when the end of the process has to wait for the install. */
  readonly onWait: () => void
}

export interface Ladder {
  /**
   * Ends the process and its tree, once; later runs do nothing. A lost process gets SIGTERM at once: its pipes no longer
   * carry messages, so there is nothing that it could finish.
   */
  readonly run: (how: "polite" | "lost") => Effect.Effect<void>
  /** The strongest step that was needed. */
  readonly outcome: () => Pick<Teardown.ServerEnd, "how" | "killed" | "escaped">
}

/** Between the exit of the leader and SIGTERM for its descendants, which may be exiting as well; part of `stdinGrace`. */
const settleTime = Duration.millis(100)
/** SIGKILL works at once or, on a process that hangs in the kernel, never. */
const killTime = Duration.seconds(2)
/** From one look at a running install to the next. */
const installPause = Duration.millis(100)
/** Only direct children report their end, so descendants are polled, at growing intervals in milliseconds. */
const firstPause = 2
const longestPause = 25

/**
 * End of stdin, SIGTERM, SIGKILL: each step only if the one before was not enough, each with its bound, and the
 * deadline over them all. An install may finish before SIGTERM, because stopping a launcher in mid-install can corrupt
 * its cache for good; the installed server then reads the end of stdin.
 */
export const make = (process: Process, options: Teardown.Teardown["Type"]["options"], install?: Install): Ladder => {
  const { tree } = process
  let how: Teardown.ServerEnd["how"] = "exited-before"
  let killed: ReadonlyArray<number> = []
  let isDone = false

  const hasExited = (): boolean => process.exit() !== undefined
  const isGone = (): boolean => hasExited() && tree.remaining().length === 0
  const sweptClean = (): boolean => {
    tree.sweep()
    return isGone()
  }

  const poll = (isOver: () => boolean) =>
    Effect.gen(function*() {
      for (let pause = firstPause; !isOver(); pause = Math.min(2 * pause, longestPause)) yield* Effect.sleep(pause)
    })
  const exited = Deferred.await(process.exited)
  const othersGone = poll(() => tree.remaining().length === 0)
  // Again and again, because a process may fork between the look and the signal.
  const kill = poll(() => {
    if (isGone() && sweptClean()) return true
    tree.refresh()
    tree.signal("SIGKILL")
    return false
  })

  const installed = Effect.flatMap(Clock.currentTimeMillis, (now) => {
    if (install?.isRunning() !== true) return Effect.void
    const left = Duration.millis(install.since + Duration.toMillis(options.installGrace) - now)
    if (Duration.toMillis(left) === 0) return Effect.void
    install.onWait()
    const done = Effect.repeat(Effect.delay(Effect.sync(install.isRunning), installPause), { until: (is) => !is })
    return BoundedWait.within(left)(Effect.raceFirst(exited, done))
  })

  const climb = Effect.fnUntraced(function*(isLost: boolean) {
    tree.refresh()
    if (hasExited() && sweptClean()) return
    if (!hasExited()) {
      how = "closed"
      process.endInput()
      yield* installed
    }
    const until = (yield* Clock.currentTimeMillis) + Duration.toMillis(options.deadline)
    const waitFor = (limit: Duration.Duration, wait: Effect.Effect<unknown>) =>
      Effect.flatMap(
        Clock.currentTimeMillis,
        (now) => BoundedWait.within(Duration.min(limit, Duration.millis(until - now)))(wait)
      )
    if (!isLost) {
      tree.refresh()
      if (!hasExited()) yield* waitFor(options.stdinGrace, exited)
      if (hasExited()) yield* waitFor(Duration.min(settleTime, options.stdinGrace), othersGone)
    }
    if (sweptClean()) return
    how = "terminated"
    tree.signal("SIGTERM")
    yield* waitFor(options.termGrace, Effect.zipRight(exited, othersGone))
    if (sweptClean()) return
    how = "killed"
    killed = tree.remaining()
    yield* BoundedWait.within(killTime)(kill)
    if (!isGone()) how = "abandoned"
  })

  return {
    run: (how) =>
      Effect.suspend(() =>
        isDone ? Effect.void : Effect.map(climb(how === "lost"), () => {
          isDone = true
        })
      ),
    outcome: () => ({ how, killed, escaped: tree.escaped() })
  }
}
