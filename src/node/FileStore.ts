/**
 * A key-value store of small texts in files that only their owner can read. A file is always whole, whoever else reads
 * and writes, and whenever the process dies.
 *
 * @since 0.1.0
 */
import * as PlatformError from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as KeyValueStore from "@effect/platform/KeyValueStore"
import * as Path from "@effect/platform/Path"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import { sha256 } from "../internal/sha256.ts"
import * as HostEnvironment from "../transport/HostEnvironment.ts"

/**
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** Where the files are (default: a folder for caches of the user). */
  readonly directory?: string | undefined
  /** Bytes of a value; more are neither read nor written. */
  readonly maxBytes: number
  /** A value that was not written for so long is removed when something is written for the first time. */
  readonly maxAge: Duration.DurationInput
}

/**
 * @since 0.1.0
 * @category defaults
 */
export const defaults: Options = { maxBytes: 16 * 1024 * 1024, maxAge: Duration.days(60) }

type Failure = PlatformError.PlatformError

const refuse = (method: string, path: string, description: string): PlatformError.SystemError =>
  new PlatformError.SystemError({
    reason: "PermissionDenied",
    module: "KeyValueStore",
    method,
    pathOrDescriptor: path,
    description
  })

/**
 * The folder for caches of the user: below `XDG_CACHE_HOME` or `~/.cache`, `~/Library/Caches` on macOS, and
 * `LOCALAPPDATA` on Windows. Nothing, if the environment does not say where that is.
 *
 * @since 0.1.0
 * @category combinators
 */
export const defaultDirectory = (host: HostEnvironment.Host, path: Path.Path): string | undefined => {
  const folder = cacheFolder(host, path)
  return folder === undefined ? undefined : path.join(folder, "effect-mcp-runtime")
}

const cacheFolder = ({ platform, variables }: HostEnvironment.Host, path: Path.Path): string | undefined => {
  // Relative ones do not count, says the XDG specification; anywhere, they would depend on where the process is started.
  const absolute = (folder: string | undefined, ...below: ReadonlyArray<string>) =>
    folder === undefined || !path.isAbsolute(folder) ? undefined : path.join(folder, ...below)
  const { HOME, LOCALAPPDATA, USERPROFILE, XDG_CACHE_HOME } = variables()
  switch (platform) {
    case "win32":
      return absolute(LOCALAPPDATA) ?? absolute(USERPROFILE, "AppData", "Local")
    case "darwin":
      return absolute(HOME, "Library", "Caches")
    default:
      return absolute(XDG_CACHE_HOME) ?? absolute(HOME, ".cache")
  }
}

const isNotFound = (error: Failure): boolean => error._tag === "SystemError" && error.reason === "NotFound"

const fileName = /^[0-9a-f]{64}\.value$/
const leftover = /^[0-9a-f]{64}\.\d+\.tmp$/

/** No write takes so long: what is older was left by a process that died. */
const leftoverAge = 60 * 60 * 1000

const othersMayWrite = 0o022

