import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { root, run } from "./project.ts"

interface Config {
  readonly compilerOptions: {
    readonly plugins: ReadonlyArray<{ readonly diagnosticSeverity: Readonly<Record<string, string>> }>
  }
}

interface PluginSchema {
  readonly definitions: {
    readonly effectLanguageServicePluginDiagnosticSeverityDefinition: { readonly properties: object }
  }
}

const json = <A>(path: string): A => JSON.parse(readFileSync(new URL(path, root), "utf8")) as A

const rules = Object.entries(json<Config>("tsconfig.json").compilerOptions.plugins[0]!.diagnosticSeverity)

describe("the compiler's Effect rules", () => {
  it("are set to error, under names that the compiler knows", () => {
    const known = json<PluginSchema>("node_modules/@effect/tsgo/schema.json")
      .definitions.effectLanguageServicePluginDiagnosticSeverityDefinition.properties
    assert.isAbove(rules.length, 30)
    for (const [rule, severity] of rules) {
      assert.strictEqual(severity, "error", rule)
      assert.property(known, rule)
    }
  })

  it("fail the compilation of a file that breaks one of them", async () => {
    const { status, stdout } = await run("tsc", ["-p", "test/canary", "--pretty", "false"])
    assert.notStrictEqual(status, 0)
    assert.match(stdout, /^test\/canary\/floatingEffect\.ts\(3,1\): error TS377\d+: .* effect\(floatingEffect\)\s*$/s)
  })
})
