// @effect-diagnostics nodeBuiltinImport:off
// Dozens of files are read at each start, step by step: an Effect for each step costs ten times what the system takes.
/**
 * The files of configurations, read and watched: every wait is bounded, and what is decided on is the file that was
 * opened. Links, owners, modes and sizes are checked before anything of a file is used.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { constants, type Stats as FileStats } from "node:fs"
import { open, readdir, realpath, stat } from "node:fs/promises"
import * as UntrustedText from "../text/UntrustedText.ts"
import { wildcard } from "../text/wildcard.ts"
import type * as ConfigIssue from "./ConfigIssue.ts"
import * as HostEnvironment from "./HostEnvironment.ts"
import type * as Scope from "./Scope.ts"
import { watchFiles } from "./watchFiles.ts"

export interface Content {
  readonly _tag: "Content"
  readonly bytes: Uint8Array
}

/** A file that exists and is not read. */
export interface Refused {
  readonly _tag: "Refused"
  readonly kind: Extract<ConfigIssue.FileFault, "unreadable" | "insecure-file" | "not-a-file" | "file-too-large">
  /** Why, and what helps: nothing from the file. */
  readonly detail: string
}

export interface ReadOptions {
  /**
   * Who could have written it. Where its servers start without approval, no other user may be able to write to it or to
   * its folder, and it belongs to this user or to root.
   */
  readonly origin: Scope.Origin
  /** The workspace: a folder in it that is a link to somewhere else is not one of its folders. */
  readonly root?: string | undefined
}

/** One of several files. */
export interface Wanted extends ReadOptions {
  readonly path: string
}

export type Stats = Pick<
  FileStats,
  "ctimeMs" | "dev" | "ino" | "isDirectory" | "isFile" | "mode" | "mtimeMs" | "size" | "uid"
>

export interface Handle {
  readonly stat: () => Promise<Stats>
  readonly read: (buffer: Uint8Array) => Promise<{ readonly bytesRead: number }>
  readonly close: () => Promise<void>
}

/** What is asked of a disk. */
export interface Disk {
  readonly stat: (path: string) => Promise<Stats>
  readonly realpath: (path: string) => Promise<string>
  readonly readdir: (path: string) => Promise<ReadonlyArray<string>>
  /** Fails with ELOOP for a link, and does not wait for the other end of a pipe. */
  readonly open: (path: string) => Promise<Handle>
}

export interface Options {
  readonly disk: Disk
  /** How long reading a file may take, over all its steps: it may be on a network that is gone. */
  readonly timeout: Duration.DurationInput
  /** Bytes of a file; more are not read. */
  readonly maxBytes: number
  /** Limit of the files that one pattern matches; the rest is ignored. */
  readonly maxMatches: number
  /** How often files are polled, in addition to file system events. */
  readonly interval: Duration.DurationInput
}

/** Windows has neither flag. */
const { O_NOFOLLOW = 0, O_NONBLOCK = 0, O_RDONLY }: Partial<typeof constants> = constants

export const defaults: Options = {
  disk: {
    stat,
    realpath,
    readdir: (path) => readdir(path),
    open: (path) => open(path, (O_RDONLY ?? 0) | O_NOFOLLOW | O_NONBLOCK)
  },
  timeout: Duration.seconds(2),
  maxBytes: 16 * 1024 * 1024,
  maxMatches: 256,
  interval: Duration.seconds(4)
}

export class ConfigFiles extends Context.Tag("effect-mcp-runtime/config/ConfigFiles")<ConfigFiles, {
  /** Nothing, if the file does not exist. Links are followed, to files only. */
  readonly read: (path: string, options: ReadOptions) => Effect.Effect<Content | Refused | undefined>
  /** What `read` gives for each, in their order. They are read at once, and none waits for another that does not answer. */
  readonly readAll: (
    files: ReadonlyArray<Wanted>
  ) => Effect.Effect<ReadonlyArray<Content | Refused | undefined>>
  readonly exists: (path: string) => Effect.Effect<boolean>
  /**
   * The files that each path stands for: sorted for a path with `*`, which is any run of characters of one name; else the
   * path itself, unless its folders show that it is absent. No path waits for the folders of another one.
   */
  readonly find: (paths: ReadonlyArray<string>) => Effect.Effect<ReadonlyMap<string, ReadonlyArray<string>>>
  /** The path itself, if there is nothing. */
  readonly realPath: (path: string) => Effect.Effect<string>
  /**
   * An element when one of these files, or what a path with `*` stands for, may have changed, come or gone. The first
   * element says that the watching has begun: what is read after it is read again when it changes.
   */
  readonly watch: (paths: ReadonlyArray<string>) => Stream.Stream<void>
}>() {}

