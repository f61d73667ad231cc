// @effect-diagnostics nodeBuiltinImport:off -- platform has no crypto
/**
 * Small texts in files that only the user can read. Writes are atomic, so that neither a reader nor a crash sees a partial
 * file.
 *
 * Refused, because another user may have created it: a folder or file that is a symbolic link, belongs to another user, or is
 * writable by others; a file with several hard links; a pipe or device; a folder below one that is writable by all users. A
 * folder or file that others can read gets another mode, and is refused if that fails. Windows has neither modes nor owners;
 * there the access rules of the user's folders apply.
 */
import * as PlatformError from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as KeyValueStore from "@effect/platform/KeyValueStore"
import * as Path from "@effect/platform/Path"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as Redacted from "effect/Redacted"
import { createHmac } from "node:crypto"
import * as HostEnvironment from "../config/HostEnvironment.ts"
import type * as TrustStore from "../config/TrustStore.ts"
import { sha256 } from "../json/canonical.ts"
import * as FileLock from "./fileLock.ts"

/** The key that signs the files. If it fails, files are neither written nor read. */
export type Key = Effect.Effect<Redacted.Redacted, { readonly message: string }>

export interface Options {
  /** The folder of the files, created at the first write. If `undefined`, every operation fails. */
  readonly directory: string | undefined
  /** The size limit of a text in bytes. */
  readonly maxBytes: number
  /** Older texts are not read, and the next write removes their files. */
  readonly maxAge: Duration.DurationInput
  /** The limits of all texts. A write removes the oldest files until they are met. */
  readonly maxTotalBytes: number
  readonly maxFiles: number
  /** Signs each file, which also protects it from programs of the same user that cannot read the key. */
  readonly key: Key | undefined
}

export const defaults: Omit<Options, "directory"> = {
  maxBytes: 16 * 1024 * 1024,
  maxAge: Duration.days(60),
  maxTotalBytes: Infinity,
  maxFiles: Infinity,
  key: undefined
}

type Failure = PlatformError.PlatformError

export type FileStore = KeyValueStore.KeyValueStore & TrustStore.TrustStore["Type"] & {
  /** Removes the files that are over the limits, without a write. */
  readonly sweep: Effect.Effect<void, Failure>
}

export const noFolder = "the environment names no folder"

const refuse = (
  pathOrDescriptor: string,
  description: string,
  reason: PlatformError.SystemErrorReason = "PermissionDenied"
) => new PlatformError.SystemError({ reason, module: "KeyValueStore", method: "access", pathOrDescriptor, description })

/**
 * The custom directory, or else a subfolder of the user's cache folder (`XDG_CACHE_HOME` or `~/.cache`; `~/Library/Caches` on
 * macOS) or state folder (`XDG_STATE_HOME` or `~/.local/state`; `~/Library/Application Support`); on Windows `LOCALAPPDATA`.
 * `undefined` if the environment names none.
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
    // the XDG specification ignores relative paths, which would depend on the current folder
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

const valueName = /^[0-9a-f]{64}\.value$/
const writtenName = /^[0-9a-f]{64}\.(value|\d+\.tmp)$/

/** An older temporary file was left by a process that crashed. */
const temporaryAge = Duration.toMillis("1 hour")

const othersMayUse = 0o077
const othersMayWrite = 0o022
const allMayWrite = 0o002
const sticky = 0o1000

const encoder = new TextEncoder()
const decoder = new TextDecoder("utf-8", { ignoreBOM: true })

