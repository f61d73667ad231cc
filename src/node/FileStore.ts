/**
 * A key-value store of small texts in files that only their owner can read. Writes are atomic, so a file is whole
 * despite other readers, other writers and a crash. Links, files of another name or owner, and files and folders that
 * others may write to are refused, because another user could have put them there. A file or folder of this user that
 * others may read is made private first, and refused if that fails. Modes and owners mean nothing on Windows, where the
 * access rules of the user's folders protect the files.
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
import * as Equal from "effect/Equal"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as HostEnvironment from "../config/HostEnvironment.ts"
import { sha256 } from "../json/canonical.ts"

/**
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /**
   * The folder of the files, or a function that returns it (default: the user's cache folder). Every operation fails if
   * the function returns `undefined`. The folder is made private (mode 700) at its first use.
   */
  readonly directory?: string | ((host: HostEnvironment.Host, path: Path.Path) => string | undefined) | undefined
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

/**
 * @since 0.1.0
 * @category models
 */
export interface FileStore extends KeyValueStore.KeyValueStore {
  /** Writes only where there is nothing yet, and gives what is there then: the same to all processes that ask. */
  readonly create: (key: string, value: string) => Effect.Effect<string, Failure>
  /** Makes the directory, if it is not there, checks it as for a write, and says where it is: for other files beside. */
  readonly prepared: Effect.Effect<string, Failure>
  /** A look at which keys there are. */
  readonly present: Effect.Effect<(key: string) => boolean, Failure>
}

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
  const folder = folderFor("cache", host, path)
  return folder === undefined ? undefined : path.join(folder, "effect-mcp-runtime")
}

/**
 * The folder for what an application of the user must not forget: below `XDG_STATE_HOME` or `~/.local/state`,
 * `~/Library/Application Support` on macOS, and `LOCALAPPDATA` on Windows.
 *
 * @since 0.1.0
 * @category combinators
 */
export const stateDirectory = (app: string, host: HostEnvironment.Host, path: Path.Path): string | undefined => {
  const folder = folderFor("state", host, path)
  return folder === undefined ? undefined : path.join(folder, app)
}

const folderFor = (
  what: "cache" | "state",
  { platform, variables }: HostEnvironment.Host,
  path: Path.Path
): string | undefined => {
  // Relative ones do not count, says the XDG specification; anywhere, they would depend on where the process is started.
  const absolute = (folder: string | undefined, ...below: ReadonlyArray<string>) =>
    folder === undefined || !path.isAbsolute(folder) ? undefined : path.join(folder, ...below)
  const { HOME, LOCALAPPDATA, USERPROFILE, XDG_CACHE_HOME, XDG_STATE_HOME } = variables()
  switch (platform) {
    case "win32":
      return absolute(LOCALAPPDATA) ?? absolute(USERPROFILE, "AppData", "Local")
    case "darwin":
      return absolute(HOME, "Library", what === "cache" ? "Caches" : "Application Support")
    default:
      return what === "cache"
        ? absolute(XDG_CACHE_HOME) ?? absolute(HOME, ".cache")
        : absolute(XDG_STATE_HOME) ?? absolute(HOME, ".local", "state")
  }
}

const isThere = (error: Failure): boolean => error._tag === "SystemError" && error.reason === "AlreadyExists"

const isNotFound = (error: Failure): boolean => error._tag === "SystemError" && error.reason === "NotFound"

const fileName = /^[0-9a-f]{64}\.value$/
const leftover = /^[0-9a-f]{64}\.\d+\.tmp$/

/** No write takes so long: what is older was left by a process that died. */
const leftoverAge = 60 * 60 * 1000

const othersMayUse = 0o077
const othersMayWrite = 0o022
const anybodyMayWrite = 0o002
const sticky = 0o1000

