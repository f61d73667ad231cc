import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as PlatformError from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as KeyValueStore from "@effect/platform/KeyValueStore"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Option, Redacted, Schedule, type Scope, Stream, TestClock } from "effect"
import { execFileSync } from "node:child_process"
import * as ConfigFiles from "../../src/config/ConfigFiles.ts"
import * as HostEnvironment from "../../src/config/HostEnvironment.ts"
import * as Trust from "../../src/config/Trust.ts"
import * as McpEvent from "../../src/McpEvent.ts"
import * as FileStore from "../../src/node/FileStore.ts"
import * as NodeTrust from "../../src/node/NodeTrust.ts"
import * as ToolCache from "../../src/tools/ToolCache.ts"
import * as Configs from "../support/configs.ts"
import { named, source } from "../support/toolLists.ts"

const platform = Layer.merge(NodeFileSystem.layer, NodePath.layer)

const storeIn = (
  directory: string,
  options?: Partial<FileStore.Options>,
  seen?: Partial<FileSystem.FileSystem>
) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) =>
    FileStore.make({ directory, ...options }).pipe(
      Effect.provideService(FileSystem.FileSystem, { ...fs, ...seen }),
      Effect.provide(platform)
    ))

/** A folder that does not exist yet, in one that is removed afterwards. */
const place = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const root = yield* fs.makeTempDirectoryScoped()
  return { fs, root, directory: `${root}/cache/effect-mcp-runtime` }
})

const live = (name: string, test: Effect.Effect<void, unknown, FileSystem.FileSystem | Scope.Scope>) =>
  it.scopedLive(name, () => Effect.provide(test, platform))

const modeOf = (fs: FileSystem.FileSystem, path: string) => Effect.map(fs.stat(path), ({ mode }) => mode & 0o777)

const isRoot = process.getuid?.() === 0

