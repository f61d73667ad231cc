/** The package before it is published: its links, the scripts that npm runs, its dependencies and the lock file. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
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
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
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
  it("link to files that are packed with them, and to files of the repository by their address", () => {
    const pages = files.filter((path) => path.endsWith(".md"))
    assert.include(pages, "README.md")
    const links = pages.flatMap((page) =>
      Array.from(packed(page).replaceAll(fence, "").matchAll(/\]\((?!#)([^)\s#]+)/g), ([, target]) => ({
        page,
        target: target!
      }))
    )
    assert.isAbove(links.length, 36)
    const address = manifest.homepage!.replace(/#.*/, "")
    const inRepository = new RegExp(`^${address}/(?:blob|tree)/main/(.+)`)
    const broken = links.filter(({ page, target }) => {
      if (!/^https?:/.test(target)) return !files.includes(posix.join(posix.dirname(page), target))
      const path = inRepository.exec(target)?.[1]
      return path !== undefined && !existsSync(join(folder, path))
    })
    assert.deepStrictEqual(broken, [])
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

describe("the repository", () => {
  it("is set in package.json, and refused as a placeholder when the package is published", async () => {
    const refused = await run("npm", ["run", "prepublishOnly"])
    assert.notStrictEqual(refused.status, 0)
    assert.match(refused.stderr, /OWNER in \S+ is a placeholder\.\nSet repository\.url in package\.json/)

    const clone = join(scratch, "clone")
    mkdirSync(clone)
    for (const name of ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "docs", "examples", "scripts"]) {
      cpSync(join(folder, name), join(clone, name), { recursive: true })
    }
    const url = "git+https://gitlab.com/example/effect-mcp-runtime.git"
    const set = { ...JSON.parse(packed("package.json")), repository: { type: "git", url } }
    writeFileSync(join(clone, "package.json"), JSON.stringify(set))
    for (const script of ["prepublishOnly", "repository"]) {
      const { status, stderr } = await run("npm", ["run", script], { cwd: clone })
      assert.strictEqual(status, 0, stderr)
    }
    const written: Manifest = JSON.parse(readFileSync(join(clone, "package.json"), "utf8"))
    assert.strictEqual(written.homepage, "https://gitlab.com/example/effect-mcp-runtime#readme")
    assert.strictEqual(written.bugs, "https://gitlab.com/example/effect-mcp-runtime/issues")
    const texts = readdirSync(clone, { recursive: true }).map(String).filter((path) => path.endsWith(".md"))
    assert.isAbove(texts.length, 15)
    const left = texts.filter((path) => readFileSync(join(clone, path), "utf8").includes("github.com/OWNER/"))
    assert.deepStrictEqual(left, [])
  })
})

describe("the dependencies", () => {
  /** The packages of the lock file that npm installs for these, without optional ones. */
  const installed = (names: ReadonlyArray<string>): ReadonlySet<string> => {
    const found = new Set<string>()
    const add = (from: string, name: string): void => {
      for (let at = from;; at = at.slice(0, Math.max(at.lastIndexOf("/node_modules/"), 0))) {
        const path = `${at === "" ? "" : `${at}/`}node_modules/${name}`
        const locked = lock[path]
        if (locked === undefined && at !== "") continue
        if (locked === undefined || found.has(path)) return
        found.add(path)
        const { dependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} } = locked
        const peers = Object.keys(peerDependencies).filter((peer) => peerDependenciesMeta[peer]?.optional !== true)
        for (const next of [...Object.keys(dependencies), ...peers]) add(path, next)
        return
      }
    }
    for (const name of names) add("", name)
    return found
  }

  it("are those of Effect and of the SDK, and at most 15 more", () => {
    const effect = installed(["effect", "@effect/platform", "@effect/platform-node"])
    const sdk = installed(["@modelcontextprotocol/sdk"])
    assert.isAbove(sdk.size, 80)
    const ours = installed(Object.keys(lock[""]!.dependencies ?? {}))
    const more = Array.from(ours).filter((path) => !effect.has(path) && !sdk.has(path))
    assert.isAbove(more.length, 5)
    assert.isAtMost(more.length, 15, more.join(", "))
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
