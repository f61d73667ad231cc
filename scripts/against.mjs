/**
 * Runs test files of the working tree against the sources of an older commit: `node scripts/against.mjs COMMIT TEST…`.
 *
 * The commit is checked out beside the cache of `node_modules`, and its `test` and `vitest.config.ts` are replaced by
 * today's. A test that guards a fix fails there and passes here. What follows `--` goes to vitest. Exit code: vitest's.
 */
import { execFileSync, spawnSync } from "node:child_process"
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("..", import.meta.url))
const separator = process.argv.indexOf("--")
const [commit, ...tests] = process.argv.slice(2, separator < 0 ? undefined : separator)
const options = separator < 0 ? [] : process.argv.slice(separator + 1)
if (commit === undefined || tests.length === 0) {
  console.error("usage: node scripts/against.mjs COMMIT TEST… [-- VITEST OPTIONS]")
  process.exit(2)
}

const git = (...args) => execFileSync("git", args, { cwd: root, encoding: "utf8" }).trim()
const sha = git("rev-parse", "--verify", `${commit}^{commit}`)
const tree = join(root, "node_modules/.cache/effect-mcp-runtime/against", sha.slice(0, 12))

const remove = () => {
  rmSync(tree, { recursive: true, force: true })
  git("worktree", "prune")
}

remove()
mkdirSync(join(tree, ".."), { recursive: true })
git("worktree", "add", "--detach", "--quiet", tree, sha)
try {
  for (const part of ["test", "vitest.config.ts"]) {
    rmSync(join(tree, part), { recursive: true, force: true })
    cpSync(join(root, part), join(tree, part), { recursive: true, verbatimSymlinks: true })
  }
  // Installed packages are shared; the commit's build cache is its own, because tests keep built programs there.
  mkdirSync(join(tree, "node_modules"))
  for (const name of readdirSync(join(root, "node_modules"))) {
    if (name !== ".cache") symlinkSync(join(root, "node_modules", name), join(tree, "node_modules", name))
  }
  const missing = tests.filter((test) => test.endsWith(".ts") && !existsSync(join(tree, test)))
  if (missing.length > 0) throw new Error(`no such test file: ${missing.join(", ")}`)
  console.log(`against ${git("log", "-1", "--format=%h %s", sha)}`)
  const { status } = spawnSync(process.execPath, [join(root, "node_modules/vitest/vitest.mjs"), "run", ...tests, ...options], {
    cwd: tree,
    env: { ...process.env, TEST_PART: "all" },
    stdio: "inherit"
  })
  process.exitCode = status ?? 1
} finally {
  remove()
}
