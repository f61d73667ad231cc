/**
 * The files of configurations: read so that nothing in them and nothing about them can hold up or mislead who reads, and
 * watched.
 *
 * @since 0.1.0
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import type * as ConfigIssue from "./ConfigIssue.ts"
import * as HostEnvironment from "./HostEnvironment.ts"
import * as Access from "./internal/files/fileAccess.ts"
import * as FileContent from "./internal/files/fileContent.ts"
import * as Memory from "./internal/files/fileMemory.ts"
import * as Presence from "./internal/files/filePresence.ts"
import * as Watch from "./internal/files/fileWatch.ts"
import type * as Scope from "./Scope.ts"

/**
 * @since 0.1.0
 * @category models
 */
export interface Content {
  readonly _tag: "Content"
  readonly path: string
  /** Where it leads to, if links are followed. */
  readonly realPath: string
  readonly bytes: Uint8Array
}

/**
 * A file that is there, and is not read.
 *
 * @since 0.1.0
 * @category models
 */
export interface Refused {
  readonly _tag: "Refused"
  readonly path: string
  readonly kind: Extract<ConfigIssue.FileFault, "unreadable" | "insecure-file" | "not-a-file" | "file-too-large">
  /** Why, and what helps: nothing from the file. */
  readonly detail: string
}

/**
 * @since 0.1.0
 * @category models
 */
export interface ReadOptions {
  /**
   * Who could have written it. Where its servers start without being asked for, nobody else may be able to write to it
   * or to its folder, and it belongs to this user or to root.
   */
  readonly origin: Scope.Origin
  /** The workspace: a folder in it that is a link to somewhere else is not one of its folders. */
  readonly root?: string | undefined
  readonly maxBytes?: number | undefined
}

/**
 * One of several files.
 *
 * @since 0.1.0
 * @category models
 */
export interface Wanted extends ReadOptions {
  readonly path: string
}

/**
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** How long reading a file may take, over all its steps: it may be on a network that is gone. */
  readonly timeout: Duration.DurationInput
  /** Bytes of a file; more are not read. */
  readonly maxBytes: number
  /** Files that a pattern stands for; more are left out. */
  readonly maxMatches: number
  /** How often files are looked at, whatever the system tells of them. */
  readonly interval: Duration.DurationInput
}

/**
 * @since 0.1.0
 * @category defaults
 */
export const defaults: Options = {
  timeout: Duration.seconds(2),
  maxBytes: 16 * 1024 * 1024,
  maxMatches: 256,
  interval: Duration.seconds(4)
}

/**
 * @since 0.1.0
 * @category tags
 */
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
  /** The files that a path with `*` in it stands for, sorted; `*` is any run of characters of one name. */
  readonly expand: (pattern: string) => Effect.Effect<ReadonlyArray<string>>
  /** What `expand` gives for each. They are looked up at once, and none waits for another that does not answer. */
  readonly expandAll: (patterns: ReadonlyArray<string>) => Effect.Effect<ReadonlyMap<string, ReadonlyArray<string>>>
  /** The path itself, if there is nothing. */
  readonly realPath: (path: string) => Effect.Effect<string>
  /** Whether a path is the folder, or below it, when links are followed. Neither has to exist. */
  readonly isInside: (folder: string, path: string) => Effect.Effect<boolean>
  /**
   * An element when one of these files, or what a path with `*` stands for, may have changed, come or gone. The first
   * element says that the watching has begun: what is read after it is read again when it changes.
   */
  readonly watch: (paths: ReadonlyArray<string>) => Stream.Stream<void>
}>() {}

/**
 * @since 0.1.0
 * @category constructors
 */
export const make: (
  options?: Partial<Options>
) => Effect.Effect<ConfigFiles["Type"], never, FileSystem.FileSystem | Path.Path> = Effect.fnUntraced(
  function*(options) {
    const { interval, maxBytes, maxMatches, timeout } = { ...defaults, ...options }
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const host = yield* HostEnvironment.HostEnvironment
    const access = Access.make({
      fs,
      disk: FileContent.disk,
      path,
      host,
      timeout: Duration.decode(timeout),
      maxBytes,
      maxMatches
    })
    const present = Presence.make({ path, timeout: Duration.decode(timeout) })
    return {
      ...access,
      present,
      watch: Watch.make({ fs, path, expand: access.expand, interval: Duration.decode(interval) })
    }
  }
)

/**
 * The files of this machine.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<ConfigFiles, never, FileSystem.FileSystem | Path.Path> = Layer.effect(
  ConfigFiles,
  make()
)

/**
 * Files in memory, by their absolute paths with `/`, without links and without owners. The map is asked each time, so
 * that a test can change it; `changed` is what `watch` tells after that.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerMemory = (
  files: ReadonlyMap<string, string | Uint8Array | Refused>,
  changed: Stream.Stream<void> = Stream.never
): Layer.Layer<ConfigFiles> => Layer.succeed(ConfigFiles, Memory.make(files, changed))
