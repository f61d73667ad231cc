/**
 * Files that are only in memory.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { wildcard } from "../../../text/wildcard.ts"
import type * as ConfigFiles from "../../ConfigFiles.ts"

const isBelow = (folder: string, path: string): boolean =>
  path === folder || path.startsWith(folder.endsWith("/") ? folder : `${folder}/`)

const fits = (pattern: string): (path: string) => boolean => {
  const names = pattern.split("/").map((part) => wildcard(part))
  return (path) => {
    const parts = path.split("/")
    return parts.length === names.length && names.every((name, at) => name(parts[at]!))
  }
}

type Files = ReadonlyMap<string, string | Uint8Array | ConfigFiles.Refused>

const read = (
  files: Files,
  { maxBytes = Infinity, path }: Pick<ConfigFiles.Wanted, "path" | "maxBytes">
): ConfigFiles.Content | ConfigFiles.Refused | undefined => {
  const file = files.get(path)
  if (file === undefined) return undefined
  if (typeof file === "object" && "_tag" in file) return file
  const bytes = typeof file === "string" ? new TextEncoder().encode(file) : file
  return bytes.length > maxBytes
    ? { _tag: "Refused", path, kind: "file-too-large", detail: `more than ${maxBytes} bytes` }
    : { _tag: "Content", path, realPath: path, bytes }
}

const expand = (files: Files, pattern: string): ReadonlyArray<string> =>
  Array.from(files.keys()).filter(fits(pattern)).toSorted()

/** @internal */
export const make = (files: Files, changed: Stream.Stream<void>): ConfigFiles.ConfigFiles["Type"] => ({
  read: (path, options) => Effect.sync(() => read(files, { ...options, path })),
  readAll: (wanted) => Effect.sync(() => wanted.map((file) => read(files, file))),
  exists: (path) => Effect.sync(() => Array.from(files.keys()).some((file) => isBelow(path, file))),
  present: (paths) => Effect.succeed(new Set(paths)),
  expand: (pattern) => Effect.sync(() => expand(files, pattern)),
  expandAll: (patterns) => Effect.sync(() => new Map(patterns.map((pattern) => [pattern, expand(files, pattern)]))),
  realPath: Effect.succeed,
  isInside: (folder, path) => Effect.succeed(isBelow(folder, path)),
  watch: () => Stream.concat(Stream.succeed(undefined), changed)
})
