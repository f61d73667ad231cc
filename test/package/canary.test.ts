import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { root, run } from "./project.ts"

interface Config {
  readonly compilerOptions: {
    readonly plugins: ReadonlyArray<{ readonly diagnosticSeverity: Readonly<Record<string, string>> }>
  }
}

const rules = Object.entries(
  (JSON.parse(readFileSync(new URL("tsconfig.json", root), "utf8")) as Config).compilerOptions.plugins[0]!
    .diagnosticSeverity
)

const canaries = readdirSync(fileURLToPath(new URL("test/canary/", root)))
  .filter((file) => file.endsWith(".ts"))
  .map((file) => file.slice(0, -".ts".length))

describe("the compiler's Effect rules", () => {
  it("run inside tsc", async () => {
    assert.match((await run("tsc", ["--version"])).stdout, /\+effect-tsgo\./)
  })

  it("are all errors, and each has a canary", () => {
    assert.isAbove(rules.length, 30)
    for (const [rule, severity] of rules) assert.strictEqual(severity, "error", rule)
    assert.sameMembers(rules.map(([rule]) => rule), canaries)
  })

  it("fire on code that is known to be bad", async () => {
    const { status, stdout } = await run("tsc", ["-p", "test/canary", "--pretty", "false"])
    const fired = new Set<string>()
    for (const diagnostic of stdout.split(/\n(?=test\/canary\/)/)) {
      const file = /^test\/canary\/(\w+)\.ts\(\d+,\d+\): error TS377\d+:/.exec(diagnostic)?.[1]
      const rule = / effect\((\w+)\)\s*$/.exec(diagnostic)?.[1]
      if (file !== undefined && file === rule) fired.add(rule)
    }
    assert.notStrictEqual(status, 0)
    assert.sameMembers([...fired], canaries)
  })
})