const chunkBytes = 64 * 1024
const othersMayWrite = 0o022
const sticky = 0o1000

/** The origins whose files count as approved. Code has no file, and a workspace can come from any author. */
const isTrusted: { readonly [O in Scope.Origin]: boolean } = {
  system: true,
  home: true,
  plugin: true,
  code: false,
  workspace: false
}

/** Ends the reading of a file. */
class Refusal extends Error {
  readonly kind: Refused["kind"]
  constructor(kind: Refused["kind"], detail: string) {
    super(detail)
    this.kind = kind
  }
}

const codeOf = (error: unknown): string => error instanceof Error && "code" in error ? String(error.code) : "unknown"

const reasons: ReadonlyMap<string, string> = new Map([
  ["EACCES", "permission denied"],
  ["EPERM", "permission denied"],
  ["ELOOP", "its links form a loop"],
  // a socket
  ["ENXIO", "this is not a regular file"]
])

const refused = ({ kind, message }: Refusal): Refused => ({ _tag: "Refused", kind, detail: message })

/** Why a file cannot be read; nothing, if it does not exist. */
const refusedOf = (error: unknown): Refused | undefined => {
  if (error instanceof Refusal) return refused(error)
  const code = codeOf(error)
  // absent, or its folder is a file
  if (code === "ENOENT" || code === "ENOTDIR") return undefined
  return {
    _tag: "Refused",
    kind: code === "ENXIO" ? "not-a-file" : "unreadable",
    detail: reasons.get(code) ?? `cannot be read (${code})`
  }
}

const checkFile = (stats: Stats, maxBytes: number): void => {
  if (!stats.isFile()) {
    throw new Refusal("not-a-file", stats.isDirectory() ? "this is a folder" : "this is not a regular file")
  }
  if (stats.size > maxBytes) throw new Refusal("file-too-large", `${stats.size} bytes, and ${maxBytes} are allowed`)
}

/** Refuses what another user could have written, or put there. */
const checkOwner = (stats: Stats, at: string, what: string, uid: number | undefined): void => {
  const shown = UntrustedText.excerpt(at, 256)
  if (uid !== undefined && stats.uid !== 0 && stats.uid !== uid) {
    throw new Refusal("insecure-file", `${what} belongs to another user (${stats.uid}): ${shown}`)
  }
  // in a folder like /tmp a user can neither remove nor exchange the files of another
  const isShared = stats.isDirectory() && (stats.mode & sticky) !== 0
  if ((stats.mode & othersMayWrite) !== 0 && !isShared) {
    throw new Refusal("insecure-file", `other users can write to ${what}: chmod go-w ${shown}`)
  }
}

const contentOf = async (handle: Handle, size: number, maxBytes: number): Promise<Uint8Array> => {
  const chunks: Array<Uint8Array> = []
  // one more than is allowed tells that there is too much
  let left = maxBytes + 1
  for (let length = size + 1;; length = chunkBytes) {
    const buffer = new Uint8Array(Math.min(length, left))
    const { bytesRead } = await handle.read(buffer)
    chunks.push(buffer.subarray(0, bytesRead))
    left -= bytesRead
    if (left === 0) throw new Refusal("file-too-large", `more than ${maxBytes} bytes`)
    // only the end of a file gives less than was asked for
    if (bytesRead < buffer.length) return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
  }
}

/** Asks once for each text. */
const once = <A>(ask: (about: string) => Promise<A>): (about: string) => Promise<A> => {
  const known = new Map<string, Promise<A>>()
  return (about) => {
    const answer = known.get(about) ?? ask(about)
    known.set(about, answer)
    return answer
  }
}

