/**
 * Signals that files may have changed. The notices of the system are quick, but they are lost when a folder is exchanged,
 * and do not exist for an absent folder or on some volumes; so the files are also polled.
 */
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as Path from "@effect/platform/Path"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FiberMap from "effect/FiberMap"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import * as RuntimeLog from "../runtimeLog.ts"
import type * as ConfigFiles from "./ConfigFiles.ts"

export interface Requirements {
  readonly fs: FileSystem.FileSystem
  readonly path: Path.Path
  readonly disk: ConfigFiles.Disk
  readonly find: ConfigFiles.ConfigFiles["Type"]["find"]
  readonly interval: Duration.Duration
}

/** A watcher that has just been started misses changes for a moment, so the files are polled once after it. */
const settling = Duration.millis(100)

const any = "*"

/** What the files look like, and the names of interest in each folder, by the folder and what identifies it. */
interface View {
  readonly signature: string
  readonly folders: ReadonlyMap<string, { readonly folder: string; readonly names: ReadonlySet<string> }>
}

const look = async ({ disk, path }: Requirements, paths: ReadonlyArray<string>): Promise<View> => {
  const folders = new Map<string, { readonly folder: string; readonly names: Set<string> }>()
  const known = new Map<string, Promise<ConfigFiles.Stats | undefined>>()
  const signatures: Array<string> = []

  const stat = (at: string): Promise<ConfigFiles.Stats | undefined> => {
    const stats = known.get(at) ?? disk.stat(at).catch(() => undefined)
    known.set(at, stats)
    return stats
  }

  /** Takes the name below the nearest folder that exists: nothing can come to be at a path without a change of that name. */
  const watchName = async (at: string): Promise<void> => {
    const folder = path.dirname(at)
    const stats = await stat(folder)
    if (stats === undefined || !stats.isDirectory()) return folder === at ? undefined : watchName(folder)
    const key = `${stats.dev}:${stats.ino} ${folder}`
    const { names } = folders.get(key) ?? { names: new Set() }
    folders.set(key, { folder, names: names.add(path.basename(at).toLowerCase()) })
  }

  for (const at of paths) {
    await watchName(at)
    if (at.endsWith(any)) continue
    const stats = await stat(at)
    // the mode and the owner decide whether a file is read
    signatures.push(
      stats === undefined
        ? at
        : [at, stats.dev, stats.ino, stats.isFile(), stats.size, stats.mtimeMs, stats.ctimeMs, stats.mode, stats.uid]
          .join()
    )
    // the target of a link changes elsewhere
    const real = stats === undefined ? at : await disk.realpath(at).catch(() => at)
    if (real !== at) await watchName(real)
  }
  return { signature: signatures.join("\n"), folders }
}

export const watchFiles = (on: Requirements) => (paths: ReadonlyArray<string>): Stream.Stream<void> => {
  const { find, fs, interval, path } = on
  const patterns = paths.filter((at) => at.includes(any))
  /** The part of a pattern before its first star, with any name below it. */
  const fixed = patterns.map((at) => path.join(at.slice(0, at.indexOf(any)).replace(/[^\\/]*$/, ""), any))
  const plain = paths.filter((at) => !at.includes(any))

  return Stream.unwrapScoped(Effect.gen(function*() {
    const wake = yield* Queue.sliding<void>(1)
    const watchers = yield* FiberMap.make<string>()
    let view: View = { signature: "", folders: new Map() }
    let hasNewFolder = false

    const watchFolder = (key: string, folder: string): Effect.Effect<void> =>
      Stream.runForEach(fs.watch(folder), ({ path: changed }) =>
        Effect.sync(() => {
          const name = path.basename(changed)
          const names = view.folders.get(key)?.names
          // a folder that is removed says its own name last
          if (names?.has(any) || names?.has(name.toLowerCase()) || name === path.basename(folder)) {
            wake.unsafeOffer(undefined)
          }
        })).pipe(
          Effect.catchAllCause((cause) => RuntimeLog.debug("A folder cannot be watched, so it is polled.", cause))
        )

    /** Looks at the files, watches their folders, and says whether any file has changed. */
    const turn = Effect.gen(function*() {
      const before = view
      const matches = yield* find(patterns)
      const every = [...plain, ...fixed, ...patterns.flatMap((pattern) => matches.get(pattern) ?? [])]
      view = yield* Effect.promise(() => look(on, every))
      for (const key of before.folders.keys()) if (!view.folders.has(key)) yield* FiberMap.remove(watchers, key)
      for (const [key, { folder }] of view.folders) {
        yield* FiberMap.run(watchers, key, watchFolder(key, folder), { onlyIfMissing: true })
      }
      hasNewFolder = Array.from(view.folders.keys()).some((key) => !before.folders.has(key))
      return view.signature !== before.signature
    })
    const pause = Effect.suspend(() =>
      Effect.timeoutOption(Queue.take(wake), hasNewFolder ? Duration.min(settling, interval) : interval)
    )

    yield* turn
    const changes = Stream.filter(Stream.repeatEffect(Effect.zipRight(pause, turn)), (hasChanged) => hasChanged)
    // the first element says that the watching has begun, if there is no file yet, too
    return Stream.as(Stream.concat(Stream.succeed(true), changes), undefined)
  }))
}
