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
import { open, readdir, realpath, stat } from "node:fs/promises"
import * as UntrustedText from "../text/UntrustedText.ts"
import { wildcard } from "../text/wildcard.ts"
import type * as ConfigIssue from "./ConfigIssue.ts"
import * as HostEnvironment from "./HostEnvironment.ts"
import type * as Scope from "./Scope.ts"
import { watchFiles } from "./watchFiles.ts"

export interface Content {
  readonly _tag: "Content"
  readonly path: string
  /** Where it leads to, if links are followed. */
  readonly realPath: string
  readonly bytes: Uint8Array
}

/** A file that is there, and is not read. */
export interface Refused {
  readonly _tag: "Refused"
  readonly path: string
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
  readonly maxBytes?: number | undefined
}

/** One of several files. */
export interface Wanted extends ReadOptions {
  readonly path: string
}

export interface Stats {
  readonly isFile: () => boolean
  readonly isDirectory: () => boolean
  readonly size: number
  readonly mode: number
  readonly uid: number
  readonly dev: number
  readonly ino: number
  readonly mtimeMs: number
  readonly ctimeMs: number
}

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
  readonly open: (path: string) => Promise<Handle>
}

export interface Options {
  readonly disk: Disk
  /** How long reading a file may take, over all its steps: it may be on a network that is gone. */
  readonly timeout: Duration.DurationInput
  /** Bytes of a file; more are not read. */
  readonly maxBytes: number
  /** Files that a pattern stands for; more are left out. */
  readonly maxMatches: number
  /** How often files are looked at, whatever the system tells of them. */
  readonly interval: Duration.DurationInput
}

export const defaults: Options = {
  disk: { stat, realpath, readdir: (path) => readdir(path), open: (path) => open(path, "r") },
  timeout: Duration.seconds(2),
  maxBytes: 16 * 1024 * 1024,
  maxMatches: 256,
  interval: Duration.seconds(4)
}

