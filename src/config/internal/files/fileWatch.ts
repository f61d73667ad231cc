/**
 * Tells that files may have changed. The system's notices are quick, but they are lost when a folder is exchanged, do not
 * exist for what does not exist yet, and on some volumes for nothing; so everything is looked at now and then as well.
 *
 * @internal
 */
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as Path from "@effect/platform/Path"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FiberMap from "effect/FiberMap"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import * as RuntimeLog from "../../../runtimeLog.ts"

/** @internal */
export interface Requirements {
  readonly fs: FileSystem.FileSystem
  readonly path: Path.Path
  readonly expand: (pattern: string) => Effect.Effect<ReadonlyArray<string>>
  readonly interval: Duration.Duration
}

/** The system needs a moment before it notices anything in a folder: what happens in it is found by looking again. */
const settling = Duration.millis(100)

const any = "*"

/** What was seen of the files, and which names in which folders are of interest. */
interface View {
  readonly signature: string
  readonly folders: ReadonlyMap<string, { readonly identity: string; readonly names: ReadonlySet<string> }>
}

const identityOf = ({ dev, ino }: FileSystem.File.Info): string => `${dev}:${Option.getOrElse(ino, () => 0)}`

const signatureOf = (info: FileSystem.File.Info): string =>
  [
    identityOf(info),
    info.type,
    info.size,
    Option.match(info.mtime, { onNone: () => 0, onSome: (date) => date.getTime() }),
    // what was refused because of them is read when they are corrected
    info.mode,
    Option.getOrElse(info.uid, () => 0)
  ].join(":")

/** @internal */
export const make = (
  { expand, fs, interval, path }: Requirements
): (paths: ReadonlyArray<string>) => Stream.Stream<void> => {
  const look = (paths: ReadonlyArray<string>): Effect.Effect<View> =>
    Effect.gen(function*() {
      const folders = new Map<string, { readonly identity: string; readonly names: Set<string> }>()
      const infos = new Map<string, Option.Option<FileSystem.File.Info>>()
      const signatures: Array<string> = []

      const stat = (at: string) =>
        Effect.suspend(() => {
          const known = infos.get(at)
          if (known !== undefined) return Effect.succeed(known)
          return Effect.tap(Effect.option(fs.stat(at)), (info) => Effect.sync(() => infos.set(at, info)))
        })

      /** The name below the nearest folder that exists: nothing can come to be there without it. */
      const watchName = (at: string) =>
        Effect.gen(function*() {
          let name = path.basename(at)
          let folder = path.dirname(at)
          for (;;) {
            const info = yield* stat(folder)
            if (Option.isSome(info) && info.value.type === "Directory") {
              const known = folders.get(folder)
              if (known !== undefined) known.names.add(name.toLowerCase())
              else folders.set(folder, { identity: identityOf(info.value), names: new Set([name.toLowerCase()]) })
              return
            }
            const parent = path.dirname(folder)
            if (parent === folder) return
            name = path.basename(folder)
            folder = parent
          }
        })

      const seeFile = (at: string) =>
        Effect.gen(function*() {
          const info = yield* stat(at)
          signatures.push(`${at} ${Option.match(info, { onNone: () => "-", onSome: signatureOf })}`)
          yield* watchName(at)
          if (Option.isNone(info)) return
          const link = yield* Effect.option(fs.readLink(at))
          // what a link leads to changes elsewhere
          if (Option.isSome(link)) yield* watchName(yield* Effect.orElseSucceed(fs.realPath(at), () => at))
        })

      for (const at of paths) {
        if (!at.includes("*")) {
          yield* seeFile(at)
          continue
        }
        const names = at.split(/[\\/]/)
        const fixed = names.slice(0, names.findIndex((name) => name.includes("*"))).join(path.sep)
        yield* watchName(path.join(fixed, any))
        for (const one of yield* expand(at)) yield* seeFile(one)
      }
      return { signature: signatures.join("\n"), folders }
    })

  return (paths) =>
    Stream.unwrapScoped(Effect.gen(function*() {
      const bell = yield* Queue.sliding<void>(1)
      const wake = yield* Queue.sliding<void>(1)
      const watchers = yield* FiberMap.make<string>()
      let view: View = { signature: "", folders: new Map() }
      let noticed = false

      const notice = (folder: string, name: string) => {
        const names = view.folders.get(folder)?.names
        const concerns = names !== undefined && (names.has(any) || names.has(name.toLowerCase()))
        if (concerns) noticed = true
        // its own name is what a folder says at last
        if (concerns || name === path.basename(folder)) wake.unsafeOffer(undefined)
      }

      const watchFolder = (folder: string): Effect.Effect<void> =>
        Stream.runForEach(
          fs.watch(folder),
          (event) => Effect.sync(() => notice(folder, path.basename(event.path)))
        ).pipe(Effect.catchAllCause((cause) => RuntimeLog.debug("A folder cannot be watched, so it is polled.", cause)))

      const tried = new Set<string>()
      /** Watches what is to be watched now, and says whether any of it is new. */
      const follow = Effect.gen(function*() {
        const wanted = new Map(Array.from(view.folders, ([folder, { identity }]) => [`${identity} ${folder}`, folder]))
        for (const [key] of Array.from(watchers)) {
          if (!wanted.has(key)) yield* FiberMap.remove(watchers, key)
        }
        let isNew = false
        for (const [key, folder] of wanted) {
          yield* FiberMap.run(watchers, key, watchFolder(folder), { onlyIfMissing: true })
          if (tried.has(key)) continue
          tried.add(key)
          isNew = true
        }
        for (const key of tried) if (!wanted.has(key)) tried.delete(key)
        return isNew
      })

      const turn = Effect.gen(function*() {
        const wasNoticed = noticed
        noticed = false
        const before = view.signature
        view = yield* look(paths)
        if (wasNoticed || view.signature !== before) yield* Queue.offer(bell, undefined)
        return yield* follow
      })

      view = yield* look(paths)
      yield* Queue.offer(bell, undefined)
      let isNew = yield* follow
      const next = Effect.suspend(() =>
        Effect.timeoutOption(Queue.take(wake), isNew ? Duration.min(settling, interval) : interval)
      )
      yield* Effect.forkScoped(Effect.forever(Effect.zipRight(
        next,
        Effect.map(turn, (started) => {
          isNew = started
        })
      )))
      return Stream.fromQueue(bell)
    }))
}
