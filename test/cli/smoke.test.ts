import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { build } from "esbuild"
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { DemoPlaces, Smoke } from "../../src/cli/commands/smoke.ts"
import * as Journal from "../faults/journal.ts"
import { own, type Place, place, run as runAny, server } from "./inProcess.ts"

const run = (at: Place, ...argv: ReadonlyArray<string>) => runAny(at, ["smoke", ...argv])

const decode = Schema.decodeUnknownSync(Schema.parseJson(Smoke), { onExcessProperty: "error" })

const root = fileURLToPath(new URL("../../", import.meta.url))

/** The demo server as JavaScript, inside the repository so that it finds what it depends on. */
const demo = Effect.acquireRelease(
  Effect.promise(async () => {
    const cache = join(root, "node_modules", ".cache")
    mkdirSync(cache, { recursive: true })
    const folder = mkdtempSync(join(cache, "smoke-"))
    const outfile = join(folder, "DemoServer.mjs")
    await build({ entryPoints: [join(root, "src/demo/DemoServer.ts")], outfile, format: "esm", logLevel: "silent" })
    return { folder, outfile }
  }),
  ({ folder }) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

describe("smoke", () => {
  it.scopedLive("keeps every promise with the demo server", () =>
    Effect.gen(function*() {
      const { outfile } = yield* demo
      const at = yield* place
      const ran = yield* Effect.provideService(run(at, "--json"), DemoPlaces, ["/nowhere.js", outfile])
      assert.notStrictEqual(ran.out, "", ran.err)
      const { kept, promises } = decode(ran.out)
      assert.deepStrictEqual(promises.filter((one) => !one.kept), [])
      assert.deepStrictEqual(promises.map(({ promise }) => promise), [
        "starts and connects",
        "lists its tools",
        "answers a ping",
        "calls a tool",
        "reads a resource",
        "reports progress of a call",
        "cancels a call and keeps the connection",
        "reports an unknown tool",
        "denies a call that a rule denies",
        "recovers from a server crash",
        "leaves no processes or sockets"
      ])
      assert.match(
        promises.find(({ promise }) => promise.startsWith("recovers"))!.detail,
        /\(unknown\), then 4 \+ 3 = 7$/
      )
      assert.include(promises.at(-1)!.detail, "no sockets, none of ")
      assert.isTrue(kept)
      assert.strictEqual(ran.code, 0)
    }))

  it.scopedLive("says that the demo server is not there", () =>
    Effect.gen(function*() {
      const ran = yield* Effect.provideService(run(yield* place), DemoPlaces, ["/nowhere.js"])
      assert.include(ran.err, "the demo server is not built")
      assert.strictEqual(ran.code, 3)
    }))

  it.scopedLive("tries a server of the user, and calls none of its tools", () =>
    Effect.gen(function*() {
      const at = yield* place
      const journal = yield* Journal.make
      at.write(own, { mcpServers: { mine: server("faults/server.mjs", "ok", journal.file) } })
      const ran = yield* run(at, "--server", "mine")
      const lines = ran.out.trimEnd().split("\n")
      assert.isTrue(lines.every((line) => line.startsWith("pass ")), ran.out)
      assert.lengthOf(lines, 6)
      assert.include(ran.out, "4 tools")
      assert.strictEqual(ran.code, 0)
      assert.isTrue(["echo", "bad", "hang", "slow"].every((tool) => journal.executions(tool) === 0))
      assert.deepStrictEqual(journal.pids().filter(Journal.isAlive), [])
    }))

  it.scopedLive("says which promise is not kept", () =>
    Effect.gen(function*() {
      const at = yield* place
      const journal = yield* Journal.make
      at.write(own, { mcpServers: { mine: server("faults/server.mjs", "page-fails", journal.file) } })
      const ran = yield* run(at, "--server", "mine", "--timeout", "3s", "--json")
      const { kept, promises } = decode(ran.out)
      assert.isFalse(kept)
      const broken = promises.find(({ promise }) => promise === "lists its tools")!
      assert.isFalse(broken.kept)
      assert.include(broken.detail, "page 3 is broken")
      assert.isTrue(promises.at(-1)!.kept)
      assert.strictEqual(ran.code, 1)
    }))

  it.scopedLive("names the cause of a server that does not connect, and tries nothing else with it", () =>
    Effect.gen(function*() {
      const at = yield* place
      const journal = yield* Journal.make
      at.write(own, {
        mcpServers: { down: { url: "http://127.0.0.1:9/mcp" }, fine: server("faults/server.mjs", "ok", journal.file) }
      })
      const { code, out } = yield* run(at, "--server", "down", "--server", "fine")
      const [first, cause, second, ...others] = out.trimEnd().split("\n")
      assert.deepStrictEqual([first, second], ["down", "fine"])
      assert.match(cause!, /^FAIL {2}starts and connects +down: network error ECONNREFUSED/)
      assert.isTrue(others.every((line) => line.startsWith("pass ")), out)
      assert.lengthOf(others, 6)
      assert.strictEqual(code, 1)
    }))

  it.scopedLive("knows no server of that name", () =>
    Effect.gen(function*() {
      const ran = yield* run(yield* place, "--server", "none")
      assert.strictEqual(ran.code, 2)
      assert.include(ran.err, "there is no server \"none\"")
    }))
})
