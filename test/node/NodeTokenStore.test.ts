import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as FileSystem from "@effect/platform/FileSystem"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Context, Duration, Effect, Layer, Logger, Redacted, Runtime, type Scope } from "effect"
import type * as TokenStore from "../../src/auth/TokenStore.ts"
import { TokenStore as Tag } from "../../src/auth/TokenStore.ts"
import * as HostEnvironment from "../../src/config/HostEnvironment.ts"
import * as Keyring from "../../src/node/keyring.ts"
import * as NodeTokenStore from "../../src/node/NodeTokenStore.ts"
import * as FakeKeyring from "../support/fakeKeyring.ts"
import { textOf, tokenStoreContract } from "../support/tokenStoreContract.ts"

const platform = Layer.merge(NodeFileSystem.layer, NodePath.layer)

const open = (
  layer: Layer.Layer<TokenStore.TokenStore>,
  beneath: Layer.Layer<never> = Layer.empty
): Effect.Effect<TokenStore.TokenStore["Type"], never, Scope.Scope> =>
  Effect.map(Layer.build(Layer.provide(layer, beneath)), Context.get(Tag))

/** A folder that does not exist yet, in one that is removed afterwards. */
const place = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const root = yield* fs.makeTempDirectoryScoped()
  return { fs, root, directory: `${root}/app/logins` }
}).pipe(Effect.provide(platform), Effect.orDie)

const hostIs = (change: Partial<HostEnvironment.Host>): Layer.Layer<never> =>
  Layer.succeed(HostEnvironment.HostEnvironment, {
    platform: process.platform,
    variables: () => ({}),
    uid: process.getuid?.(),
    ...change
  })

const windows = hostIs({ platform: "win32" })

const live = (name: string, test: Effect.Effect<void, unknown, Scope.Scope>) => it.scopedLive(name, () => test)

const secret = Redacted.make("the-secret")

const missing = Layer.succeed(Keyring.KeyringLoader, Effect.fail(new Cause.UnknownException(new Error("none"))))

/** What is logged as a warning or worse. */
const warnings = Effect.sync(() => {
  const lines: Array<string> = []
  const logger = Logger.make(({ logLevel, message }) => {
    if (logLevel.ordinal >= 30_000) lines.push(String(message))
  })
  return { lines, layer: Logger.replace(Logger.defaultLogger, logger) }
})

const failureOf = <A>(effect: Effect.Effect<A, TokenStore.TokenStoreError>) => Effect.flip(effect)

tokenStoreContract(
  "in files",
  Effect.flatMap(place, ({ directory }) => open(NodeTokenStore.layer({ backend: "files", directory })))
)

tokenStoreContract(
  "in a keyring",
  Effect.flatMap(
    place,
    ({ directory }) =>
      open(NodeTokenStore.layer({ backend: "keyring", directory }), FakeKeyring.layer(FakeKeyring.make(100_000)))
  )
)

tokenStoreContract(
  "in a keyring of Windows",
  Effect.flatMap(
    place,
    ({ directory }) =>
      open(
        NodeTokenStore.layer({ backend: "keyring", directory }),
        Layer.merge(FakeKeyring.layer(FakeKeyring.make()), windows)
      )
  )
)

