/**
 * The package as JavaScript, for the processes of a test: Node 20 runs no TypeScript.
 */
import { execFile } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../../", import.meta.url))

/** A folder of its own, inside the repository so that the modules find their dependencies. */
export interface Compiled {
  readonly folder: string
  readonly remove: () => void
}

/** Compiles `src`. Types are checked elsewhere: what cannot run says so itself. */
export const compile = (): Promise<Compiled> => {
  const cache = join(root, "node_modules", ".cache")
  mkdirSync(cache, { recursive: true })
  const folder = mkdtempSync(join(cache, "compiled-"))
  const compiler = join(root, "node_modules", "typescript", "bin", "tsc")
  const options = ["--noCheck", "--outDir", folder, "--declaration", "false", "--declarationMap", "false"]
  return new Promise((resolve) => {
    execFile(process.execPath, [compiler, ...options], { cwd: root }, () => {
      resolve({ folder, remove: () => rmSync(folder, { recursive: true, force: true }) })
    })
  })
}
