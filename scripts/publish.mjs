/**
 * Refuses `npm publish` as long as a packed file names the placeholder of the repository's owner: `prepublishOnly`.
 */
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("..", import.meta.url))
const placeholder = "github.com/OWNER/"

const args = ["pack", "--dry-run", "--json", "--ignore-scripts", "--loglevel=error"]
const written = execFileSync("npm", args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] })
const [{ files }] = Object.values(JSON.parse(written))
const named = files.map(({ path }) => path).filter((path) =>
  /\.(md|json|ts)$/.test(path) && readFileSync(`${root}${path}`, "utf8").includes(placeholder)
)
if (named.length > 0) {
  console.error(`This package cannot be published: "${placeholder}" is a placeholder for the owner of the repository.`)
  console.error(`Replace OWNER in ${named.join(", ")}.`)
  process.exitCode = 1
}
