/** The official suite as a program: what it lists, and what it says of one scenario. */
import { spawn } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const here = fileURLToPath(new URL(".", import.meta.url))
const require = createRequire(import.meta.url)

const suiteOf = (name) => {
  const folder = dirname(require.resolve(`${name}/package.json`))
  return { bin: join(folder, "dist/index.js"), version: require(`${name}/package.json`).version }
}

/** The address of a file that the package does not contain, for the tables in docs. */
export const sourceUrl = (path) => require("../package.json").homepage.replace(/#.*/, `/blob/main/${path}`)

export const current = suiteOf("@modelcontextprotocol/conformance")
export const published = suiteOf("conformance-published")

const running = new Set()
const folders = new Set()
const remove = (folder) => {
  folders.delete(folder)
  rmSync(folder, { recursive: true, force: true })
}
process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL")
  for (const folder of folders) remove(folder)
})
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1))

/** Starts a program of node's that does not outlive this one. */
export const start = (args, options) => {
  const child = spawn(process.execPath, args, options)
  running.add(child)
  child.once("exit", () => running.delete(child))
  return child
}

/** Runs the suite to its end, or until its time is over. */
export const run = (suite, args, limit = 120_000) =>
  new Promise((resolve) => {
    const child = start(["--import", join(here, "nodeShim.mjs"), suite.bin, ...args], {
      env: { ...process.env, NO_COLOR: "1" },
      stdio: ["ignore", "pipe", "pipe"]
    })
    let output = ""
    child.stdout.on("data", (data) => (output += data))
    child.stderr.on("data", (data) => (output += data))
    const timer = setTimeout(() => child.kill("SIGKILL"), limit)
    child.on("close", (code) => {
      clearTimeout(timer)
      resolve({ code, output })
    })
  })

/** Of every message; that they are well formed is no success of a scenario that skipped all of its own checks. */
const ofMessages = "wire-schema-valid"

/** One scenario in a run of its own: one without a single success counts as failed. */
export const attempt = async (suite, args) => {
  const folder = mkdtempSync(join(tmpdir(), "mcp-conformance-"))
  folders.add(folder)
  try {
    const { code, output } = await run(suite, [...args, "--output-dir", folder])
    const checks = readdirSync(folder, { recursive: true }).filter((path) => path.endsWith("checks.json"))
      .flatMap((path) => JSON.parse(readFileSync(join(folder, path), "utf8")))
    const count = (status) => checks.filter((check) => check.status === status).length
    const succeeded = count("SUCCESS")
    const checked = checks.some(({ id, status }) => status === "SUCCESS" && id !== ofMessages)
    const passed = code === 0 && checked && count("FAILURE") === 0
    return { passed, succeeded, warnings: count("WARNING"), failed: count("FAILURE"), code, output }
  } finally {
    remove(folder)
  }
}
