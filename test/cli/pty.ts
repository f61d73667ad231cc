/** The built program on a real pseudo-terminal, of which `script` (util-linux) is the other end. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { symlinkSync } from "node:fs"
import { join } from "node:path"
import { quote } from "../../src/text/shellWords.ts"
import * as Workspace from "./workspace.ts"

export interface Session {
  /** All that the terminal was sent. */
  readonly shown: () => string
  /** Waits until what the terminal was sent since the last wait fits. */
  readonly until: (pattern: RegExp) => Promise<void>
  readonly type: (keys: string) => void
  readonly ended: Promise<number | null>
}

export const ctrlC = "\u0003"
export const ctrlD = "\u0004"
/** Deletes the line. */
export const ctrlU = "\u0015"
export const enter = "\r"
export const tab = "\t"

/** @param words - a command line, with `mcp-runtime` on the PATH */
export const open = (work: Workspace.Workspace, words: ReadonlyArray<string>): Session => {
  const link = join(work.folder, "mcp-runtime")
  symlinkSync(Workspace.bin, link)
  const line = words.map(quote).join(" ")
  const child = spawn("script", ["-qfec", `stty cols 80 rows 24; exec ${line}`, "/dev/null"], {
    cwd: work.folder,
    env: { ...work.environment, PATH: `${work.folder}:${process.env["PATH"]}`, TERM: "xterm" }
  })
  let shown = ""
  let seen = 0
  let wake = () => {}
  let hasEnded = false
  child.stdout.on("data", (chunk: Buffer) => {
    shown += chunk.toString()
    wake()
  })
  const ended = once(child, "close").then(([code]) => {
    hasEnded = true
    wake()
    return code as number | null
  })
  return {
    shown: () => shown,
    until: async (pattern) => {
      for (;;) {
        const found = pattern.exec(shown.slice(seen))
        if (found !== null) {
          seen += found.index + found[0].length
          return
        }
        if (hasEnded) throw new Error(`It has ended without ${pattern}: ${JSON.stringify(shown)}`)
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    },
    type: (keys) => void child.stdin.write(keys),
    ended
  }
}
