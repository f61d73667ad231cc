import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as FileSystem from "@effect/platform/FileSystem"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Option, Queue, Stream, TestClock } from "effect"
import { execFileSync } from "node:child_process"
import * as ConfigFiles from "../../src/config/ConfigFiles.ts"
import * as HostEnvironment from "../../src/config/HostEnvironment.ts"

const { disk } = ConfigFiles.defaults

/** Files on a disk with faults. */
const access = (faults: Partial<ConfigFiles.Disk>, timeout = 2000) =>
  ConfigFiles.make({ disk: { ...disk, ...faults }, maxBytes: 1024, maxMatches: 10, timeout })

const platform = Layer.merge(NodeFileSystem.layer, NodePath.layer)

/** A folder of this test alone, by its real path. */
const folder = Effect.flatMap(
  FileSystem.FileSystem,
  (fs) => Effect.flatMap(fs.makeTempDirectoryScoped({ prefix: "mcp-files-" }), fs.realPath)
)

const host: HostEnvironment.Host = { platform: process.platform, variables: () => ({}), uid: process.getuid?.() }

const withFiles = <A, E, R>(
  use: (files: ConfigFiles.ConfigFiles["Type"], fs: FileSystem.FileSystem, at: string) => Effect.Effect<A, E, R>,
  options: Partial<ConfigFiles.Options> & { readonly host?: HostEnvironment.Host } = {}
) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const at = yield* folder
    const files = yield* ConfigFiles.make(options).pipe(
      Effect.provideService(HostEnvironment.HostEnvironment, options.host ?? host)
    )
    return yield* use(files, fs, at)
  }).pipe(Effect.provide(platform))

const show = (content: ConfigFiles.Content | ConfigFiles.Refused | undefined): string | undefined =>
  content?._tag === "Content" ? new TextDecoder().decode(content.bytes) : content?.kind

const workspace = { origin: "workspace" } as const
const home = { origin: "home" } as const