describe("logins in files", () => {
  live(
    "can be read and found by nobody else, also if the process lets everybody do everything (oa-044)",
    Effect.gen(function*() {
      const { directory, fs } = yield* place
      const store = yield* open(NodeTokenStore.layer({ backend: "files", directory }))
      const modeOf = (path: string) => Effect.map(fs.stat(path), ({ mode }) => mode & 0o777)
      const modes = Effect.gen(function*() {
        yield* store.set("a", secret)
        const names = yield* fs.readDirectory(directory)
        assert.lengthOf(names, 2)
        for (const name of names) assert.strictEqual(yield* modeOf(`${directory}/${name}`), 0o600)
        assert.strictEqual(yield* modeOf(directory), 0o700)
      })
      const before = process.umask(0)
      yield* Effect.ensuring(store.locked("a")(modes), Effect.sync(() => process.umask(before)))
      assert.lengthOf(yield* fs.readDirectory(directory), 1)
    })
  )

  live(
    "are found by the next process, each application's in a folder of its own below that of the user (oa-030)",
    Effect.gen(function*() {
      const { fs, root } = yield* place
      const of = (user: string, app: string) =>
        open(
          NodeTokenStore.layer({ backend: "files", app }),
          hostIs({ platform: "linux", variables: () => ({ HOME: `${root}/${user}` }) })
        )
      yield* (yield* of("one", "app")).set("a", secret)
      assert.strictEqual(textOf(yield* (yield* of("one", "app")).get("a")), "the-secret")
      assert.isUndefined(textOf(yield* (yield* of("one", "other")).get("a")))
      assert.isUndefined(textOf(yield* (yield* of("two", "app")).get("a")))
      assert.lengthOf(yield* fs.readDirectory(`${root}/one/.local/state/app/logins`), 1)
    })
  )

  live(
    "are nowhere, if the environment names no folder",
    Effect.gen(function*() {
      const store = yield* open(NodeTokenStore.layer({ backend: "files" }), hostIs({ platform: "linux" }))
      for (
        const failing of [store.get("a"), store.set("a", secret), store.remove("a"), store.locked("a")(Effect.void)]
      ) {
        assert.strictEqual((yield* failureOf<unknown>(failing)).reason, "unavailable")
      }
      assert.match(yield* store.where, /^nowhere/)
    })
  )

  live(
    "that are too large are not kept",
    Effect.gen(function*() {
      const { directory } = yield* place
      for (
        const layer of [
          NodeTokenStore.layer({ backend: "files", directory }),
          NodeTokenStore.layer({ backend: "keyring", directory })
        ]
      ) {
        const store = yield* open(layer, FakeKeyring.layer(FakeKeyring.make(1e9)))
        yield* store.set("a", Redacted.make("€".repeat(40_000)))
        const failed = yield* failureOf(store.set("a", Redacted.make("€".repeat(45_000))))
        assert.strictEqual(failed.reason, "unavailable")
        assert.strictEqual(textOf(yield* store.get("a"))?.length, 40_000)
      }
    })
  )

  /** Each makes the folder, or what is in it, something that somebody else could have put there or can change. */
  const planted: Record<string, (at: Effect.Effect.Success<typeof place>) => Effect.Effect<unknown, unknown>> = {
    "whose folder is a link": ({ directory, fs, root }) =>
      Effect.zipRight(fs.rename(directory, `${root}/elsewhere`), fs.symlink(`${root}/elsewhere`, directory)),
    "whose folder others may write to": ({ directory, fs }) => fs.chmod(directory, 0o777),
    "below a folder that others may write to": ({ directory, fs }) => fs.chmod(`${directory}/..`, 0o777)
  }

  for (const [what, plant] of Object.entries(planted)) {
    live(
      `${what} are neither read nor written, and nobody takes a turn there`,
      Effect.gen(function*() {
        const at = yield* place
        yield* (yield* open(NodeTokenStore.layer({ ...at, backend: "files" }))).set("a", secret)
        yield* plant(at)
        const store = yield* open(NodeTokenStore.layer({ ...at, backend: "files" }))
        for (const failing of [store.get("a"), store.set("a", secret), store.locked("a")(Effect.void)]) {
          assert.strictEqual((yield* failureOf<unknown>(failing)).reason, "refused")
        }
      })
    )
  }

  live(
    "are made private where other users could read them or their folder",
    Effect.gen(function*() {
      const { directory, fs } = yield* place
      yield* (yield* open(NodeTokenStore.layer({ backend: "files", directory }))).set("a", secret)
      const file = `${directory}/${(yield* fs.readDirectory(directory))[0]}`
      const modes = Effect.forEach([directory, file], (path) => Effect.map(fs.stat(path), ({ mode }) => mode & 0o777))
      for (const [folderMode, fileMode] of [[0o755, 0o644], [0o700, 0o640], [0o711, 0o600], [0o750, 0o604]] as const) {
        yield* fs.chmod(directory, folderMode)
        yield* fs.chmod(file, fileMode)
        const store = yield* open(NodeTokenStore.layer({ backend: "files", directory }))
        assert.strictEqual(textOf(yield* store.get("a")), Redacted.value(secret))
        assert.deepStrictEqual(yield* modes, [0o700, 0o600])
      }
      // a folder alone, before anything is written to it or read from it
      yield* fs.chmod(directory, 0o755)
      const store = yield* open(NodeTokenStore.layer({ backend: "files", directory }))
      yield* store.locked("b")(Effect.void)
      assert.deepStrictEqual(yield* modes, [0o700, 0o600])
    })
  )

  live(
    "are not read where other users may write to the file",
    Effect.gen(function*() {
      const { directory, fs } = yield* place
      const store = yield* open(NodeTokenStore.layer({ backend: "files", directory }))
      yield* store.set("a", secret)
      const file = `${directory}/${(yield* fs.readDirectory(directory))[0]}`
      yield* fs.chmod(file, 0o666)
      const read = yield* Effect.either(store.get("a"))
      assert.strictEqual(read._tag, "Left")
      if (read._tag === "Left") {
        assert.strictEqual(read.left.reason, "refused")
        assert.strictEqual(
          read.left.detail,
          `others may write to the file: remove it, or chmod it if you trust it (${file})`
        )
      }
    })
  )

  live(
    "are not read where they are a link, have another name, or belong to somebody else",
    Effect.gen(function*() {
      const { directory, fs, root } = yield* place
      const store = yield* open(NodeTokenStore.layer({ backend: "files", directory }))
      yield* store.set("a", secret)
      const [name] = yield* fs.readDirectory(directory)
      const file = `${directory}/${name}`
      yield* fs.link(file, `${root}/other`)
      assert.strictEqual((yield* failureOf(store.get("a"))).reason, "refused")
      yield* fs.remove(file)
      yield* fs.symlink(`${root}/other`, file)
      assert.strictEqual((yield* failureOf(store.get("a"))).reason, "refused")
      yield* store.set("b", secret)
      const stranger = yield* open(
        NodeTokenStore.layer({ backend: "files", directory }),
        hostIs({ uid: (process.getuid?.() ?? 0) + 1 })
      )
      const failed = yield* failureOf(stranger.get("b"))
      assert.deepStrictEqual(
        { reason: failed.reason, detail: failed.detail },
        { reason: "refused", detail: `the directory belongs to another user: remove it (${directory})` }
      )
      assert.strictEqual((yield* failureOf(stranger.locked("b")(Effect.void))).reason, "refused")
    })
  )

  const asRoot = process.getuid?.() === 0 ? it.scopedLive : it.scopedLive.skip

  asRoot("are not read if the file alone is somebody else's", () =>
    Effect.gen(function*() {
      const { directory, fs } = yield* place
      const store = yield* open(NodeTokenStore.layer({ backend: "files", directory }))
      yield* store.set("a", secret)
      const [name] = yield* fs.readDirectory(directory)
      yield* fs.chown(`${directory}/${name}`, 4711, 4711)
      assert.strictEqual((yield* failureOf(store.get("a"))).reason, "refused")
    }))
})

