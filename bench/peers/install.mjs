/**
 * Installs the clients that the bench compares with and that the project does not depend on, beside this file, when a cell
 * needs them for the first time.
 */
import { spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"

const folder = fileURLToPath(new URL(".", import.meta.url))

/** True if the packages are there; false if they cannot be installed, as without a network. */
export const install = (packages) => {
  const missing = packages.filter((name) => !existsSync(`${folder}/node_modules/${name}`))
  if (missing.length === 0) return true
  process.stderr.write(`installing ${missing.join(" and ")} into ${folder}\n`)
  const args = ["install", "--prefix", folder, "--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts", "--silent"]
  const { status } = spawnSync("npm", args, { stdio: ["ignore", "ignore", "inherit"], timeout: 300_000 })
  return status === 0
}
