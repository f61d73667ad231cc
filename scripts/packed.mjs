/** The packed package, and clean folders in which it is installed as an application would. It needs a registry. */
import { execFile } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"

const root = fileURLToPath(new URL("..", import.meta.url))

/** Runs a program to its end and returns its output; its errors have the output. */
export const run = (command, args, options = {}) =>
  promisify(execFile)(command, args, { maxBuffer: 1 << 26, timeout: 300_000, ...options })

/** What the package needs of Effect, by the ranges of its peer dependencies. */
export const effect = ["effect@3", "@effect/platform@0", "@effect/platform-node@0"]

/** Packs `dist` as it is, or builds it first, and removes everything at the end of the process. */
export const pack = async ({ build = true } = {}) => {
  const work = mkdtempSync(join(tmpdir(), "effect-mcp-runtime-packed-"))
  process.on("exit", () => rmSync(work, { recursive: true, force: true }))
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1))
  if (build) await run("npm", ["run", "build"], { cwd: root })
  const args = ["pack", "--ignore-scripts", "--json", "--pack-destination", work]
  const { stdout } = await run("npm", args, { cwd: root })
  const [{ filename, size, unpackedSize }] = Object.values(JSON.parse(stdout))
  return {
    work,
    tarball: join(work, filename),
    size,
    unpackedSize,
    /** Installs packages in a new folder; returns the folder and the paths of what was installed, optional ones left out. */
    install: async (name, packages) => {
      const folder = join(work, name)
      mkdirSync(folder)
      writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }))
      const args = ["install", "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error", ...packages]
      await run("npm", args, { cwd: folder })
      const lock = JSON.parse(readFileSync(join(folder, "package-lock.json"), "utf8"))
      const installed = Object.entries(lock.packages).filter(([path, { optional }]) => path !== "" && optional !== true)
      return { folder, packages: new Set(installed.map(([path]) => path)) }
    }
  }
}
