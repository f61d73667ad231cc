/** Compiles the simulation beside its dependencies, and runs it: `npm run simulate -- --seeds 1000`. */
import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"

const root = fileURLToPath(new URL("../../", import.meta.url))
const cache = join(root, "node_modules", ".cache")
mkdirSync(cache, { recursive: true })
const folder = mkdtempSync(join(cache, "simulation-"))
process.on("exit", () => rmSync(folder, { recursive: true, force: true }))
const compiler = join(root, "node_modules", "typescript", "bin", "tsc")
execFileSync(process.execPath, [compiler, "-p", join(root, "test", "simulation"), "--noCheck", "--outDir", folder], {
  stdio: "inherit"
})
await import(pathToFileURL(join(folder, "test", "simulation", "main.js")).href)