describe("FileStore", () => {
  live(
    "returns set values, and none for missing or removed keys",
    Effect.gen(function*() {
      const { directory } = yield* place
      const store = yield* storeIn(directory)
      assert.deepStrictEqual(yield* store.get("a"), Option.none())
      yield* store.remove("a")
      yield* store.set("a", "one € \u0000")
      yield* store.set("b", new Uint8Array([1, 255]))
      assert.deepStrictEqual(yield* store.get("a"), Option.some("one € \u0000"))
      assert.deepStrictEqual(
        Option.map(yield* store.getUint8Array("b"), (bytes) => Array.from(bytes)),
        Option.some([1, 255])
      )
      yield* store.set("a", "two")
      assert.deepStrictEqual(yield* (yield* storeIn(directory)).get("a"), Option.some("two"))
      assert.strictEqual(yield* store.size, 2)
      yield* store.remove("a")
      assert.deepStrictEqual(yield* store.get("a"), Option.none())
    })
  )

  live(
    "creates nothing on disk before the first write",
    Effect.gen(function*() {
      const { directory, fs, root } = yield* place
      const store = yield* storeIn(directory)
      yield* store.get("a")
      assert.strictEqual(yield* store.size, 0)
      yield* store.clear
      assert.deepStrictEqual(yield* fs.readDirectory(root), [])
    })
  )

  live(
    "creates files and folders that only the user can read",
    Effect.gen(function*() {
      const { directory, fs } = yield* place
      const store = yield* storeIn(directory)
      yield* store.set("a", "1")
      const [file] = yield* fs.readDirectory(directory)
      assert.strictEqual(yield* modeOf(fs, directory), 0o700)
      assert.strictEqual(yield* modeOf(fs, `${directory}/${file}`), 0o600)
    })
  )

  live(
    "separates all keys, and never leaves its directory",
    Effect.gen(function*() {
      const { directory, fs, root } = yield* place
      const store = yield* storeIn(directory)
      const keys = [
        "",
        ".",
        "..",
        "../x",
        "/etc/passwd",
        "a/b",
        "A",
        "a",
        "\u0000",
        "\ud800",
        "\ud801",
        "x".repeat(5000)
      ]
      yield* Effect.forEach(keys, (key) => store.set(key, JSON.stringify(key)))
      for (const key of keys) assert.deepStrictEqual(yield* store.get(key), Option.some(JSON.stringify(key)))
      assert.deepStrictEqual(yield* fs.readDirectory(root), ["cache"])
      assert.deepStrictEqual(yield* fs.readDirectory(`${root}/cache`), ["effect-mcp-runtime"])
    })
  )

  live(
    "clears only its own values",
    Effect.gen(function*() {
      const { directory, fs } = yield* place
      const store = yield* storeIn(directory)
      yield* store.set("a", "1")
      yield* fs.writeFileString(`${directory}/notes.txt`, "mine")
      yield* store.clear
      assert.deepStrictEqual(yield* fs.readDirectory(directory), ["notes.txt"])
    })
  )

  live(
    "writes atomically under concurrent writers, and leaves no temporary files",
    Effect.gen(function*() {
      const { directory, fs } = yield* place
      const [one, other, reader] = yield* Effect.all([storeIn(directory), storeIn(directory), storeIn(directory)])
      const values = ["a", "b", "c", "d"].map((letter) => letter.repeat(200_000))
      yield* one.set("k", values[0]!)
      let writing = true
      const write = Effect.forEach(
        Array.from({ length: 24 }, (_, at) => at),
        (at) => (at % 2 === 0 ? one : other).set("k", values[at % 4]!),
        { concurrency: 6, discard: true }
      ).pipe(Effect.ensuring(Effect.sync(() => {
        writing = false
      })))
      const read = Effect.gen(function*() {
        let reads = 0
        while (writing) {
          const value = yield* reader.get("k")
          assert.isTrue(Option.isSome(value) && values.includes(value.value))
          reads++
        }
        return reads
      })
      const [, reads] = yield* Effect.all([write, read], { concurrency: 2 })
      assert.isAbove(reads, 0)
      assert.strictEqual((yield* fs.readDirectory(directory)).length, 1)
    })
  )

  live(
    "recreates its directory after it was removed",
    Effect.gen(function*() {
      const { directory, fs } = yield* place
      const store = yield* storeIn(directory)
      yield* store.set("a", "1")
      yield* fs.remove(directory, { recursive: true })
      assert.deepStrictEqual(yield* store.get("a"), Option.none())
      yield* store.set("a", "2")
      assert.deepStrictEqual(yield* store.get("a"), Option.some("2"))
    })
  )

  live(
    "removes temporary files of crashed processes, but not those in use",
    Effect.gen(function*() {
      const { directory, fs } = yield* place
      yield* fs.makeDirectory(directory, { recursive: true, mode: 0o700 })
      const old = `${directory}/${"0".repeat(64)}.1.tmp`
      const young = `${directory}/${"0".repeat(64)}.2.tmp`
      yield* Effect.forEach([old, young], (path) => fs.writeFileString(path, "half"))
      const twoHoursAgo = Date.now() / 1000 - 7200
      yield* fs.utimes(old, twoHoursAgo, twoHoursAgo)
      yield* (yield* storeIn(directory)).set("a", "1")
      assert.isFalse(yield* fs.exists(old))
      assert.isTrue(yield* fs.exists(young))
    })
  )

  live(
    "removes expired values",
    Effect.gen(function*() {
      const { directory, fs } = yield* place
      const store = yield* storeIn(directory)
      yield* store.set("old", "1")
      const [file] = yield* fs.readDirectory(directory)
      const longAgo = Date.now() / 1000 - 61 * 24 * 3600
      yield* fs.utimes(`${directory}/${file}`, longAgo, longAgo)
      const next = yield* storeIn(directory)
      yield* next.set("new", "2")
      assert.deepStrictEqual(yield* next.get("old"), Option.none())
      assert.strictEqual(yield* next.size, 1)
    })
  )

  live(
    "neither reads nor writes values over the size limit",
    Effect.gen(function*() {
      const { directory } = yield* place
      const small = yield* storeIn(directory, { maxBytes: 3 })
      yield* small.set("a", "€")
      assert.include((yield* Effect.flip(small.set("a", "€€"))).message, "the text is larger than")
      yield* (yield* storeIn(directory)).set("a", "€€")
      assert.include((yield* Effect.flip(small.get("a"))).message, "the file is larger than")
    })
  )

  live(
    "does not read links or directories, and replaces a link instead of writing through it",
    Effect.gen(function*() {
      const { directory, fs, root } = yield* place
      const store = yield* storeIn(directory)
      yield* store.set("a", "1")
      const file = `${directory}/${(yield* fs.readDirectory(directory))[0]}`
      const target = `${root}/target`
      yield* fs.writeFileString(target, "theirs")
      yield* fs.remove(file)
      yield* fs.symlink(target, file)
      assert.include((yield* Effect.flip(store.get("a"))).message, "link")
      yield* store.set("a", "2")
      assert.strictEqual(yield* fs.readFileString(target), "theirs")
      assert.deepStrictEqual(yield* store.get("a"), Option.some("2"))
      yield* fs.remove(file)
      yield* fs.makeDirectory(file)
      assert.include((yield* Effect.flip(store.get("a"))).message, "no file")
    })
  )

  live(
    "refuses a directory that is a link or writable by others",
    Effect.gen(function*() {
      const { fs, root } = yield* place
      const shared = `${root}/shared`
      yield* fs.makeDirectory(shared)
      yield* fs.chmod(shared, 0o777)
      yield* fs.symlink(root, `${root}/link`)
      for (
        const [directory, why] of [[shared, "is writable by other users"], [
          `${root}/link`,
          "is a symbolic link"
        ]] as const
      ) {
        const store = yield* storeIn(directory)
        assert.include((yield* Effect.flip(store.set("a", "1"))).message, why)
        assert.include((yield* Effect.flip(store.get("a"))).message, why)
      }
    })
  )

  live(
    "corrects the modes of its directory and files, and refuses them if that fails",
    Effect.gen(function*() {
      const { directory, fs } = yield* place
      yield* (yield* storeIn(directory)).set("a", "1")
      const file = `${directory}/${(yield* fs.readDirectory(directory))[0]}`
      // as on file systems that keep no modes, or are mounted for reading only
      const denied = new PlatformError.SystemError({
        reason: "PermissionDenied",
        module: "FileSystem",
        method: "chmod"
      })
      for (const chmod of [() => Effect.void, () => Effect.fail(denied)]) {
        yield* fs.chmod(file, 0o644)
        const stubborn = yield* storeIn(directory, {}, { chmod })
        const refused = yield* Effect.either(stubborn.get("a"))
        assert.include(String(refused), "the file is readable by other users, and its mode cannot be changed")
        yield* fs.chmod(directory, 0o755)
        for (const use of [stubborn.set("a", "2"), (yield* storeIn(directory, {}, { chmod })).get("a")]) {
          const outcome = yield* Effect.either<unknown, PlatformError.PlatformError, never>(use)
          assert.include(String(outcome), "the directory is readable by other users, and its mode cannot be changed")
        }
        yield* fs.chmod(directory, 0o700)
      }
      assert.deepStrictEqual(yield* (yield* storeIn(directory)).get("a"), Option.some("1"))
      assert.strictEqual(yield* modeOf(fs, file), 0o600)
    })
  )

  live(
    "refuses files with hard links, another owner, or no end",
    Effect.gen(function*() {
      const { directory, fs, root } = yield* place
      const store = yield* storeIn(directory)
      yield* store.set("a", "1")
      const file = `${directory}/${(yield* fs.readDirectory(directory))[0]}`
      yield* fs.link(file, `${root}/other`)
      assert.include((yield* Effect.flip(store.get("a"))).message, "another name")
      // what is written is a new file
      yield* store.set("a", "2")
      assert.deepStrictEqual(yield* store.get("a"), Option.some("2"))
      const planted = yield* storeIn(directory, {}, {
        stat: (path) => Effect.map(fs.stat(path), (info) => path === file ? { ...info, uid: Option.some(4_242) } : info)
      })
      assert.include((yield* Effect.flip(planted.get("a"))).message, "another user")
      yield* fs.remove(file)
      execFileSync("mkfifo", [file])
      assert.include((yield* Effect.flip(store.get("a"))).message, "no file")
    })
  )

  live(
    "refuses a directory of another user, and one below a folder writable by others",
    Effect.gen(function*() {
      const { fs, root } = yield* place
      const refusal = (directory: string, seen?: Partial<FileSystem.FileSystem>) =>
        Effect.flatMap(storeIn(directory, {}, seen), (store) => Effect.map(Effect.flip(store.set("a", "1")), String))
      const foreign = yield* refusal(`${root}/foreign`, {
        stat: (path) => Effect.map(fs.stat(path), (info) => ({ ...info, uid: Option.some(4_242) }))
      })
      assert.include(foreign, "another user")

      const open = `${root}/open`
      yield* fs.makeDirectory(open)
      yield* fs.chmod(open, 0o777)
      assert.include(yield* refusal(`${open}/a/b`), "a parent folder is writable by other users")
      // nobody can rename what is another's in a folder like this, but whoever comes first decides what a link leads to
      yield* fs.chmod(open, 0o1777)
      yield* (yield* storeIn(`${open}/a/b`)).set("a", "1")
      yield* fs.symlink(open, `${root}/link`)
      assert.include(yield* refusal(`${root}/link/c`), "a parent folder is writable by other users")
    })
  )

  live(
    "creates private files and folders regardless of the umask",
    Effect.gen(function*() {
      const { directory, fs } = yield* place
      const made: Array<readonly [string, number | undefined, string | undefined]> = []
      const store = yield* storeIn(directory, {}, {
        open: (path, options) => {
          made.push(["file", options?.mode, options?.flag])
          return fs.open(path, options)
        },
        makeDirectory: (path, options) => {
          made.push(["folder", options?.mode, undefined])
          return fs.makeDirectory(path, options)
        }
      })
      yield* store.set("a", "1")
      yield* store.locked("b")(store.set("b", "1"))
      assert.sameMembers([...new Set(made.map((each) => each.join(" ")))], [
        `folder ${0o700} `,
        `file ${0o600} wx`,
        // of the lock, whose names cannot be guessed
        `file ${0o600} a`
      ])
      assert.isAtLeast(made.length, 4)
    })
  )

  live(
    "locks a read and the following write, and leaves no lock file",
    Effect.gen(function*() {
      const { directory, fs } = yield* place
      const stores = yield* Effect.forEach(Array.from({ length: 8 }), () => storeIn(directory))
      yield* Effect.forEach(stores, (store) =>
        store.locked("count")(Effect.gen(function*() {
          const before = Option.getOrElse(yield* store.get("count"), () => "0")
          yield* store.set("count", String(Number(before) + 1))
        })), { concurrency: "unbounded", discard: true })
      assert.deepStrictEqual(yield* stores[0]!.get("count"), Option.some("8"))
      assert.lengthOf(yield* fs.readDirectory(directory), 1)
    })
  )

  live(
    "signs files with a key, and refuses unsigned ones",
    Effect.gen(function*() {
      const { directory, fs } = yield* place
      const signing = (text: string) => storeIn(directory, { key: Effect.succeed(Redacted.make(text)) })
      const store = yield* signing("one")
      for (const text of ["", "a\nb", "{}"]) {
        yield* store.set("a", text)
        assert.deepStrictEqual(yield* store.get("a"), Option.some(text))
      }
      const refused = (read: Effect.Effect<unknown, PlatformError.PlatformError>) =>
        Effect.map(
          Effect.flip(read),
          (error) => assert.strictEqual(error._tag === "SystemError" ? error.reason : error._tag, "InvalidData")
        )
      yield* refused((yield* signing("two")).get("a"))
      // a file that has the name of another
      yield* store.set("b", "for b")
      yield* fs.copyFile(store.nameOf("b"), store.nameOf("a"))
      yield* refused(store.get("a"))
      assert.deepStrictEqual(yield* store.get("b"), Option.some("for b"))
      yield* (yield* storeIn(directory)).set("b", "unsigned")
      yield* refused(store.get("b"))
      assert.deepStrictEqual(yield* store.get("c"), Option.none())
    })
  )

  live(
    "keeps a set-aside value under another name",
    Effect.gen(function*() {
      const { directory, fs } = yield* place
      const store = yield* storeIn(directory)
      yield* store.set("a", "damaged")
      yield* store.setAside("a")
      assert.deepStrictEqual(yield* store.get("a"), Option.none())
      yield* store.set("a", "new")
      const all = yield* Effect.forEach(
        yield* fs.readDirectory(directory),
        (name) => fs.readFileString(`${directory}/${name}`)
      )
      assert.sameMembers(all, ["damaged", "new"])
    })
  )

  live(
    "lists the keys that may have a value after one check of its directory",
    Effect.gen(function*() {
      const { directory, fs, root } = yield* place
      const links: Array<string> = []
      const readLink: typeof fs.readLink = (path) => {
        links.push(path)
        return fs.readLink(path)
      }
      const store = yield* storeIn(directory, {}, { readLink })
      const found = () => Effect.map(store.mayHave, (mayHave) => ["a", "b"].filter(mayHave))
      assert.deepStrictEqual(yield* found(), [])
      assert.deepStrictEqual(links, [directory])
      yield* store.set("a", "1")
      assert.deepStrictEqual(yield* found(), ["a"])
      yield* fs.symlink(directory, `${root}/link`)
      assert.include((yield* Effect.flip((yield* storeIn(`${root}/link`)).mayHave)).message, "is a symbolic link")
    })
  )

  live(
    "fails with the reason if the directory cannot be created",
    Effect.gen(function*() {
      const { fs, root } = yield* place
      yield* fs.writeFileString(`${root}/file`, "")
      const store = yield* storeIn(`${root}/file/below`)
      assert.strictEqual((yield* Effect.flip(store.set("a", "1")))._tag, "SystemError")
    })
  )
})

