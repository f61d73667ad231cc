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
      timeout: 60_000
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

const { exports } = JSON.parse(readFileSync(new URL("package.json", root), "utf8")) as {
  readonly exports: Readonly<Record<string, string | { readonly default: string } | null>>
}

const hidden = Object.keys(exports).filter((key) => exports[key] === null).map((key) => key.slice(2).replace("*", ""))

/** The specifiers that users can import, each with its module from `src/`. */
export const entryPoints: ReadonlyMap<string, string> = new Map([
  ...Object.entries(exports).flatMap(([key, target]) =>
    typeof target === "object" && target !== null && !key.includes("*")
      ? [[`effect-mcp-runtime${key.slice(1)}`, target.default.replace(/^\.\/dist\/(.*)\.js$/, "$1.ts")] as const]
      : []
  ),
  ...sources.filter(({ path }) => path !== "index.ts" && !hidden.some((prefix) => path.startsWith(prefix)))
    .map(({ path }) => [`effect-mcp-runtime/${path.replace(/\.ts$/, "")}`, path] as const)
])
