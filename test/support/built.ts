/**
 * What tests need built of the sources: made once, by whichever test comes first, and kept until a source changes.
 */
import { execFile } from "node:child_process"
import { createHash } from "node:crypto"
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync
} from "node:fs"
import { basename, dirname, extname, join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"

const root = fileURLToPath(new URL("../../", import.meta.url))

// inside the project, so that modules find their dependencies
const cache = join(root, "node_modules", ".cache", "effect-mcp-runtime")

/** Longer than any build takes. */
const minutes = 120_000

/** Longer than any run uses what it found. */
const hour = 3_600_000

/** Names a state of everything that goes into a build. */
const fingerprint = (more: ReadonlyArray<string>): string => {
  const inputs = readdirSync(join(root, "src"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .concat(["package.json", "package-lock.json", "tsconfig.json"].map((name) => join(root, name)))
    .concat(["bundle.mjs", "launcher.cjs", "modules.mjs"].map((name) => join(root, "scripts", name)), more)
  const hash = createHash("sha256").update(process.version)
  for (const file of inputs.toSorted()) hash.update(`\0${file}\0`).update(readFileSync(file))
  return hash.digest("hex").slice(0, 16)
}

/** Whether nobody has come for it for so long. */
const isOlder = (path: string, age: number): boolean => {
  try {
    return Date.now() - statSync(path).mtimeMs > age
  } catch {
    return false
  }
}

/** Lets go of what a process has begun that is gone, or whose number somebody else has now. */
const clear = (claim: string): void => {
  if (isOlder(claim, minutes)) return rmSync(claim, { force: true })
  try {
    process.kill(Number(readFileSync(claim, "utf8")), 0)
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ESRCH") rmSync(claim, { force: true })
  }
}

/** The folder of a build. Files run in several processes at once: one of them makes it, and the others wait. */
const once = async (
  name: string,
  make: (folder: string) => Promise<unknown>,
  more: ReadonlyArray<string> = []
): Promise<string> => {
  mkdirSync(cache, { recursive: true })
  for (;;) {
    const state = fingerprint(more)
    const folder = join(cache, `${name}-${state}`)
    if (existsSync(folder)) {
      utimesSync(folder, new Date(), new Date())
      for (const path of readdirSync(cache).map((entry) => join(cache, entry)).filter((path) => isOlder(path, hour))) {
        rmSync(path, { recursive: true, force: true })
      }
      return folder
    }
    const claim = `${folder}.claim`
    try {
      writeFileSync(claim, String(process.pid), { flag: "wx" })
    } catch {
      clear(claim)
      await setTimeout(100)
      continue
    }
    const mine = mkdtempSync(join(cache, "new-"))
    try {
      await make(mine)
      // not if a source was changed meanwhile, or somebody ended between the look and the claim
      if (fingerprint(more) === state && !existsSync(folder)) renameSync(mine, folder)
    } finally {
      rmSync(mine, { recursive: true, force: true })
      rmSync(claim, { force: true })
    }
  }
}

const run = (command: string, ...args: ReadonlyArray<string>) => promisify(execFile)(command, args, { cwd: root })

const tool = (name: string): string => join(root, "node_modules", ".bin", name)

/** Each source compiled to a module and its declarations. The types of the sources are checked elsewhere. */
export const modules = (): Promise<string> =>
  once("modules", (folder) => run(tool("tsc"), "--noCheck", "--outDir", folder))

/** The modules and declarations of the package, as a build puts them into `dist`. */
export const dist = async (): Promise<string> => {
  const declarations = await modules()
  return once("dist", (folder) => run(process.execPath, join(root, "scripts", "modules.mjs"), folder, declarations))
}

/** The command line, as a build puts it into `dist/bin`. */
export const program = (): Promise<string> =>
  once("program", (folder) => run(process.execPath, join(root, "scripts", "bundle.mjs"), folder))

const bundling = [
  "--bundle",
  "--splitting",
  "--platform=node",
  "--format=esm",
  "--target=node20.19",
  "--external:gpt-tokenizer",
  "--external:@napi-rs/keyring",
  "--banner:js=import{createRequire}from\"node:module\";const require=createRequire(import.meta.url);",
  "--log-level=error"
]

/** The package by its name is what stands in the sources. */
const alias = `--alias:effect-mcp-runtime=${join(root, "src")}`

/** A program of the fixtures, or an example, with all that it imports, so that it starts soon: its path. */
export const bundled = async (script: string): Promise<string> => {
  const name = basename(script, extname(script))
  const make = (folder: string) => {
    // what is made are modules
    writeFileSync(join(folder, "package.json"), "{\"type\":\"module\"}")
    return run(tool("esbuild"), script, ...bundling, alias, `--outdir=${folder}`)
  }
  const folder = dirname(script)
  const beside = readdirSync(folder).filter((file) => file.endsWith(extname(script))).map((file) => join(folder, file))
  return join(await once(`${basename(folder)}-${name}`, make, beside), `${name}.js`)
}
