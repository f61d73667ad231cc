/** TypeScript 5.9, which users have beside the compiler of this project. */
import { execFile } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"

const version = "5.9.3"
const folder = fileURLToPath(new URL("../../node_modules/.cache/effect-mcp-runtime-typescript", import.meta.url))
const manifest = `${folder}/node_modules/typescript/package.json`

/** The path of its `tsc`. It is no dependency, because its programs have the names of the other compiler's. */
export const install = async (): Promise<string> => {
  if (!existsSync(manifest) || JSON.parse(readFileSync(manifest, "utf8")).version !== version) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(`${folder}/package.json`, JSON.stringify({ private: true, dependencies: { typescript: version } }))
    await promisify(execFile)("npm", ["install", "--no-audit", "--no-fund", "--loglevel=error"], { cwd: folder })
  }
  return `${folder}/node_modules/typescript/bin/tsc`
}
