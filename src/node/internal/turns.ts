/**
 * Turns that processes take, one after the other, by files in a folder that only their user can write to.
 *
 * Whoever wants a turn takes a number as in a bakery: it says that it is choosing, looks at the numbers that are taken,
 * takes the next, and waits for all that chose or have a smaller one. Every file has one owner and a name that never comes
 * again. So nothing is lost when two find a file whose owner is gone and both remove it, and nobody can remove what is
 * somebody else's by then.
 *
 * @internal
 */
import type * as PlatformError from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import { sha256 } from "../../json/canonical.ts"
import * as BoundedWait from "../../resilience/BoundedWait.ts"
import * as Nonce from "../../safety/Nonce.ts"
import * as Processes from "./processes.ts"

type Failure = PlatformError.PlatformError

/** @internal */
export interface Turns<F> {
  /** Runs an effect when it is its turn among all with this key in this folder. */
  readonly take: (
    directory: string,
    key: string
  ) => <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | F, R>
}

/**
 * Milliseconds that somebody waits. They are counted in pauses: a clock goes on while a machine sleeps, and then nobody
 * has had the time to do anything.
 *
 * @internal
 */
export const limit = 10_000

/** A file that was not touched for so long may have been left behind by a process of which nothing is known, */
const staleAfter = 30_000
/** and was, if it is not touched while somebody watches for so long. */
const watchedFor = 8_000
const beat = Duration.seconds(3)

/** The next in the row looks most often, and everybody less often with time. */
const pauseAfter = (waited: number, ahead: number): number => Math.min(15 * ahead + waited / 50, 90)
const leaving = Duration.seconds(2)

interface Claim {
  readonly name: string
  readonly process: Processes.Process
  /** 0: it is choosing. */
  readonly number: number
  readonly nonce: string
}

const pattern = /^([0-9a-f]{64})\.(\d{1,12})\.([0-9a-f]{16})\.(\d{1,10})\.(\d{1,20})\.([0-9a-f]{32})\.turn$/

const parse = (name: string): (Claim & { readonly key: string }) | undefined => {
  const [, key, number, realm, pid, born, nonce] = pattern.exec(name) ?? []
  return key === undefined || realm === undefined || born === undefined || nonce === undefined
    ? undefined
    : { name, key, number: Number(number), process: { realm, pid: Number(pid), born }, nonce }
}

const isAhead = (one: Claim, other: Claim): boolean =>
  one.number < other.number || (one.number === other.number && one.nonce < other.nonce)

const isThere = (error: Failure): boolean => error._tag === "SystemError" && error.reason === "AlreadyExists"

const isNotThere = (error: Failure): boolean => error._tag === "SystemError" && error.reason === "NotFound"

/** Whether the file was there that something was done with. */
const wasThere = (effect: Effect.Effect<void, Failure>): Effect.Effect<boolean, Failure> =>
  Effect.as(effect, true).pipe(Effect.catchIf(isNotThere, () => Effect.succeed(false)))

/**
 * Those whose turn does not come fail with what is made of `busy`, or of what the file system says.
 *
 * @internal
 */
