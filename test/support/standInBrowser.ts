/**
 * A stand-in for the program that opens pages: notes what it is started with, and then does what a test wants.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import { contentOf } from "./leaks.ts"

/** A folder for a PATH, with the program in it, and its arguments each time that it was started. */
export const standInBrowser = (then: string) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped()
    const note = `for argument in "$@"; do printf '%s\\t' "$argument"; done >> "$home/opened"; echo >> "$home/opened"`
    yield* fs.writeFileString(`${folder}/xdg-open`, `#!/bin/sh\nhome='${folder}'\n${note}\n${then}\n`, { mode: 0o755 })
    return {
      folder,
      opened: (): ReadonlyArray<ReadonlyArray<string>> =>
        contentOf(`${folder}/opened`).split("\n").slice(0, -1).map((line) => line.split("\t").slice(0, -1))
    }
  })
