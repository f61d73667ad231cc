import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as PlatformError from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Deferred, Duration, Effect, Fiber, Layer, Option, type Scope } from "effect"
import { build } from "esbuild"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { sha256 } from "../../src/json/canonical.ts"
import * as Processes from "../../src/node/internal/processes.ts"
import * as Turns from "../../src/node/internal/turns.ts"

const platform = Layer.merge(NodeFileSystem.layer, NodePath.layer)

const fault = (fault: unknown) => fault === "busy" ? "busy" as const : "failed" as const

const place = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const directory = yield* fs.makeTempDirectoryScoped()
  const turns = yield* Turns.make(fault)
  const { me } = yield* Processes.make
  const take = turns.take(directory, "a")
  const touched = (name: string) =>
    Effect.map(fs.stat(`${directory}/${name}`), ({ mtime }) => Option.getOrThrow(mtime).getTime())
  /** A file as a process leaves it that took a number and died, or did not. */
  const claim = (process: Partial<Processes.Process>, age = 0, number = 1) => {
    const { born, pid, realm } = { ...me, ...process }
    const name = `${sha256(JSON.stringify("a"))}.${number}.${realm}.${pid}.${born}.${"0".repeat(32)}.turn`
    const path = `${directory}/${name}`
    const at = Date.now() / 1000 - age
    return Effect.as(Effect.zipRight(fs.writeFileString(path, ""), fs.utimes(path, at, at)), name)
  }
  return { claim, directory, fs, me, take, touched }
})

type Place = Effect.Effect.Success<typeof place>

const live = (name: string, test: (at: Place) => Effect.Effect<void, unknown, Scope.Scope>) =>
  it.scopedLive(name, () => Effect.provide(Effect.flatMap(place, test), platform))

const elsewhere = { realm: "f".repeat(16) }

/** Those of whoever waits; what is longer is only a limit. */
const isPause = (millis: number): boolean => millis <= 100

/** A clock on which some sleeps take no time, and something is done in each. */
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

const fixture = fileURLToPath(new URL("../fixtures/auth/turns.ts", import.meta.url))

/** The program of the fixture in one file, because loading it from many takes most of its time. */
const program = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.makeTempDirectoryScoped()
  const outfile = `${folder}/turns.cjs`
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

