/**
 * A key-value store of small texts in files that only their owner can read. Writes are atomic, so a file is whole
 * despite other readers, other writers and a crash. Links, files of another name or owner, and files and folders that
 * others may write to are refused, because another user could have put them there. A file or folder of this user that
 * others may read is made private first, and refused if that fails. Modes and owners mean nothing on Windows, where the
 * access rules of the user's folders protect the files.
 */
import * as PlatformError from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as KeyValueStore from "@effect/platform/KeyValueStore"
import * as Path from "@effect/platform/Path"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as HostEnvironment from "../config/HostEnvironment.ts"
import { sha256 } from "../json/canonical.ts"
import * as FileLock from "./fileLock.ts"

export interface Options {
  /** The folder of the files, made private (mode 700) at its first use. Without one every operation fails. */
  readonly directory: string | undefined
  /** Bytes of a value; more are neither read nor written. */
  readonly maxBytes: number
  /** A value that was not written for so long is removed when something is written for the first time. */
  readonly maxAge: Duration.DurationInput
}

export const defaults: Omit<Options, "directory"> = { maxBytes: 16 * 1024 * 1024, maxAge: Duration.days(60) }

type Failure = PlatformError.PlatformError

export interface FileStore extends KeyValueStore.KeyValueStore {
  /** Writes the value if the key has none, and returns the value of the key: the same to all processes. */
  readonly create: (key: string, value: string) => Effect.Effect<string, Failure>
  /** Runs an effect in one process at a time for each key. `busy`: another process has kept the lock for too long. */
  readonly locked: <F>(
    key: string,
    failure: (fault: Failure | "busy") => F
  ) => <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | F, R>
  /** The keys that exist, as a predicate over one listing. */
  readonly present: Effect.Effect<(key: string) => boolean, Failure>
}

export const noFolder = "the environment names no folder for it"

const refuse = (path: string, description: string, reason: PlatformError.SystemErrorReason = "PermissionDenied") =>
  new PlatformError.SystemError({
    reason,
    module: "KeyValueStore",
    method: "access",
    pathOrDescriptor: path,
    description
  })

const missing = refuse("", noFolder, "NotFound")

const nowhere: FileStore = {
  ...KeyValueStore.makeStringOnly({
    get: () => missing,
    set: () => missing,
    remove: () => missing,
    clear: missing,
    size: missing
  }),
  create: () => missing,
  locked: (_, failure) => () => Effect.fail(failure(missing)),
  present: missing
}

/**
 * The custom directory, else a folder below that of the user for caches (`XDG_CACHE_HOME` or `~/.cache`, `~/Library/Caches`
 * on macOS) or for state (`XDG_STATE_HOME` or `~/.local/state`, `~/Library/Application Support`); on Windows `LOCALAPPDATA`.
 * `undefined` if the environment does not name it.
 */
export const directoryOf = (
  custom: string | undefined,
  kind: "cache" | "state",
  ...below: ReadonlyArray<string>
): Effect.Effect<string | undefined, never, Path.Path> =>
  Effect.gen(function*() {
    if (custom !== undefined) return custom
    const path = yield* Path.Path
    const { platform, variables } = yield* HostEnvironment.HostEnvironment
    // The XDG specification ignores relative ones, which would depend on where the process is started.
    const folder = (base: string | undefined, ...names: ReadonlyArray<string>) =>
      base === undefined || !path.isAbsolute(base) ? undefined : path.join(base, ...names, ...below)
    const { HOME, LOCALAPPDATA, USERPROFILE, XDG_CACHE_HOME, XDG_STATE_HOME } = variables()
    switch (platform) {
      case "win32":
        return folder(LOCALAPPDATA) ?? folder(USERPROFILE, "AppData", "Local")
      case "darwin":
        return folder(HOME, "Library", kind === "cache" ? "Caches" : "Application Support")
      default:
        return kind === "cache"
          ? folder(XDG_CACHE_HOME) ?? folder(HOME, ".cache")
          : folder(XDG_STATE_HOME) ?? folder(HOME, ".local", "state")
    }
  })

const isNotFound = (error: Failure): boolean => error._tag === "SystemError" && error.reason === "NotFound"

