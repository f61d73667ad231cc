/**
 * Reads files that may be anything: each step is bounded, and what is decided on is what was opened.
 *
 * @internal
 */
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as Path from "@effect/platform/Path"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { wildcard } from "../../../text/wildcard.ts"
import type * as ConfigFiles from "../../ConfigFiles.ts"
import type * as HostEnvironment from "../../HostEnvironment.ts"
import * as FileContent from "./fileContent.ts"

/** @internal */
export interface Requirements {
  readonly fs: FileSystem.FileSystem
  readonly disk: FileContent.Disk
  readonly path: Path.Path
  readonly host: HostEnvironment.Host
  readonly timeout: Duration.Duration
  readonly maxBytes: number
  readonly maxMatches: number
}

type Info = FileSystem.File.Info

/** What is there, or where a link leads that has to be looked at more closely. */
type Glance = ConfigFiles.Content | ConfigFiles.Refused | string | undefined

const codeOf = (error: unknown): string =>
  typeof error === "object" && error !== null && "code" in error && typeof error.code === "string"
    ? error.code
    : "unknown"

/** Why a disk fails; nothing, if there is nothing to be read. */
const reasonOf = (error: unknown): FileContent.Refusal | undefined => {
  if (error instanceof FileContent.Refusal) return error
  const code = codeOf(error)
  switch (code) {
    case "ENOENT":
    // only a file where its folder would be
    case "ENOTDIR":
      return undefined
    case "EACCES":
    case "EPERM":
      return new FileContent.Refusal("unreadable", "this user may not read it")
    case "ELOOP":
      return new FileContent.Refusal("unreadable", "its links lead in a circle")
    default:
      return new FileContent.Refusal("unreadable", `reading it fails (${code})`)
  }
}

const late = new FileContent.Refusal("unreadable", "reading it takes too long")

const outside = Effect.fail(
  new FileContent.Refusal("insecure-file", "its folder is a link that leads out of the workspace")
)

/** What has moved since it was looked at is looked at again another time. */
const given = (content: ConfigFiles.Content | string): Effect.Effect<ConfigFiles.Content, FileContent.Refusal> =>
  typeof content === "string"
    ? Effect.fail(new FileContent.Refusal("unreadable", "its links are changing"))
    : Effect.succeed(content)