const make = Effect.fnUntraced(function*(options: Options) {
  const fs = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  const host = yield* HostEnvironment.HostEnvironment
  const maxAge = Duration.toMillis(options.maxAge)
  const directory = options.directory ?? defaultDirectory(host, paths)

  const inDirectory = <A>(method: string, use: (directory: string) => Effect.Effect<A, Failure>) =>
    directory === undefined
      ? Effect.fail(refuse(method, "", "the environment names no folder for it"))
      : use(directory)

  // A name made of the key's hash is a legal one everywhere, and leads nowhere else.
  const fileOf = (directory: string, key: string) => paths.join(directory, `${sha256(JSON.stringify(key))}.value`)

  // Checked, and then used: this is against mistakes and planted links, not against somebody who races with us as us.
  const isLink = (path: string) => Effect.map(Effect.option(fs.readLink(path)), Option.isSome)

  const check = (method: string, directory: string) =>
    Effect.gen(function*() {
      if (yield* isLink(directory)) return yield* refuse(method, directory, "the directory is a link")
      const { mode } = yield* fs.stat(directory)
      // On Windows the modes say nothing.
      if (host.platform !== "win32" && (mode & othersMayWrite) !== 0) {
        return yield* refuse(method, directory, "others may write to the directory")
      }
    })

  const namesIn = (directory: string, pattern: RegExp) =>
    Effect.map(
      Effect.catchIf(fs.readDirectory(directory), isNotFound, () => Effect.succeed<ReadonlyArray<string>>([])),
      (names) => names.filter((name) => pattern.test(name)).map((name) => paths.join(directory, name))
    )

  const removeOlder = (directory: string, pattern: RegExp, age: number) =>
    Effect.gen(function*() {
      const now = yield* Clock.currentTimeMillis
      for (const path of yield* namesIn(directory, pattern)) {
        const { mtime } = yield* fs.stat(path)
        if (Option.isSome(mtime) && now - mtime.value.getTime() > age) yield* fs.remove(path, { force: true })
      }
      // Litter that cannot be removed is no reason not to write.
    }).pipe(Effect.ignore)

  let checked = false
  let cleaned = false

  const firstCheck = yield* Effect.makeSemaphore(1)
  const prepareToRead = (method: string, directory: string) =>
    checked
      ? Effect.void
      // One after the other: of those who read at once, the first checks for all.
      : firstCheck.withPermits(1)(Effect.suspend(() =>
        checked ? Effect.void : Effect.map(check(method, directory), () => {
          checked = true
        })
      ))

  const prepareToWrite = (method: string, directory: string) =>
    Effect.gen(function*() {
      // Each time, because caches are removed while programs run.
      yield* fs.makeDirectory(directory, { recursive: true, mode: 0o700 })
      yield* check(method, directory)
      if (cleaned) return
      cleaned = true
      yield* removeOlder(directory, leftover, leftoverAge)
      yield* removeOlder(directory, fileName, maxAge)
    })

  const read = (method: string, key: string): Effect.Effect<Option.Option<Uint8Array>, Failure> =>
    inDirectory(method, (directory) => {
      const file = fileOf(directory, key)
      const bytes = Effect.gen(function*() {
        yield* prepareToRead(method, directory)
        if (yield* isLink(file)) return yield* refuse(method, file, "the file is a link")
        const { size, type } = yield* fs.stat(file)
        // Reading a pipe would never end.
        if (type !== "File") return yield* refuse(method, file, "this is no file")
        if (size > options.maxBytes) return yield* refuse(method, file, "the file is too large")
        return yield* fs.readFile(file)
      })
      return Effect.catchIf(Effect.asSome(bytes), isNotFound, () => Effect.succeedNone)
    })

  const write = (file: string, temporary: string, bytes: Uint8Array) => {
    const discard = Effect.ignore(fs.remove(temporary, { force: true }))
    // A new file or none at all: neither a link nor somebody else's file is written through.
    const written = Effect.flatMap(
      fs.open(temporary, { flag: "wx", mode: 0o600 }),
      (opened) => Effect.onError(Effect.zipRight(opened.writeAll(bytes), opened.sync), () => discard)
    )
    return Effect.zipRight(Effect.scoped(written), Effect.onError(fs.rename(temporary, file), () => discard))
  }

  const encoder = new TextEncoder()
  const decoder = new TextDecoder()

  return KeyValueStore.make({
    get: (key) => Effect.map(read("get", key), Option.map((bytes) => decoder.decode(bytes))),
    getUint8Array: (key) => read("getUint8Array", key),
    set: (key, value) =>
      inDirectory("set", (directory) =>
        Effect.gen(function*() {
          const file = fileOf(directory, key)
          const bytes = typeof value === "string" ? encoder.encode(value) : value
          if (bytes.length > options.maxBytes) return yield* refuse("set", file, "the value is too large")
          yield* prepareToWrite("set", directory)
          const random = yield* Random.nextIntBetween(0, Number.MAX_SAFE_INTEGER)
          yield* write(file, file.replace(/value$/, `${random}.tmp`), bytes)
        })),
    remove: (key) => inDirectory("remove", (directory) => fs.remove(fileOf(directory, key), { force: true })),
    clear: inDirectory(
      "clear",
      (directory) =>
        Effect.flatMap(
          namesIn(directory, fileName),
          (files) => Effect.forEach(files, (file) => fs.remove(file, { force: true }), { discard: true })
        )
    ),
    size: inDirectory("size", (directory) => Effect.map(namesIn(directory, fileName), (files) => files.length))
  })
})

/**
 * The store in a directory, which is made when something is first written.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (
  options?: Partial<Options>
): Layer.Layer<KeyValueStore.KeyValueStore, never, FileSystem.FileSystem | Path.Path> =>
  Layer.effect(KeyValueStore.KeyValueStore, make({ ...defaults, ...options }))