const makeStore = Effect.fnUntraced(function*(options: Options) {
  const fs = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  const host = yield* HostEnvironment.HostEnvironment
  const maxAge = Duration.toMillis(options.maxAge)
  const place = options.directory ?? defaultDirectory
  const directory = typeof place === "string" ? place : place(host, paths)

  const inDirectory = <A>(method: string, use: (directory: string) => Effect.Effect<A, Failure>) =>
    directory === undefined
      ? Effect.fail(refuse(method, "", "the environment names no folder for it"))
      : use(directory)

  // A name made of the key's hash is a legal one everywhere, and leads nowhere else.
  const nameOf = (key: string) => `${sha256(JSON.stringify(key))}.value`
  const fileOf = (directory: string, key: string) => paths.join(directory, nameOf(key))

  // Checked, and then used: this is against mistakes and planted links, not against somebody who races with us as us.
  const isLink = (path: string) => Effect.map(Effect.option(fs.readLink(path)), Option.isSome)

  const isForeign = ({ uid }: FileSystem.File.Info): boolean =>
    host.uid !== undefined && Option.isSome(uid) && uid.value !== host.uid

  /** Removes the rights of other users from a file or folder of this user; fails if the file system keeps them. */
  const tighten = (
    method: string,
    what: "directory" | "file",
    path: string,
    { mode }: FileSystem.File.Info
  ): Effect.Effect<void, Failure> =>
    host.platform === "win32" || (mode & othersMayUse) === 0 ? Effect.void : fs.chmod(path, mode & 0o700).pipe(
      Effect.zipRight(fs.stat(path)),
      Effect.catchIf((error) => !isNotFound(error), () => Effect.succeed({ mode })),
      Effect.filterOrFail(
        (now) => (now.mode & othersMayUse) === 0,
        () => refuse(method, path, `other users may read the ${what}, and its mode cannot be changed`)
      )
    )

  const check = (method: string, directory: string) =>
    Effect.gen(function*() {
      if (yield* isLink(directory)) return yield* refuse(method, directory, "the directory is a link")
      const info = yield* fs.stat(directory)
      // On Windows the modes say nothing.
      if (host.platform === "win32") return
      if (isForeign(info)) return yield* refuse(method, directory, "the directory is somebody else's")
      if ((info.mode & othersMayWrite) !== 0) {
        return yield* refuse(method, directory, "others may write to the directory")
      }
      yield* tighten(method, "directory", directory, info)
      if (!safe) yield* checkWay(method, directory)
      safe = true
    })

  /** Whoever may rename a folder on the way to the directory can put another in its place. */
  const checkWay = (method: string, directory: string) =>
    Effect.gen(function*() {
      const parent = paths.dirname(directory)
      const isLinked = yield* isLink(parent)
      let folder = paths.dirname(yield* fs.realPath(directory))
      for (;;) {
        const { mode } = yield* fs.stat(folder)
        const mayReplace = (mode & anybodyMayWrite) !== 0 && (isLinked || (mode & sticky) === 0)
        if (mayReplace) return yield* refuse(method, folder, "others may write to a folder on the way to the directory")
        if (folder === paths.dirname(folder)) return
        folder = paths.dirname(folder)
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

  let safe = false
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
        const info = yield* fs.stat(file)
        // Reading a pipe would never end.
        if (info.type !== "File") return yield* refuse(method, file, "this is no file")
        if (isForeign(info)) return yield* refuse(method, file, "the file is somebody else's")
        if (yield* hasOtherName(directory, file, info)) return yield* refuse(method, file, "the file has another name")
        if (info.size > options.maxBytes) return yield* refuse(method, file, "the file is too large")
        if (host.platform !== "win32" && (info.mode & othersMayWrite) !== 0) {
          return yield* refuse(method, file, "others may write to the file")
        }
        yield* tighten(method, "file", file, info)
        return yield* fs.readFile(file)
      })
      return Effect.catchIf(Effect.asSome(bytes), isNotFound, () => Effect.succeedNone)
    })

  const linksOf = ({ nlink }: FileSystem.File.Info): number => Option.getOrElse(nlink, () => 1)

  /** Whether a file can be reached in a way that is not ours: one that is being created has a second name for a moment. */
  const hasOtherName = (directory: string, file: string, info: FileSystem.File.Info): Effect.Effect<boolean, Failure> =>
    linksOf(info) === 1 ? Effect.succeed(false) : Effect.gen(function*() {
      const prefix = file.replace(/value$/, "")
      let own = 1
      for (const name of yield* namesIn(directory, leftover)) {
        const other = name.startsWith(prefix) ? yield* Effect.option(fs.stat(name)) : Option.none()
        if (Option.isSome(other) && Equal.equals(other.value.ino, info.ino)) own++
      }
      return linksOf(info) > own && linksOf(yield* fs.stat(file)) > 1
    })

  const discard = (path: string) => Effect.ignore(fs.remove(path, { force: true }))

  // A new file or none at all: neither a link nor somebody else's file is written through.
  const writeNew = (path: string, bytes: Uint8Array) =>
    Effect.scoped(Effect.flatMap(
      fs.open(path, { flag: "wx", mode: 0o600 }),
      (opened) =>
        // nothing cannot be written, but can be a value
        (bytes.length === 0 ? Effect.void : opened.writeAll(bytes)).pipe(
          Effect.zipRight(opened.sync),
          Effect.onError(() => discard(path))
        )
    ))

  const temporaryOf = (file: string) =>
    Effect.map(
      Random.nextIntBetween(0, Number.MAX_SAFE_INTEGER),
      (random) => file.replace(/value$/, `${random}.tmp`)
    )

  const write = (file: string, bytes: Uint8Array) =>
    Effect.flatMap(temporaryOf(file), (temporary) =>
      Effect.zipRight(
        writeNew(temporary, bytes),
        Effect.onError(fs.rename(temporary, file), () => discard(temporary))
      ))

  /** Whole from the first moment, and only if nobody was first. */
  const writeFirst = (file: string, bytes: Uint8Array) =>
    Effect.flatMap(
      temporaryOf(file),
      (temporary) =>
        Effect.zipRight(writeNew(temporary, bytes), fs.link(temporary, file)).pipe(
          // not every file system can give a file two names
          Effect.catchIf((error) => !isThere(error), () => writeNew(file, bytes)),
          Effect.ensuring(discard(temporary))
        )
    ).pipe(
      Effect.catchIf(isThere, () => Effect.void)
    )

  const encoder = new TextEncoder()
  const decoder = new TextDecoder()

  const preparing = (method: string, key: string, value: string | Uint8Array) => (directory: string) =>
    Effect.gen(function*() {
      const file = fileOf(directory, key)
      const bytes = typeof value === "string" ? encoder.encode(value) : value
      if (bytes.length > options.maxBytes) return yield* refuse(method, file, "the value is too large")
      yield* prepareToWrite(method, directory)
      return { file, bytes }
    })

  const get = (key: string) => Effect.map(read("get", key), Option.map((bytes) => decoder.decode(bytes)))

  const create: FileStore["create"] = (key, value) =>
    inDirectory("create", (directory) =>
      preparing("create", key, value)(directory).pipe(
        Effect.flatMap(({ bytes, file }) => writeFirst(file, bytes)),
        Effect.zipRight(get(key)),
        // somebody has removed it since
        Effect.map(Option.getOrElse(() => value))
      ))

  const prepared: FileStore["prepared"] = inDirectory(
    "prepared",
    (directory) => Effect.as(prepareToWrite("prepared", directory), directory)
  )

  const present: FileStore["present"] = inDirectory(
    "present",
    (directory) =>
      // looked into first, because where there is none nothing is to be checked
      Effect.zipLeft(fs.readDirectory(directory), prepareToRead("present", directory)).pipe(
        Effect.catchIf(isNotFound, () => Effect.succeed([])),
        Effect.map((names) => {
          const there = new Set(names)
          return (key: string) => there.has(nameOf(key))
        })
      )
  )

  const store = KeyValueStore.make({
    get,
    getUint8Array: (key) => read("getUint8Array", key),
    set: (key, value) =>
      inDirectory(
        "set",
        (directory) => Effect.flatMap(preparing("set", key, value)(directory), ({ bytes, file }) => write(file, bytes))
      ),
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
  return { ...store, create, prepared, present }
})

/**
 * The store in a directory, which is made when something is first written.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  options?: Partial<Options>
): Effect.Effect<FileStore, never, FileSystem.FileSystem | Path.Path> => makeStore({ ...defaults, ...options })

/**
 * @since 0.1.0
 * @category layers
 */
export const layer = (
  options?: Partial<Options>
): Layer.Layer<KeyValueStore.KeyValueStore, never, FileSystem.FileSystem | Path.Path> =>
  Layer.effect(KeyValueStore.KeyValueStore, make(options))
