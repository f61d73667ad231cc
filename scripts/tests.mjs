/**
 * Runs a part of the tests that `npm test` leaves out, or all of them as often as they can be run:
 * `node scripts/tests.mjs programs`, `node scripts/tests.mjs exhaustive`. What follows goes to vitest.
 */
import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import "./compiler.mjs"

const parts = { programs: { TEST_PART: "programs" }, exhaustive: { TEST_PART: "all", TEST_RUNS: "all" } }
const [part = "", ...more] = process.argv.slice(2)
if (!Object.hasOwn(parts, part)) throw new Error(`there is no part "${part}": it is one of ${Object.keys(parts).join(", ")}`)

const vitest = fileURLToPath(new URL("../node_modules/vitest/vitest.mjs", import.meta.url))
const { status } = spawnSync(process.execPath, [vitest, "run", ...more], {
  env: { ...process.env, ...parts[part] },
  stdio: "inherit"
})
process.exitCode = status ?? 1
