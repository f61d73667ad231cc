import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as Built from "../support/built.ts"
import { root, run } from "./project.ts"

const folder = fileURLToPath(new URL(`build/types-${process.pid}`, root))

beforeAll(() => mkdirSync(folder, { recursive: true }))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** The errors of the compiler over a program that uses the package's declarations under strict options. */
const errors = async (program: string): Promise<ReadonlyArray<string>> => {
  const types = await Built.modules()
  writeFileSync(join(folder, "program.ts"), program)
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({
      compilerOptions: {
        target: "ES2022",
        lib: ["ES2023"],
        module: "ESNext",
        moduleResolution: "Bundler",
        moduleDetection: "force",
        strict: true,
        exactOptionalPropertyTypes: true,
        skipLibCheck: true,
        noEmit: true,
        types: ["node"],
        paths: { "effect-mcp-runtime": [join(types, "index.d.ts")], "effect-mcp-runtime/*": [join(types, "*.d.ts")] }
      }
    })
  )
  const { stdout } = await run("tsc", ["-p", folder, "--pretty", "false"], { cwd: folder })
  return stdout.split("\n").filter((line) => line.includes("error TS"))
}

describe("permissions.otherwise", () => {
  it("compiles with some of its origins, wherever permissions are an option", async () => {
    const program = `
import { Permissions } from "effect-mcp-runtime"
import * as NodeMcpRuntime from "effect-mcp-runtime/node/NodeMcpRuntime"
import * as NodeMcpServe from "effect-mcp-runtime/node/NodeMcpServe"

const permissions = { otherwise: { model: "allow" } } as const
export const all = [
  Permissions.layer({ otherwise: { model: "allow" } }),
  Permissions.layer({ otherwise: {} }),
  Permissions.make({ otherwise: { program: "deny", person: undefined } }),
  NodeMcpRuntime.layer({ servers: [], permissions: { otherwise: { model: "deny" } } }),
  NodeMcpRuntime.layerConfigured({ permissions }),
  NodeMcpServe.layerRuntimes({ servers: [], permissions }),
  NodeMcpServe.layerRuntimesDiscovered({ permissions })
]
const stated: Permissions.Options["otherwise"] = { person: "ask" }
export const more = Permissions.layer({ otherwise: stated })
`
    assert.deepStrictEqual(await errors(program), [])
  }, 60_000)

  it("does not compile with an origin or a decision that does not exist", async () => {
    const wrong = await errors(`
import { Permissions } from "effect-mcp-runtime"
export const origin = Permissions.layer({ otherwise: { robot: "allow" } })
export const decision = Permissions.layer({ otherwise: { model: "maybe" } })
`)
    assert.deepStrictEqual(wrong.map((line) => /error (TS\d+)/.exec(line)?.[1]), ["TS2353", "TS2322"])
  }, 60_000)
})
