import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as PlatformError from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Deferred, Duration, Effect, Exit, Fiber, Layer, Option, type Scope } from "effect"
import { build } from "esbuild"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { sha256 } from "../../src/json/canonical.ts"
import * as FileLock from "../../src/node/fileLock.ts"

const platform = Layer.merge(NodeFileSystem.layer, NodePath.layer)

const fault = (fault: unknown) => fault === "busy" ? "busy" as const : "failed" as const

interface Owner {
  readonly realm: string
  readonly pid: string
  readonly start: string
}

const place = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const directory = yield* fs.makeTempDirectoryScoped()
  const lock = yield* FileLock.make
  const withLock = lock.locked(directory, "a", fault)
  const touched = (name: string) =>
    Effect.map(fs.stat(`${directory}/${name}`), ({ mtime }) => Option.getOrThrow(mtime).getTime())
  const [claimed] = yield* withLock(fs.readDirectory(directory))
  const [, , , realm, pid, start] = claimed!.split(".")
  const self: Owner = { realm: realm!, pid: pid!, start: start! }
  /** The claim that a process has left, or still holds; its name comes after that of any other claim. */
  const claim = (owner: Partial<Owner>, age = 0, turn = "f".repeat(32)) => {
    const { pid, realm, start } = { ...self, ...owner }
    const name = `${sha256(JSON.stringify("a"))}.lock.${turn}.${realm}.${pid}.${start}`
    const path = `${directory}/${name}`
    const at = Date.now() / 1000 - age
    return Effect.as(Effect.zipRight(fs.writeFileString(path, ""), fs.utimes(path, at, at)), name)
  }
  return { claim, directory, fs, self, touched, withLock }
})

type Place = Effect.Effect.Success<typeof place>

const live = (name: string, test: (at: Place) => Effect.Effect<void, unknown, Scope.Scope>) =>
  it.scopedLive(name, () => Effect.provide(Effect.flatMap(place, test), platform))

const elsewhere = { realm: "f".repeat(16) }

/** The pauses of a contender; longer sleeps are limits and heartbeats. */
const isPause = (millis: number): boolean => millis <= 100

/** A clock on which some sleeps take no time, with an action in each. */
const leaping = (
  leaps: (millis: number) => boolean,
  between: (leapt: number) => Effect.Effect<void> = () => Effect.void
) => {
  const real = Clock.make()
  let leapt = 0
  const now = () => real.unsafeCurrentTimeMillis() + leapt
  const clock: Clock.Clock = {
    ...real,
    unsafeCurrentTimeMillis: now,
    currentTimeMillis: Effect.sync(now),
    sleep: (duration) => {
      const millis = Duration.toMillis(duration)
      if (!leaps(millis)) return real.sleep(duration)
      leapt += millis
      return Effect.zipRight(between(leapt), Effect.yieldNow())
    }
  }
  return { clock, leapt: () => leapt }
}

const fixture = fileURLToPath(new URL("../fixtures/auth/locks.ts", import.meta.url))

/** The program of the fixture in one file, because loading it from many takes most of its time. */
const program = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.makeTempDirectoryScoped()
  const outfile = `${folder}/locks.cjs`
  yield* Effect.promise(() =>
    build({
      entryPoints: [fixture],
      outfile,
      bundle: true,
      platform: "node",
      format: "cjs",
      external: ["@napi-rs/keyring"],
      logLevel: "error"
    })
  )
  return (directory: string, what: "add" | "hold") =>
    Effect.acquireRelease(
      Effect.sync(() => spawn(process.execPath, [outfile, directory, what], { stdio: ["ignore", "pipe", "inherit"] })),
      (child) => Effect.sync(() => child.kill("SIGKILL"))
    )
})

const ended = (child: ChildProcess) => Effect.promise(() => once(child, "exit"))