describe("directoryOf", () => {
  const folder = (platform: string, variables: Readonly<Record<string, string>>) =>
    Effect.provideService(
      FileStore.directoryOf(undefined, "cache", "effect-mcp-runtime"),
      HostEnvironment.HostEnvironment,
      { platform, variables: () => variables }
    )

  it.effect("follows the conventions of the platform and the user", () =>
    Effect.gen(function*() {
      const home = { HOME: "/home/u" }
      assert.strictEqual(yield* folder("linux", home), "/home/u/.cache/effect-mcp-runtime")
      assert.strictEqual(yield* folder("linux", { ...home, XDG_CACHE_HOME: "/var/c" }), "/var/c/effect-mcp-runtime")
      assert.strictEqual(
        yield* folder("linux", { ...home, XDG_CACHE_HOME: "relative" }),
        "/home/u/.cache/effect-mcp-runtime"
      )
      assert.strictEqual(yield* folder("darwin", { HOME: "/Users/u" }), "/Users/u/Library/Caches/effect-mcp-runtime")
      assert.isUndefined(yield* folder("linux", {}))
    }).pipe(Effect.provide(NodePath.layerPosix)))

  it.effect("uses LOCALAPPDATA on Windows", () =>
    Effect.gen(function*() {
      const local = "C:\\Users\\u\\AppData\\Local"
      assert.strictEqual(yield* folder("win32", { LOCALAPPDATA: local }), `${local}\\effect-mcp-runtime`)
      assert.strictEqual(yield* folder("win32", { USERPROFILE: "C:\\Users\\u" }), `${local}\\effect-mcp-runtime`)
      assert.isUndefined(yield* folder("win32", {}))
    }).pipe(Effect.provide(NodePath.layerWin32)))

  live(
    "is the default, and without it every operation fails",
    Effect.gen(function*() {
      const { fs, root } = yield* place
      const storeOn = (variables: Readonly<Record<string, string>>) =>
        Layer.effect(
          KeyValueStore.KeyValueStore,
          Effect.flatMap(FileStore.directoryOf(undefined, "cache"), (directory) => FileStore.make({ directory }))
        ).pipe(
          Layer.provide([platform, HostEnvironment.layer(variables)]),
          Layer.build,
          Effect.map(Context.get(KeyValueStore.KeyValueStore))
        )
      const homeless = yield* storeOn({})
      assert.include((yield* Effect.flip(homeless.get("a"))).message, "no folder")
      const store = yield* storeOn({ XDG_CACHE_HOME: root, HOME: root, LOCALAPPDATA: root })
      yield* store.set("a", "1")
      assert.isNotEmpty(yield* fs.readDirectory(root))
    })
  )
})

