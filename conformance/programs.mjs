/**
 * Clients by other authors that are programs: installed beside the tests, since they are as large as all other packages
 * together. The newest versions that run on Node 20; the registry is asked only for those that are missing.
 */
import { execFile } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"

export const versions = {
  mcporter: "0.9.0",
  "@modelcontextprotocol/inspector": "2.12.0",
  "@langchain/mcp-adapters": "1.1.4",
  // the newest that fits the newest core
  "@langchain/langgraph": "1.4.10",
  "@langchain/core": "1.2.13"
}

const cache = fileURLToPath(new URL("../node_modules/.cache/effect-mcp-runtime-clients", import.meta.url))

/** The scripts to run with Node. */
export const mcporter = join(cache, "node_modules/mcporter/dist/cli.js")
export const inspector = join(cache, "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js")

/** The module to import. */
export const langChain = join(cache, "node_modules/@langchain/mcp-adapters/dist/index.js")

const installed = (name) => {
  const file = join(cache, "node_modules", name, "package.json")
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")).version : undefined
}

export const install = async () => {
  if (Object.entries(versions).every(([name, version]) => installed(name) === version)) return
  mkdirSync(cache, { recursive: true })
  writeFileSync(join(cache, "package.json"), JSON.stringify({ private: true, dependencies: versions }))
  await promisify(execFile)("npm", ["install", "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: cache,
    timeout: 600_000
  })
}
