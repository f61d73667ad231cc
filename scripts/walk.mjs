// Follows the README and docs/getting-started.md on a machine with only Node: `npm run walk`. It runs each command as
// printed, with an empty home and a PATH that has Node, npm and a shell: those of the README in a clean clone, those of
// getting-started in a new project with the packed package. It compares the outputs that the pages show, compiles the
// programs against the installed package, and runs them. It needs the network, because npm does. One line for each step,
// with its exit code.
//
// `--here` takes the working tree instead of the last commit; `--quick` leaves `npm test` out; `--packed FILE` follows
// only getting-started, with this package.
import { spawn } from "node:child_process"
import { once } from "node:events"
import { copyFile, mkdir, mkdtemp, readdir, readFile, readlink, realpath, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import * as Readme from "./readme.mjs"
import * as Registry from "./registry.mjs"

const root = fileURLToPath(new URL("..", import.meta.url))
const isHere = process.argv.includes("--here")
const isQuick = process.argv.includes("--quick")
const given = process.argv.includes("--packed") ? process.argv.at(process.argv.indexOf("--packed") + 1) : undefined
const patience = 15 * 60_000

const work = await realpath(await mkdtemp(join(tmpdir(), "mcp-walk-")))
const clone = join(work, "clone")
const project = join(work, "project")
const bin = join(work, "bin")
const home = join(work, "home")
for (const folder of [project, bin, home]) await mkdir(folder)

/** A program on the PATH of the user. */
const which = async (name) => {
  for (const folder of (process.env.PATH ?? "").split(":")) {
    const found = await realpath(join(folder, name)).catch(() => undefined)
    if (found !== undefined) return found
  }
  throw new Error(`there is no ${name} here`)
}
for (const name of ["node", "npm", "npx", "sh"]) await symlink(await which(name), join(bin, name))

/** What belongs to the network here, and nothing else, is handed on. */
const ofNetwork = /^(https?_proxy|no_proxy|node_extra_ca_certs|npm_config_registry)$/i
const network = Object.entries(process.env).filter(([name]) => ofNetwork.test(name))

const variables = (more = {}) => ({ ...Object.fromEntries(network), PATH: bin, HOME: home, LANG: "C.UTF-8", ...more })

/** Runs a program to its end and returns its output. A time limit ends it and its children. */
const run = async (command, args, cwd, env = variables()) => {
  const child = spawn(command, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"], detached: true })
  const texts = { stdout: "", stderr: "" }
  for (const name of ["stdout", "stderr"]) {
    child[name].setEncoding("utf8").on("data", (text) => {
      texts[name] += text
    })
  }
  const timer = setTimeout(() => process.kill(-child.pid, "SIGKILL"), patience)
  const began = Date.now()
  const [code, signal] = await once(child, "close")
  clearTimeout(timer)
  return { code: code ?? signal, seconds: (Date.now() - began) / 1000, ...texts }
}

let failed = 0

const say = (isGood, code, seconds, what) => {
  if (!isGood) failed++
  console.log(`${isGood ? "ok  " : "FAIL"} ${String(code).padStart(3)} ${seconds.toFixed(1).padStart(6)} s  ${what}`)
}

const step = async (what, action, isGood = ({ code }) => code === 0) => {
  const ran = await action
  const good = isGood(ran)
  say(good, ran.code, ran.seconds, what)
  const last = `${ran.stdout}${ran.stderr}`.trimEnd().split("\n").slice(-40)
  if (!good) console.log(last.map((line) => `       | ${line}`).join("\n"))
  return ran
}

/** The processes that have something of the walk in their command line or their folder. */
const left = async () => {
  const pids = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
  const found = await Promise.all(pids.map(async (pid) => {
    const [line, folder] = await Promise.all([
      readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => ""),
      readlink(`/proc/${pid}/cwd`).catch(() => "")
    ])
    return `${line}\0${folder}`.includes(work) ? [`${pid} ${line.replaceAll("\0", " ")}`] : []
  }))
  return found.flat()
}

const compare = (ran, output) => {
  if (output === undefined) return
  const missing = Readme.missing(output, ran.stdout + ran.stderr)
  say(missing === undefined, "", 0, missing === undefined ? "  writes what is shown" : `  does not write: ${missing}`)
}

const cloned = async () => {
  const git = (...args) => run("git", args, root, process.env)
  if (!isHere) return git("clone", "--quiet", "--no-hardlinks", root, clone)
  const { stdout, ...rest } = await git("ls-files", "-z", "--cached", "--others", "--exclude-standard")
  for (const file of stdout.split("\0").filter((name) => name !== "")) {
    await mkdir(dirname(join(clone, file)), { recursive: true })
    // what was deleted here and is still known to git
    await copyFile(join(root, file), join(clone, file)).catch(() => undefined)
  }
  return { ...rest, stdout: "" }
}

const registry = await Registry.serve(variables().npm_config_registry ?? "https://registry.npmjs.org")
let isPacked = false

/** The package is not published: a registry of this walk has what would be, and sends npm to the real one for the rest. */
const packed = async () => {
  if (isPacked) return
  isPacked = true
  await step("(npm pack, for a registry of this walk)", run("npm", ["pack", "--pack-destination", work], clone))
  const file = (await readdir(work)).find((name) => name.endsWith(".tgz"))
  if (file === undefined) throw new Error("there is no package to go on with")
  await registry.add(JSON.parse(await readFile(join(clone, "package.json"), "utf8")), join(work, file))
}

const isInstalling = (line) => /^npm install effect-mcp-runtime\b/.test(line)

const commands = async (blocks) => {
  for (const { line, output } of blocks.flatMap(({ commands }) => commands)) {
    if (isQuick && /\bnpm test\b/.test(line)) {
      console.log(`--         -    ${line}`)
      continue
    }
    const ofUser = isInstalling(line)
    if (ofUser) {
      await packed()
      await writeFile(join(project, "package.json"), JSON.stringify({ name: "mine", private: true, type: "module" }))
    }
    const env = variables({
      ...ofUser ? { npm_config_registry: registry.url } : {},
      // the tests start shells and archivers, which every system has
      ...line.includes("npm test") ? { PATH: `${bin}:/usr/bin:/bin` } : {}
    })
    compare(await step(line, run("sh", ["-c", line], ofUser ? project : clone, env)), output)
  }
}

/** Follows a page in a new folder: saves its files, and runs its commands and programs. */
const follow = async (page) => {
  const folder = join(work, "followed")
  await mkdir(folder)
  const env = variables({ npm_config_registry: registry.url })
  const ran = (line) => step(line, run("sh", ["-c", line], folder, env))
  for (const { code, commands, file, output } of Readme.blocks(page)) {
    if (file !== undefined) await writeFile(join(folder, file), code)
    if (file?.endsWith(".ts") && output !== undefined) {
      compare(await ran(process.features.typescript ? `node ${file}` : `npx tsx ${file}`), output)
    }
    for (const { line, output } of commands) compare(await ran(line), output)
  }
}

const programs = async (blocks) => {
  await mkdir(join(project, "out"), { recursive: true })
  for (const [at, { code }] of blocks.entries()) await writeFile(join(project, `program-${at + 1}.ts`), code)
  await copyFile(join(clone, "README.md"), join(project, "README.md"))
  // a compiler, and the types of Node, are what any project of this kind has; they are taken from the clone
  const typeRoots = [join(clone, "node_modules/@types")]
  const strict = { strict: true, exactOptionalPropertyTypes: true, skipLibCheck: true }
  const compilerOptions = { ...strict, target: "es2022", module: "nodenext", types: ["node"], typeRoots, outDir: "out" }
  await writeFile(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*.ts"] }))
  const tsc = join(clone, "node_modules/typescript/bin/tsc")
  await step(`(compiles the ${blocks.length} programs)`, run("node", [tsc, "-p", ".", "--pretty", "false"], project))
  for (const [at, { code }] of blocks.entries()) {
    if (!/NodeRuntime\.runMain\)?$/m.test(code)) continue
    await step(`(runs program ${at + 1})`, run("node", [`out/program-${at + 1}.js`], project), ({ code, stdout }) =>
      code === 0 && stdout.includes("mcp__files__"))
  }
}

try {
  if (given === undefined) {
    await step(isHere ? "(copies the files)" : "(clones the last commit)", cloned())
    const blocks = Readme.blocks(await readFile(join(clone, "README.md"), "utf8"))
    await commands(blocks)
    await programs(blocks.filter(({ language }) => language === "ts"))
  } else await registry.add(JSON.parse(await readFile(join(root, "package.json"), "utf8")), given)
  await follow(await readFile(join(given === undefined ? clone : root, "docs/getting-started.md"), "utf8"))
  const processes = await left()
  say(processes.length === 0, "", 0, processes.length === 0 ? "(nothing is left running)" : processes.join("\n"))
} catch (error) {
  say(false, "", 0, error instanceof Error ? error.message : String(error))
} finally {
  registry.close()
  await rm(work, { recursive: true, force: true })
}
console.log(failed === 0 ? "the pages work as they are printed" : `${failed} of the steps failed`)
process.exitCode = failed === 0 ? 0 : 1