describe("reading a file", () => {
  it.scoped("gives its bytes, also those of a link's target", () =>
    withFiles((files, fs, at) =>
      Effect.gen(function*() {
        yield* fs.writeFileString(`${at}/a.json`, "{\"é\":1}")
        yield* fs.symlink(`${at}/a.json`, `${at}/b.json`)
        assert.strictEqual(show(yield* files.read(`${at}/a.json`, home)), "{\"é\":1}")
        assert.strictEqual(show(yield* files.read(`${at}/b.json`, home)), "{\"é\":1}")
      })
    ))

  it.scoped("gives nothing where there is nothing", () =>
    withFiles((files, fs, at) =>
      Effect.gen(function*() {
        yield* fs.writeFileString(`${at}/a`, "")
        yield* fs.symlink(`${at}/gone`, `${at}/dangling`)
        for (const path of ["none", "none/none", "a/none", "dangling"]) {
          assert.isUndefined(yield* files.read(`${at}/${path}`, workspace), path)
        }
        assert.strictEqual(show(yield* files.read(`${at}/a`, workspace)), "")
      })
    ))

  it.scoped("waits for no pipe, no device, and no folder", () =>
    withFiles((files, fs, at) =>
      Effect.gen(function*() {
        execFileSync("mkfifo", [`${at}/pipe`])
        yield* fs.symlink("/dev/zero", `${at}/zero`)
        yield* fs.symlink("/dev/tty", `${at}/tty`)
        yield* fs.makeDirectory(`${at}/folder`)
        for (const path of ["pipe", "zero", "tty", "folder"]) {
          assert.strictEqual(show(yield* files.read(`${at}/${path}`, workspace)), "not-a-file", path)
        }
      })
    ))

  it.scoped("reads as much as is allowed, also of a file that grows, and nothing of what the kernel makes up", () =>
    withFiles((files, fs, at) =>
      Effect.gen(function*() {
        yield* fs.writeFileString(`${at}/a`, "x".repeat(100))
        const limited = (maxBytes: number, faults: Partial<ConfigFiles.Disk> = {}) =>
          Effect.flatMap(
            ConfigFiles.make({ disk: { ...disk, ...faults }, maxBytes }),
            ({ read }) => Effect.map(read(`${at}/a`, workspace), show)
          )
        assert.strictEqual(yield* limited(100), "x".repeat(100))
        assert.strictEqual(yield* limited(99), "file-too-large")
        yield* fs.symlink("/proc/self/environ", `${at}/environ`)
        if (process.platform === "linux") {
          assert.strictEqual(show(yield* files.read(`${at}/environ`, workspace)), "")
        }

        // a file that says that it is small
        const tiny = async (stats: Promise<ConfigFiles.Stats>): Promise<ConfigFiles.Stats> => {
          const all = await stats
          return { ...all, isDirectory: () => all.isDirectory(), isFile: () => all.isFile(), size: 10 }
        }
        const growing: Partial<ConfigFiles.Disk> = {
          stat: (path) => tiny(disk.stat(path)),
          open: async (path) => {
            const handle = await disk.open(path)
            return {
              close: () => handle.close(),
              read: (buffer) => handle.read(buffer),
              stat: () => tiny(handle.stat())
            }
          }
        }
        assert.strictEqual(yield* limited(100, growing), "x".repeat(100))
        assert.strictEqual(yield* limited(99, growing), "file-too-large")
      })
    ))

  it.scoped("says that links lead in a circle", () =>
    withFiles((files, fs, at) =>
      Effect.gen(function*() {
        yield* fs.symlink(`${at}/b`, `${at}/a`)
        yield* fs.symlink(`${at}/a`, `${at}/b`)
        assert.strictEqual(show(yield* files.read(`${at}/a`, workspace)), "unreadable")
        assert.strictEqual(show(yield* files.read(`${at}/\0`, workspace)), "unreadable")
      })
    ))

  it.scoped("gives each of several what it gives one, in their order", () =>
    withFiles((files, fs, at) =>
      Effect.gen(function*() {
        const outside = yield* folder
        yield* fs.makeDirectory(`${at}/d`)
        yield* fs.writeFileString(`${at}/d/a`, "a")
        yield* fs.writeFileString(`${outside}/b`, "b")
        yield* fs.symlink(`${at}/d/a`, `${at}/linked`)
        yield* fs.symlink(outside, `${at}/out`)
        const wanted = ["d/a", "none", "out/b", "d", "linked"].map((name) => ({
          ...workspace,
          path: `${at}/${name}`,
          root: at
        }))
        const all = yield* files.readAll(wanted)
        assert.deepStrictEqual(all.map(show), ["a", undefined, "insecure-file", "not-a-file", "a"])
        const alone = yield* Effect.forEach(wanted, (one) => files.read(one.path, one))
        assert.deepStrictEqual(all, alone)
        assert.deepStrictEqual(yield* files.readAll([]), [])
      })
    ))

  it.scoped("loses to a volume that does not answer only what is on it", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const at = yield* folder
      for (const name of ["a", "b", "c"]) yield* fs.writeFileString(`${at}/${name}`, name)
      const closed = yield* Queue.unbounded<void>()
      const open = async (path: string): Promise<ConfigFiles.Handle> => {
        if (path.endsWith("b")) return new Promise(() => undefined)
        const handle = await disk.open(path)
        const close = async () => {
          await handle.close()
          closed.unsafeOffer(undefined)
        }
        return { close, read: (buffer) => handle.read(buffer), stat: () => handle.stat() }
      }
      const files = yield* access({ open })
      const wanted = ["a", "b", "c"].map((name) => ({ ...workspace, path: `${at}/${name}` }))
      const reading = yield* Effect.fork(files.readAll(wanted))
      yield* Queue.take(closed)
      yield* Queue.take(closed)
      // what follows the closing of a file has been done by then
      yield* Effect.promise(() => new Promise((done) => setImmediate(done)))
      yield* TestClock.adjust(2000)
      assert.deepStrictEqual((yield* Fiber.join(reading)).map(show), ["a", "unreadable", "c"])
    }).pipe(Effect.provide(platform)))

  it.scopedLive("does not wait for a volume that does not answer", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const at = yield* folder
      yield* fs.writeFileString(`${at}/a`, "a")
      const never = () => new Promise<never>(() => undefined)
      const files = yield* access({ open: never, readdir: never }, 20)
      assert.strictEqual(show(yield* files.read(`${at}/a`, workspace)), "unreadable")
      assert.deepStrictEqual(Array.from(yield* files.find([`${at}/*`])), [[`${at}/*`, []]])
    }).pipe(Effect.provide(platform)))

  it.scopedLive("does not wait for one pattern to know what another stands for", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const at = yield* folder
      for (const name of ["good", "stuck"]) yield* fs.makeDirectory(`${at}/${name}`)
      yield* fs.writeFileString(`${at}/good/a`, "a")
      const { readdir } = disk
      const files = yield* access({
        readdir: (path) => path.endsWith("stuck") ? new Promise(() => undefined) : readdir(path)
      }, 1000)
      assert.deepStrictEqual(
        Array.from(yield* files.find([`${at}/stuck/*`, `${at}/good/*`])),
        [[`${at}/stuck/*`, []], [`${at}/good/*`, [`${at}/good/a`]]]
      )
    }).pipe(Effect.provide(platform)))

  it.scopedLive("does not wait for where links lead, and reads nothing that may be outside of the workspace", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const at = yield* folder
      yield* fs.makeDirectory(`${at}/work/sub`, { recursive: true })
      yield* fs.writeFileString(`${at}/work/sub/a`, "a")
      yield* fs.symlink("sub", `${at}/work/linked`)
      const { realpath } = disk
      const stuck = {
        realpath: (path: string) => path.endsWith("linked") ? new Promise<never>(() => undefined) : realpath(path)
      }
      const files = yield* access(stuck, 20)
      assert.strictEqual(yield* files.realPath(`${at}/work/linked`), `${at}/work/linked`)
      const options = { ...workspace, root: `${at}/work` }
      assert.strictEqual(show(yield* files.read(`${at}/work/linked/a`, options)), "unreadable")
      const patient = yield* access(stuck, 60_000)
      assert.strictEqual(show(yield* patient.read(`${at}/work/sub/a`, options)), "a")
    }).pipe(Effect.provide(platform)))
})

