/**
 * The project as a reader of its files sees it, for tests about the project itself.
 */
import { spawnSync } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { delimiter, join } from "node:path"
import { fileURLToPath } from "node:url"

/** The project's folder. */
export const root = new URL("../../", import.meta.url)

const bin = fileURLToPath(new URL("node_modules/.bin", root))

/** Runs a program of the project's dependencies, or one of the PATH, to its end. */
export const run = (
  command: string,
  args: ReadonlyArray<string>,
  options: { readonly cwd?: string; readonly env?: Readonly<Record<string, string>> } = {}
): { readonly status: number | null; readonly stdout: string; readonly output: string } => {
  const { error, status, stderr, stdout } = spawnSync(command, args, {
    cwd: options.cwd ?? fileURLToPath(root),
    env: { ...process.env, ...options.env, PATH: `${bin}${delimiter}${process.env["PATH"]}` },
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
    timeout: 60_000
  })
  if (error !== undefined) throw error
  return { status, stdout, output: stdout + stderr }
}

/** A file of the project: its path from `src/`, and its text. */
export interface Source {
  readonly path: string
  readonly text: string
}

/** Every module of `src`. */
export const sources: ReadonlyArray<Source> = readdirSync(fileURLToPath(new URL("src", root)), { recursive: true })
  .map((path) => String(path).replaceAll("\\", "/"))
  .filter((path) => path.endsWith(".ts"))
  .toSorted()
  .map((path) => ({ path, text: readFileSync(join(fileURLToPath(new URL("src", root)), path), "utf8") }))

/** Whether a module is out of reach for users. */
export const isInternal = (path: string): boolean => path.split("/").includes("internal")
