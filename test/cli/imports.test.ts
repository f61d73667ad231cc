/** `--import` refuses an unknown host, and a list of `imports` reports an issue; both suggest the nearest host. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as ConfigDiscovery from "../../src/config/ConfigDiscovery.ts"
import * as Trust from "../../src/config/Trust.ts"
import { own, place, run } from "./inProcess.ts"

describe("--import", () => {
  it.scopedLive("refuses an unknown host, with the nearest and all known hosts", () =>
    Effect.gen(function*() {
      const at = yield* place
      for (const argv of [["list"], ["tools"], ["call", "a/b"], ["doctor"], ["config"], ["status"], ["approve"]]) {
        const { code, err, out } = yield* run(at, [...argv, "--import", "cursor", "--import", "curser"], {
          columns: 500
        })
        assert.strictEqual(code, 2, argv.join(" "))
        assert.strictEqual(out, "")
        assert.match(err, /curser.*\n.*"cursor"/i, argv.join(" "))
        for (const host of ["claude-code", "vscode", "windsurf", "all"]) assert.include(err, host)
      }
      const { out } = yield* run(at, ["list", "--import", "curser", "--json"])
      assert.strictEqual(JSON.parse(out).error.exitCode, 2)
    }))

  it.scopedLive("accepts each known host, and all of them together", () =>
    Effect.gen(function*() {
      const at = yield* place
      for (const host of ["cursor", "vscode", "windsurf", "kilo", "continue", "all"]) {
        assert.strictEqual((yield* run(at, ["config", "--import", host])).code, 0, host)
      }
    }))
})

describe("a list of imports", () => {
  it.scopedLive("in a file names the nearest host in each command", () =>
    Effect.gen(function*() {
      const at = yield* place
      at.write(own, { imports: ["curser"], mcpServers: { off: { command: "off", disabled: true } } })
      for (const argv of [["list"], ["tools"], ["status"], ["config"]]) {
        const { code, err, out } = yield* run(at, argv, { columns: 500 })
        assert.strictEqual(code, 0, argv.join(" "))
        assert.match(out + err, /curser.*cursor/, argv.join(" "))
      }
    }))

  it.effect("in code is an issue that names the nearest host", () =>
    Effect.gen(function*() {
      const { issues } = yield* Effect.flatMap(ConfigDiscovery.ConfigDiscovery, ({ discover }) => discover)
      assert.deepStrictEqual(issues.map(({ kind, severity }) => [kind, severity]), [["unknown-import", "warning"]])
      assert.match(issues[0]?.message ?? "", /curser.*cursor/)
    }).pipe(Effect.provide(
      Layer.provide(ConfigDiscovery.layerTest(new Map(), { imports: ["curser"] }), Trust.layerMemory())
    )))
})