describe("logins in a keyring", () => {
  live(
    "are in no file, and the keyring is asked for nothing before somebody needs it",
    Effect.gen(function*() {
      const { directory, fs } = yield* place
      const keyring = FakeKeyring.make()
      const store = yield* open(NodeTokenStore.layer({ directory }), FakeKeyring.layer(keyring))
      yield* store.locked("a")(Effect.void)
      // most servers want no login, and nobody is to be asked to open a keyring for those
      assert.isUndefined(textOf(yield* store.get("a")))
      assert.strictEqual(keyring.asked, 0)
      yield* store.set("a", secret)
      assert.strictEqual(yield* store.where, "the keyring of the system")
      const [mark, ...others] = yield* fs.readDirectory(directory)
      assert.strictEqual(yield* fs.readFileString(`${directory}/${mark}`), "")
      assert.deepStrictEqual(others, [])
      const next = yield* open(NodeTokenStore.layer({ directory }), FakeKeyring.layer(keyring))
      assert.strictEqual(textOf(yield* next.get("a")), "the-secret")
      assert.deepStrictEqual(
        Array.from(keyring.entries.values(), (bytes) => new TextDecoder().decode(bytes)).toSorted(),
        ["mcp-runtime", "whole\nthe-secret"]
      )
      // the kernel's would be gone with the session
      assert.deepStrictEqual([...keyring.stores], ["secret-service"])
    })
  )

  live(
    "are kept in files with one notice where there is no keyring, and not at all where that is not wanted (oa-044)",
    Effect.gen(function*() {
      const shut = FakeKeyring.make()
      shut.mood = "shut"
      const locked = FakeKeyring.make()
      locked.mood = "locked"
      const forgetful = FakeKeyring.make()
      forgetful.mood = "forgetful"
      const without: ReadonlyArray<readonly [string, Layer.Layer<never>]> = [
        ["@napi-rs/keyring is not installed, or not for this system", missing],
        ["the keyring of the system refuses", FakeKeyring.layer(shut)],
        ["the keyring of the system refuses", FakeKeyring.layer(forgetful)],
        ["the keyring of the system does not answer", FakeKeyring.layer(locked)]
      ]
      for (const [why, keyring] of without) {
        const { directory, fs } = yield* place
        const options = { directory, timeout: "50 millis" } as const
        const { layer, lines } = yield* warnings
        const store = yield* open(NodeTokenStore.layer(options), keyring)
        assert.deepStrictEqual(lines, [])
        yield* Effect.all([store.set("a", secret), store.set("b", secret), store.get("a")], { concurrency: 3 }).pipe(
          Effect.provide(layer)
        )
        assert.deepStrictEqual(lines, [
          `Logins are kept in files in ${directory} that only this user can read instead of a keyring: ${why}.`
        ])
        assert.strictEqual(yield* store.where, `files in ${directory} that only this user can read (${why})`)
        assert.lengthOf(yield* fs.readDirectory(directory), 2)

        const strict = yield* open(NodeTokenStore.layer({ ...options, backend: "keyring" }), keyring)
        for (const failing of [strict.set("c", secret), strict.get("a"), strict.remove("a")]) {
          const { detail, reason } = yield* failureOf<unknown>(failing)
          assert.deepStrictEqual({ detail, reason }, { detail: why, reason: "unavailable" })
        }
        assert.strictEqual(yield* strict.where, `nowhere: ${why}`)
        assert.lengthOf(yield* fs.readDirectory(directory), 2)
      }
    })
  )

  const isHeadless = process.platform === "linux" && process.env["DBUS_SESSION_BUS_ADDRESS"] === undefined
  const headless = isHeadless ? it.scopedLive : it.scopedLive.skip

  headless("are kept in files by the real package, on a machine without a screen", () =>
    Effect.gen(function*() {
      const { directory } = yield* place
      const { layer, lines } = yield* warnings
      const store = yield* open(NodeTokenStore.layer({ directory }))
      yield* Effect.provide(store.set("a", secret), layer)
      assert.lengthOf(lines, 1)
      assert.match(yield* store.where, /^files .* \(the keyring of the system refuses\)$/)
    }))

  live(
    "are kept there again once it is open, if nothing else will do",
    Effect.gen(function*() {
      const { directory } = yield* place
      const keyring = FakeKeyring.make()
      keyring.mood = "shut"
      const store = yield* open(NodeTokenStore.layer({ backend: "keyring", directory }), FakeKeyring.layer(keyring))
      yield* failureOf(store.set("a", secret))
      keyring.mood = "open"
      yield* store.set("a", secret)
      keyring.mood = "shut"
      const failed = yield* failureOf(store.get("a"))
      assert.strictEqual(failed.reason, "unavailable")
      assert.notInclude(JSON.stringify(failed) + failed.message, "the-secret-in-its-text")
    })
  )

  live(
    "come over from the files where they were kept meanwhile, and are removed from both",
    Effect.gen(function*() {
      const { directory, fs } = yield* place
      const keyring = FakeKeyring.make()
      const opened = open(NodeTokenStore.layer({ directory }), FakeKeyring.layer(keyring))
      const files = yield* open(NodeTokenStore.layer({ backend: "files", directory }))
      yield* (yield* opened).set("a", Redacted.make("old"))
      yield* files.set("a", Redacted.make("newer"))
      const strict = yield* open(NodeTokenStore.layer({ backend: "keyring", directory }), FakeKeyring.layer(keyring))
      assert.strictEqual(textOf(yield* strict.get("a")), "old")
      const store = yield* opened
      assert.strictEqual(textOf(yield* store.get("a")), "newer")
      yield* store.set("a", Redacted.make("newest"))
      const [mark, ...others] = yield* fs.readDirectory(directory)
      assert.strictEqual(yield* fs.readFileString(`${directory}/${mark}`), "")
      assert.deepStrictEqual(others, [])
      assert.strictEqual(textOf(yield* store.get("a")), "newest")
      yield* files.set("a", Redacted.make("again"))
      yield* store.remove("a")
      assert.deepStrictEqual(yield* fs.readDirectory(directory), [])
      assert.isUndefined(textOf(yield* store.get("a")))
      assert.strictEqual(keyring.entries.size, 1)
    })
  )
})

