// @effect-diagnostics nodeBuiltinImport:off -- platform has no crypto
/**
 * Small texts in files that only their user can read. A write replaces a file at once, so that a reader or a crash never
 * leaves half of it.
 *
 * Refused, because another user could have put it there: a folder or file that is a link, belongs to another user, or can be
 * written by others; a file with two names; a pipe or device; a folder below one that all users may write to. Corrected: a
 * folder or file of this user that others may read; refused if its mode stays. Windows has neither modes nor owners, and the
 * access rules of the user's folders protect the files.
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

/** Brings the key that files are signed with. Without it they are neither written nor read. */
export type Key = Effect.Effect<Redacted.Redacted, { readonly message: string }>

export interface Options {
  /** The folder of the files, made at the first write. Without one every operation fails. */
  readonly directory: string | undefined
  /** Bytes of a text; a longer one is neither read nor written. */
  readonly maxBytes: number
  /** A text older than this is not read, and the next write removes its file. */
  readonly maxAge: Duration.DurationInput
  /** Bytes and files of all texts: each write removes the oldest ones until there is room. */
  readonly maxTotalBytes: number
  readonly maxFiles: number
  /** Signs each file, which protects it from other programs of this user too, if they cannot get the key. */
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
  /** Removes the files that are too old or too many, also without a write. */
  readonly sweep: Effect.Effect<void, Failure>
}

export const noFolder = "the environment names no folder for it"

const refuse = (
  pathOrDescriptor: string,
  description: string,
  reason: PlatformError.SystemErrorReason = "PermissionDenied"
) => new PlatformError.SystemError({ reason, module: "KeyValueStore", method: "access", pathOrDescriptor, description })

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

const valueName = /^[0-9a-f]{64}\.value$/
const writtenName = /^[0-9a-f]{64}\.(value|\d+\.tmp)$/

/** A temporary file older than this was left by a process that crashed. */
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

  // the hash of a key is a legal name everywhere, and leads nowhere else
  const fileOf = (key: string): string => paths.join(directory, `${sha256(JSON.stringify(key))}.value`)

  // Checked and then used: against planted links, not against a process of the same user. Fails if there is nothing.
  const isLink = (path: string): Effect.Effect<boolean, Failure> =>
    Effect.catchIf(Effect.as(fs.readLink(path), true), (error) => !isNotFound(error), () => Effect.succeed(false))

  /** The checks that files and folders have in common. */
  const checkAccess = Effect.fnUntraced(
    function*(what: "directory" | "file", path: string, info: FileSystem.File.Info) {
      if (isWindows) return
      const { mode, uid } = info
      if (host.uid !== undefined && Option.isSome(uid) && uid.value !== host.uid) {
        return yield* refuse(path, `the ${what} belongs to another user: remove it`)
      }
      if ((mode & othersMayWrite) !== 0) {
        return yield* refuse(path, `others may write to the ${what}: remove it, or chmod it if you trust it`)
      }
      if ((mode & othersMayUse) === 0) return
      const now = yield* fs.chmod(path, mode & 0o700).pipe(
        Effect.zipRight(fs.stat(path)),
        Effect.catchIf((error) => !isNotFound(error), () => Effect.succeed(info))
      )
      if ((now.mode & othersMayUse) !== 0) {
        return yield* refuse(path, `other users may read the ${what}, and its mode cannot be changed`)
      }
    }
  )

  /** A user who may rename a folder above the directory can put another one in its place. */
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

  let isChecked = false
  const check = Effect.gen(function*() {
    if (yield* isLink(directory)) return yield* refuse(directory, "the directory is a link")
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

  /** Makes room for so many bytes. A file that cannot be removed prevents no write. */
  const sweep = Effect.fnUntraced(function*(room: number) {
    const now = yield* Clock.currentTimeMillis
    // a link that leads nowhere has no size and no time
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
    // each time, because caches are removed while programs run
    yield* fs.makeDirectory(directory, { recursive: true, mode: 0o700 })
    yield* check
    if (isSwept && maxTotalBytes === Infinity && maxFiles === Infinity) return
    isSwept = true
    yield* sweep(bytes)
  })

  /** The text with its signature in the first line, and back. */
  const sign = (file: string, text: string) =>
    signingKey === undefined ? Effect.succeed(text) : Effect.mapBoth(signingKey, {
      onFailure: ({ message }) => refuse(file, `there is no key: ${message}`, "Unknown"),
      onSuccess: (key) => {
        const name = paths.basename(file)
        return `${createHmac("sha256", Redacted.value(key)).update(`${name}\n${text}`).digest("hex")}\n${text}`
      }
    })
  const unsign = (file: string, signed: string) => {
    if (signingKey === undefined) return Effect.succeed(signed)
    const text = signed.slice(signed.indexOf("\n") + 1)
    return Effect.flatMap(sign(file, text), (right) =>
      // compares hashes, because the duration of a direct comparison reveals how many characters of a signature match
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
    if (info.size > maxBytes) return yield* refuse(file, `the file is too large: it has more than ${maxBytes} bytes`)
    yield* checkAccess("file", file, info)
    return Option.some(yield* unsign(file, decoder.decode(yield* fs.readFile(file))))
  }, Effect.catchIf(isNotFound, () => Effect.succeedNone))

  /** Renames a new file, because a link or a file of another user must not be written to. */
  const set = Effect.fnUntraced(function*(key: string, value: string) {
    const file = fileOf(key)
    const bytes = encoder.encode(yield* sign(file, value))
    if (bytes.length > maxBytes) return yield* refuse(file, `it is too large: it has more than ${maxBytes} bytes`)
    yield* prepareToWrite(bytes.length)
    const random = yield* Random.nextIntBetween(0, Number.MAX_SAFE_INTEGER)
    const temporary = file.replace(/value$/, `${random}.tmp`)
    yield* fs.open(temporary, { flag: "wx", mode: 0o600 }).pipe(
      // an empty text is valid, and cannot be written
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
    // the directory is checked once for all keys, and before its names count
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
            ? refuse(fileOf(key), "another process keeps the lock: try again when it has ended", "Busy")
            : fault)(effect)
      ),
    nameOf: fileOf,
    sweep: sweep(0)
  }
})
