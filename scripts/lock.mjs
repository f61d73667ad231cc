/**
 * Adds missing packages of other platforms to package-lock.json: `node scripts/lock.mjs`, after npm has written it.
 *
 * npm leaves out an optional package that the registry does not have, and `npm ci` of npm 11 then refuses the lock file.
 * This script adds such a package with its parent's exact version and the platform in its name. `libc` is removed,
 * because npm 10 drops it from every entry and `npm install` would change the file.
 */
import { execFile } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"

const root = fileURLToPath(new URL("..", import.meta.url))
const file = `${root}package-lock.json`
const lock = JSON.parse(readFileSync(file, "utf8"))
const { packages } = lock

const systems = ["aix", "android", "darwin", "freebsd", "linux", "netbsd", "openbsd", "openharmony", "sunos", "win32"]
const processors = ["arm", "arm64", "ia32", "loong64", "mips64el", "ppc64", "riscv64", "s390x", "x64"]

/** Resolves as Node does: from the folder of the package upwards. */
const isLocked = (from, name) => {
  for (let folder = from;; folder = folder.slice(0, Math.max(folder.lastIndexOf("/node_modules/"), 0))) {
    if (`${folder === "" ? "" : `${folder}/`}node_modules/${name}` in packages) return true
    if (folder === "") return false
  }
}

const published = (name, version) =>
  promisify(execFile)("npm", ["view", `${name}@${version}`, "--json"], { cwd: root }).then(
    ({ stdout }) => JSON.parse(stdout),
    () => undefined
  )

const named = (name) => {
  const words = name.split("/").at(-1).split("-")
  const os = systems.find((system) => words.includes(system))
  const cpu = processors.find((processor) => words.includes(processor))
  if (os === undefined || cpu === undefined) throw new Error(`${name} is not published, and names no platform`)
  return { os: [os], cpu: [cpu] }
}

const missing = Object.entries(packages).flatMap(([path, { dev, license, optionalDependencies = {} }]) =>
  Object.entries(optionalDependencies)
    .filter(([name]) => !isLocked(path, name))
    .map(([name, version]) => ({ dev, license, name, version }))
)

for (const { dev, license, name, version } of missing) {
  const known = await published(name, version)
  const { cpu, os } = known ?? named(name)
  packages[`node_modules/${name}`] = {
    version,
    ...known === undefined ? {} : { integrity: known.dist.integrity },
    ...cpu === undefined ? {} : { cpu: [cpu].flat() },
    ...dev === true ? { dev } : {},
    license: known?.license ?? license,
    optional: true,
    ...os === undefined ? {} : { os: [os].flat() },
    ...known?.engines === undefined ? {} : { engines: known.engines }
  }
  console.log(`added ${name}@${version}${known === undefined ? ", without a checksum: the registry does not have it" : ""}`)
}

for (const entry of Object.values(packages)) delete entry.libc
lock.packages = Object.fromEntries(Object.entries(packages).sort(([a], [b]) => a.localeCompare(b, "en")))
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`)