describe.runIf(process.platform !== "win32")("a file that starts servers without being asked for", () => {
  it.scoped("is refused if other users can write to it or to its folder", () =>
    withFiles((files, fs, at) =>
      Effect.gen(function*() {
        yield* fs.makeDirectory(`${at}/d`)
        yield* fs.chmod(`${at}/d`, 0o755)
        const path = `${at}/d/a`
        yield* fs.writeFileString(path, "a")
        const outcome = (file: number, folder: number) =>
          Effect.gen(function*() {
            yield* fs.chmod(path, file)
            yield* fs.chmod(`${at}/d`, folder)
            const seen: Array<string | undefined> = []
            for (const origin of ["home", "system", "plugin", "workspace"] as const) {
              seen.push(show(yield* files.read(path, { origin })))
            }
            return seen.join()
          })
        const refused = "insecure-file,insecure-file,insecure-file,a"
        assert.strictEqual(yield* outcome(0o644, 0o755), "a,a,a,a")
        assert.strictEqual(yield* outcome(0o600, 0o700), "a,a,a,a")
        assert.strictEqual(yield* outcome(0o646, 0o755), refused)
        assert.strictEqual(yield* outcome(0o664, 0o755), refused)
        assert.strictEqual(yield* outcome(0o644, 0o777), refused)
        assert.strictEqual(yield* outcome(0o644, 0o775), refused)
        // as in /tmp, where nobody can exchange what belongs to another
        assert.strictEqual(yield* outcome(0o644, 0o1777), "a,a,a,a")
      })
    ))

  it.scoped("is refused by what its links lead to", () =>
    withFiles((files, fs, at) =>
      Effect.gen(function*() {
        yield* fs.makeDirectory(`${at}/open`)
        yield* fs.writeFileString(`${at}/open/a`, "a")
        yield* fs.chmod(`${at}/open`, 0o777)
        yield* fs.symlink(`${at}/open/a`, `${at}/a`)
        const content = yield* files.read(`${at}/a`, home)
        assert.strictEqual(show(content), "insecure-file")
        assert.include(content?._tag === "Refused" ? content.detail : "", `chmod go-w ${at}/open`)
      })
    ))

  const owned = (uid: number) => (files: ConfigFiles.ConfigFiles["Type"], fs: FileSystem.FileSystem, at: string) =>
    Effect.gen(function*() {
      yield* fs.writeFileString(`${at}/a`, "a")
      if (process.getuid?.() === 0) yield* fs.chown(`${at}/a`, uid, uid)
      return show(yield* files.read(`${at}/a`, home))
    })
  // whoever runs this test: a file of root's is given away, one of a user's is looked at as somebody else
  const stranger = process.getuid?.() === 0 ? host : { ...host, uid: 54321 }

  it.scoped("is refused if it belongs to another user", () =>
    Effect.map(withFiles(owned(12345), { host: stranger }), (seen) => assert.strictEqual(seen, "insecure-file")))

  it.scoped("is read if it belongs to this one", () =>
    Effect.map(
      withFiles(owned(12345), { host: process.getuid?.() === 0 ? { ...host, uid: 12345 } : host }),
      (seen) => assert.strictEqual(seen, "a")
    ))

  it.scoped("has no owner on Windows that says anything", () =>
    Effect.map(
      withFiles(owned(12345), { host: { ...stranger, platform: "win32" } }),
      (seen) => assert.strictEqual(seen, "a")
    ))
})