export const make: (
  options?: Partial<Options>
) => Effect.Effect<ConfigFiles["Type"], never, FileSystem.FileSystem | Path.Path> = Effect.fnUntraced(
  function*(options) {
    const { disk, interval, maxBytes, maxMatches, timeout } = { ...defaults, ...options }
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const host = yield* HostEnvironment.HostEnvironment
    const isWindows = host.platform === "win32"

    /** A disk that hangs cannot be interrupted, and is left to itself. */
    const within = <A>(ask: () => Promise<A>, otherwise: () => A): Effect.Effect<A> =>
      Effect.map(Effect.timeoutOption(Effect.promise(ask), timeout), Option.getOrElse(otherwise))

    const exists = (at: string): Promise<boolean> => disk.stat(at).then(() => true, () => false)

    /** Links are followed as far as the path exists. */
    const realOf = async (at: string): Promise<string> => {
      try {
        return await disk.realpath(at)
      } catch {
        const parent = path.dirname(at)
        return parent === at ? at : path.join(await realOf(parent), path.basename(at))
      }
    }

    /** Whether one real path is the other, or below it. */
    const isInside = (folder: string, at: string): boolean => {
      const relative = path.relative(folder, at)
      return relative !== ".." && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative)
    }

    /** The file, and where it is. The target of a link is opened, and is itself no link. */
    const opened = async (at: string): Promise<readonly [Handle, real: string]> => {
      if (!isWindows) {
        try {
          return [await disk.open(at), at]
        } catch (error) {
          if (!/^(ELOOP|EMLINK)$/.test(codeOf(error))) throw error
        }
      }
      const real = await disk.realpath(at)
      // before it is opened, because opening a device can have effects
      checkFile(await disk.stat(real), maxBytes)
      return [await disk.open(real), real]
    }

    /** One wait for all, and what has not answered by then is refused alone. Each folder is looked at once. */
    const readAll: ConfigFiles["Type"]["readAll"] = (files) =>
      Effect.suspend(() => {
        const realFolder = once((folder) => realOf(path.resolve(folder)))
        const statFolder = once((folder) => disk.stat(folder))
        const content = async ({ origin, path: at, root }: Wanted): Promise<Content> => {
          const folder = path.dirname(at)
          if (origin === "workspace" && root !== undefined) {
            if (!isInside(await realFolder(root), await realFolder(folder))) {
              // a file that does not exist is no fault
              await disk.stat(at)
              throw new Refusal("insecure-file", "its folder is a link to a place outside the workspace")
            }
          }
          const [handle, real] = await opened(at)
          try {
            const stats = await handle.stat()
            checkFile(stats, maxBytes)
            if (isTrusted[origin] && !isWindows) {
              checkOwner(stats, at, "it", host.uid)
              for (const one of new Set([folder, path.dirname(real)])) {
                checkOwner(await statFolder(one), one, "its folder", host.uid)
              }
            }
            // the files of the kernel have no size, and may have no end
            const bytes = stats.size === 0 ? new Uint8Array() : await contentOf(handle, stats.size, maxBytes)
            return { _tag: "Content", bytes }
          } finally {
            await handle.close()
          }
        }
        const late = refused(new Refusal("unreadable", "the read timed out"))
        const read: Array<Content | Refused | undefined> = files.map(() => late)
        const all = () =>
          Promise.all(files.map((file, at) =>
            content(file).catch(refusedOf).then((found) => {
              read[at] = found
            })
          ))
        return Effect.map(within(all, () => []), () => read.slice())
      })

    /** The names in a folder, or nothing if it exists and cannot be listed. */
    const list = async (folder: string): Promise<ReadonlyArray<string> | undefined> => {
      try {
        return await disk.readdir(folder)
      } catch (error) {
        return refusedOf(error) === undefined ? [] : undefined
      }
    }

    /** The names in a folder that match a pattern, according to its listing. */
    const namesIn = async (folder: string): Promise<(wanted: string) => ReadonlyArray<string>> => {
      const names = await list(folder)
      // volumes differ in what is the same name; too many paths are no harm
      const folded = (name: string): string => name.normalize("NFC").toLowerCase()
      const known = names && new Set(names.map(folded))
      return (wanted) => {
        if (!wanted.includes("*")) return known === undefined || known.has(folded(wanted)) ? [wanted] : []
        const fits = wildcard(wanted)
        // hidden ones are meant only if they are named
        return names?.filter((name) => fits(name) && (!name.startsWith(".") || wanted.startsWith("."))).toSorted() ?? []
      }
    }

    /**
     * Hosts have hundreds of paths, and few are in use: a folder is listed once, before what is below it is looked for, but
     * for one with a single wanted name, because it costs as much to open that.
     */
    const find: ConfigFiles["Type"]["find"] = (paths) =>
      Effect.suspend(() => {
        const found = new Map(paths.map((at): [string, ReadonlyArray<string>] => [at, at.includes("*") ? [] : [at]]))
        const absolute = paths.map((at) => path.resolve(at))
        const wanted = new Map<string, Set<string>>()
        for (const file of absolute) {
          for (let at = file; wanted.get(path.dirname(at))?.has(at) !== true; at = path.dirname(at)) {
            wanted.set(path.dirname(at), (wanted.get(path.dirname(at)) ?? new Set()).add(at))
          }
        }
        const listed = once(namesIn)
        const matches = once(async (at): Promise<ReadonlyArray<string>> => {
          const parent = path.dirname(at)
          if (parent === at) return [at]
          const folders = await matches(parent)
          if (folders.length === 0) return []
          if (!at.includes("*") && wanted.get(parent)?.size === 1) return [at]
          const below = folders.map(async (folder) =>
            (await listed(folder))(path.basename(at)).map((name) => path.join(folder, name))
          )
          return (await Promise.all(below)).flat().slice(0, maxMatches)
        })
        const look = async (at: string, index: number): Promise<void> => {
          const all = await matches(absolute[index]!)
          found.set(at, at.includes("*") ? all : all.length === 0 ? [] : [at])
        }
        return Effect.map(within(() => Promise.all(paths.map(look)), () => []), () => new Map(found))
      })

    return {
      read: (path, options) => Effect.map(readAll([{ ...options, path }]), ([read]) => read),
      readAll,
      find,
      exists: (at) => within(() => exists(at), () => false),
      realPath: (at) => within(() => realOf(at), () => at),
      watch: watchFiles({ fs, path, disk, find, interval: Duration.decode(interval) })
    }
  }
)