describe("a secret that is too large for one entry", () => {
  const long = (letter: string) => letter.repeat(3000)
  const split = Effect.gen(function*() {
    const { directory } = yield* place
    const keyring = FakeKeyring.make()
    const store = yield* open(
      NodeTokenStore.layer({ backend: "keyring", directory }),
      Layer.merge(FakeKeyring.layer(keyring), windows)
    )
    yield* store.set("a", Redacted.make(long("€")))
    return { keyring, store }
  })

  live(
    "is split, and nothing of it is left when there is another, or none",
    Effect.gen(function*() {
      const { keyring, store } = yield* split
      // what it is tried with, the head, and 9000 bytes in parts of 2048
      assert.strictEqual(keyring.entries.size, 7)
      yield* store.set("a", Redacted.make(long("ü")))
      assert.strictEqual(keyring.entries.size, 5)
      assert.strictEqual(textOf(yield* store.get("a")), long("ü"))
      yield* store.set("a", Redacted.make("short"))
      assert.strictEqual(keyring.entries.size, 2)
      yield* store.set("a", Redacted.make(long("€")))
      yield* store.remove("a")
      assert.strictEqual(keyring.entries.size, 1)
    })
  )

  live(
    "stays what it was when another is written only in part",
    Effect.gen(function*() {
      const { keyring, store } = yield* split
      for (const writes of [0, 1, 2, 3]) {
        keyring.writes = writes
        yield* failureOf(store.set("a", Redacted.make(long("ü"))))
        assert.strictEqual(textOf(yield* store.get("a")), long("€"))
      }
      keyring.writes = Infinity
      yield* store.remove("a")
      assert.strictEqual(keyring.entries.size, 1)
    })
  )

  live(
    "leaves no part behind that was written before its writer died, once it is removed",
    Effect.gen(function*() {
      const { keyring, store } = yield* split
      keyring.writes = 2
      yield* failureOf(store.set("b", Redacted.make(long("ü"))))
      keyring.writes = Infinity
      assert.isUndefined(textOf(yield* store.get("b")))
      assert.strictEqual(keyring.entries.size, 9)
      yield* store.remove("b")
      assert.strictEqual(keyring.entries.size, 7)
    })
  )

  live(
    "is the old one or the new one to whoever reads while it is written",
    Effect.gen(function*() {
      const { module } = FakeKeyring.make()
      const options = { service: "app", partSize: 2048, timeout: Duration.seconds(10) }
      const { keyring: writer } = Keyring.make(module, options)
      const runPromise = Runtime.runPromise(yield* Effect.runtime<never>())
      let reads = 0
      class AsyncEntry extends module.AsyncEntry {
        // after the head has been read, and before its parts are
        override getSecret = () =>
          ++reads === 2
            ? runPromise(writer.set("a", long("ü"))).then(() => super.getSecret())
            : super.getSecret()
      }
      const { keyring: reader } = Keyring.make({ AsyncEntry }, options)
      yield* writer.set("a", long("€"))
      assert.strictEqual(yield* reader.get("a"), long("ü"))
      assert.isAbove(reads, 2)
    })
  )

  live(
    "is none at all if a part is missing, or is another's",
    Effect.gen(function*() {
      const { keyring, store } = yield* split
      const [name, bytes] = Array.from(keyring.entries).find(([name]) => name.endsWith(".a.1")) ?? []
      if (name === undefined || bytes === undefined) return assert.fail("there is no such part")
      keyring.entries.set(name, Uint8Array.from(bytes).fill(0x41))
      assert.isUndefined(textOf(yield* store.get("a")))
      keyring.entries.delete(name)
      assert.isUndefined(textOf(yield* store.get("a")))
      yield* store.set("a", Redacted.make(long("ü")))
      assert.strictEqual(textOf(yield* store.get("a")), long("ü"))
    })
  )
})

