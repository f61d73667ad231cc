import type * as PlatformError from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { Source } from "../OutputGuard.ts"
import type { Handle, Options } from "../Spill.ts"
import * as PrivateFolder from "./privateFolder.ts"
import type { Kept, Part } from "./spillStore.ts"

/** However small they are, more would take long to look through. */
const mostFiles = 1_000

const fileName = /^spill-[0-9a-f]{32}\.txt$/

const chunkBytes = FileSystem.KiB(64)

/** The first line of a file says whose words follow. */
const Header = Schema.parseJson(Schema.Struct({
  server: Schema.String,
  tool: Schema.String,
  kind: Schema.optional(Schema.Literal("tool", "resource", "prompt", "error", "instructions"))
}))
const encodeHeader = Schema.encodeSync(Header)
const decodeHeader = Schema.decodeEither(Header)

const encoder = new TextEncoder()

type Failure = PlatformError.PlatformError

const isNotFound = (error: Failure): boolean => error._tag === "SystemError" && error.reason === "NotFound"

const missing = { _tag: "Missing" } as const
const broken = { _tag: "Broken" } as const

interface Found {
  readonly path: string
  readonly size: number
  readonly at: number
}

/**
 * One file for each text, in a folder of the user's own.
 *
 * @internal
 */
export const make = Effect.fnUntraced(function*(directory: string, options: Options) {
  const fs = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  const folder = yield* PrivateFolder.make
  const maxAge = Duration.toMillis(options.maxAge)
  const pathOf = (handle: Handle) => paths.join(directory, `${handle}.txt`)

  const timeOf = ({ mtime }: FileSystem.File.Info): number =>
    Option.match(mtime, { onNone: () => 0, onSome: (date) => date.getTime() })

  const names = Effect.catchIf(fs.readDirectory(directory), isNotFound, () => Effect.succeed<ReadonlyArray<string>>([]))

  const found = Effect.flatMap(names, (all) =>
    Effect.forEach(
      all.filter((name) => fileName.test(name)),
      (name) => {
        const path = paths.join(directory, name)
        const info = Effect.map(fs.stat(path), (info): Found => ({ path, size: Number(info.size), at: timeOf(info) }))
        // a link that leads nowhere is litter too
        return Effect.orElseSucceed(info, (): Found => ({ path, size: 0, at: 0 }))
      },
      { concurrency: 16 }
    ))

  /** Makes room for so many bytes of one file more: what is too old goes, and then the oldest. */
  const sweep = (room: number, files: number): Effect.Effect<void, Failure> =>
    Effect.gen(function*() {
      const now = yield* Clock.currentTimeMillis
      const all = (yield* found).toSorted((one, other) => other.at - one.at)
      let bytes = room
      let count = files
      for (const { at, path, size } of all) {
        bytes += size
        count++
        if (now - at <= maxAge && bytes <= options.maxBytes && count <= mostFiles) continue
        bytes -= size
        count--
        yield* Effect.ignore(fs.remove(path, { force: true }))
      }
    })

  const write = (handle: Handle, text: string, source: Source): Effect.Effect<boolean, Failure> =>
    Effect.suspend(() => {
      const { kind, server, tool } = source
      const header = encodeHeader({ server, tool, ...(kind === undefined ? {} : { kind }) })
      const bytes = encoder.encode(`${header}\n${text}`)
      if (bytes.length > Math.min(options.maxBytesEach, options.maxBytes)) return Effect.succeed(false)
      return folder.prepare(directory).pipe(
        Effect.zipRight(sweep(bytes.length, 1)),
        Effect.zipRight(folder.writeNew(pathOf(handle), bytes)),
        Effect.as(true)
      )
    })

  /** Reads from the beginning, since only that tells characters from bytes, but keeps no more than is asked for. */
  const part = (file: FileSystem.File, from: number, length: number): Effect.Effect<Option.Option<Part>, Failure> =>
    Effect.gen(function*() {
      const decoder = new TextDecoder("utf-8", { ignoreBOM: true })
      const kept: Array<string> = []
      let source: Source | undefined
      let header = ""
      let at = 0
      const take = (text: string): void => {
        const slice = text.slice(Math.max(0, from - at), Math.max(0, from + length - at))
        if (slice !== "") kept.push(slice)
        at += text.length
      }
      while (at < from + length) {
        const chunk = yield* file.readAlloc(chunkBytes)
        const text = Option.isSome(chunk) ? decoder.decode(chunk.value, { stream: true }) : decoder.decode()
        if (source === undefined) {
          header += text
          const end = header.indexOf("\n")
          const decoded = end === -1 ? undefined : decodeHeader(header.slice(0, end))
          if (decoded === undefined || Either.isLeft(decoded)) return Option.none()
          const { kind, server, tool } = decoded.right
          source = { server, tool, ...(kind === undefined ? {} : { kind }) }
          take(header.slice(end + 1))
        } else {
          take(text)
        }
        if (Option.isNone(chunk)) break
      }
      return source === undefined ? Option.none() : Option.some({ source, text: kept.join("") })
    })

  const read = (handle: Handle, from: number, length: number): Effect.Effect<Kept, Failure> =>
    Effect.gen(function*() {
      const path = pathOf(handle)
      const info = yield* folder.look(path)
      const now = yield* Clock.currentTimeMillis
      if (now - timeOf(info) > maxAge) return missing
      const file = yield* fs.open(path, { flag: "r" })
      const found = yield* part(file, from, length)
      return Option.isSome(found) ? { _tag: "Found" as const, part: found.value } : broken
    }).pipe(
      Effect.scoped,
      Effect.catchIf(isNotFound, () => Effect.succeed(missing))
    )

  return { write, read, sweep: sweep(0, 0) }
})
