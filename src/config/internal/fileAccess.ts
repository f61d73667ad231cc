/**
 * Reads files that may be anything: each step is bounded, and what is decided on is what was opened.
 *
 * @internal
 */
import type * as PlatformError from "@effect/platform/Error"
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as Path from "@effect/platform/Path"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as HostEnvironment from "../../transport/HostEnvironment.ts"
import * as UntrustedText from "../../UntrustedText.ts"
import type * as ConfigFiles from "../ConfigFiles.ts"
import type * as Scope from "../Scope.ts"
import { wildcard } from "./wildcard.ts"

/** @internal */
export interface Requirements {
  readonly fs: FileSystem.FileSystem
  readonly path: Path.Path
  readonly host: HostEnvironment.Host
  readonly timeout: Duration.Duration
  readonly maxBytes: number
  readonly maxMatches: number
}

type Info = FileSystem.File.Info
type Failure = PlatformError.PlatformError

const othersMayWrite = 0o022
const sticky = 0o1000

const chunkBytes = 64 * 1024

const absent: ConfigFiles.Refused | undefined = undefined

/** Whose files are as good as an approval. What code gives has no file, and a workspace belongs to nobody. */
const isTrusted: { readonly [O in Scope.Origin]: boolean } = {
  system: true,
  home: true,
  plugin: true,
  code: false,
  workspace: false
}

const reasonOf = (error: Failure): string => error._tag === "SystemError" ? error.reason : "Unknown"

const codeOf = (error: Failure): string => {
  const { cause } = error
  return typeof cause === "object" && cause !== null && "code" in cause && typeof cause.code === "string"
    ? cause.code
    : reasonOf(error)
}

/** What ends the reading of a file. */
class Refusal {
  readonly kind: ConfigFiles.Refused["kind"]
  readonly detail: string
  constructor(kind: ConfigFiles.Refused["kind"], detail: string) {
    this.kind = kind
    this.detail = detail
  }
}

const refuse = (kind: ConfigFiles.Refused["kind"], detail: string) => Effect.fail(new Refusal(kind, detail))

