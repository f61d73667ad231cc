/**
 * Compiles the simulation beside its dependencies. It has to run as it is: what transforms modules on their way, as
 * test runners do, also takes its time when one is imported, and then the clock of a history would not stand still.
 */
import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"

const root = fileURLToPath(new URL("../../", import.meta.url))

export const compile = () => {
  const cache = join(root, "node_modules", ".cache")
  mkdirSync(cache, { recursive: true })
  const folder = mkdtempSync(join(cache, "simulation-"))
  const compiler = join(root, "node_modules", "typescript", "bin", "tsc")
  const options = ["-p", join(root, "test", "simulation"), "--noCheck", "--outDir", folder]
  execFileSync(process.execPath, [compiler, ...options], { stdio: "inherit" })
  return {
    url: (module) => pathToFileURL(join(folder, "test", "simulation", `${module}.js`)).href,
    remove: () => rmSync(folder, { recursive: true, force: true })
  }
}