const fileName = /^[0-9a-f]{64}\.value$/
const leftover = /^[0-9a-f]{64}\.\d+\.tmp$/

/** No write takes so long: an older file was left by a process that crashed. */
const leftoverAge = 60 * 60 * 1000

const othersMayUse = 0o077
const othersMayWrite = 0o022
const allMayWrite = 0o002
const sticky = 0o1000

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** The store in a directory, which is made when something is first written. */
export const make = (
  options: Partial<Options> & Pick<Options, "directory">
): Effect.Effect<FileStore, never, FileSystem.FileSystem | Path.Path> =>
  options.directory === undefined
    ? Effect.succeed(nowhere)
    : makeIn(options.directory, { ...defaults, ...options })

const makeIn = Effect.fnUntraced(function*(directory: string, { maxAge, maxBytes }: Options) {
  const fs = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  const host = yield* HostEnvironment.HostEnvironment
  const lock = yield* FileLock.make
  const isWindows = host.platform === "win32"

  // The hash of a key is a legal name everywhere, and leads nowhere else.
  const nameOf = (key: string) => `${sha256(JSON.stringify(key))}.value`
  const fileOf = (key: string) => paths.join(directory, nameOf(key))

  // Checked, and then used: against mistakes and planted links, not against a process of the same user.
  const isLink = (path: string) => Effect.map(Effect.option(fs.readLink(path)), Option.isSome)

  const isForeign = ({ uid }: FileSystem.File.Info): boolean =>
    host.uid !== undefined && Option.isSome(uid) && uid.value !== host.uid

  /** Removes the rights of other users from a file or folder of this user; fails if the file system keeps them. */
  const tighten = (what: "directory" | "file", path: string, { mode }: FileSystem.File.Info) =>
    isWindows || (mode & othersMayUse) === 0 ? Effect.void : fs.chmod(path, mode & 0o700).pipe(
      Effect.zipRight(fs.stat(path)),
      Effect.catchIf((error) => !isNotFound(error), () => Effect.succeed({ mode })),
      Effect.filterOrFail(
        (now) => (now.mode & othersMayUse) === 0,
        () => refuse(path, `other users may read the ${what}, and its mode cannot be changed`)
      )
    )

  let checked = false
  let cleaned = false

  const check = Effect.gen(function*() {
    if (yield* isLink(directory)) return yield* refuse(directory, "the directory is a link")
    const info = yield* fs.stat(directory)
    if (!isWindows) {
      if (isForeign(info)) return yield* refuse(directory, "the directory belongs to another user")
      if ((info.mode & othersMayWrite) !== 0) return yield* refuse(directory, "others may write to the directory")
      yield* tighten("directory", directory, info)
      if (!checked) yield* checkWay
    }
    checked = true
  })

  /** A user who may rename a folder on the way to the directory can put another in its place. */
  const checkWay = Effect.gen(function*() {
    const isLinked = yield* isLink(paths.dirname(directory))
    let folder = yield* fs.realPath(directory)
    while (folder !== paths.dirname(folder)) {
      folder = paths.dirname(folder)
      const { mode } = yield* fs.stat(folder)
      const mayReplace = (mode & allMayWrite) !== 0 && (isLinked || (mode & sticky) === 0)
      if (mayReplace) return yield* refuse(folder, "others may write to a folder on the way to the directory")
    }
  })

  const names = Effect.catchIf(
    fs.readDirectory(directory),
    isNotFound,
    () => Effect.succeed<ReadonlyArray<string>>([])
  )
  const matching = (pattern: RegExp) =>
    Effect.map(names, (names) => names.filter((name) => pattern.test(name)).map((name) => paths.join(directory, name)))

  const removeOlder = (pattern: RegExp, age: number) =>
    Effect.gen(function*() {
      const now = yield* Clock.currentTimeMillis
      for (const path of yield* matching(pattern)) {
        const { mtime } = yield* fs.stat(path)
        if (Option.isSome(mtime) && now - mtime.value.getTime() > age) yield* fs.remove(path, { force: true })
      }
      // Old files that cannot be removed do not prevent a write.
    }).pipe(Effect.ignore)

  // Of several reads at once, the first checks for all.
  const firstCheck = yield* Effect.makeSemaphore(1)
  const prepareToRead = firstCheck.withPermits(1)(Effect.suspend(() => checked ? Effect.void : check))

  const prepareToWrite = Effect.gen(function*() {
    // Each time, because caches are removed while programs run.
    yield* fs.makeDirectory(directory, { recursive: true, mode: 0o700 })
    yield* check
    if (cleaned) return
    cleaned = true
    yield* removeOlder(leftover, leftoverAge)
    yield* removeOlder(fileName, Duration.toMillis(maxAge))
  })

  const get = (key: string): Effect.Effect<Option.Option<string>, Failure> => {
    const file = fileOf(key)
    const text = Effect.gen(function*() {
      yield* prepareToRead
      if (yield* isLink(file)) return yield* refuse(file, "the file is a link")
      const info = yield* fs.stat(file)
      // Reading a pipe would never end.
      if (info.type !== "File") return yield* refuse(file, "this is no file")
      if (isForeign(info)) return yield* refuse(file, "the file belongs to another user")
      if (Option.exists(info.nlink, (links) => links > 1)) return yield* refuse(file, "the file has another name")
      if (info.size > maxBytes) return yield* refuse(file, "the file is too large")
      if (!isWindows && (info.mode & othersMayWrite) !== 0) return yield* refuse(file, "others may write to the file")
      yield* tighten("file", file, info)
      return decoder.decode(yield* fs.readFile(file))
    })
    return Effect.catchIf(Effect.asSome(text), isNotFound, () => Effect.succeedNone)
  }

  /** Writes a file of another name and renames it, because neither a link nor a file of another user may be written to. */
  const set = (key: string, value: string): Effect.Effect<void, Failure> =>
    Effect.gen(function*() {
      const file = fileOf(key)
      const bytes = encoder.encode(value)
      if (bytes.length > maxBytes) return yield* refuse(file, "the value is too large")
      yield* prepareToWrite
      const random = yield* Random.nextIntBetween(0, Number.MAX_SAFE_INTEGER)
      const temporary = file.replace(/value$/, `${random}.tmp`)
      yield* fs.open(temporary, { flag: "wx", mode: 0o600 }).pipe(
        Effect.flatMap((opened) =>
          // an empty value is valid, and cannot be written
          Effect.zipRight(bytes.length === 0 ? Effect.void : opened.writeAll(bytes), opened.sync)
        ),
        Effect.scoped,
        Effect.zipRight(fs.rename(temporary, file)),
        Effect.onError(() => Effect.ignore(fs.remove(temporary, { force: true })))
      )
    })

  const locked =
    <F>(key: string, failure: (fault: Failure | "busy") => F, wait?: number) =>
    <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | F, R> =>
      Effect.zipRight(
        Effect.mapError(prepareToWrite, failure),
        lock.locked(directory, key, failure, wait)(effect)
      )

  const getOr = <E>(key: string, make: () => Effect.Effect<string, E>) =>
    Effect.flatMap(get(key), Option.match({ onNone: make, onSome: (value) => Effect.succeed(value) }))

  // Short waits, because the value is there before the lock is free where many processes create it.
  const create: FileStore["create"] = (key, value) =>
    getOr(key, () => getOr(key, () => Effect.as(set(key, value), value)).pipe(locked(key, identity, 50))).pipe(
      Effect.retry({ while: (fault) => fault === "busy", times: 200 }),
      Effect.mapError((fault) => fault === "busy" ? refuse(key, "another process is creating it") : fault)
    )

  // listed first, because a directory that does not exist need not be checked
  const present: FileStore["present"] = Effect.flatMap(names, (names) => {
    const existing = new Set(names)
    return Effect.as(existing.size === 0 ? Effect.void : prepareToRead, (key: string) => existing.has(nameOf(key)))
  })

  const values = matching(fileName)
  const store: FileStore = {
    ...KeyValueStore.makeStringOnly({
      get,
      set,
      remove: (key) => fs.remove(fileOf(key), { force: true }),
      clear: Effect.flatMap(values, Effect.forEach((file) => fs.remove(file, { force: true }), { discard: true })),
      size: Effect.map(values, (files) => files.length)
    }),
    create,
    locked,
    present
  }
  return store
})