/** @internal */
export const make = (
  { fs, host, maxBytes: usual, maxMatches, path, timeout }: Requirements
): Omit<ConfigFiles.ConfigFiles["Type"], "present" | "watch"> => {
  // An open that hangs cannot be interrupted; it is left to itself, because whoever waits for it would hang too.
  const bounded = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<Option.Option<A>, E> =>
    Effect.timeoutOption(Effect.disconnect(effect), timeout)

  const stat = (at: string): Effect.Effect<Option.Option<Info>> =>
    Effect.map(bounded(Effect.option(fs.stat(at))), Option.flatten)

  const isFolder = (at: string) => Effect.map(stat(at), Option.exists(({ type }) => type === "Directory"))

  /** Links are followed as far as there is something. */
  const realPath = (at: string): Effect.Effect<string> =>
    Effect.flatMap(
      Effect.map(bounded(Effect.option(fs.realPath(at))), Option.flatten),
      Option.match({
        onSome: Effect.succeed,
        onNone: () => {
          const parent = path.dirname(at)
          return parent === at
            ? Effect.succeed(at)
            : Effect.map(realPath(parent), (real) => path.join(real, path.basename(at)))
        }
      })
    )

  const isBelow = (folder: string, at: string): boolean => {
    const relative = path.relative(folder, at)
    return relative !== ".." && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative)
  }

  /** Whether it is the same folder under another spelling: volumes differ in whether case counts. */
  const isSameFolder = (one: Info, other: Info): boolean =>
    one.dev === other.dev && Option.isSome(one.ino) &&
    Option.getOrUndefined(one.ino) === Option.getOrUndefined(other.ino)

  const isInside = (folder: string, at: string): Effect.Effect<boolean> =>
    Effect.gen(function*() {
      const outer = yield* realPath(path.resolve(folder))
      let inner = yield* realPath(path.resolve(at))
      if (isBelow(outer, inner)) return true
      // Elsewhere one folder has one real path; the numbers of Windows' files are not exact.
      if (host.platform !== "darwin") {
        return host.platform === "win32" && isBelow(outer.toLowerCase(), inner.toLowerCase())
      }
      const wanted = yield* stat(outer)
      if (Option.isNone(wanted)) return false
      for (;;) {
        const info = yield* stat(inner)
        if (Option.isSome(info) && isSameFolder(wanted.value, info.value)) return true
        const parent = path.dirname(inner)
        if (parent === inner) return false
        inner = parent
      }
    })

  /** Whether somebody else could have written this, or put it there. */
  const checkOwner = (info: Info, at: string, what: string) => {
    const owner = Option.getOrUndefined(info.uid)
    const shown = UntrustedText.excerpt(at, 256)
    if (host.uid !== undefined && owner !== undefined && owner !== 0 && owner !== host.uid) {
      return refuse("insecure-file", `${what} belongs to another user (${owner}): ${shown}`)
    }
    // Nobody can take away or exchange what belongs to somebody else in a folder like /tmp.
    const isShared = info.type === "Directory" && (info.mode & sticky) !== 0
    return (info.mode & othersMayWrite) !== 0 && !isShared
      ? refuse("insecure-file", `others may write to ${what}: chmod go-w ${shown}`)
      : Effect.void
  }

  const checkFolder = (folder: string) =>
    Effect.flatMap(fs.stat(folder), (info) => checkOwner(info, folder, "its folder"))

  const content = (file: FileSystem.File, size: number, maxBytes: number) =>
    Effect.gen(function*() {
      const chunks: Array<Uint8Array> = []
      let total = 0
      let wanted = size + 1
      for (;;) {
        const buffer = new Uint8Array(wanted)
        const length = Number(yield* file.read(buffer))
        total += length
        if (total > maxBytes) return yield* refuse("file-too-large", `more than ${maxBytes} bytes`)
        chunks.push(buffer.subarray(0, length))
        // only the end of a file gives less than was asked for
        if (length < buffer.length) break
        // it has grown since
        wanted = Math.min(chunkBytes, maxBytes + 1 - total)
      }
      if (chunks.length === 1) return chunks[0]!
      const bytes = new Uint8Array(total)
      let at = 0
      for (const chunk of chunks) {
        bytes.set(chunk, at)
        at += chunk.length
      }
      return bytes
    })

  const checkFile = (info: Info, maxBytes: number) =>
    info.type !== "File"
      ? refuse("not-a-file", `this is no file (${info.type})`)
      : info.size > maxBytes
      ? refuse("file-too-large", `${info.size} bytes, and ${maxBytes} are allowed`)
      : Effect.void

  const attempt = (at: string, { maxBytes = usual, origin, root }: ConfigFiles.ReadOptions) =>
    Effect.gen(function*() {
      // Before it is opened, because a pipe would be waited for.
      yield* Effect.flatMap(fs.stat(at), (info) => checkFile(info, maxBytes))
      const real = yield* fs.realPath(at)
      const folder = path.dirname(at)
      if (origin === "workspace" && root !== undefined && real !== at && !(yield* isInside(root, folder))) {
        return yield* refuse("insecure-file", "its folder is a link that leads out of the workspace")
      }
      const file = yield* fs.open(at, { flag: "r" })
      // Once more, because only now nobody can put something else in its place.
      const info = yield* file.stat
      yield* checkFile(info, maxBytes)
      if (isTrusted[origin] && host.platform !== "win32") {
        yield* checkOwner(info, at, "it")
        yield* checkFolder(folder)
        if (path.dirname(real) !== folder) yield* checkFolder(path.dirname(real))
      }
      // What the kernel makes up has no size, and may have no end.
      const size = Number(info.size)
      const bytes = size === 0 ? new Uint8Array() : yield* content(file, size, maxBytes)
      return { _tag: "Content", path: at, realPath: real, bytes } as const
    }).pipe(Effect.scoped)

  const refused = (at: string, { detail, kind }: Refusal): ConfigFiles.Refused => ({
    _tag: "Refused",
    path: at,
    kind,
    detail
  })

  const failed = (at: string, error: Failure): Effect.Effect<ConfigFiles.Refused | undefined> => {
    switch (reasonOf(error)) {
      case "NotFound":
        return Effect.succeed(absent)
      case "PermissionDenied":
        return Effect.succeed(refused(at, new Refusal("unreadable", "this user may not read it")))
      case "BadResource":
        // Links in a circle, or only a file where its folder would be.
        return Effect.map(
          isFolder(path.dirname(at)),
          (isThere) => isThere ? refused(at, new Refusal("unreadable", "its links lead in a circle")) : undefined
        )
      default:
        return Effect.succeed(refused(at, new Refusal("unreadable", `reading it fails (${codeOf(error)})`)))
    }
  }

  const read: ConfigFiles.ConfigFiles["Type"]["read"] = (at, options) =>
    bounded(attempt(at, options)).pipe(
      Effect.map(Option.getOrElse(() => refused(at, new Refusal("unreadable", "reading it takes too long")))),
      Effect.catchAll((error) => error instanceof Refusal ? Effect.succeed(refused(at, error)) : failed(at, error))
    )

  const namesIn = (folder: string) =>
    Effect.map(
      bounded(Effect.option(fs.readDirectory(folder))),
      (names) => Option.getOrElse(Option.flatten(names), (): Array<string> => [])
    )

  /** The paths below a folder that fit the rest of a pattern, name by name. */
  const below = (folder: string, names: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<string>> => {
    const [name, ...rest] = names
    if (name === undefined) return Effect.succeed([folder])
    if (!name.includes("*")) return below(path.join(folder, name), rest)
    const fits = wildcard(name)
    return Effect.flatMap(namesIn(folder), (found) =>
      Effect.map(
        Effect.forEach(
          // hidden ones are meant only if they are named
          found.filter((one) => fits(one) && (!one.startsWith(".") || name.startsWith("."))).toSorted()
            .slice(0, maxMatches),
          (one) => below(path.join(folder, one), rest)
        ),
        (paths) => paths.flat().slice(0, maxMatches)
      ))
  }

  const exists = (at: string) => Effect.map(stat(at), Option.isSome)

  const expand = (pattern: string) => {
    const absolute = path.resolve(pattern)
    const { root } = path.parse(absolute)
    return Effect.flatMap(
      below(root, absolute.slice(root.length).split(path.sep)),
      Effect.filter(exists)
    )
  }

  return { read, exists, expand, realPath, isInside }
}
