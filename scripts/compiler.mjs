/**
 * Puts Effect's rules into the installed compiler, unless it has them: `node scripts/compiler.mjs`.
 *
 * The scripts of this clone call it before they compile. It is no `prepare` script, because npm runs those for users too.
 */
import { execFileSync } from "node:child_process"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("..", import.meta.url))
const run = (program, args, stdio) =>
  execFileSync(process.execPath, [`${root}node_modules/${program}`, ...args], { cwd: root, encoding: "utf8", stdio })

const hasRules = () => run("typescript/bin/tsc", ["--version"]).includes("+effect-tsgo.")

if (!hasRules()) {
  run("@effect/tsgo/dist/effect-tsgo.cjs", ["patch", "--typescript"], "inherit")
  if (!hasRules()) throw new Error("the compiler does not have Effect's rules after `effect-tsgo patch --typescript`")
}
