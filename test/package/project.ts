/**
 * The project as a reader of its files sees it, for tests about the project itself.
 */
import { spawn } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { delimiter, join } from "node:path"
import { fileURLToPath } from "node:url"

/** The project's folder. */
export const root = new URL("../../", import.meta.url)

const bin = fileURLToPath(new URL("node_modules/.bin", root))

/** What a program did. */
export interface Ran {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

/**
 * Runs a program of the project's dependencies, or one of the PATH, to its end. It does not block: the test runner
 * must be able to talk to its worker meanwhile.
 */
export const run = (
  command: string,
  args: ReadonlyArray<string>,
  options: { readonly cwd?: string; readonly path?: string; readonly variables?: Readonly<Record<string, string>> } = {}
): Promise<Ran> =>
  new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: options.cwd ?? fileURLToPath(root),
      env: {
        ...process.env,
        ...options.variables,
        PATH: [options.path, bin, process.env["PATH"]].filter(Boolean).join(delimiter)
      },
      stdio: ["ignore", "pipe", "pipe"],
      timeout: 150_000
    })
    let stdout = ""
    let stderr = ""
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text
    })
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text
    })
    child.on("error", reject).on("close", (status) => resolve({ status, stdout, stderr }))
  })

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

/** `exports` of package.json. */
export const { exports } = JSON.parse(readFileSync(new URL("package.json", root), "utf8")) as {
  readonly exports: Readonly<Record<string, string>>
}

/** The specifiers of modules that users can import, each with its source from `src/`. */
export const entryPoints: ReadonlyMap<string, string> = new Map(
  Object.entries(exports).filter(([, target]) => target.endsWith(".js")).map(([key, target]) => [
    `effect-mcp-runtime${key.slice(1)}`,
    target.replace(/^\.\/dist\/(.*)\.js$/, "$1.ts")
  ])
)
