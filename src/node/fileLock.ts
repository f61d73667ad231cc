// @effect-diagnostics nodeBuiltinImport:off -- platform does not know the name of the machine
/**
 * A lock between processes, made of files in a folder that only the user can write to.
 *
 * Each contender has one file, its claim, with a unique name that identifies the process. A `wait` claim queues until it is
 * the first, and is then replaced by a `lock` claim. A contender holds the lock if it then sees no other `lock` claim,
 * because of two contenders the later one always sees the earlier one. Names are never reused, so contenders can remove the
 * claim of a crashed process without removing a live one. The queue decides only the order, so a wrong clock makes the lock
 * unfair and not unsafe.
 */
import type * as PlatformError from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import * as Os from "node:os"
import { sha256 } from "../json/canonical.ts"
import * as BoundedWait from "../resilience/BoundedWait.ts"
import * as ProcessTree from "../resilience/processTree.ts"
import * as Nonce from "../safety/Nonce.ts"

type Failure = PlatformError.PlatformError

/**
 * Milliseconds to wait by default while the same claim is the first in the queue. Measured by counting pauses, because the
 * clock continues while the machine sleeps.
 */
export const limit = 10_000

/** The claim of a process on another machine or in another container is abandoned if it was not touched for this time, */
const staleAfter = 30_000
/** and is not touched while a contender watches it for this time, because this machine may have slept. */
const watchedFor = 8_000
const heartbeat = Duration.seconds(3)
const releaseLimit = Duration.seconds(2)

/** The names sort like the queue: `lock` claims before `wait` claims, and then by time. */
const claimName = /^([0-9a-f]{64})\.(lock|wait)\.[0-9a-f]{32}\.([0-9a-f]{16})\.(\d{1,10})\.(\d{1,20})$/

const isNotFound = (error: Failure): boolean => error._tag === "SystemError" && error.reason === "NotFound"

/** For systems that do not report the start time of a process, which distinguishes processes with the same pid. */
const unknownStart = "0"

const hasEnded = (pid: number, start: string): boolean => {
  const row = ProcessTree.table("linux").find(pid)
  if (row !== undefined) return row.isZombie || (row.start !== start && start !== unknownStart)
  try {
    return !process.kill(pid, 0)
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "ESRCH"
  }
}

export const make = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  const nonce = yield* Nonce.Nonce

  /** The scope of a pid: a machine since its last boot, or a container. */
  const realm = yield* Effect.cached(Effect.gen(function*() {
    const namespace = yield* Effect.option(fs.readLink("/proc/self/ns/pid"))
    const boot = yield* Effect.option(fs.readFileString("/proc/sys/kernel/random/boot_id"))
    return sha256([Os.hostname(), ...Option.toArray(namespace), ...Option.toArray(boot)].join("\n")).slice(0, 16)
  }))

  const contender = (directory: string, key: string, wait: number, realm: string, turn: string) => {
    const prefix = sha256(JSON.stringify(key))
    const start = ProcessTree.table("linux").find(process.pid)?.start ?? unknownStart
    const claim = `${turn}.${realm}.${process.pid}.${start}`
    const waiting = `${prefix}.wait.${claim}`
    const taking = `${prefix}.lock.${claim}`
    const watched = new Map<string, { readonly touched: number; readonly since: number }>()
    let waited = 0

    const pathOf = (name: string): string => paths.join(directory, name)
    const remove = (name: string) => Effect.ignore(fs.remove(pathOf(name), { force: true }))

    const isAbandoned = (name: string, [, , , claimRealm, pid, start]: RegExpExecArray) =>
      Effect.gen(function*() {
        if (claimRealm === realm) return hasEnded(Number(pid), start!)
        const touched = Option.getOrUndefined((yield* fs.stat(pathOf(name))).mtime)?.getTime()
        const now = yield* Clock.currentTimeMillis
        if (touched === undefined || Math.abs(now - touched) <= staleAfter) return false
        const before = watched.get(name)
        if (before?.touched === touched) return waited - before.since >= watchedFor
        watched.set(name, { touched, since: waited })
        return false
      }).pipe(Effect.catchIf(isNotFound, () => Effect.succeed(true)))

    /** The claims in the queue up to the one of this contender. Removes abandoned claims. */
    const line = Effect.gen(function*() {
      const found: Array<string> = []
      for (const name of (yield* fs.readDirectory(directory)).toSorted()) {
        const parsed = claimName.exec(name)
        if (parsed?.[1] !== prefix || name > waiting) continue
        if (yield* isAbandoned(name, parsed)) yield* remove(name)
        else found.push(name)
      }
      return found
    })

    const replace = (old: string, name: string) =>
      Effect.zipRight(Effect.scoped(fs.open(pathOf(name), { flag: "a", mode: 0o600 })), remove(old))

    const enter = Effect.gen(function*() {
      let first: string | undefined
      let since = 0
      yield* replace(taking, waiting)
      for (;;) {
        let found = yield* line
        if (found[0] === waiting) found = yield* Effect.zipRight(replace(waiting, taking), line)
        if (found[0] === taking) {
          if (!found[1]?.startsWith(`${prefix}.lock`)) return
        } else if (found.at(-1) !== waiting) {
          // Of contenders with a `lock` claim, the first in the queue keeps it. The claim is missing if this process was
          // suspended for so long that another one removed it.
          yield* replace(taking, waiting)
        }
        if (found[0] !== first) [first, since] = [found[0], waited]
        if (waited - since >= wait) return yield* Effect.fail("busy" as const)
        const pause = Math.min(10 * found.length, 90)
        yield* Effect.sleep(Duration.millis(pause))
        waited += pause
      }
    })

    const touch = Effect.flatMap(Clock.currentTimeMillis, (now) => fs.utimes(pathOf(taking), now / 1000, now / 1000))
    return {
      enter,
      // interruptible even if the caller is not, because the caller waits for its end
      hold: Effect.interruptible(Effect.repeat(Effect.ignore(touch), Schedule.spaced(heartbeat))),
      leave: BoundedWait.within(releaseLimit)(Effect.zipRight(remove(taking), remove(waiting)))
    }
  }

  /** Runs an effect while holding the lock with this key. Fails with `busy` when the wait times out. */
  const locked =
    <F>(directory: string, key: string, failure: (fault: Failure | "busy") => F, wait = limit) =>
    <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | F, R> =>
      Effect.flatMap(Effect.all([realm, nonce, Clock.currentTimeMillis]), ([realm, nonce, now]) => {
        const turn = now.toString(16).padStart(12, "0") + sha256(nonce).slice(0, 20)
        const { enter, hold, leave } = contender(directory, key, wait, realm, turn)
        return Effect.acquireUseRelease(
          Effect.interruptible(enter).pipe(Effect.mapError(failure), Effect.onError(() => leave)),
          () => Effect.flatMap(Effect.fork(hold), (holding) => Effect.ensuring(effect, Fiber.interrupt(holding))),
          () => leave
        )
      })
  return { locked }
})