/** @internal */
export const make = (
  { disk, fs, host, maxBytes: usual, maxMatches, path, timeout }: Requirements
): Omit<ConfigFiles.ConfigFiles["Type"], "present" | "watch"> => {
  /** A disk that hangs cannot be interrupted; it is left to itself, because whoever waits for it would hang too. */
  const within = <A>(ask: () => Promise<A>): Effect.Effect<Option.Option<A>> =>
    Effect.timeoutOption(Effect.promise(ask), timeout)

  const stat = (at: string): Effect.Effect<Option.Option<Info>> =>
    Effect.map(Effect.timeoutOption(Effect.disconnect(Effect.option(fs.stat(at))), timeout), Option.flatten)

  /** Links are followed as far as there is something. */
  const realOf = async (at: string): Promise<string> => {
    try {
      return await disk.realpath(at)
    } catch {
      const parent = path.dirname(at)
      return parent === at ? at : path.join(await realOf(parent), path.basename(at))
    }
  }

  const followed = (at: string): Effect.Effect<Option.Option<string>> => within(() => realOf(at))

  const realPath = (at: string): Effect.Effect<string> => Effect.map(followed(at), Option.getOrElse(() => at))

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
      const [real, asked] = [yield* followed(path.resolve(folder)), yield* followed(path.resolve(at))]
      // where it leads cannot be known, and so not that it stays inside
      if (Option.isNone(real) || Option.isNone(asked)) return false
      const outer = real.value
      let inner = asked.value
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

  const refused = (at: string, { detail, kind }: FileContent.Refusal): ConfigFiles.Refused => ({
    _tag: "Refused",
    path: at,
    kind,
    detail
  })

  const reading: FileContent.Reading = {
    disk,
    uid: host.uid,
    hasModes: host.platform !== "win32",
    folderOf: path.dirname
  }

  const step = (wanted: FileContent.Wanted, isPlace: (real: string) => boolean) =>
    Effect.tryPromise({ try: () => FileContent.read(reading, wanted, isPlace), catch: reasonOf })

  /** Most paths have no links, and only links can lead out. */
  const isStraight = ({ at, origin }: FileContent.Wanted, root: string | undefined) => (real: string): boolean =>
    origin !== "workspace" || root === undefined || real === at

  const attempt = (
    wanted: FileContent.Wanted,
    root: string | undefined
  ): Effect.Effect<ConfigFiles.Content | ConfigFiles.Refused, FileContent.Refusal | undefined> => {
    const { at } = wanted
    return Effect.flatMap(step(wanted, isStraight(wanted, root)), (content) =>
      typeof content !== "string"
        ? Effect.succeed(content)
        : Effect.flatMap(isInside(root ?? content, path.dirname(at)), (isIn) =>
          isIn ? Effect.flatMap(step(wanted, (real) => real === content), given) : outside))
  }

  const read: ConfigFiles.ConfigFiles["Type"]["read"] = (at, { maxBytes = usual, origin, root }) =>
    Effect.timeoutOption(attempt({ at, maxBytes, origin }, root), timeout).pipe(
      Effect.map(Option.getOrElse(() => refused(at, late))),
      Effect.catchAll((reason) => Effect.succeed(reason === undefined ? undefined : refused(at, reason)))
    )

  const glance = async ({ maxBytes = usual, origin, path: at, root }: ConfigFiles.Wanted): Promise<Glance> => {
    const wanted = { at, maxBytes, origin }
    try {
      return await FileContent.read(reading, wanted, isStraight(wanted, root))
    } catch (error) {
      const reason = reasonOf(error)
      return reason && refused(at, reason)
    }
  }

  /** One wait for all of them, because a fiber and a timer for each cost more than what they wait for. */
  const readAll: ConfigFiles.ConfigFiles["Type"]["readAll"] = (files) =>
    Effect.suspend(() => {
      const seen: Array<Glance> = files.map(({ path }) => refused(path, late))
      const look = async (file: ConfigFiles.Wanted, at: number): Promise<void> => {
        seen[at] = await glance(file)
      }
      return within(() => Promise.all(files.map(look))).pipe(
        Effect.zipRight(Effect.suspend(() =>
          Effect.forEach(seen.slice(), (found, at) =>
            typeof found === "string" ? read(files[at]!.path, files[at]!) : Effect.succeed(found))
        ))
      )
    })

  const namesIn = async (folder: string): Promise<ReadonlyArray<string>> => {
    try {
      return await disk.readdir(folder)
    } catch {
      return []
    }
  }

  /** The paths below a folder that fit the rest of a pattern, name by name. */
  const below = async (folder: string, names: ReadonlyArray<string>): Promise<ReadonlyArray<string>> => {
    const [name, ...rest] = names
    if (name === undefined) return [folder]
    if (!name.includes("*")) return below(path.join(folder, name), rest)
    const fits = wildcard(name)
    const found = (await namesIn(folder))
      // hidden ones are meant only if they are named
      .filter((one) => fits(one) && (!one.startsWith(".") || name.startsWith("."))).toSorted().slice(0, maxMatches)
    const paths: Array<string> = []
    for (const one of found) paths.push(...await below(path.join(folder, one), rest))
    return paths.slice(0, maxMatches)
  }

  const isThere = (at: string): Promise<boolean> => disk.stat(at).then(() => true, () => false)

  const exists = (at: string) => Effect.map(within(() => isThere(at)), Option.getOrElse(() => false))

  const expanded = async (pattern: string): Promise<ReadonlyArray<string>> => {
    const absolute = path.resolve(pattern)
    const { root } = path.parse(absolute)
    const found = await below(root, absolute.slice(root.length).split(path.sep))
    const there = await Promise.all(found.map(isThere))
    return found.filter((_, at) => there[at])
  }

  /** One wait for all of them; what has not answered by then stands for nothing. */
  const expandAll: ConfigFiles.ConfigFiles["Type"]["expandAll"] = (patterns) =>
    Effect.suspend(() => {
      const found = new Map<string, ReadonlyArray<string>>(patterns.map((pattern) => [pattern, []]))
      if (patterns.length === 0) return Effect.succeed(found)
      const look = async (pattern: string): Promise<void> => {
        found.set(pattern, await expanded(pattern))
      }
      return Effect.map(within(() => Promise.all(patterns.map(look))), () => new Map(found))
    })

  const expand = (pattern: string) => Effect.map(expandAll([pattern]), (found) => found.get(pattern) ?? [])

  return { read, readAll, exists, expand, expandAll, realPath, isInside }
}
