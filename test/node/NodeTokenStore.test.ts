import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as FileSystem from "@effect/platform/FileSystem"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Context, Effect, Layer, Logger, Redacted, type Scope } from "effect"
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
  "sealed by a keyring",
  Effect.flatMap(
    place,
    ({ directory }) =>
      open(NodeTokenStore.layer({ backend: "keyring", directory }), FakeKeyring.layer(FakeKeyring.make()))
  )
)

describe("logins in files", () => {
  live(
    "are private regardless of the umask (oa-044)",
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
    "are found by the next process, in one folder per application (oa-030)",
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
    "are not stored if the environment names no folder",
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
    "that are too large are not stored",
    Effect.gen(function*() {
      const { directory } = yield* place
      for (
        const layer of [
          NodeTokenStore.layer({ backend: "files", directory }),
          NodeTokenStore.layer({ backend: "keyring", directory })
        ]
      ) {
        const store = yield* open(layer, FakeKeyring.layer(FakeKeyring.make()))
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
    "get a private mode if other users could read them",
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
    "are not read from a file that is writable by others",
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
          `the file is writable by other users: remove it, or chmod it if you trust it (${file})`
        )
      }
    })
  )

  live(
    "are not read from a link, a hard link, or a file of another user",
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

describe("logins with a keyring", () => {
  live(
    "are encrypted, and use the keyring only once a login exists",
    Effect.gen(function*() {
      const { directory, fs } = yield* place
      const keyring = FakeKeyring.make()
      const store = yield* open(NodeTokenStore.layer({ directory }), FakeKeyring.layer(keyring))
      yield* store.locked("a")(Effect.void)
      assert.isUndefined(textOf(yield* store.get("a")))
      assert.strictEqual(keyring.asked, 0)
      yield* store.set("a", secret)
      assert.strictEqual(
        yield* store.where,
        `files in ${directory}, readable only by this user, encrypted with a key in the system keyring`
      )
      const [file, ...others] = yield* fs.readDirectory(directory)
      const sealed = yield* fs.readFileString(`${directory}/${file}`)
      assert.match(sealed, /^sealed:[\w+/=]+$/)
      assert.notInclude(Buffer.from(sealed.slice("sealed:".length), "base64").toString("latin1"), "secret")
      assert.deepStrictEqual(others, [])
      const next = yield* open(NodeTokenStore.layer({ directory }), FakeKeyring.layer(keyring))
      assert.strictEqual(textOf(yield* next.get("a")), "the-secret")
      assert.deepStrictEqual(Array.from(keyring.entries.values(), ({ length }) => length), [32])
      // the kernel's would be gone with the session
      assert.deepStrictEqual([...keyring.stores], ["secret-service"])
      yield* store.remove("a")
      assert.deepStrictEqual(yield* fs.readDirectory(directory), [])
    })
  )

  live(
    "are ignored if their file was changed, renamed, or encrypted with another key",
    Effect.gen(function*() {
      const { directory, fs } = yield* place
      const keyring = FakeKeyring.make()
      const opened = open(NodeTokenStore.layer({ directory }), FakeKeyring.layer(keyring))
      const store = yield* opened
      yield* store.set("a", secret)
      const [a] = yield* fs.readDirectory(directory)
      const sealed = yield* fs.readFileString(`${directory}/${a}`)
      yield* store.set("b", secret)
      const b = (yield* fs.readDirectory(directory)).find((name) => name !== a)
      yield* fs.writeFileString(`${directory}/${b}`, sealed)
      assert.isUndefined(textOf(yield* store.get("b")))
      for (let at = "sealed:".length; at < sealed.length - 2; at++) {
        const changed = `${sealed.slice(0, at)}${sealed[at] === "A" ? "B" : "A"}${sealed.slice(at + 1)}`
        yield* fs.writeFileString(`${directory}/${a}`, changed)
        assert.isUndefined(textOf(yield* store.get("a")))
      }
      yield* fs.writeFileString(`${directory}/${a}`, "sealed:")
      assert.isUndefined(textOf(yield* store.get("a")))
      yield* store.set("a", secret)
      keyring.entries.clear()
      assert.isUndefined(textOf(yield* (yield* opened).get("a")))
      yield* (yield* opened).set("a", Redacted.make("newer"))
      assert.strictEqual(textOf(yield* (yield* opened).get("a")), "newer")
    })
  )

  live(
    "share one key between concurrent processes",
    Effect.gen(function*() {
      const { directory } = yield* place
      const keyring = FakeKeyring.make()
      const opened = open(NodeTokenStore.layer({ directory }), FakeKeyring.layer(keyring))
      const names = Array.from({ length: 8 }, (_, at) => `${at}`)
      yield* Effect.forEach(names, (name) => Effect.flatMap(opened, (store) => store.set(name, Redacted.make(name))), {
        concurrency: "unbounded"
      })
      const store = yield* opened
      for (const name of names) assert.strictEqual(textOf(yield* store.get(name)), name)
    })
  )

  live(
    "are stored unencrypted with one warning without a keyring, or not at all if the keyring is required (oa-044)",
    Effect.gen(function*() {
      const shut = FakeKeyring.make()
      shut.mood = "shut"
      const locked = FakeKeyring.make()
      locked.mood = "locked"
      const forgetful = FakeKeyring.make()
      forgetful.mood = "forgetful"
      const without: ReadonlyArray<readonly [string, Layer.Layer<never>]> = [
        ["@napi-rs/keyring is not installed or does not support this system", missing],
        ["the system keyring denied access", FakeKeyring.layer(shut)],
        ["the system keyring denied access", FakeKeyring.layer(forgetful)],
        ["the system keyring did not respond in time", FakeKeyring.layer(locked)]
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
          `Logins are stored without encryption, in files in ${directory}, readable only by this user: ${why}.`
        ])
        assert.strictEqual(yield* store.where, `files in ${directory}, readable only by this user (${why})`)
        assert.lengthOf(yield* fs.readDirectory(directory), 2)

        const strict = yield* open(NodeTokenStore.layer({ ...options, backend: "keyring" }), keyring)
        const { detail, reason } = yield* failureOf(strict.set("c", secret))
        assert.deepStrictEqual({ detail, reason }, { detail: why, reason: "unavailable" })
        assert.isUndefined(textOf(yield* strict.get("a")))
        assert.strictEqual(yield* strict.where, `nowhere: ${why}`)
        assert.lengthOf(yield* fs.readDirectory(directory), 2)
      }
    })
  )

  const isHeadless = process.platform === "linux" && process.env["DBUS_SESSION_BUS_ADDRESS"] === undefined
  const headless = isHeadless ? it.scopedLive : it.scopedLive.skip

  headless("are kept as they are with the real package, on a machine without a screen", () =>
    Effect.gen(function*() {
      const { directory } = yield* place
      const { layer, lines } = yield* warnings
      const store = yield* open(NodeTokenStore.layer({ directory }))
      yield* Effect.provide(store.set("a", secret), layer)
      assert.lengthOf(lines, 1)
      assert.match(yield* store.where, /^files .* \(the system keyring denied access\)$/)
    }))

  live(
    "are stored again once the required keyring is unlocked",
    Effect.gen(function*() {
      const { directory } = yield* place
      const keyring = FakeKeyring.make()
      keyring.mood = "shut"
      const opened = open(NodeTokenStore.layer({ backend: "keyring", directory }), FakeKeyring.layer(keyring))
      const store = yield* opened
      yield* failureOf(store.set("a", secret))
      keyring.mood = "open"
      yield* store.set("a", secret)
      keyring.mood = "shut"
      assert.strictEqual(textOf(yield* store.get("a")), "the-secret")
      const failed = yield* failureOf((yield* opened).get("a"))
      assert.strictEqual(failed.reason, "unavailable")
      assert.notInclude(JSON.stringify(failed) + failed.message, "the-secret-in-its-text")
    })
  )

  live(
    "that were stored without a keyring are encrypted by the next write",
    Effect.gen(function*() {
      const { directory, fs } = yield* place
      yield* (yield* open(NodeTokenStore.layer({ backend: "files", directory }))).set("a", secret)
      const store = yield* open(NodeTokenStore.layer({ directory }), FakeKeyring.layer(FakeKeyring.make()))
      assert.strictEqual(textOf(yield* store.get("a")), "the-secret")
      yield* store.set("a", Redacted.make("newer"))
      const [file, ...others] = yield* fs.readDirectory(directory)
      assert.match(yield* fs.readFileString(`${directory}/${file}`), /^sealed:/)
      assert.deepStrictEqual(others, [])
      assert.strictEqual(textOf(yield* store.get("a")), "newer")
    })
  )

  live(
    "wait only once for a keyring that does not respond",
    Effect.gen(function*() {
      const { directory } = yield* place
      const keyring = FakeKeyring.make()
      keyring.mood = "locked"
      const options = { backend: "keyring", directory, timeout: "20 millis" } as const
      const store = yield* open(NodeTokenStore.layer(options), FakeKeyring.layer(keyring))
      for (let at = 0; at < 3; at++) yield* failureOf(store.set("a", secret))
      assert.strictEqual(keyring.asked, 1)
    })
  )
})
