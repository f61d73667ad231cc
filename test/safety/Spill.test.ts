import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as PlatformError from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Fiber, Layer, Logger, Option, type Scope, TestClock } from "effect"
import * as FastCheck from "effect/FastCheck"
import { sha256 } from "../../src/json/canonical.ts"
import * as NodeSpill from "../../src/node/NodeSpill.ts"
import * as Nonce from "../../src/safety/Nonce.ts"
import * as Spill from "../../src/safety/Spill.ts"
import { lengths } from "../support/runs.ts"
import * as Texts from "../support/texts.ts"

const platform = Layer.merge(NodeFileSystem.layer, NodePath.layer)

const source = { server: "github", tool: "list_issues", kind: "resource" } as const

/** A folder that does not exist yet, in one that is removed afterwards. */
const place = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const root = yield* fs.makeTempDirectoryScoped()
  return { fs, root, directory: `${root}/cache/spill` }
})

const spillOf = <R>(layer: Layer.Layer<Spill.Spill, never, R>) =>
  Effect.map(Layer.build(layer), (context) => Context.get(context, Spill.Spill))

const filesIn = (directory: string, options?: Partial<Spill.Options>, seen?: Partial<FileSystem.FileSystem>) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) =>
    NodeSpill.make({ ...NodeSpill.defaults, ...options, directory }).pipe(
      Effect.provideService(FileSystem.FileSystem, { ...fs, ...seen })
    ))

/** The file of a text. */
const fileOf = (directory: string, handle: string): string => `${directory}/${sha256(JSON.stringify(handle))}.value`

const quiet = Logger.remove(Logger.defaultLogger)

const live = (
  name: string,
  test: Effect.Effect<void, unknown, FileSystem.FileSystem | Layer.Layer.Success<typeof NodePath.layer> | Scope.Scope>
) => it.scopedLive(name, () => Effect.provide(test, Layer.merge(platform, quiet)))

const kept = (spill: Spill.Spill["Type"], text: string) => Effect.flatMap(spill.write(text, source), (handle) => handle)

const readAll = Effect.fnUntraced(function*(spill: Spill.Spill["Type"], handle: string, limit: number) {
  const pages: Array<string> = []
  let offset: number | undefined = 0
  while (offset !== undefined) {
    const page: Spill.Page = yield* spill.read(handle, { offset, limit })
    assert.strictEqual(page.offset, offset)
    pages.push(page.text)
    offset = page.next
  }
  return pages
})

const failing = (reason: "PermissionDenied" | "Busy") =>
  new PlatformError.SystemError({ reason, module: "FileSystem", method: "open", pathOrDescriptor: "x" })

/** Sets when a text was written, in seconds before now. */
const backdate = (fs: FileSystem.FileSystem, directory: string) => (handle: string, seconds: number) => {
  const then = Date.now() / 1000 - seconds
  return fs.utimes(fileOf(directory, handle), then, then)
}

const limits = { maxBytes: 10_000, maxBytesEach: 8_000 }

const layers = {
  memory: () => Effect.map(spillOf(Spill.layerMemory(limits)), (spill) => ({ spill, age: () => Effect.void })),
  files: () =>
    Effect.flatMap(
      place,
      ({ directory, fs }) =>
        Effect.map(filesIn(directory, limits), (spill) => ({ spill, age: backdate(fs, directory) }))
    )
}