export const make = Effect.fnUntraced(function*<F>(failure: (fault: Failure | "busy") => F) {
  const fs = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  const fresh = yield* Nonce.Nonce
  // asked for only when somebody takes a turn; whoever asks at the same time is told the same
  let known: Processes.Processes | undefined
  const whoIsWho = Effect.suspend(() =>
    known === undefined
      ? Effect.tap(Effect.provideService(Processes.make, FileSystem.FileSystem, fs), (processes) => {
        known = processes
      })
      : Effect.succeed(known)
  )

  const turn = (processes: Processes.Processes, directory: string, hash: string, nonce: string) => {
    const claimWith = (number: number): Claim => {
      const { born, pid, realm } = processes.me
      const name = `${hash}.${number}.${realm}.${pid}.${born}.${nonce}.turn`
      return { name, number, nonce, process: processes.me }
    }
    const choosing = claimWith(0)
    let mine = choosing
    let waited = 0
    const watched = new Map<string, { readonly touched: number; readonly since: number }>()

    const pathOf = ({ name }: Claim): string => paths.join(directory, name)

    const touch = (claim: Claim) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => fs.utimes(pathOf(claim), now / 1000, now / 1000))

    const put = (claim: Claim) =>
      Effect.scoped(fs.open(pathOf(claim), { flag: "wx", mode: 0o600 })).pipe(
        Effect.catchIf(isThere, () => Effect.void),
        Effect.zipRight(touch(claim))
      )

    const remove = (claim: Claim) => fs.remove(pathOf(claim), { force: true })

    const others = Effect.map(fs.readDirectory(directory), (names) =>
      names.flatMap((name) => {
        const claim = parse(name)
        return claim === undefined || claim.key !== hash || claim.nonce === nonce ? [] : [claim]
      }))

    /** Not touched for long, and neither while it was watched. */
    const isForsaken = ({ name }: Claim, touched: number, now: number): boolean => {
      if (Math.abs(now - touched) <= staleAfter) return false
      const before = watched.get(name)
      if (before?.touched === touched) return waited - before.since >= watchedFor
      watched.set(name, { touched, since: waited })
      return false
    }

    const isLeft = (claim: Claim) =>
      Effect.gen(function*() {
        if (yield* processes.isGone(claim.process)) return true
        const { mtime } = yield* fs.stat(pathOf(claim))
        return Option.isSome(mtime) && isForsaken(claim, mtime.value.getTime(), yield* Clock.currentTimeMillis)
      }).pipe(Effect.catchIf(isNotThere, () => Effect.succeed(true)))

    /** How many are ahead: none for certain, or at most so many. */
    const ahead = Effect.gen(function*() {
      const claims = (yield* others).filter((claim) => isAhead(claim, mine))
      for (const [at, claim] of claims.entries()) {
        if (!(yield* isLeft(claim))) return claims.length - at
        yield* Effect.ignore(remove(claim))
      }
      return 0
    })

    const choose = Effect.gen(function*() {
      yield* put(choosing)
      const numbers = (yield* others).map(({ number }) => number)
      mine = claimWith(1 + Math.max(0, ...numbers))
      yield* put(mine)
      return yield* wasThere(fs.remove(pathOf(choosing)))
    })

    // Looked twice, because somebody who takes a number while a folder is read may be seen neither choosing nor with it: who
    // is not seen choosing the first time has the number by the second, or will see ours and take a larger one.
    // Whoever was stopped for long may have been given up, and then somebody else may have a larger number and the turn.
    const enter = Effect.gen(function*() {
      let isChosen = false
      for (;;) {
        isChosen ||= yield* choose
        const many = isChosen ? (yield* ahead) || (yield* ahead) : 1
        if (many === 0) {
          isChosen = yield* wasThere(touch(mine))
          if (isChosen) return
        }
        if (waited >= limit) return yield* Effect.fail("busy" as const)
        const pause = pauseAfter(waited, many)
        yield* Effect.sleep(Duration.millis(pause))
        waited += pause
      }
    })

    const beating = Effect.suspend(() => touch(mine)).pipe(Effect.ignore, Effect.delay(beat), Effect.forever)

    return {
      enter,
      beating,
      leave: BoundedWait.within(leaving)(
        Effect.suspend(() => Effect.zipRight(Effect.ignore(remove(choosing)), Effect.ignore(remove(mine))))
      )
    }
  }

  const turns: Turns<F> = {
    take: (directory, key) => (effect) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.flatMap(Effect.zip(whoIsWho, fresh), ([processes, random]) => {
          const { beating, enter, leave } = turn(
            processes,
            directory,
            sha256(JSON.stringify(key)),
            sha256(random).slice(0, 32)
          )
          const taken = Effect.zipRight(restore(Effect.mapError(enter, failure)), restore(effect))
          return Effect.fork(Effect.interruptible(beating)).pipe(
            Effect.flatMap((beats) => Effect.ensuring(taken, Fiber.interrupt(beats))),
            Effect.ensuring(leave)
          )
        })
      )
  }
  return turns
})