describe("fileLock among processes", () => {
  it.scopedLive(
    "loses no increment of twelve processes, and is taken over from a process that was killed",
    () =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const directory = `${yield* fs.makeTempDirectoryScoped()}/logins`
        const start = yield* program
        const adding = yield* Effect.all(Array.from({ length: 12 }, () => start(directory, "add")))
        const codes = yield* Effect.all(adding.map(ended), { concurrency: "unbounded" })
        assert.deepStrictEqual(codes, Array.from({ length: 12 }, () => [0, null]))
        const [value] = yield* fs.readDirectory(directory)
        assert.strictEqual(yield* fs.readFileString(`${directory}/${value}`), "plain:36")

        const holder = yield* start(directory, "hold")
        yield* Effect.promise(() => once(holder.stdout!, "data"))
        assert.lengthOf(yield* fs.readDirectory(directory), 2)
        holder.kill("SIGKILL")
        yield* ended(holder)
        const lock = yield* FileLock.make
        const { clock, leapt } = leaping(isPause)
        yield* Effect.withClock(lock.locked(directory, "count", fault)(Effect.void), clock)
        // at once, and not when the claim is old
        assert.strictEqual(leapt(), 0)
        assert.deepStrictEqual(yield* fs.readDirectory(directory), [value])
      }).pipe(Effect.provide(platform)),
    60_000
  )

  it.scopedLive("is held by one contender at a time, however many there are", () =>
    Effect.gen(function*() {
      const { directory } = yield* place
      // each with services of its own, as in a process of its own
      const all = yield* Effect.all(Array.from({ length: 24 }, () => FileLock.make))
      let inside = 0
      let most = 0
      yield* Effect.forEach(
        all,
        (lock) =>
          lock.locked(directory, "a", fault)(Effect.gen(function*() {
            most = Math.max(most, ++inside)
            yield* Effect.yieldNow()
            inside--
          })),
        { concurrency: "unbounded", discard: true }
      )
      assert.strictEqual(most, 1)
    }).pipe(Effect.provide(platform)))

  live("lets two locks with different keys be held at once", ({ directory, withLock }) =>
    Effect.gen(function*() {
      const other = (yield* FileLock.make).locked(directory, "b", fault)
      assert.strictEqual(yield* withLock(other(Effect.succeed("both"))), "both")
    }).pipe(Effect.provide(platform)))

  live(
    "is waited for no longer than ten seconds, and the contender leaves no file behind",
    (at) =>
      Effect.gen(function*() {
        const name = yield* at.claim({})
        const { clock, leapt } = leaping(isPause)
        let entered = false
        const use = at.withLock(Effect.sync(() => {
          entered = true
        }))
        assert.strictEqual(yield* Effect.flip(Effect.withClock(use, clock)), "busy")
        assert.isFalse(entered)
        assert.isAtLeast(leapt(), FileLock.limit)
        assert.isBelow(leapt(), FileLock.limit + 200)
        assert.deepStrictEqual(yield* at.fs.readDirectory(at.directory), [name])
      })
  )

  live("is waited for as long as the contenders in front change", (at) =>
    Effect.gen(function*() {
      const path = `${at.directory}/${yield* at.claim({})}`
      const next = path.replaceAll("f".repeat(32), "e".repeat(32))
      const { clock, leapt } = leaping(isPause, (leapt) =>
        Effect.ignore(leapt < 6000 ? Effect.void : leapt < 12_000 ? at.fs.rename(path, next) : at.fs.remove(next)))
      assert.strictEqual(yield* Effect.withClock(at.withLock(Effect.succeed("mine")), clock), "mine")
      assert.isAtLeast(leapt(), 12_000)
    }))

  live(
    "is given to the contender that waits, and not to the one that takes it again and again",
    (at) =>
      Effect.gen(function*() {
        const isWaitedFor = Effect.map(at.fs.readDirectory(at.directory), (names) => names.length > 1)
        let entered = false
        let rounds = 0
        const use = at.withLock(Effect.sync(() => {
          entered = true
        }))
        const waiter = yield* at.withLock(Effect.gen(function*() {
          const waiter = yield* Effect.forkScoped(use)
          yield* Effect.repeat(isWaitedFor, { until: (isWaitedFor) => isWaitedFor })
          // so that the next claim is of another millisecond
          yield* Effect.sleep(Duration.millis(5))
          return waiter
        }))
        while (!entered) {
          yield* at.withLock(Effect.sync(() => {
            rounds++
          }))
        }
        yield* Fiber.join(waiter)
        assert.isAtMost(rounds, 1)
      })
  )

  live("is left by a contender that is interrupted, waiting or inside", (at) =>
    Effect.gen(function*() {
      const inside = yield* Deferred.make<void>()
      const holder = yield* Effect.fork(
        at.withLock(Effect.zipRight(Deferred.succeed(inside, undefined), Effect.never))
      )
      yield* Deferred.await(inside)
      const waiter = yield* Effect.fork(at.withLock(Effect.void))
      yield* Effect.yieldNow()
      assert.isTrue(Exit.isInterrupted(yield* Fiber.interrupt(waiter)))
      assert.isTrue(Exit.isInterrupted(yield* Fiber.interrupt(holder)))
      assert.deepStrictEqual(yield* at.fs.readDirectory(at.directory), [])
    }))

  live("is released at the end of an effect that cannot be interrupted", (at) =>
    Effect.gen(function*() {
      assert.strictEqual(yield* Effect.uninterruptible(at.withLock(Effect.succeed("done"))), "done")
      assert.deepStrictEqual(yield* at.fs.readDirectory(at.directory), [])
    }))

  const crashed: Record<string, (self: Owner) => Partial<Owner>> = {
    "has ended": () => ({ pid: "2000000000" }),
    "has a pid that another process has now": ({ start }) => ({ start: String(Number(start) + 1) })
  }

  for (const [what, owner] of Object.entries(crashed)) {
    const test = what.includes("another") && process.platform !== "linux" ? it.skip : live
    test(`is taken over at once from an owner that ${what}`, (at: Place) =>
      Effect.gen(function*() {
        yield* at.claim(owner(at.self))
        const { clock, leapt } = leaping(isPause)
        assert.strictEqual(yield* Effect.withClock(at.withLock(Effect.succeed("mine")), clock), "mine")
        assert.strictEqual(leapt(), 0)
        assert.deepStrictEqual(yield* at.fs.readDirectory(at.directory), [])
      }))
  }

  live(
    "is taken over from an unknown process that was silent for long, and while it was watched",
    (at) =>
      Effect.gen(function*() {
        yield* at.claim(elsewhere, 31)
        const { clock, leapt } = leaping(isPause)
        assert.strictEqual(yield* Effect.withClock(at.withLock(Effect.succeed("mine")), clock), "mine")
        assert.isAtLeast(leapt(), 5000)
        assert.deepStrictEqual(yield* at.fs.readDirectory(at.directory), [])
      })
  )

  live("is not taken over from an unknown process that was heard of lately", (at) =>
    Effect.gen(function*() {
      const name = yield* at.claim(elsewhere, 15)
      const { clock } = leaping(isPause)
      assert.strictEqual(yield* Effect.flip(Effect.withClock(at.withLock(Effect.void), clock)), "busy")
      assert.deepStrictEqual(yield* at.fs.readDirectory(at.directory), [name])
    }))

  live(
    "is not taken over from an unknown process that slept with the machine and goes on",
    (at) =>
      Effect.gen(function*() {
        const name = yield* at.claim(elsewhere, 3600)
        const path = `${at.directory}/${name}`
        let woken = false
        const { clock } = leaping(isPause, (leapt) => {
          if (leapt < 3000 || woken) return Effect.void
          woken = true
          return Effect.orDie(at.fs.utimes(path, Date.now() / 1000, Date.now() / 1000))
        })
        assert.strictEqual(yield* Effect.flip(Effect.withClock(at.withLock(Effect.void), clock)), "busy")
        assert.deepStrictEqual(yield* at.fs.readDirectory(at.directory), [name])
      })
  )

  live("is not taken over from an owner whose claim cannot be looked at", (at) =>
    Effect.gen(function*() {
      yield* at.claim(elsewhere, 3600)
      const stat = () =>
        Effect.fail(
          new PlatformError.SystemError({ reason: "Busy", module: "FileSystem", method: "stat", pathOrDescriptor: "" })
        )
      const lock = yield* Effect.provideService(FileLock.make, FileSystem.FileSystem, { ...at.fs, stat })
      assert.strictEqual(yield* Effect.flip(lock.locked(at.directory, "a", fault)(Effect.void)), "failed")
      assert.lengthOf(yield* at.fs.readDirectory(at.directory), 1)
    }).pipe(Effect.provide(platform)))

  live(
    "is touched by its owner for as long as it is held",
    ({ directory, fs, touched, withLock }) =>
      Effect.gen(function*() {
        const { clock } = leaping((millis) => millis === 3000)
        const held = Effect.gen(function*() {
          const [name] = yield* fs.readDirectory(directory)
          const began = yield* touched(name!)
          let last = began
          // as often as it can be touched with this clock
          while (last < began + 60_000) last = yield* touched(name!)
        })
        yield* Effect.withClock(withLock(held), clock)
        assert.deepStrictEqual(yield* fs.readDirectory(directory), [])
      })
  )

  live(
    "is not released by an owner that has lost it to another",
    ({ directory, fs, withLock }) =>
      Effect.gen(function*() {
        const done = yield* Deferred.make<void>()
        const inside = yield* Deferred.make<void>()
        const sleeper = yield* Effect.fork(
          withLock(Effect.zipRight(Deferred.succeed(inside, undefined), Deferred.await(done)))
        )
        yield* Deferred.await(inside)
        // as if it had been stopped, and another contender had removed its claim
        const [lost] = yield* fs.readDirectory(directory)
        yield* fs.remove(`${directory}/${lost}`)
        yield* withLock(Effect.gen(function*() {
          const before = yield* fs.readDirectory(directory)
          yield* Deferred.succeed(done, undefined)
          yield* Fiber.join(sleeper)
          assert.deepStrictEqual(yield* fs.readDirectory(directory), before)
          assert.lengthOf(before, 1)
        }))
      })
  )

  live("is not entered by a contender whose claim was removed while it was stopped", (at) =>
    Effect.gen(function*() {
      let listings = 0
      // the second listing is the one after its claim
      const readDirectory = (directory: string) =>
        Effect.flatMap(at.fs.readDirectory(directory), (names) =>
          Effect.gen(function*() {
            if (++listings !== 2) return names
            assert.lengthOf(names, 1)
            yield* at.fs.remove(`${directory}/${names[0]}`)
            yield* at.claim(elsewhere)
            return []
          }))
      const lock = yield* Effect.provideService(FileLock.make, FileSystem.FileSystem, { ...at.fs, readDirectory })
      const { clock } = leaping(isPause)
      const use = lock.locked(at.directory, "a", fault)(Effect.void)
      assert.strictEqual(yield* Effect.flip(Effect.withClock(use, clock)), "busy")
      assert.isAbove(listings, 2)
    }).pipe(Effect.provide(platform)))

  const together: Record<string, { readonly turn: string; readonly kept: "lock" | "wait" }> = {
    "keeps its claim and waits": { turn: "f", kept: "lock" },
    "goes back into the line": { turn: "0", kept: "wait" }
  }

  for (const [what, { kept, turn }] of Object.entries(together)) {
    live(
      `is not entered by the ${
        kept === "lock" ? "earlier" : "later"
      } of two contenders that take it at once, which ${what}`,
      (at) =>
        Effect.gen(function*() {
          let listings = 0
          let last: ReadonlyArray<string> = []
          // the second listing is the one after its claim
          const readDirectory = (directory: string) =>
            Effect.gen(function*() {
              if (++listings === 2) yield* at.claim({}, 0, turn.repeat(32))
              return last = yield* at.fs.readDirectory(directory)
            })
          const lock = yield* Effect.provideService(FileLock.make, FileSystem.FileSystem, { ...at.fs, readDirectory })
          const { clock } = leaping(isPause)
          const use = lock.locked(at.directory, "a", fault)(Effect.void)
          assert.strictEqual(yield* Effect.flip(Effect.withClock(use, clock)), "busy")
          const own = last.filter((name) => !name.includes(turn.repeat(32)))
          assert.deepStrictEqual(own.map((name) => name.split(".")[1]), [kept])
        }).pipe(Effect.provide(platform))
    )
  }

  live("ignores other files in the folder", ({ directory, fs, withLock }) =>
    Effect.gen(function*() {
      const key = sha256(JSON.stringify("a"))
      const names = [`${key}.value`, `${key}.1.lock`, "notes.lock", `${sha256(JSON.stringify("b"))}.1.x.lock`]
      for (const name of names) yield* fs.writeFileString(`${directory}/${name}`, "")
      assert.strictEqual(yield* withLock(Effect.succeed("mine")), "mine")
      assert.sameMembers(yield* fs.readDirectory(directory), names)
    }))

  live("is not given where no file can be made", ({ directory, fs, withLock }) =>
    Effect.gen(function*() {
      yield* fs.remove(directory, { recursive: true })
      assert.strictEqual(yield* Effect.flip(withLock(Effect.void)), "failed")
      yield* fs.makeDirectory(directory)
    }))
})