describe("Trust over files", () => {
  const asked = (server: string): Trust.Candidate => ({
    root: "/work",
    server,
    fingerprint: `sha256:${server}`,
    entry: { transport: "stdio", name: server, enabled: true, command: "node", args: [] },
    provenance: { provider: "native", scope: "project", origin: "workspace", pointer: [] },
    variables: [],
    hazards: []
  })
  const names = [
    "../../x",
    "CON",
    "a:b",
    "x".repeat(300),
    "\u{1f600}",
    ...Array.from({ length: 20 }, (_, at) => `s${at}`)
  ]

  const trustIn = (directory: string) =>
    NodeTrust.layer({ directory }).pipe(
      Layer.provide(McpEvent.layerNone),
      Layer.build,
      Effect.map(Context.get(Trust.Trust))
    )

  live(
    "loses no decision of concurrent processes, and keeps its files private",
    Effect.gen(function*() {
      const { directory, fs } = yield* place
      yield* Effect.forEach(
        names,
        (server) =>
          Effect.flatMap(
            trustIn(directory),
            (trust) => Effect.zipRight(trust.review([asked(server)]), trust.approve(server))
          ),
        {
          concurrency: "unbounded",
          discard: true
        }
      )
      const given = yield* Effect.flatMap(trustIn(directory), (trust) => trust.review(names.map(asked)))
      assert.isTrue(given.every(({ status }) => status._tag === "Approved"))
      const files = yield* fs.readDirectory(directory)
      assert.strictEqual(files.length, names.length)
      for (const file of files) {
        assert.match(file, /^[0-9a-f]{64}\.value$/)
        assert.strictEqual(yield* modeOf(fs, `${directory}/${file}`), 0o600)
      }
    })
  )

  live(
    "notices a decision of another process",
    Effect.gen(function*() {
      const { directory } = yield* place
      const [mine, theirs] = yield* Effect.all([trustIn(directory), trustIn(directory)])
      yield* theirs.review([asked("a")])
      const heard = Stream.runHead(mine.changes)
      // A new listener hears nothing of earlier decisions, so they are repeated, at a pace over the 50 ms of quiet that
      // `changes` waits for. Each is written whole, because the one that is heard may be the first.
      const deciding = Effect.forever(
        Effect.zipRight(Effect.uninterruptible(theirs.approve("a")), Effect.sleep("500 millis"))
      )
      assert.isTrue(Option.isSome(yield* Effect.raceFirst(heard, deciding)))
      // the last of these decisions may still be on its way to the disk
      const review = Effect.map(mine.review([asked("a")]), ([given]) => given?.status._tag)
      yield* Effect.repeat(Effect.zipLeft(review, Effect.sleep("10 millis")), { until: (tag) => tag === "Approved" })
    })
  )

  it.scoped("notices decisions that arrive continuously", () =>
    Effect.gen(function*() {
      const { directory } = yield* place
      const files = yield* ConfigFiles.make()
      const watch = () => Stream.concat(Stream.make(undefined), Stream.fromSchedule(Schedule.spaced("20 millis")))
      const trust = yield* NodeTrust.make({ directory }).pipe(
        Effect.provideService(ConfigFiles.ConfigFiles, { ...files, watch: () => Stream.as(watch(), undefined) }),
        Effect.provideServiceEffect(McpEvent.McpEvents, McpEvent.make())
      )
      let heard = 0
      yield* Effect.fork(Stream.runForEach(trust.changes, () => Effect.sync(() => void heard++)))
      yield* Effect.repeatN(TestClock.adjust("20 millis"), 50)
      assert.isAtLeast(heard, 10)
    }).pipe(Effect.provide(platform)))

  it.effect("is stored in the state folder of the user", () =>
    Effect.gen(function*() {
      const folder = (platform: string, variables: Readonly<Record<string, string>>) =>
        Effect.provideService(
          FileStore.directoryOf(undefined, "state", "app", "trust"),
          HostEnvironment.HostEnvironment,
          { platform, variables: () => variables }
        )
      assert.strictEqual(yield* folder("linux", { HOME: "/home/u" }), "/home/u/.local/state/app/trust")
      assert.strictEqual(yield* folder("linux", { HOME: "/home/u", XDG_STATE_HOME: "/s" }), "/s/app/trust")
      assert.strictEqual(
        yield* folder("darwin", { HOME: "/Users/u" }),
        "/Users/u/Library/Application Support/app/trust"
      )
      assert.isUndefined(yield* folder("linux", { XDG_CACHE_HOME: "/c" }))
    }).pipe(Effect.provide(NodePath.layerPosix)))

  live(
    "asks each time if it cannot be stored, and reports the reason",
    Effect.gen(function*() {
      const trust = yield* Effect.provide(
        Effect.map(Layer.build(Layer.provide(NodeTrust.layer(), McpEvent.layerNone)), Context.get(Trust.Trust)),
        HostEnvironment.layer({ XDG_CACHE_HOME: "/tmp" })
      )
      assert.deepInclude((yield* trust.review([asked("a")]))[0]?.status, { _tag: "Pending", why: "unreadable" })
      assert.include((yield* Effect.flip(trust.approve("a"))).message, "no folder")
    })
  )
})

