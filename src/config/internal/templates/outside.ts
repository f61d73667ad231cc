/**
 * Files and programs, for the variables that ask for them.
 *
 * @internal
 */
import type * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Program from "../../program.ts"
import type { Outside } from "./resolution.ts"

const longest = 64 * 1024

/** By whole components, of real paths. */
const isInside = (folder: string, path: string): boolean => {
  const parts = (text: string) => text.split(/[\\/]/).filter((part) => part !== "")
  const inner = parts(path)
  return parts(folder).every((part, index) => part === inner[index])
}

/** @internal */
export const make = (fs: FileSystem.FileSystem): Pick<Outside, "file" | "run"> => ({
  file: (path, within) =>
    Effect.gen(function*() {
      // what is read is what was looked at: a link is followed once
      const real = yield* fs.realPath(path)
      if (within !== undefined && !isInside(yield* fs.realPath(within), real)) {
        return yield* Effect.fail("lies outside of the workspace")
      }
      const found = yield* fs.stat(real)
      // a pipe or a device may never end
      if (found.type !== "File") return yield* Effect.fail("is no file")
      if (found.size > longest) return yield* Effect.fail(`is larger than ${longest} bytes`)
      const bytes = yield* fs.readFile(real)
      if (bytes.length > longest) return yield* Effect.fail(`is larger than ${longest} bytes`)
      return new TextDecoder().decode(bytes)
    }).pipe(
      Effect.mapError((error) =>
        typeof error === "string"
          ? error
          : error._tag === "SystemError" && error.reason === "NotFound"
          ? "does not exist"
          : "cannot be read"
      ),
      Effect.timeoutFail({ duration: "2 seconds", onTimeout: () => "could not be read within 2 seconds" })
    ),
  run: (argv, cwd, host) => Program.run({ argv, cwd, host })
})
