import * as PlatformError from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as HostEnvironment from "../../config/HostEnvironment.ts"

type Failure = PlatformError.PlatformError

const othersMayWrite = 0o022

const refuse = (method: string, path: string, description: string): PlatformError.SystemError =>
  new PlatformError.SystemError({
    reason: "PermissionDenied",
    module: "FileSystem",
    method,
    pathOrDescriptor: path,
    description
  })

/**
 * A folder whose files only their owner can read and write. What somebody else could have put there is refused. Checked,
 * and then used: this is against mistakes and planted links, not against somebody who races with us as us.
 *
 * @internal
 */
export interface PrivateFolder {
  /** Makes it where there is none. */
  readonly prepare: (directory: string) => Effect.Effect<void, Failure>
  /** Writes a file that is not there yet, whole or not at all. */
  readonly writeNew: (path: string, bytes: Uint8Array) => Effect.Effect<void, Failure>
  /** What is known of a file that is ours: no link, and nobody else's. */
  readonly look: (path: string) => Effect.Effect<FileSystem.File.Info, Failure>
}

/** @internal */
export const make: Effect.Effect<PrivateFolder, never, FileSystem.FileSystem> = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const host = yield* HostEnvironment.HostEnvironment

  const isLink = (path: string) => Effect.map(Effect.option(fs.readLink(path)), Option.isSome)

  const isForeign = ({ uid }: FileSystem.File.Info): boolean =>
    host.uid !== undefined && Option.isSome(uid) && uid.value !== host.uid

  const discard = (path: string) => Effect.ignore(fs.remove(path, { force: true }))

  return {
    prepare: (directory) =>
      Effect.gen(function*() {
        yield* fs.makeDirectory(directory, { recursive: true, mode: 0o700 })
        if (yield* isLink(directory)) return yield* refuse("makeDirectory", directory, "the directory is a link")
        const info = yield* fs.stat(directory)
        if (info.type !== "Directory") return yield* refuse("makeDirectory", directory, "this is no directory")
        // On Windows modes and owners say nothing.
        if (host.platform === "win32") return
        if (isForeign(info)) return yield* refuse("makeDirectory", directory, "the directory is somebody else's")
        if ((info.mode & othersMayWrite) !== 0) {
          return yield* refuse("makeDirectory", directory, "others may write to the directory")
        }
      }),
    writeNew: (path, bytes) =>
      // A new file or none at all: neither a link nor somebody else's file is written through.
      Effect.scoped(Effect.flatMap(
        fs.open(path, { flag: "wx", mode: 0o600 }),
        (opened) => Effect.onError(opened.writeAll(bytes), () => discard(path))
      )),
    look: (path) =>
      Effect.gen(function*() {
        if (yield* isLink(path)) return yield* refuse("stat", path, "the file is a link")
        const info = yield* fs.stat(path)
        // Reading a pipe would never end.
        if (info.type !== "File") return yield* refuse("stat", path, "this is no file")
        if (isForeign(info)) return yield* refuse("stat", path, "the file is somebody else's")
        if (Option.getOrElse(info.nlink, () => 1) !== 1) return yield* refuse("stat", path, "the file has another name")
        return info
      })
  }
})