export class ConfigFiles extends Context.Tag("effect-mcp-runtime/config/ConfigFiles")<ConfigFiles, {
  /** Nothing, if there is no such file. Links are followed, to files only. */
  readonly read: (path: string, options: ReadOptions) => Effect.Effect<Content | Refused | undefined>
  /** What `read` gives for each, in their order. They are read at once, and none waits for another that does not answer. */
  readonly readAll: (
    files: ReadonlyArray<Wanted>
  ) => Effect.Effect<ReadonlyArray<Content | Refused | undefined>>
  readonly exists: (path: string) => Effect.Effect<boolean>
  /** Those of many paths, and of patterns with `*`, that are not known to be absent: a quick look before reading. */
  readonly present: (paths: ReadonlyArray<string>) => Effect.Effect<ReadonlySet<string>>
  /**
   * The files that each path with `*` in it stands for, sorted; `*` is any run of characters of one name. They are looked
   * up at once, and none waits for another that does not answer.
   */
  readonly expandAll: (patterns: ReadonlyArray<string>) => Effect.Effect<ReadonlyMap<string, ReadonlyArray<string>>>
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

/** Why a disk fails; nothing, if there is nothing to be read. */
const refusalOf = (error: unknown): Refusal | undefined => {
  if (error instanceof Refusal) return error
  const code = error instanceof Error && "code" in error ? String(error.code) : "unknown"
  // only a file where its folder would be
  if (code === "ENOENT" || code === "ENOTDIR") return undefined
  if (code === "EACCES" || code === "EPERM") return new Refusal("unreadable", "this user may not read it")
  return new Refusal("unreadable", code === "ELOOP" ? "its links lead in a circle" : `reading it fails (${code})`)
}

const checkFile = (stats: Stats, maxBytes: number): void => {
  if (!stats.isFile()) throw new Refusal("not-a-file", `this is no file${stats.isDirectory() ? ", but a folder" : ""}`)
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
    throw new Refusal("insecure-file", `others may write to ${what}: chmod go-w ${shown}`)
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

export const make: (
  options?: Partial<Options>
) => Effect.Effect<ConfigFiles["Type"], never, FileSystem.FileSystem | Path.Path> = Effect.fnUntraced(
  function*(options) {
    const { disk, interval, maxBytes: usual, maxMatches, timeout } = { ...defaults, ...options }
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const host = yield* HostEnvironment.HostEnvironment

    /** A disk that hangs cannot be interrupted, and is left to itself. */
    const within = <A>(ask: () => Promise<A>, otherwise: () => A): Effect.Effect<A> =>
      Effect.map(Effect.timeoutOption(Effect.promise(ask), timeout), Option.getOrElse(otherwise))

    const isThere = (at: string): Promise<boolean> => disk.stat(at).then(() => true, () => false)
    const namesIn = (folder: string): Promise<ReadonlyArray<string>> => disk.readdir(folder).catch(() => [])

    /** Links are followed as far as there is something. */
    const realOf = async (at: string): Promise<string> => {
      try {
        return await disk.realpath(at)
      } catch {
        const parent = path.dirname(at)
        return parent === at ? at : path.join(await realOf(parent), path.basename(at))
      }
    }

    const isBelow = (folder: string, at: string): boolean => {
      const relative = path.relative(folder, at)
      return relative !== ".." && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative)
    }

    /** Whether a path is the folder, or below it, when links are followed. Neither has to exist. */
    const isInside = async (folder: string, at: string): Promise<boolean> => {
      const outer = await realOf(path.resolve(folder))
      let inner = await realOf(path.resolve(at))
      if (isBelow(outer, inner)) return true
      if (host.platform === "win32") return isBelow(outer.toLowerCase(), inner.toLowerCase())
      // elsewhere one folder has one real path; the volumes of macOS differ in whether case counts
      if (host.platform !== "darwin") return false
      const wanted = await disk.stat(outer).catch(() => undefined)
      for (; wanted !== undefined; inner = path.dirname(inner)) {
        const { dev, ino } = await disk.stat(inner).catch(() => ({ dev: undefined, ino: undefined }))
        if (dev === wanted.dev && ino === wanted.ino) return true
        if (path.dirname(inner) === inner) break
      }
      return false
    }

    const content = async ({ maxBytes = usual, origin, path: at, root }: Wanted): Promise<Content> => {
      // before it is opened, because opening a pipe waits
      checkFile(await disk.stat(at), maxBytes)
      const real = await disk.realpath(at)
      // only links can lead out of the workspace
      const isLinked = origin === "workspace" && root !== undefined && real !== at
      if (isLinked && !(await isInside(root, path.dirname(at)))) {
        throw new Refusal("insecure-file", "its folder is a link that leads out of the workspace")
      }
      const handle = await disk.open(at)
      try {
        if (isLinked && real !== await disk.realpath(at)) throw new Refusal("unreadable", "its links are changing")
        // again, because what is open cannot be exchanged
        const stats = await handle.stat()
        checkFile(stats, maxBytes)
        if (isTrusted[origin] && host.platform !== "win32") {
          checkOwner(stats, at, "it", host.uid)
          for (const folder of new Set([path.dirname(at), path.dirname(real)])) {
            checkOwner(await disk.stat(folder), folder, "its folder", host.uid)
          }
        }
        // the files of the kernel have no size, and may have no end
        const bytes = stats.size === 0 ? new Uint8Array() : await contentOf(handle, stats.size, maxBytes)
        return { _tag: "Content", path: at, realPath: real, bytes }
      } finally {
        await handle.close()
      }
    }

    const refused = (path: string, { kind, message }: Refusal): Refused => ({
      _tag: "Refused",
      path,
      kind,
      detail: message
    })

    /** One wait for all, and what has not answered by then is refused alone. */
    const readAll: ConfigFiles["Type"]["readAll"] = (files) =>
      Effect.suspend(() => {
        const late = new Refusal("unreadable", "reading it takes too long")
        const read: Array<Content | Refused | undefined> = files.map(({ path }) => refused(path, late))
        const look = async (file: Wanted, at: number): Promise<void> => {
          try {
            read[at] = await content(file)
          } catch (error) {
            const refusal = refusalOf(error)
            read[at] = refusal && refused(file.path, refusal)
          }
        }
        return Effect.map(within(() => Promise.all(files.map(look)), () => []), () => read.slice())
      })

    /** Looks into each folder on the way once, because hosts have hundreds of paths, and hardly any is in use. */
    const present: ConfigFiles["Type"]["present"] = (paths) => {
      // volumes differ in what is the same name; too many paths are no harm
      const folded = (name: string): string => name.normalize("NFC").toLowerCase()
      const folders = new Map<string, Promise<ReadonlySet<string> | undefined>>()
      /** Nothing, if that cannot be known. */
      const names = async (folder: string): Promise<ReadonlySet<string> | undefined> => {
        if (folder.includes("*")) return undefined
        if (!(await mayBeThere(folder))) return new Set()
        try {
          return new Set((await disk.readdir(folder)).map(folded))
        } catch (error) {
          return refusalOf(error) === undefined ? new Set() : undefined
        }
      }
      const mayBeThere = async (at: string): Promise<boolean> => {
        const folder = path.dirname(at)
        if (folder === at) return true
        const found = folders.get(folder) ?? names(folder)
        folders.set(folder, found)
        const there = await found
        if (there === undefined) return !folder.includes("*") || mayBeThere(folder)
        const name = folded(path.basename(at))
        return name.includes("*") ? Array.from(there).some(wildcard(name)) : there.has(name)
      }
      const look = async () => {
        const found = await Promise.all(paths.map((at) => mayBeThere(path.resolve(at))))
        return new Set(paths.filter((_, at) => found[at]))
      }
      return within(look, () => new Set(paths))
    }

    /** The paths below a folder that fit the rest of a pattern, name by name. */
    const below = async (folder: string, [name, ...rest]: ReadonlyArray<string>): Promise<ReadonlyArray<string>> => {
      if (name === undefined) return await isThere(folder) ? [folder] : []
      if (!name.includes("*")) return below(path.join(folder, name), rest)
      const fits = wildcard(name)
      const found = (await namesIn(folder))
        // hidden ones are meant only if they are named
        .filter((one) => fits(one) && (!one.startsWith(".") || name.startsWith("."))).toSorted().slice(0, maxMatches)
      const paths: Array<string> = []
      for (const one of found) paths.push(...await below(path.join(folder, one), rest))
      return paths.slice(0, maxMatches)
    }

    /** One wait for all, and a pattern that has no answer by then stands for nothing. */
    const expandAll: ConfigFiles["Type"]["expandAll"] = (patterns) =>
      Effect.suspend(() => {
        const found = new Map<string, ReadonlyArray<string>>(patterns.map((pattern) => [pattern, []]))
        if (patterns.length === 0) return Effect.succeed(found)
        const look = async (pattern: string): Promise<void> => {
          const absolute = path.resolve(pattern)
          const { root } = path.parse(absolute)
          found.set(pattern, await below(root, absolute.slice(root.length).split(path.sep)))
        }
        return Effect.map(within(() => Promise.all(patterns.map(look)), () => []), () => new Map(found))
      })

    return {
      read: (path, options) => Effect.map(readAll([{ ...options, path }]), ([read]) => read),
      readAll,
      present,
      expandAll,
      exists: (at) => within(() => isThere(at), () => false),
      realPath: (at) => within(() => realOf(at), () => at),
      watch: watchFiles({ fs, path, disk, expandAll, interval: Duration.decode(interval) })
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
  const read = ({ maxBytes = Infinity, path }: Wanted): Content | Refused | undefined => {
    const file = files.get(path)
    if (file === undefined || (typeof file === "object" && "_tag" in file)) return file
    const bytes = typeof file === "string" ? new TextEncoder().encode(file) : file
    return bytes.length > maxBytes
      ? { _tag: "Refused", path, kind: "file-too-large", detail: `more than ${maxBytes} bytes` }
      : { _tag: "Content", path, realPath: path, bytes }
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
    present: (paths) => Effect.succeed(new Set(paths)),
    expandAll: (patterns) => Effect.sync(() => new Map(patterns.map((pattern) => [pattern, expand(pattern)]))),
    realPath: Effect.succeed,
    watch: () => Stream.concat(Stream.succeed(undefined), changed)
  })
}