describe("turns of processes", () => {
  it.scopedLive(
    "are taken by twelve processes at once, and nothing that one of them adds is lost; and after one that is killed",
    () =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const directory = `${yield* fs.makeTempDirectoryScoped()}/logins`
        const start = yield* program
        const adding = yield* Effect.all(Array.from({ length: 12 }, () => start(directory, "add")))
        const codes = yield* Effect.all(adding.map(ended), { concurrency: "unbounded" })
        assert.deepStrictEqual(codes, Array.from({ length: 12 }, () => [0, null]))
        const [value] = yield* fs.readDirectory(directory)
        assert.strictEqual(yield* fs.readFileString(`${directory}/${value}`), "36")

        const holder = yield* start(directory, "hold")
        yield* Effect.promise(() => once(holder.stdout!, "data"))
        assert.lengthOf(yield* fs.readDirectory(directory), 2)
        holder.kill("SIGKILL")
        yield* ended(holder)
        const turns = yield* Turns.make(fault)
        const { clock, leapt } = leaping(isPause)
        yield* Effect.withClock(turns.take(directory, "count")(Effect.void), clock)
        // at once, and not when the file is old
        assert.strictEqual(leapt(), 0)
        assert.deepStrictEqual(yield* fs.readDirectory(directory), [value])
      }).pipe(Effect.provide(platform)),
    60_000
  )

  live("come in the order in which they were asked for", ({ take }) =>
    Effect.gen(function*() {
      const order: Array<number> = []
      const waiting: Array<Fiber.Fiber<unknown, unknown>> = []
      yield* take(Effect.gen(function*() {
        for (const at of [1, 2, 3]) {
          const asked = yield* Deferred.make<void>()
          const clock = Clock.make()
          const told: Clock.Clock = {
            ...clock,
            sleep: (duration) =>
              isPause(Duration.toMillis(duration))
                ? Effect.zipRight(Deferred.succeed(asked, undefined), clock.sleep(duration))
                : clock.sleep(duration)
          }
          waiting.push(
            yield* Effect.fork(Effect.withClock(take(Effect.sync(() => order.push(at))), told))
          )
          yield* Deferred.await(asked)
        }
      }))
      yield* Fiber.joinAll(waiting)
      assert.deepStrictEqual(order, [1, 2, 3])
    }))

  live(
    "are not waited for longer than ten seconds, and whoever gives up leaves nothing behind",
    (at) =>
      Effect.gen(function*() {
        const name = yield* at.claim({})
        const { clock, leapt } = leaping(isPause)
        let came = false
        const turn = at.take(Effect.sync(() => {
          came = true
        }))
        assert.strictEqual(yield* Effect.flip(Effect.withClock(turn, clock)), "busy")
        assert.isFalse(came)
        assert.isAtLeast(leapt(), Turns.limit)
        assert.isBelow(leapt(), Turns.limit + 200)
        assert.deepStrictEqual(yield* at.fs.readDirectory(at.directory), [name])
      })
  )

  const gone: Record<string, (me: Processes.Process) => Partial<Processes.Process>> = {
    "whose process is gone": () => ({ pid: 2_000_000_000 }),
    "whose number another process has now": ({ born }) => ({ born: String(Number(born) + 1) })
  }

  for (const [what, process] of Object.entries(gone)) {
    const test = what.includes("number") && !["linux"].includes(globalThis.process.platform) ? it.skip : live
    test(`of one ${what} are over at once, also if it was only choosing`, (at: Place) =>
      Effect.gen(function*() {
        yield* at.claim(process(at.me), 0, 0)
        yield* at.claim(process(at.me), 0, 1)
        const { clock, leapt } = leaping(isPause)
        assert.strictEqual(yield* Effect.withClock(at.take(Effect.succeed("mine")), clock), "mine")
        assert.strictEqual(leapt(), 0)
        assert.deepStrictEqual(yield* at.fs.readDirectory(at.directory), [])
      }))
  }

  live(
    "of one of which nothing is known are over when it was silent for long, and while it was watched",
    (at) =>
      Effect.gen(function*() {
        yield* at.claim(elsewhere, 31)
        const { clock, leapt } = leaping(isPause)
        assert.strictEqual(yield* Effect.withClock(at.take(Effect.succeed("mine")), clock), "mine")
        assert.isAtLeast(leapt(), 5000)
        assert.deepStrictEqual(yield* at.fs.readDirectory(at.directory), [])
      })
  )

  live("of one of which nothing is known go on while it was heard of lately", (at) =>
    Effect.gen(function*() {
      const name = yield* at.claim(elsewhere, 15)
      const { clock } = leaping(isPause)
      assert.strictEqual(yield* Effect.flip(Effect.withClock(at.take(Effect.void), clock)), "busy")
      assert.deepStrictEqual(yield* at.fs.readDirectory(at.directory), [name])
    }))

  live(
    "go on after the machine has slept: a holder that was silent as long as everybody was is given time",
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
        assert.strictEqual(yield* Effect.flip(Effect.withClock(at.take(Effect.void), clock)), "busy")
        assert.deepStrictEqual(yield* at.fs.readDirectory(at.directory), [name])
      })
  )

  live("are heard of for as long as they take", ({ directory, fs, take, touched }) =>
    Effect.gen(function*() {
      const { clock } = leaping((millis) => millis === 3000)
      const held = Effect.gen(function*() {
        const [name] = yield* fs.readDirectory(directory)
        const began = yield* touched(name!)
        let last = began
        // it beats as often as it can with this clock
        while (last < began + 60_000) last = yield* touched(name!)
      })
      yield* Effect.withClock(take(held), clock)
      assert.deepStrictEqual(yield* fs.readDirectory(directory), [])
    }))

  live(
    "that end when another has them already take nothing from it",
    ({ directory, fs, take }) =>
      Effect.gen(function*() {
        const done = yield* Deferred.make<void>()
        const inside = yield* Deferred.make<void>()
        // as if it had slept, and somebody had given it up
        const sleeper = yield* Effect.fork(
          take(Effect.zipRight(Deferred.succeed(inside, undefined), Deferred.await(done)))
        )
        yield* Deferred.await(inside)
        const [given] = yield* fs.readDirectory(directory)
        yield* fs.remove(`${directory}/${given}`)
        yield* take(Effect.gen(function*() {
          const before = yield* fs.readDirectory(directory)
          yield* Deferred.succeed(done, undefined)
          yield* Fiber.join(sleeper)
          assert.deepStrictEqual(yield* fs.readDirectory(directory), before)
          assert.lengthOf(before, 1)
        }))
      })
  )

  live(
    "are asked for again by whoever was stopped for long and given up while waiting",
    (at) =>
      Effect.gen(function*() {
        const name = yield* at.claim(elsewhere)
        let after: ReadonlyArray<string> = []
        const { clock } = leaping(isPause, () =>
          Effect.orDie(Effect.gen(function*() {
            if (after.length > 0) return
            for (const other of yield* at.fs.readDirectory(at.directory)) {
              yield* at.fs.remove(`${at.directory}/${other}`)
            }
            after = [yield* at.claim(elsewhere, 0, 5)]
          })))
        assert.strictEqual(yield* Effect.flip(Effect.withClock(at.take(Effect.void), clock)), "busy")
        assert.deepStrictEqual(yield* at.fs.readDirectory(at.directory), after)
        assert.notInclude(after, name)
      })
  )

  live(
    "are asked for again by whoever was stopped for long and given up while choosing",
    (at) =>
      Effect.gen(function*() {
        let isFirst = true
        // what is in the folder when it goes on is not what it has seen
        const readDirectory = (directory: string) =>
          Effect.tap(at.fs.readDirectory(directory), (names) =>
            Effect.gen(function*() {
              if (!isFirst) return
              isFirst = false
              for (const name of names) yield* at.fs.remove(`${directory}/${name}`)
              yield* at.claim(elsewhere, 0, 5)
            }))
        const turns = yield* Effect.provideService(Turns.make(fault), FileSystem.FileSystem, {
          ...at.fs,
          readDirectory
        })
        const { clock } = leaping(isPause)
        const turn = turns.take(at.directory, "a")(Effect.void)
        assert.strictEqual(yield* Effect.flip(Effect.withClock(turn, clock)), "busy")
        assert.isFalse(isFirst)
      }).pipe(Effect.provide(platform))
  )

  live("are not taken from somebody who cannot be looked at", (at) =>
    Effect.gen(function*() {
      yield* at.claim(elsewhere, 3600)
      const stat = () =>
        Effect.fail(
          new PlatformError.SystemError({ reason: "Busy", module: "FileSystem", method: "stat", pathOrDescriptor: "" })
        )
      const turns = yield* Effect.provideService(Turns.make(fault), FileSystem.FileSystem, { ...at.fs, stat })
      assert.strictEqual(yield* Effect.flip(turns.take(at.directory, "a")(Effect.void)), "failed")
      assert.lengthOf(yield* at.fs.readDirectory(at.directory), 1)
    }).pipe(Effect.provide(platform)))

  live("are not waited for because of other files in the folder", ({ directory, fs, take }) =>
    Effect.gen(function*() {
      const key = sha256(JSON.stringify("a"))
      const names = [`${key}.value`, `${key}.1.turn`, "notes.turn", `${sha256(JSON.stringify("b"))}.1.x.turn`]
      for (const name of names) yield* fs.writeFileString(`${directory}/${name}`, "")
      assert.strictEqual(yield* take(Effect.succeed("mine")), "mine")
      assert.sameMembers(yield* fs.readDirectory(directory), names)
    }))

  live("are not given where no file can be made", ({ directory, fs, take }) =>
    Effect.gen(function*() {
      yield* fs.remove(directory, { recursive: true })
      assert.strictEqual(yield* Effect.flip(take(Effect.void)), "failed")
      yield* fs.makeDirectory(directory)
    }))

  it.scopedLive("exclude each other however many there are", () =>
    Effect.gen(function*() {
      const { directory } = yield* place
      // each with services of its own, as in a process of its own
      const all = yield* Effect.all(Array.from({ length: 24 }, () => Turns.make(fault)))
      let inside = 0
      let most = 0
      yield* Effect.forEach(
        all,
        (turns) =>
          turns.take(directory, "a")(Effect.gen(function*() {
            most = Math.max(most, ++inside)
            yield* Effect.yieldNow()
            inside--
          })),
        { concurrency: "unbounded", discard: true }
      )
      assert.strictEqual(most, 1)
    }).pipe(Effect.provide(platform)))
})
