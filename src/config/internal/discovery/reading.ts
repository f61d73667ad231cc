/**
 * The files that are there, read and understood one by one: a bad one costs only itself, and after it was good once, not
 * even that.
 *
 * @internal
 */
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import { sha256 } from "../../../json/canonical.ts"
import type * as ConfigDocument from "../../ConfigDocument.ts"
import type * as ConfigFiles from "../../ConfigFiles.ts"
import type * as ConfigIssue from "../../ConfigIssue.ts"
import * as Dialect from "../../Dialect.ts"
import * as Document from "../../document.ts"
import * as File from "../documents/file.ts"
import type { Source } from "./sources.ts"

/** @internal */
export interface Read {
  readonly source: Source
  readonly path: string
  readonly document: ConfigDocument.ConfigDocument
  readonly decoded: Dialect.Decoded
  readonly issues: ReadonlyArray<ConfigIssue.ConfigIssue>
  /** There is a file, and nothing of it can be used. */
  readonly failed: boolean
  /** Something newer is there, and cannot be used. */
  readonly stale: boolean
}

const nothing: Pick<Read, "document" | "decoded"> = {
  document: { root: undefined, issues: [], line: () => undefined },
  decoded: { items: [], issues: [], inputs: [], undeclaredInputs: [], policy: undefined, imports: undefined }
}

/** @internal */
export interface Reader {
  readonly read: (
    sources: ReadonlyArray<Source>,
    root: string,
    strict: boolean
  ) => Effect.Effect<ReadonlyArray<Read>>
}

interface Wanted {
  readonly source: Source
  readonly path: string
}

type Content = ConfigFiles.Content | ConfigFiles.Refused | undefined

/** What was made of a file, and of which words in it. */
interface Known extends Pick<Read, "document" | "decoded" | "issues"> {
  readonly digest: string
}

/** How many files are read at the same time, and held until they are understood. */
const together = 16

/** Bytes of a file that takes a tenth of a second. */
const large = 1024 * 1024

/** A file that is read in two ways is remembered for each. */
const keyOf = ({ dialect, pointer, scope }: Source, path: string): string =>
  [dialect.host, scope, ...(pointer ?? []), path].join("\0")

/**
 * Remembers what was good, until the file is gone. What is written there as it was is not understood anew: when one of
 * dozens of files changes, all are looked at.
 *
 * @internal
 */
export const make = (files: ConfigFiles.ConfigFiles["Type"]): Reader => {
  const good = new Map<string, Known>()

  const forget = (source: Source, path: string): undefined => {
    good.delete(keyOf(source, path))
  }

  const understood = (
    { path, source }: Wanted,
    content: Content,
    strict: boolean
  ): Effect.Effect<Read | undefined> => {
    const { dialect, format, origin, pointer, scope } = source
    const about = { provider: dialect.host, scope, path, server: undefined, at: undefined, line: undefined }
    const key = keyOf(source, path)
    const read = (
      { decoded, document, issues }: Omit<Known, "digest">,
      { failed = false, stale = false } = {}
    ): Read => ({ source, path, document, decoded, issues, failed, stale })
    const failed = (issues: ReadonlyArray<ConfigIssue.ConfigIssue>): Read => {
      const last = good.get(key)
      return read({ ...(last ?? nothing), issues }, { failed: last === undefined, stale: last !== undefined })
    }
    const refused = (kind: ConfigIssue.FileFault, detail: string) =>
      failed([{
        ...about,
        kind,
        severity: "error",
        message: Dialect.explain(kind, { host: dialect.host, detail })
      }])
    if (content === undefined) {
      forget(source, path)
      return Effect.succeed(source.isNamed ? refused("unreadable", "there is no such file") : undefined)
    }
    if (content._tag === "Refused") return Effect.succeed(refused(content.kind, content.detail))
    const digest = sha256(content.bytes)
    const before = good.get(key)
    if (before?.digest === digest) return Effect.succeed(read(before))
    const options = { host: dialect, scope, origin, path, format, pointer, strict }
    return Effect.map(File.decode(content.bytes, options), (file) => {
      if (file.issues.some(({ server, severity }) => severity === "error" && server === undefined)) {
        return failed(file.issues)
      }
      good.set(key, { ...file, digest })
      return read(file)
    })
  }

  /** Each file that a pattern stands for. */
  const expanded = (sources: ReadonlyArray<Source>): Effect.Effect<ReadonlyArray<Wanted>> =>
    Effect.map(
      files.expandAll(sources.flatMap(({ path }) => path.includes("*") ? [path] : [])),
      (found) =>
        sources.flatMap((source) => (found.get(source.path) ?? [source.path]).map((path): Wanted => ({ source, path })))
    )

  return {
    read: (sources, root, strict) =>
      Effect.gen(function*() {
        const present = yield* files.present(sources.map(({ path }) => path))
        const isWanted = ({ isNamed, path }: Source) => isNamed || present.has(path)
        for (const source of sources) if (!isWanted(source)) forget(source, source.path)
        const wanted = yield* expanded(sources.filter(isWanted))
        for (const { source: { format } } of wanted) Document.preload(format)
        const reads: Array<Read> = []
        for (const some of Arr.chunksOf(wanted, together)) {
          const contents = yield* files.readAll(
            some.map(({ path, source: { origin } }) => ({ path, origin, root }))
          )
          for (const [at, one] of some.entries()) {
            const content = contents[at]
            const read = yield* understood(one, content, strict)
            if (read !== undefined) reads.push(read)
            // what takes long keeps others waiting once, and not sixteen times
            if (content?._tag === "Content" && content.bytes.length > large) yield* Effect.yieldNow()
          }
        }
        return reads
      })
  }
}
