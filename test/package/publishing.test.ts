/**
 * The package before it is published: what npm packs, what npm runs at an install, and what the lock file covers.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, posix } from "node:path"
import { fileURLToPath } from "node:url"
import { commands, documents, fence } from "../support/markdown.ts"
import { root, run } from "./project.ts"

interface Manifest {
  readonly name: string
  readonly bin: Readonly<Record<string, string>>
  readonly scripts: Readonly<Record<string, string>>
  readonly repository?: { readonly url: string }
  readonly homepage?: string
  readonly bugs?: string
}

interface Locked {
  readonly resolved?: string
  readonly libc?: ReadonlyArray<string>
  readonly os?: ReadonlyArray<string>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

const folder = fileURLToPath(root)
const lock: Readonly<Record<string, Locked>> =
  JSON.parse(readFileSync(join(folder, "package-lock.json"), "utf8")).packages

let scratch: string
let files: ReadonlyArray<string>
let manifest: Manifest

/** A packed file, by its path in the package. */
const packed = (path: string): string => readFileSync(join(scratch, "package", path), "utf8")

beforeAll(async () => {
  scratch = mkdtempSync(join(tmpdir(), "effect-mcp-runtime-publishing-"))
  const pack = await run("npm", ["pack", "--ignore-scripts", "--pack-destination", scratch, "--loglevel=error"])
  assert.strictEqual(pack.status, 0, pack.stderr)
  const tarball = join(scratch, readdirSync(scratch).find((name) => name.endsWith(".tgz"))!)
  assert.strictEqual((await run("tar", ["-xzf", tarball, "-C", scratch])).status, 0)
  files = readdirSync(join(scratch, "package"), { recursive: true }).map((path) => String(path).replaceAll("\\", "/"))
  manifest = JSON.parse(packed("package.json"))
})

afterAll(() => rmSync(scratch, { recursive: true, force: true }))

describe("the packed documents", () => {
  it("link only to files that are packed with them", () => {
    const pages = files.filter((path) => path.endsWith(".md"))
    assert.include(pages, "README.md")
    const links = pages.flatMap((page) =>
      Array.from(packed(page).replaceAll(fence, "").matchAll(/\]\((?!https?:|#)([^)\s#]+)/g), ([, target]) => ({
        page,
        target: posix.join(posix.dirname(page), target!)
      }))
    )
    assert.isAbove(links.length, 36)
    assert.deepStrictEqual(links.filter(({ target }) => !files.includes(target)), [])
  })
})

describe("the packed package.json", () => {
  it("has no script that npm runs when the package is installed", () => {
    const atInstall = ["preinstall", "install", "postinstall", "preprepare", "prepare", "postprepare"]
    assert.deepStrictEqual(atInstall.filter((name) => name in manifest.scripts), [])
  })

  it("names the repository, the homepage and the place for bugs", () => {
    assert.match(manifest.repository?.url ?? "", /^git\+https:\/\/.*\/effect-mcp-runtime\.git$/)
    assert.match(manifest.homepage ?? "", /^https:\/\/.*\/effect-mcp-runtime\b/)
    assert.match(manifest.bugs ?? "", /^https:\/\/.*\/effect-mcp-runtime\/issues$/)
  })

  it("has a command of the package's name, and the documents give npx no other name", () => {
    assert.property(manifest.bin, manifest.name)
    const given = documents.flatMap(({ blocks, name }) =>
      blocks.filter(({ language }) => language === "sh").flatMap(({ code }) => commands(code))
        .filter(([program, command]) => program === "npx" && command?.includes("mcp-runtime"))
        .map(([, command]) => ({ name, command }))
    )
    assert.isAbove(given.length, 5)
    assert.deepStrictEqual(given.filter(({ command }) => command !== manifest.name), [])
  })
})

describe("npm publish", () => {
  it("is refused while a packed file names the placeholder, and allowed once it is replaced", async () => {
    const refused = await run("npm", ["run", "prepublishOnly"])
    assert.notStrictEqual(refused.status, 0)
    assert.match(refused.stderr, /"github\.com\/OWNER\/" is a placeholder .*\nReplace OWNER in .*\bpackage\.json\b/)

    const clone = join(scratch, "clone")
    mkdirSync(clone)
    for (const name of ["README.md", "SECURITY.md", "docs", "scripts"]) {
      cpSync(join(folder, name), join(clone, name), { recursive: true })
    }
    writeFileSync(join(clone, "package.json"), packed("package.json"))
    const texts = ["package.json", "README.md", ...readdirSync(join(clone, "docs")).map((name) => `docs/${name}`)]
    for (const path of texts.filter((text) => /\.(json|md)$/.test(text)).map((text) => join(clone, text))) {
      writeFileSync(path, readFileSync(path, "utf8").replaceAll("/OWNER/", "/example/"))
    }
    const allowed = await run("npm", ["run", "prepublishOnly"], { cwd: clone })
    assert.strictEqual(allowed.status, 0, allowed.stderr)
  })
})

describe("the lock file", () => {
  /** Resolves as Node does: from the folder of the package upwards. */
  const isLocked = (from: string, name: string): boolean => {
    if (`${from === "" ? "" : `${from}/`}node_modules/${name}` in lock) return true
    return from !== "" && isLocked(from.slice(0, Math.max(from.lastIndexOf("/node_modules/"), 0)), name)
  }

  it("has the optional packages of every platform", () => {
    const optional = Object.entries(lock).flatMap(([path, { optionalDependencies }]) =>
      Object.keys(optionalDependencies ?? {}).map((name) => ({ path, name }))
    )
    assert.includeMembers([...new Set(Object.values(lock).flatMap(({ os }) => os ?? []))], ["darwin", "linux", "win32"])
    assert.deepStrictEqual(optional.filter(({ name, path }) => !isLocked(path, name)), [])
  })

  it("names no registry, and nothing that npm 10 would take out", () => {
    const named = Object.entries(lock).filter(([, { libc, resolved }]) => libc !== undefined || resolved !== undefined)
    assert.deepStrictEqual(named.map(([path]) => path), [])
    assert.match(readFileSync(join(folder, ".npmrc"), "utf8"), /^omit-lockfile-registry-resolved=true$/m)
  })

  it("is accepted by npm ci, without a question to the registry", async () => {
    const clone = join(scratch, "locked")
    mkdirSync(clone)
    for (const name of ["package.json", "package-lock.json"]) cpSync(join(folder, name), join(clone, name))
    const args = ["ci", "--dry-run", "--offline", "--ignore-scripts", "--cache", join(scratch, "cache")]
    const { status, stderr } = await run("npm", args, { cwd: clone })
    assert.strictEqual(status, 0, stderr)
  })
})