for (const [name, make] of Object.entries(layers)) {
  describe(`texts kept in ${name}`, () => {
    live(
      "are read page by page, with nothing lost and no character cut in two",
      Effect.gen(function*() {
        const { spill } = yield* make()
        const text = "\ufeffone\r\n€ 😀 👨‍👩‍👧 e\u0301\n\n漢字 end\n".repeat(lengths(40))
        const handle = yield* kept(spill, text)
        for (const limit of [1, 2, 7, 64, 1_000, 100_000]) {
          const pages = yield* readAll(spill, handle, limit)
          assert.strictEqual(pages.join(""), text)
          for (const page of pages) assert.notMatch(page, /\p{Cs}/u)
        }
        assert.deepStrictEqual((yield* spill.read(handle)).source, source)
      })
    )

    live(
      "are read from any place, also from within a character and from beyond the end",
      Effect.gen(function*() {
        const { spill } = yield* make()
        const handle = yield* kept(spill, "a😀b")
        assert.deepStrictEqual(yield* spill.read(handle, { offset: 2, limit: 5 }), {
          source,
          text: "b",
          offset: 3,
          next: undefined
        })
        for (const offset of [4, 1_000_000, Infinity]) {
          assert.deepInclude(yield* spill.read(handle, { offset }), { text: "", next: undefined })
        }
        for (const offset of [-5, NaN, 0.5]) assert.strictEqual((yield* spill.read(handle, { offset })).text, "a😀b")
        assert.deepInclude(yield* spill.read(handle, { limit: 0 }), { text: "a", next: 1 })
      })
    )

    live(
      "are kept unless they are too long",
      Effect.gen(function*() {
        const { spill } = yield* make()
        assert.deepStrictEqual(yield* spill.write("€".repeat(3_000), source), Option.none())
        assert.isTrue(Option.isSome(yield* spill.write("x".repeat(7_000), source)))
      })
    )

    live(
      "make room for newer ones, the oldest first",
      Effect.gen(function*() {
        const { age, spill } = yield* make()
        const handles: Array<string> = []
        for (const [at, letter] of ["a", "b", "c", "d"].entries()) {
          const handle = yield* kept(spill, letter.repeat(4_000))
          yield* age(handle, 10 - at)
          handles.push(handle)
        }
        const there = yield* Effect.forEach(handles, (handle) => Effect.isSuccess(spill.read(handle)))
        assert.deepStrictEqual(there, [false, false, true, true])
      })
    )

    live(
      "are read with their handle only",
      Effect.gen(function*() {
        const { spill } = yield* make()
        const handle = yield* kept(spill, "secret")
        const other = handle.replace(/.$/, (last) => last === "0" ? "1" : "0")
        assert.deepInclude(yield* Effect.flip(spill.read(other)), { _tag: "SpillError", reason: "missing" })
        const wrong = [
          "",
          "spill-",
          "spill-../../etc/passwd",
          `${handle}.txt`,
          `${handle}\n`,
          ` ${handle}`,
          handle.toUpperCase(),
          `../${handle}`
        ]
        for (const text of wrong) {
          const error = yield* Effect.flip(spill.read(text))
          assert.deepInclude(error, { _tag: "SpillError", reason: "malformed", handle: text })
          assert.notMatch(error.message, /[\u0000-\u001f]/)
        }
      })
    )
  })
}

describe("a handle", () => {
  it("is nothing but the word and 128 bits", () => {
    assert.isTrue(Spill.isHandle(`spill-${"0a".repeat(16)}`))
    FastCheck.assert(
      FastCheck.property(FastCheck.string({ unit: Texts.unit }), (text) => !Spill.isHandle(text))
    )
  })

  it.scoped("is made of the nonce, and of none that could lead elsewhere", () =>
    Effect.gen(function*() {
      const spillWith = (nonce: string) =>
        spillOf(Spill.layerMemory()).pipe(Effect.provideService(Nonce.Nonce, Effect.succeed(nonce)))
      const good = yield* spillWith("f".repeat(32))
      assert.deepStrictEqual(yield* good.write("x", source), Option.some(`spill-${"f".repeat(32)}`))
      const bad = yield* spillWith("../../x")
      assert.deepStrictEqual(yield* bad.write("x", source), Option.none())
    }).pipe(Effect.provide(quiet)))

  it.effect("is another each time", () =>
    Effect.gen(function*() {
      const nonce = yield* Nonce.Nonce
      const all = yield* Effect.replicateEffect(nonce, 1_000)
      assert.strictEqual(new Set(all).size, 1_000)
      for (const one of all) assert.match(one, /^[0-9a-f]{32}$/)
    }))
})

describe("texts kept in memory", () => {
  it.scoped("are gone after their time, whether somebody writes or not", () =>
    Effect.gen(function*() {
      const spill = yield* spillOf(Spill.layerMemory({ maxAge: "2 hours" }))
      const handle = yield* kept(spill, "x")
      yield* TestClock.adjust("119 minutes")
      assert.strictEqual((yield* spill.read(handle)).text, "x")
      yield* TestClock.adjust("2 minutes")
      assert.strictEqual((yield* Effect.flip(spill.read(handle))).reason, "missing")
    }))
})

