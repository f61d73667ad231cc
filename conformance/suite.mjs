/** The official suite as a program: the scenarios that it lists, and the result of one scenario. */
import { build } from "esbuild"
import { spawn } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"

const require = createRequire(import.meta.url)

const running = new Set()
const folders = new Set()
const scratch = () => {
  const folder = mkdtempSync(join(tmpdir(), "mcp-conformance-"))
  folders.add(folder)
  return folder
}
const remove = (folder) => {
  folders.delete(folder)
  rmSync(folder, { recursive: true, force: true })
}
process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL")
  for (const folder of folders) remove(folder)
})
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1))

/**
 * Bundles a program with its dependencies and returns the path. Each scenario starts the suite and its client anew, and
 * loading a bundle takes a third of the time of loading a thousand modules.
 */
export const bundle = async (entry, format) => {
  const outfile = join(scratch(), format === "cjs" ? "bundle.cjs" : "bundle.mjs")
  const require = "import { createRequire } from \"node:module\"; const require = createRequire(import.meta.url);"
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: "node",
    format,
    target: "node20.19",
    // the main module of jsonc-parser cannot be bundled
    mainFields: ["module", "main"],
    external: ["gpt-tokenizer", "@napi-rs/keyring"],
    // the suite reads files beside its own module
    define: { "import.meta.url": JSON.stringify(pathToFileURL(entry).href) },
    banner: format === "cjs" ? {} : { js: require },
    logLevel: "error"
  })
  return outfile
}

// as CommonJS, because it imports `globSync` from `fs`, which Node 20 does not export and no scenario calls
const suiteOf = async (name) => {
  const folder = dirname(require.resolve(`${name}/package.json`))
  const { version } = require(`${name}/package.json`)
  return { bin: await bundle(join(folder, "dist/index.js"), "cjs"), version }
}

/** The address of a file that the package does not contain, for the tables in docs. */
export const sourceUrl = (path) => require("../package.json").homepage.replace(/#.*/, `/blob/main/${path}`)

/** Replaces the text below a heading of docs/conformance.md. */
export const writeSection = (heading, lines) => {
  const file = fileURLToPath(new URL("../docs/conformance.md", import.meta.url))
  const sections = readFileSync(file, "utf8").split(/^(?=## )/m)
  const text = [`## ${heading}`, "", ...lines, "", ""].join("\n")
  const made = sections.map((section) => section.startsWith(`## ${heading}\n`) ? text : section)
  writeFileSync(file, `${made.join("").trimEnd()}\n`)
}

export const current = await suiteOf("@modelcontextprotocol/conformance")
export const published = await suiteOf("conformance-published")

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
    const child = start([suite.bin, ...args], {
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

/** A check of every message. It does not count as a success, because a scenario may skip all of its own checks. */
const ofMessages = "wire-schema-valid"

/** Runs one scenario. A scenario without a success counts as failed. */
export const attempt = async (suite, args) => {
  const folder = scratch()
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

/** Runs `work` for each item of a queue, `atOnce` of them at a time. */
export const inParallel = async (queue, atOnce, work) => {
  const rest = [...queue]
  const worker = async () => {
    for (let next = rest.shift(); next !== undefined; next = rest.shift()) await work(next)
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
}