describe("a keyring that does not answer", () => {
  live(
    "writes nothing later that somebody had given up on, and is not asked again before it has answered",
    Effect.gen(function*() {
      const written: Array<string> = []
      const answers: Array<() => void> = []
      class AsyncEntry {
        getSecret() {
          return Promise.resolve(null)
        }
        setSecret(secret: Uint8Array) {
          return new Promise<void>((resolve) => {
            answers.push(() => {
              written.push(new TextDecoder().decode(secret))
              resolve()
            })
          })
        }
        deleteCredential() {
          return Promise.resolve(true)
        }
      }
      const { keyring } = Keyring.make({ AsyncEntry }, {
        service: "app",
        partSize: 2048,
        timeout: Duration.millis(30)
      })
      const sets = ["one", "two", "three"].map((text) => Effect.flip(keyring.set("a", text)))
      const silent = Keyring.silent
      // the second has read what is there, and waits to write
      assert.deepStrictEqual(yield* Effect.all(sets.slice(0, 2), { concurrency: 2 }), [silent, silent])
      assert.strictEqual(yield* sets[2]!, silent)
      assert.lengthOf(answers, 1)
      answers[0]?.()
      assert.strictEqual(yield* keyring.get("a"), undefined)
      assert.deepStrictEqual(written, ["whole\none"])
      assert.lengthOf(answers, 1)
    })
  )
})
