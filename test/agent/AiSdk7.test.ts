import { assert, describe, it } from "@effect/vitest"
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"

const root = fileURLToPath(new URL("../..", import.meta.url))

describe("the adapter for the AI SDK", () => {
  it("passes its tests over version 7 of the package too", async () => {
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ["node_modules/vitest/vitest.mjs", "run", "test/agent/AiSdk.test.ts"],
      { cwd: root, env: { ...process.env, TEST_PART: "", AI_SDK: "ai7", NO_COLOR: "1" } }
    )
    assert.match(stdout, /Tests +\d+ passed/)
  })
})