/** The files of this machine. */
export const layer: Layer.Layer<ConfigFiles, never, FileSystem.FileSystem | Path.Path> = Layer.effect(
  ConfigFiles,
  make()
)

/**
 * Files in memory, by their absolute paths with `/`, without links and without owners. The map is read each time, so that
 * a test can change it; `changed` is what `watch` tells after that.
 */
export const layerMemory = (
  files: ReadonlyMap<string, string | Uint8Array | Refused>,
  changed: Stream.Stream<void> = Stream.never
): Layer.Layer<ConfigFiles> => {
  const read = ({ path }: Wanted): Content | Refused | undefined => {
    const file = files.get(path)
    if (file === undefined || (typeof file === "object" && "_tag" in file)) return file
    return { _tag: "Content", bytes: typeof file === "string" ? new TextEncoder().encode(file) : file }
  }
  const expand = (pattern: string): ReadonlyArray<string> => {
    const names = pattern.split("/").map((part) => wildcard(part))
    return Array.from(files.keys()).toSorted().filter((path) => {
      const parts = path.split("/")
      return parts.length === names.length && names.every((fits, at) => fits(parts[at]!))
    })
  }
  return Layer.succeed(ConfigFiles, {
    read: (path, options) => Effect.sync(() => read({ ...options, path })),
    readAll: (wanted) => Effect.sync(() => wanted.map(read)),
    exists: (path) =>
      Effect.sync(() => Array.from(files.keys()).some((file) => file === path || file.startsWith(`${path}/`))),
    find: (paths) => Effect.sync(() => new Map(paths.map((at) => [at, at.includes("*") ? expand(at) : [at]]))),
    realPath: Effect.succeed,
    watch: () => Stream.concat(Stream.succeed(undefined), changed)
  })
}
