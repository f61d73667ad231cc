/**
 * The program in this process: over folders of its own, with a terminal or pipes that remember what was written.
 */
import { Effect } from "effect"
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import * as Cli from "../../src/cli/Cli.ts"
import type * as Screen from "../../src/cli/Screen.ts"
import * as HostEnvironment from "../../src/config/HostEnvironment.ts"

export interface Place {
  readonly home: string
  readonly root: string
  /** Writes a file below the folder of the test, and gives its path. */
  readonly write: (path: string, content: string | object) => string
}

/** A home folder and a workspace that are gone when the scope closes. */
export const place = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => realpathSync(mkdtempSync(join(tmpdir(), "mcp-cli-")))),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  ),
  (folder): Place => {
    const write: Place["write"] = (path, content) => {
      const file = join(folder, path)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content, null, 2), { mode: 0o600 })
      return file
    }
    for (const name of ["home", "work"]) mkdirSync(join(folder, name), { mode: 0o700 })
    return { home: join(folder, "home"), root: join(folder, "work"), write }
  }
)

/** The user's own file, whose servers start without asking. */
export const own = "home/.config/mcp-runtime/mcp-client.json"

/** The file of a workspace, whose servers have to be agreed to. */
export const ofWorkspace = "work/.mcp.json"

export const server = (fixture: string, ...args: ReadonlyArray<string>) => ({
  command: process.execPath,
  args: [fileURLToPath(new URL(`../fixtures/${fixture}`, import.meta.url)), ...args]
})

export interface Typing {
  /** What is answered to each question; without it, nobody is there who could be asked. */
  readonly answers?: ReadonlyArray<string> | undefined
  /** The width of the terminal; without it, the output is a pipe. */
  readonly columns?: number | undefined
  readonly input?: string | undefined
  /** Of the environment, beside `HOME` and `PATH`. */
  readonly variables?: Readonly<Record<string, string>> | undefined
  /** Called with all that is written, as it is. */
  readonly onWrite?: ((text: string) => void) | undefined
}

export interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
  readonly asked: ReadonlyArray<string>
}

export const run = (
  { home, root }: Place,
  argv: ReadonlyArray<string>,
  { answers, columns, input = "", onWrite, variables }: Typing = {}
): Effect.Effect<Ran> => {
  let out = ""
  let err = ""
  const asked: Array<string> = []
  const left = [...answers ?? []]
  const isTerminal = columns !== undefined
  const device: Screen.Device = {
    write: (where, text) =>
      Effect.sync(() => {
        const shown = Buffer.from(text).toString()
        if (where === "out") out += shown
        else err += shown
        onWrite?.(shown)
      }),
    log: (text) => {
      err += text
      onWrite?.(text)
    },
    columns: columns ?? 80,
    rows: 24,
    onResize: () => () => undefined,
    onResume: () => () => undefined,
    moves: true,
    isTerminal: { out: isTerminal, err: isTerminal },
    isInteractive: answers !== undefined,
    colour: { out: false, err: false },
    ask: (question) =>
      Effect.sync(() => {
        asked.push(question)
        return left.shift()
      }),
    input: (limit) => Effect.succeed(input.length > limit ? undefined : input),
    outputClosed: Effect.never
  }
  return Cli.run({ argv: ["--root", root, ...argv], version: "0.0.0", device }).pipe(
    Effect.provideService(HostEnvironment.HostEnvironment, {
      platform: "linux",
      variables: () => ({ HOME: home, PATH: process.env["PATH"], ...variables }),
      uid: process.getuid?.()
    }),
    Effect.map((code) => ({ code, out, err, asked }))
  )
}
