// @effect-diagnostics strictEffectProvide:off -- files are needed by few commands, and provided where they are
/** What is written to a file that somebody has named, as it is. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Screen from "./Screen.ts"
import { Usage } from "./Usage.ts"

/** `picture.png`, `picture-2.png`, … */
export const nameOf = (file: string, at: number): string => {
  if (at === 0) return file
  const name = Math.max(file.lastIndexOf("/"), file.lastIndexOf("\\")) + 1
  const dot = file.lastIndexOf(".")
  const end = dot > name ? dot : file.length
  return `${file.slice(0, end)}-${at + 1}${file.slice(end)}`
}

export const write = (
  file: string,
  contents: ReadonlyArray<Uint8Array>
): Effect.Effect<void, Usage, Screen.Screen> =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const screen = yield* Screen.Screen
    for (const [at, content] of contents.entries()) {
      const name = nameOf(file, at)
      yield* Effect.mapError(
        fs.writeFile(name, content),
        ({ message }) => new Usage({ detail: `The file "${name}" cannot be written: ${message}` })
      )
      yield* screen.note(`wrote ${name} (${content.length} bytes)`)
    }
  }).pipe(Effect.provide(NodeFileSystem.layer))