describe("a workspace", () => {
  it.scoped("has no folders that are somewhere else, but files that are", () =>
    withFiles((files, fs, at) =>
      Effect.gen(function*() {
        const root = `${at}/work`
        for (const path of [root, `${root}/.real`, `${at}/evil`, `${at}/work-too`]) yield* fs.makeDirectory(path)
        for (const path of [".real", "../evil", "../work-too"]) {
          yield* fs.writeFileString(`${root}/${path}/mcp.json`, path)
        }
        yield* fs.symlink(`${at}/evil`, `${root}/.ours`)
        yield* fs.symlink(`${at}/work-too`, `${root}/.sibling`)
        yield* fs.symlink(".real", `${root}/.inside`)
        yield* fs.symlink("../evil/mcp.json", `${root}/.mcp.json`)
        const read = (path: string) => Effect.map(files.read(`${root}/${path}`, { origin: "workspace", root }), show)
        assert.strictEqual(yield* read(".ours/mcp.json"), "insecure-file")
        assert.strictEqual(yield* read(".sibling/mcp.json"), "insecure-file")
        assert.strictEqual(yield* read(".inside/mcp.json"), ".real")
        assert.strictEqual(yield* read(".real/mcp.json"), ".real")
        assert.strictEqual(yield* read(".mcp.json"), "../evil")
        // and may itself be known by another name
        yield* fs.symlink(root, `${at}/alias`)
        const options = { origin: "workspace", root: `${at}/alias` } as const
        assert.strictEqual(show(yield* files.read(`${at}/alias/.inside/mcp.json`, options)), ".real")
        assert.strictEqual(show(yield* files.read(`${at}/alias/.ours/mcp.json`, options)), "insecure-file")
      })
    ))

  it.scoped("ends where its name ends", () =>
    withFiles((files, fs, at) =>
      Effect.gen(function*() {
        for (const path of ["work", "work-too", "work/sub", "work/..sub"]) {
          yield* fs.makeDirectory(`${at}/${path}`)
          yield* fs.writeFileString(`${at}/${path}/a`, path)
          // a file that is a link is read wherever its folder is, so only the folder decides
          yield* fs.symlink("a", `${at}/${path}/b`)
        }
        yield* fs.symlink(`${at}/work-too`, `${at}/work/link`)
        const read = (path: string) =>
          Effect.map(files.read(`${at}/${path}/b`, { ...workspace, root: `${at}/work` }), show)
        for (const path of ["work", "work/sub", "work-too/../work", "work/..sub"]) {
          assert.match((yield* read(path)) ?? "", /^work/, path)
        }
        for (const path of [".", "work-too", "work/..", "work/link", "work/sub/../../work-too"]) {
          assert.include([undefined, "insecure-file"], yield* read(path), path)
        }
        assert.strictEqual(yield* read("work-too"), "insecure-file")
        assert.strictEqual(yield* read("work/link"), "insecure-file")
        assert.strictEqual(yield* files.realPath(`${at}/work/link/none/x`), `${at}/work-too/none/x`)
        assert.deepStrictEqual(
          [yield* files.exists(`${at}/work/link`), yield* files.exists(`${at}/none`)],
          [true, false]
        )
      })
    ))
})

