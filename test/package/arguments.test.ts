import { assert, describe, it } from "@effect/vitest"
import { run } from "./project.ts"

describe("the types of arguments", () => {
  it("accept interfaces, records and literals, and refuse arrays, strings and null", async () => {
    const { status, stdout } = await run("tsc", ["-p", "test/fixtures/programs", "--pretty", "false"])
    const errors = stdout.split("\n").filter((line) => line.includes(": error TS"))
    assert.deepStrictEqual([errors, status], [[], 0])
  }, 60_000)
})