describe("ToolCache over files", () => {
  const config = Configs.stdio({ name: "s", command: "node" })

  const run = <A, E>(directory: string, use: (tools: ToolCache.ServerTools) => Effect.Effect<A, E>) =>
    Effect.scoped(Effect.gen(function*() {
      const issues: Array<string> = []
      const events: McpEvent.McpEvents["Type"] = {
        ...yield* McpEvent.make(),
        publish: (event) => {
          if (event._tag === "CacheIssue") issues.push(event.detail)
        }
      }
      const context = yield* ToolCache.layerPersisted().pipe(
        Layer.provide(Layer.effect(KeyValueStore.KeyValueStore, FileStore.make({ directory }))),
        Layer.provide([platform, Layer.succeed(McpEvent.McpEvents, events)]),
        Layer.build
      )
      const tools = Context.get(context, ToolCache.ToolCache).open(config)
      yield* Effect.zipRight(tools.loaded, use(tools))
      return issues
    }))

  const fetch = (tools: ToolCache.ServerTools) => tools.fetch(source(named("a", "b")))

  live(
    "returns the tools of an earlier run",
    Effect.gen(function*() {
      const { directory } = yield* place
      assert.deepStrictEqual(yield* run(directory, fetch), [])
      yield* run(directory, (tools) =>
        Effect.sync(() => {
          assert.deepStrictEqual(tools.current()?.tools.map(({ name }) => name), ["a", "b"])
        }))
    })
  )

  live(
    "ignores a damaged file and replaces it",
    Effect.gen(function*() {
      const { directory, fs } = yield* place
      yield* run(directory, fetch)
      const file = `${directory}/${(yield* fs.readDirectory(directory))[0]}`
      yield* fs.truncate(file, 100)
      const issues = yield* run(directory, (tools) => {
        assert.isUndefined(tools.current())
        return fetch(tools)
      })
      assert.deepStrictEqual(issues, ["the snapshot of the tools is not used: it is malformed, or of another version"])
      assert.deepStrictEqual(yield* run(directory, (tools) => Effect.sync(() => assert.isDefined(tools.current()))), [])
    })
  )

  live(
    "works without a writable directory, and reports it",
    Effect.gen(function*() {
      const { fs, root } = yield* place
      const parent = `${root}/parent`
      yield* fs.makeDirectory(parent)
      // Root may write anywhere, but not below a file.
      if (isRoot) yield* fs.writeFileString(`${parent}/cache`, "")
      else yield* fs.chmod(parent, 0o500)
      const issues = yield* run(
        `${parent}/cache/tools`,
        (tools) => Effect.map(fetch(tools), () => assert.strictEqual(tools.current()!.tools.length, 2))
      )
      assert.isNotEmpty(issues)
      yield* fs.chmod(parent, 0o700)
    })
  )
})
