/** A folder for one test of the command line, with a home that nobody else has, and the program that is built there. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as Built from "../support/built.ts"

const program = await Built.program()

export const bin = join(program, "mcp-runtime.cjs")

export const slow = fileURLToPath(new URL("slow.mjs", import.meta.url))

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface Running {
  readonly interrupt: () => void
  /** Waits until its stderr fits, or it has ended. */
  readonly says: (pattern: RegExp) => Promise<void>
  readonly ended: Promise<Ended>
}

export interface Workspace {
  readonly folder: string
  readonly environment: Readonly<Record<string, string>>
  readonly write: (file: string, content: unknown) => string
  readonly journal: string
  readonly entries: () => ReadonlyArray<Readonly<Record<string, unknown>>>
  readonly until: (holds: (entry: Readonly<Record<string, unknown>>) => boolean) => Promise<void>
  /** The configuration of the server of these tests. */
  readonly server: { readonly command: string; readonly args: ReadonlyArray<string> }
  readonly start: (args: ReadonlyArray<string>, more?: More) => Running
  readonly run: (args: ReadonlyArray<string>, more?: More) => Promise<Ended>
  readonly remove: () => void
}

export interface More {
  readonly input?: string
  readonly variables?: Readonly<Record<string, string>>
  /** Whether its reader leaves at once. */
  readonly leave?: boolean
}

export const make = (): Workspace => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "mcp-cli-")))
  const home = join(folder, "home")
  const workspace = join(folder, "workspace")
  mkdirSync(home)
  mkdirSync(join(workspace, ".git"), { recursive: true })
  const journal = join(folder, "journal")
  const entries: Workspace["entries"] = () =>
    (existsSync(journal) ? readFileSync(journal, "utf8") : "").split("\n").filter((line) => line !== "")
      .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>)
  // what is compiled is of use to all tests
  const environment = { PATH: process.env["PATH"] ?? "", HOME: home, XDG_CACHE_HOME: `${program}.cache` }
  const start: Workspace["start"] = (args, { input, leave, variables } = {}) => {
    const child = spawn(process.execPath, [bin, ...args], {
      cwd: workspace,
      env: { ...environment, ...variables },
      stdio: ["pipe", "pipe", "pipe"],
      timeout: 50_000
    })
    let stdout = ""
    let stderr = ""
    let hasEnded = false
    child.once("exit", () => {
      hasEnded = true
    })
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text
    })
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text
    })
    child.stdin.on("error", () => undefined)
    child.stdin.end(input)
    if (leave === true) child.stdout.destroy()
    const ended = once(child, leave === true ? "exit" : "close").then(([code]): Ended => ({
      code: code as number | null,
      stdout,
      stderr
    }))
    return {
      interrupt: () => void child.kill("SIGINT"),
      says: async (pattern) => {
        while (!hasEnded && !pattern.test(stderr)) await new Promise((resolve) => setTimeout(resolve, 5))
      },
      ended
    }
  }
  return {
    folder: workspace,
    environment,
    journal,
    entries,
    write: (file, content) => {
      const path = join(workspace, file)
      writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content))
      return path
    },
    until: async (holds) => {
      while (!entries().some(holds)) await new Promise((resolve) => setTimeout(resolve, 5))
    },
    server: { command: process.execPath, args: [slow, journal] },
    start,
    run: (args, more) => start(args, more).ended,
    remove: () => rmSync(folder, { recursive: true, force: true })
  }
}