describe("a path with stars", () => {
  it.scoped("stands for nothing if its folders show that it is absent", () =>
    withFiles((files, fs, at) =>
      Effect.gen(function*() {
        yield* fs.makeDirectory(`${at}/a/b`, { recursive: true })
        for (const name of ["a/one", "a/b/two", "Three"]) yield* fs.writeFileString(`${at}/${name}`, "")
        const below = (names: ReadonlyArray<string>) => names.map((name) => `${at}/${name}`)
        const present = (paths: ReadonlyArray<string>) =>
          Effect.map(files.find(paths), (found) => paths.filter((path) => found.get(path)?.length !== 0))
        const there = below(["a/one", "a/b/two", "three", "a/o*", "a/*/two"])
        const gone = below(["b/one", "a/two", "a/c/two", "a/c/one", "a/*.json", "a/b/*/x", "b/*", "a/c/*"])
        assert.deepStrictEqual(yield* present([...gone, ...there]), there)
        // what cannot be looked into is not known to be absent
        yield* fs.chmod(`${at}/a`, 0o100)
        const hidden = yield* present(below(["a/x", "a/y", "z"]))
        yield* fs.chmod(`${at}/a`, 0o700)
        const isRoot = process.getuid?.() === 0
        assert.strictEqual(hidden.length, isRoot ? 0 : 2)
      })
    ))

  it.scoped("stands for what is there, sorted, and for no more than is allowed", () =>
    withFiles((files, fs, at) =>
      Effect.gen(function*() {
        for (const path of ["x/Claude_b/c", "x/Claude_a/c", "x/Claude/c", "x/.Claude_h/c", "y/Claude_z/c"]) {
          yield* fs.makeDirectory(`${at}/${path}`, { recursive: true })
          yield* fs.writeFileString(`${at}/${path}/m.json`, "")
        }
        const short = (paths: ReadonlyArray<string>) => paths.map((path) => path.slice(at.length + 1))
        const expanded = (files: ConfigFiles.ConfigFiles["Type"], pattern: string) =>
          Effect.map(files.find([`${at}/${pattern}`]), (found) => short(found.get(`${at}/${pattern}`) ?? ["none"]))
        const expand = (pattern: string) => expanded(files, pattern)
        assert.deepStrictEqual(yield* expand("x/Claude_*/c/*.json"), ["x/Claude_a/c/m.json", "x/Claude_b/c/m.json"])
        assert.deepStrictEqual(yield* expand("x/*_*/*/m.json"), ["x/Claude_a/c/m.json", "x/Claude_b/c/m.json"])
        assert.deepStrictEqual(yield* expand("x/.*/c/m.json"), ["x/.Claude_h/c/m.json"])
        assert.deepStrictEqual(yield* expand("x/Claude_a/c/*.yaml"), [])
        assert.deepStrictEqual(yield* expand("none/*/m.json"), [])
        assert.deepStrictEqual(yield* expand("x/Claude_a/c/m.json"), ["x/Claude_a/c/m.json"])
        const few = yield* ConfigFiles.make({ maxMatches: 2 })
        assert.deepStrictEqual(yield* expanded(few, "*/*/c/m.json"), [
          "x/Claude/c/m.json",
          "x/Claude_a/c/m.json"
        ])
      })
    ))
})