export const make = Effect.fnUntraced(function*(
  options: Partial<Options> & Pick<Options, "directory">
): Effect.fn.Return<FileStore, never, FileSystem.FileSystem | Path.Path> {
  const { directory = "", key: signingKey, maxBytes, maxFiles, maxTotalBytes, ...rest } = { ...defaults, ...options }
  const maxAge = Duration.toMillis(rest.maxAge)
  const fs = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  const host = yield* HostEnvironment.HostEnvironment
  const lock = yield* FileLock.make
  const isWindows = host.platform === "win32"

  // the hash of a key is a valid file name on every system, and contains no path
  const fileOf = (key: string): string => paths.join(directory, `${sha256(JSON.stringify(key))}.value`)

  // Protects against planted links, not against races with a process of the same user. Fails if the path does not exist.
  const isLink = (path: string): Effect.Effect<boolean, Failure> =>
    Effect.catchIf(Effect.as(fs.readLink(path), true), (error) => !isNotFound(error), () => Effect.succeed(false))

  /** The checks of both files and folders. */
  const checkAccess = Effect.fnUntraced(
    function*(what: "directory" | "file", path: string, info: FileSystem.File.Info) {
      if (isWindows) return
      const { mode, uid } = info
      if (host.uid !== undefined && Option.isSome(uid) && uid.value !== host.uid) {
        return yield* refuse(path, `the ${what} belongs to another user: remove it`)
      }
      if ((mode & othersMayWrite) !== 0) {
        return yield* refuse(path, `the ${what} is writable by other users: remove it, or chmod it if you trust it`)
      }
      if ((mode & othersMayUse) === 0) return
      const now = yield* fs.chmod(path, mode & 0o700).pipe(
        Effect.zipRight(fs.stat(path)),
        Effect.catchIf((error) => !isNotFound(error), () => Effect.succeed(info))
      )
      if ((now.mode & othersMayUse) !== 0) {
        return yield* refuse(path, `the ${what} is readable by other users, and its mode cannot be changed`)
      }
    }
  )

  /** A user with write access to a parent folder could replace the directory. */
  const checkWay = Effect.gen(function*() {
    const isLinked = yield* isLink(paths.dirname(directory))
    let folder = yield* fs.realPath(directory)
    while (folder !== paths.dirname(folder)) {
      folder = paths.dirname(folder)
      const { mode } = yield* fs.stat(folder)
      const mayReplace = (mode & allMayWrite) !== 0 && (isLinked || (mode & sticky) === 0)
      if (mayReplace) return yield* refuse(folder, "a parent folder is writable by other users")
    }
  })

  let isChecked = false
  const check = Effect.gen(function*() {
    if (yield* isLink(directory)) return yield* refuse(directory, "the directory is a symbolic link")
    yield* checkAccess("directory", directory, yield* fs.stat(directory))
    if (!isChecked && !isWindows) yield* checkWay
    isChecked = true
  })
  const located = options.directory === undefined ? refuse("", noFolder, "BadResource") : Effect.void
  const prepareToRead = Effect.zipRight(located, Effect.suspend(() => isChecked ? Effect.void : check))

  const matching = (pattern: RegExp) =>
    fs.readDirectory(directory).pipe(
      Effect.catchIf(isNotFound, () => Effect.succeed<ReadonlyArray<string>>([])),
      Effect.map((names) => names.filter((name) => pattern.test(name)).map((name) => paths.join(directory, name)))
    )

  const timeOf = ({ mtime }: FileSystem.File.Info): number =>
    Option.match(mtime, { onNone: () => 0, onSome: (time) => time.getTime() })

  /** Makes room for this many bytes. Ignores files that cannot be removed. */
  const sweep = Effect.fnUntraced(function*(room: number) {
    const now = yield* Clock.currentTimeMillis
    // a broken link has neither size nor time
    const seen = (path: string) =>
      Effect.map(Effect.option(fs.stat(path)), (info) => ({
        path,
        size: Option.match(info, { onNone: () => 0, onSome: ({ size }) => Number(size) }),
        at: Option.match(info, { onNone: () => 0, onSome: timeOf })
      }))
    const found = yield* Effect.forEach(yield* matching(writtenName), seen, { concurrency: 16 })
    let bytes = room
    let files = room === 0 ? 0 : 1
    for (const { at, path, size } of found.toSorted((a, b) => b.at - a.at)) {
      if (path.endsWith(".tmp") && now - at <= temporaryAge) continue
      if (path.endsWith(".value") && now - at <= maxAge && bytes + size <= maxTotalBytes && files < maxFiles) {
        bytes += size
        files++
      } else yield* Effect.ignore(fs.remove(path, { force: true }))
    }
  })

  let isSwept = false
  const prepareToWrite = Effect.fnUntraced(function*(bytes: number) {
    yield* located
    // at each write, because users delete caches while programs run
    yield* fs.makeDirectory(directory, { recursive: true, mode: 0o700 })
    yield* check
    if (isSwept && maxTotalBytes === Infinity && maxFiles === Infinity) return
    isSwept = true
    yield* sweep(bytes)
  })

  /** Adds the signature as the first line. */
  const sign = (file: string, text: string) =>
    signingKey === undefined ? Effect.succeed(text) : Effect.mapBoth(signingKey, {
      onFailure: ({ message }) => refuse(file, `the signing key is not available: ${message}`, "Unknown"),
      onSuccess: (key) => {
        const name = paths.basename(file)
        return `${createHmac("sha256", Redacted.value(key)).update(`${name}\n${text}`).digest("hex")}\n${text}`
      }
    })
  const unsign = (file: string, signed: string) => {
    if (signingKey === undefined) return Effect.succeed(signed)
    const text = signed.slice(signed.indexOf("\n") + 1)
    return Effect.flatMap(sign(file, text), (right) =>
      // compares hashes, because the duration of a direct comparison would reveal matching characters
      sha256(signed) === sha256(right)
        ? Effect.succeed(text)
        : refuse(file, "the file was not signed with the key of this store", "InvalidData"))
  }

  const get = Effect.fnUntraced(function*(key: string) {
    const file = fileOf(key)
    yield* prepareToRead
    if (yield* isLink(file)) return yield* refuse(file, "the file is a link: remove it")
    const info = yield* fs.stat(file)
    // reading a pipe would never end
    if (info.type !== "File") return yield* refuse(file, "this is no file: remove it")
    if (Option.exists(info.nlink, (links) => links > 1)) {
      return yield* refuse(file, "the file has another name: remove it")
    }
    if ((yield* Clock.currentTimeMillis) - timeOf(info) > maxAge) return Option.none()
    if (info.size > maxBytes) return yield* refuse(file, `the file is larger than ${maxBytes} bytes`)
    yield* checkAccess("file", file, info)
    return Option.some(yield* unsign(file, decoder.decode(yield* fs.readFile(file))))
  }, Effect.catchIf(isNotFound, () => Effect.succeedNone))

  /** Writes a new file and renames it, so that an existing link or file is never written to. */
  const set = Effect.fnUntraced(function*(key: string, value: string) {
    const file = fileOf(key)
    const bytes = encoder.encode(yield* sign(file, value))
    if (bytes.length > maxBytes) return yield* refuse(file, `the text is larger than ${maxBytes} bytes`)
    yield* prepareToWrite(bytes.length)
    const random = yield* Random.nextIntBetween(0, Number.MAX_SAFE_INTEGER)
    const temporary = file.replace(/value$/, `${random}.tmp`)
    yield* fs.open(temporary, { flag: "wx", mode: 0o600 }).pipe(
      // `writeAll` does not accept an empty text
      Effect.tap((opened) => bytes.length === 0 ? Effect.void : opened.writeAll(bytes)),
      Effect.flatMap(({ sync }) => sync),
      Effect.scoped,
      Effect.zipRight(fs.rename(temporary, file)),
      Effect.onError(() => Effect.ignore(fs.remove(temporary, { force: true })))
    )
  })

  const remove = (file: string) => Effect.zipRight(located, fs.remove(file, { force: true }))
  const values = Effect.map(matching(valueName), (files) => new Set(files))
  return {
    ...KeyValueStore.makeStringOnly({
      get,
      set,
      remove: (key) => remove(fileOf(key)),
      clear: Effect.flatMap(values, Effect.forEach(remove, { discard: true })),
      size: Effect.map(values, ({ size }) => size)
    }),
    // checks the directory once for all keys, before its file names are used
    mayHave: Effect.zipRight(prepareToRead, values).pipe(
      Effect.catchIf(isNotFound, () => Effect.succeed(new Set<string>())),
      Effect.map((files) => (key) => files.has(fileOf(key)))
    ),
    setAside: (key) => fs.rename(fileOf(key), fileOf(key).replace(/value$/, "aside")),
    locked: (key) => <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      Effect.zipRight(
        prepareToWrite(0),
        lock.locked(directory, key, (fault) =>
          fault === "busy"
            ? refuse(fileOf(key), "another process holds the lock: try again when it has finished", "Busy")
            : fault)(effect)
      ),
    nameOf: fileOf,
    sweep: sweep(0)
  }
})