describe("texts kept in files", () => {
  live(
    "can be read and written by their owner only",
    Effect.gen(function*() {
      const { directory, fs } = yield* place
      const spill = yield* filesIn(directory)
      assert.isFalse(yield* fs.exists(directory))
      yield* kept(spill, "x")
      const [name, ...others] = yield* fs.readDirectory(directory)
      assert.deepStrictEqual(others, [])
      assert.match(name!, /^[0-9a-f]{64}\.value$/)
      assert.strictEqual((yield* fs.stat(directory)).mode & 0o777, 0o700)
      assert.strictEqual((yield* fs.stat(`${directory}/${name}`)).mode & 0o777, 0o600)
    })
  )

  live(
    "are read by the next process too, until they are too old",
    Effect.gen(function*() {
      const { directory, fs } = yield* place
      const handle = yield* kept(yield* filesIn(directory), "x")
      const next = yield* filesIn(directory)
      assert.strictEqual((yield* next.read(handle)).text, "x")
      yield* backdate(fs, directory)(handle, 25 * 60 * 60)
      assert.strictEqual((yield* Effect.flip(next.read(handle))).reason, "missing")
      yield* next.sweep
      assert.deepStrictEqual(yield* fs.readDirectory(directory), [])
    })
  )

  it.scoped("are looked through now and then without being asked", () =>
    Effect.gen(function*() {
      const { directory, fs } = yield* place
      const swept = yield* Effect.makeLatch()
      yield* filesIn(directory, {}, {
        readDirectory: (path) => Effect.zipRight(swept.open, fs.readDirectory(path))
      })
      yield* TestClock.adjust("1 hour")
      yield* swept.await
    }).pipe(Effect.provide(platform)))

  live(
    "leave what is not theirs in the folder alone",
    Effect.gen(function*() {
      const { directory, fs } = yield* place
      yield* fs.makeDirectory(directory, { recursive: true, mode: 0o700 })
      const others = ["notes.txt", "0.value", `${"0".repeat(64)}.value.bak`]
      for (const name of others) yield* fs.writeFileString(`${directory}/${name}`, "mine")
      const spill = yield* filesIn(directory, { maxAge: "1 minute", maxBytes: 1_000 })
      yield* backdate(fs, directory)(yield* kept(spill, "x".repeat(500)), 90)
      yield* spill.sweep
      assert.sameMembers(yield* fs.readDirectory(directory), others)
    })
  )

  live(
    "are neither written nor read through links, nor where others may write",
    Effect.gen(function*() {
      const { directory, fs, root } = yield* place
      const spill = yield* filesIn(directory)
      const handle = yield* kept(spill, "x")
      const file = fileOf(directory, handle)
      const elsewhere = `${root}/elsewhere`

      yield* fs.rename(file, elsewhere)
      yield* fs.symlink(elsewhere, file)
      assert.strictEqual((yield* Effect.flip(spill.read(handle))).reason, "refused")
      yield* fs.remove(file)
      yield* fs.link(elsewhere, file)
      assert.strictEqual((yield* Effect.flip(spill.read(handle))).reason, "refused")
      yield* fs.remove(file)
      yield* fs.makeDirectory(file)
      assert.strictEqual((yield* Effect.flip(spill.read(handle))).reason, "refused")

      yield* fs.chmod(directory, 0o777)
      assert.deepStrictEqual(yield* spill.write("x", source), Option.none())

      const linked = `${root}/linked`
      yield* fs.makeDirectory(`${root}/target`, { mode: 0o700 })
      yield* fs.symlink(`${root}/target`, linked)
      assert.deepStrictEqual(yield* (yield* filesIn(linked)).write("x", source), Option.none())
      assert.deepStrictEqual(yield* fs.readDirectory(`${root}/target`), [])
    })
  )

  live(
    "that somebody has changed are not taken for a server's words",
    Effect.gen(function*() {
      const { directory, fs } = yield* place
      const spill = yield* filesIn(directory)
      for (const text of ["", "no header", "{\"server\":1}\nx", "x".repeat(200_000)]) {
        const handle = yield* kept(spill, "x")
        yield* fs.writeFileString(fileOf(directory, handle), text)
        assert.strictEqual((yield* Effect.flip(spill.read(handle))).reason, "unreadable")
      }
    })
  )

  live(
    "that cannot be written leave nothing behind, and nobody fails for it",
    Effect.gen(function*() {
      const { directory, fs } = yield* place
      const lines: Array<unknown> = []
      const full: Partial<FileSystem.FileSystem> = {
        open: (path, options) =>
          Effect.map(
            fs.open(path, options),
            // `file` has methods in its prototype
            (file): FileSystem.File =>
              Object.assign(Object.create(file), { writeAll: () => Effect.fail(failing("Busy")) })
          )
      }
      const spill = yield* filesIn(directory, {}, full)
      assert.deepStrictEqual(
        yield* Effect.provide(spill.write("x", source), Logger.add(Logger.make(({ message }) => lines.push(message)))),
        Option.none()
      )
      assert.lengthOf(lines, 1)
      assert.deepStrictEqual(yield* fs.readDirectory(directory), [])
    })
  )

  it.scoped("are waited for no longer than a disk needs", () =>
    Effect.gen(function*() {
      const { directory } = yield* place
      const spill = yield* filesIn(directory, {}, { makeDirectory: () => Effect.never, readLink: () => Effect.never })
      const writing = yield* Effect.fork(spill.write("x", source))
      const reading = yield* Effect.fork(Effect.flip(spill.read(`spill-${"0".repeat(32)}`)))
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(yield* Fiber.join(writing), Option.none())
      assert.strictEqual((yield* Fiber.join(reading)).reason, "unreadable")
    }).pipe(Effect.provide(Layer.merge(platform, quiet))))

  live(
    "that cannot be opened say why",
    Effect.gen(function*() {
      const { directory } = yield* place
      const handle = yield* kept(yield* filesIn(directory), "x")
      for (const [error, reason] of [["PermissionDenied", "refused"], ["Busy", "unreadable"]] as const) {
        const spill = yield* filesIn(directory, {}, { readFile: () => Effect.fail(failing(error)) })
        assert.strictEqual((yield* Effect.flip(spill.read(handle))).reason, reason)
      }
    })
  )
})