describe("watching", () => {
  /** What tells of changes, after the watching has begun; `told` waits for one, and lets those of the same change pass. */
  const watched = (files: ConfigFiles.ConfigFiles["Type"], paths: ReadonlyArray<string>) =>
    Effect.gen(function*() {
      const queue = yield* Stream.toQueueOfElements(files.watch(paths))
      yield* Queue.take(queue)
      const told = Effect.gen(function*() {
        yield* Queue.take(queue)
        let quiet = false
        while (!quiet) quiet = Option.isNone(yield* Effect.timeoutOption(Queue.take(queue), 250))
      })
      return { told, queue }
    })

  const changes: ReadonlyArray<
    readonly [string, (fs: FileSystem.FileSystem, at: string) => ReadonlyArray<Effect.Effect<unknown, unknown>>]
  > = [
    ["in place, and deleted and made again", (fs, at) => [
      fs.writeFileString(`${at}/d/a.json`, "1"),
      fs.writeFileString(`${at}/d/a.json`, "2"),
      fs.remove(`${at}/d/a.json`),
      fs.writeFileString(`${at}/d/a.json`, "2")
    ]],
    ["by another put in its place, and by what it may do", (fs, at) => [
      Effect.zipRight(fs.writeFileString(`${at}/d/t`, "3"), fs.rename(`${at}/d/t`, `${at}/d/a.json`)),
      fs.chmod(`${at}/d/a.json`, 0o600)
    ]],
    ["with folders that come, go and are exchanged", (fs, at) => [
      Effect.zipRight(
        fs.makeDirectory(`${at}/new/deep`, { recursive: true }),
        fs.writeFileString(`${at}/new/deep/b.json`, "1")
      ),
      fs.remove(`${at}/new`, { recursive: true }),
      Effect.zipRight(
        fs.makeDirectory(`${at}/other/deep`, { recursive: true }),
        Effect.zipRight(
          fs.writeFileString(`${at}/other/deep/b.json`, "2"),
          fs.rename(`${at}/other`, `${at}/new`)
        )
      ),
      fs.writeFileString(`${at}/new/deep/b.json`, "3")
    ]],
    ["behind a star", (fs, at) => [
      fs.writeFileString(`${at}/d/s.yaml`, "1"),
      fs.remove(`${at}/d/s.yaml`)
    ]]
  ]
  for (const [name, steps] of changes) {
    it.scopedLive(`tells of a file that is changed ${name}`, () =>
      withFiles((files, fs, at) =>
        Effect.gen(function*() {
          yield* fs.makeDirectory(`${at}/d`)
          yield* fs.writeFileString(`${at}/d/a.json`, "0")
          const paths = ["d/a.json", "new/deep/b.json", "d/*.yaml"]
          const { told } = yield* watched(files, paths.map((path) => `${at}/${path}`))
          for (const step of steps(fs, at)) {
            yield* step
            yield* told
          }
        }), { interval: 150 }))
  }

  const opened = () => process.getActiveResourcesInfo().filter((name) => name === "FSEventWrap").length
  // the system opens and closes them a moment later
  const until = (isSo: () => boolean) => Effect.repeat(Effect.sleep(10), { until: isSo })

  it.scopedLive("hears at once of what changes behind a link", () =>
    withFiles((files, fs, at) =>
      Effect.gen(function*() {
        yield* until(() => opened() === 0)
        yield* fs.makeDirectory(`${at}/target`)
        yield* fs.writeFileString(`${at}/target/l.json`, "0")
        yield* fs.symlink(`${at}/target/l.json`, `${at}/l.json`)
        const { told } = yield* watched(files, [`${at}/l.json`])
        yield* until(() => opened() === 2)
        yield* fs.writeFileString(`${at}/target/l.json`, "1")
        yield* told
      }), { interval: 60_000 }))

  it.scopedLive("does without the notices of the system", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const at = yield* folder
      const deaf = FileSystem.makeNoop({
        ...fs,
        watch: () => Stream.die("no more watches")
      })
      const files = yield* Effect.provideService(ConfigFiles.make({ interval: 30 }), FileSystem.FileSystem, deaf)
      const { told } = yield* watched(files, [`${at}/a`])
      yield* fs.writeFileString(`${at}/a`, "1")
      yield* told
      yield* fs.remove(`${at}/a`)
      yield* told
    }).pipe(Effect.provide(platform)))

  it.scopedLive("says nothing of other files, and leaves nothing behind", () =>
    withFiles((files, fs, at) =>
      Effect.gen(function*() {
        yield* until(() => opened() === 0)
        yield* Effect.scoped(Effect.gen(function*() {
          const { queue } = yield* watched(files, [`${at}/a`, `${at}/none/b`])
          yield* until(() => opened() > 0)
          yield* fs.writeFileString(`${at}/other`, "1")
          yield* fs.remove(`${at}/other`)
          yield* Effect.sleep(150)
          assert.strictEqual(yield* Queue.size(queue), 0)
        }))
        yield* until(() => opened() === 0)
      }), { interval: 60_000 }))
})

describe("files in memory", () => {
  const refused: ConfigFiles.Refused = { _tag: "Refused", kind: "insecure-file", detail: "why" }
  const content = new Map<string, string | Uint8Array | ConfigFiles.Refused>([
    ["/p/b.yaml", "b"],
    ["/p/a.yaml", new TextEncoder().encode("a")],
    ["/p/r", refused]
  ])

  it.effect("are read, found and changed as those of a disk", () =>
    Effect.gen(function*() {
      const files = yield* ConfigFiles.ConfigFiles
      assert.strictEqual(show(yield* files.read("/p/a.yaml", home)), "a")
      assert.strictEqual(yield* files.read("/p/r", home), refused)
      assert.isUndefined(yield* files.read("/p/toString", home))
      assert.deepStrictEqual(
        (yield* files.readAll(["/p/b.yaml", "/p", "/p/r"].map((path) => ({ ...home, path })))).map(show),
        ["b", undefined, "insecure-file"]
      )
      assert.deepStrictEqual(Array.from(yield* files.find(["/p/*.yaml", "/*/*/x"])), [
        ["/p/*.yaml", ["/p/a.yaml", "/p/b.yaml"]],
        ["/*/*/x", []]
      ])
      assert.deepStrictEqual([yield* files.exists("/p"), yield* files.exists("/pp")], [true, false])
      assert.strictEqual((yield* Stream.runCollect(files.watch(["/p/a.yaml"]))).length, 3)
    }).pipe(Effect.provide(ConfigFiles.layerMemory(content, Stream.make(undefined, undefined)))))
})
