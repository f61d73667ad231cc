/** What is said where a file is broken, or a server does not do what it should. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { dirname } from "node:path"
import * as Ledger from "../support/ledger.ts"
import { ofWorkspace, own, place, run, server } from "./inProcess.ts"

describe("where a file is broken", () => {
  it.scopedLive("each command says where, and the doctor goes on", () =>
    Effect.gen(function*() {
      const at = yield* place
      at.write(ofWorkspace, "{\"mcpServers\": {")
      const { code, err } = yield* run(at, ["call", "a/b"], { columns: 40 })
      assert.strictEqual(code, 3)
      assert.match(
        err.replaceAll("\n", " "),
        /^error: invalid configuration at "\S+\.mcp\.json:1(:\d+)?": The file has a syntax error/
      )
      assert.include(err.replaceAll("\n", " "), "`mcp-runtime config` shows the file, the line and the error")
      // broken at spaces, so that only a path is wider than the terminal
      for (const line of err.split("\n")) assert.isTrue(line.length <= 40 || !line.includes(" "), line)
      const doctor = yield* run(at, ["doctor"])
      assert.strictEqual(doctor.code, 3)
      assert.match(doctor.out, /^error {2}\S+\.mcp\.json:1(:\d+)?\n {7}The file has a syntax error/)
      at.write(own, { mcpServers: { one: server("cli/asks.mjs") } })
      const both = yield* run(at, ["doctor"])
      assert.strictEqual(both.code, 3)
      assert.match(both.out, /^one {2}connected /)
      assert.include(both.out, "error  ")
    }))
})

describe("a broken file beside a good one", () => {
  it.scopedLive("costs only its own servers, unless it was named with --config", () =>
    Effect.gen(function*() {
      const at = yield* place
      const broken = at.write("home/.cursor/mcp.json", "{\"mcpServers\": {")
      const good = at.write("good.json", { mcpServers: { one: server("cli/asks.mjs") } })
      const alone = yield* run(at, ["list", "--config", good, "--import", "cursor"])
      assert.strictEqual(alone.code, 0, alone.err)
      for (const argv of [["--config", good, "--config", broken], ["--import", "cursor"]]) {
        const { code, err } = yield* run(at, ["list", ...argv])
        assert.strictEqual(code, 3, argv.join(" "))
        assert.match(
          err,
          /^error: invalid configuration at "\S*\.cursor\/mcp\.json:1(:\d+)?": The file has a syntax error/
        )
      }
      at.write(own, { mcpServers: { one: server("cli/asks.mjs") } })
      const beside = yield* run(at, ["list", "--import", "cursor"])
      assert.strictEqual(beside.code, 0, beside.err)
      assert.match(beside.out, /^one +stdio +connected/m)
      assert.match(beside.err, /^invalid: \S*\.cursor\/mcp\.json:1(:\d+)?: The file has a syntax error/m)
    }))
})

describe("where a server refuses to list its tools", () => {
  it.scopedLive("nobody waits for them", () =>
    Effect.gen(function*() {
      const at = yield* place
      at.write(own, { mcpServers: { one: server("cli/silent.mjs", "refuse:tools/list") } })
      const table = [
        [["list"], 4, /^one +stdio +connected +- [^]*^one: the server answered with error -32603: not today$/m],
        [["tools"], 4, /^connected: one: the server answered with error -32603: not today$/m],
        [["tools", "--allow-missing"], 0, /^connected: one: the server answered with error -32603: not today$/m],
        [["status"], 0, /^one +connected +closed +\d/m],
        [["tools", "one"], 1, /^error: one: the server answered with error -32603/m]
      ] as const
      yield* Effect.forEach(table, ([argv, exit, text]) =>
        Effect.gen(function*() {
          const { code, err, out } = yield* run(at, argv)
          assert.deepStrictEqual([argv, code], [argv, exit])
          assert.match(out + err, text)
        }), { concurrency: "unbounded", discard: true })
    }))
})

describe("where a server asks for a pause", () => {
  it.scopedLive("list and status say until when", () =>
    Effect.gen(function*() {
      const at = yield* place
      const ledger = yield* Ledger.serve()
      ledger.script = (request) =>
        request.method === "tools/list" ? request.status(429, { "retry-after": "999999" }) : request.standard()
      at.write(own, { mcpServers: { one: { type: "http", url: ledger.url } } })
      const began = Date.now()
      for (const command of ["list", "status"]) {
        const shown = yield* run(at, [command], { columns: 120 })
        assert.match(shown.out, /^one .*connected \(paused until \d\d:\d\d:\d\d UTC\)/m)
        const { out } = yield* run(at, [command, "--json"])
        const { pausedUntil, state } = JSON.parse(out).servers[0]
        assert.strictEqual(state, "connected")
        assert.isAtLeast(pausedUntil, began + 60_000)
        assert.isAtMost(pausedUntil, Date.now() + 60_000)
      }
    }))
})

describe("where a server ends with many words", () => {
  // as Node, Python, npm and a plain program write them
  const words = {
    node: [
      "node:internal/modules/cjs/loader:1210",
      "  throw err;",
      "Error: Cannot find module '/srv/dist/server-of-somebody.js'",
      "    at Module._resolveFilename (node:internal/modules/cjs/loader:1207:15)",
      "    at node:internal/main/run_main_module:28:49 {",
      "  code: 'MODULE_NOT_FOUND'",
      "}",
      "Node.js v20.20.2"
    ],
    python: [
      "Traceback (most recent call last):",
      "  File \"a.py\", line 1",
      "ModuleNotFoundError: No module named 'mcp'"
    ],
    npm: [
      "npm error code E404",
      "npm error 404 'nope@*' is not in this registry.",
      "npm error     at onSocketNT (node:_http_client:904:5)",
      "npm error",
      "npm error }",
      "npm error A complete log of this run can be found in: /home/ann/.npm/_logs/2026-01-01-debug-0.log",
      "npm ERR! A complete log of this run can be found in:",
      "npm ERR!     /home/ann/.npm/_logs/2026-01-01-debug-0.log"
    ],
    plain: ["starting", "API_KEY has to be set"]
  }
  const most = {
    node: "Error: Cannot find module '/srv/dist/server-of-somebody.js'",
    python: "ModuleNotFoundError: No module named 'mcp'",
    npm: "'nope@*' is not in this registry.",
    plain: "API_KEY has to be set"
  }
  const isClutter = (line: string) => /^(?:Node\.js v|\}$|npm error(?: \}| {5}at .+)?$)|complete log|_logs/.test(line)

  it.scopedLive("a list has the most telling line, an error and the doctor have all but clutter, and no word is broken", () =>
    Effect.gen(function*() {
      const at = yield* place
      const folder = dirname(at.write("words/node", words.node.join("\n")))
      at.write("words/python", words.python.join("\n"))
      at.write("words/npm", words.npm.join("\n"))
      at.write("words/plain", words.plain.join("\n"))
      const ends = (name: string) => ({ command: "sh", args: ["-c", `cat '${folder}/${name}' >&2; exit 3`] })
      at.write(own, {
        mcpServers: { node: ends("node"), python: ends("python"), npm: ends("npm"), plain: ends("plain") }
      })
      const lists = yield* Effect.forEach(["list", "tools", "status"], (line) => run(at, [line], { columns: 60 }), {
        concurrency: "unbounded"
      })
      for (const { err } of lists) {
        const joined = err.replaceAll(/\n */g, " ")
        for (const line of Object.values(most)) assert.include(joined, `; its stderr: ${line}`)
        assert.notMatch(joined, /Traceback|loader|\\n/)
        for (const line of err.replaceAll(/[^\n]*\r\u001b\[K/g, "").split("\n")) {
          assert.isTrue(line.length <= 60 || !line.includes(" "), line)
        }
      }
      // where a list was waited for in vain, that is no reason
      const waited = yield* run(at, ["prompts", "--timeout", "1s"])
      for (const name of Object.keys(words)) {
        assert.match(waited.err, new RegExp(`^failed: ${name}: .*the process ended \\(exit code 3\\)`, "m"))
      }
      const called = yield* run(at, ["call", "node/a"], { columns: 60 })
      assert.strictEqual(called.code, 4)
      const [message = "", below = ""] = called.err.slice(called.err.indexOf("error: ")).split(
        "Last lines of stderr:\n"
      )
      assert.strictEqual(
        message.replaceAll("\n", " "),
        "error: node: the server cannot find the module \"/srv/dist/server-of-somebody.js\"; the process ended (exit code 3) in "
          + `the initialize phase; its stderr: ${most.node} `
      )
      const kept = words.node.filter((line) => !line.startsWith("    at ") && !isClutter(line))
      assert.deepStrictEqual(below.split("\n").slice(0, kept.length), kept.map((line) => `  | ${line}`))
      const doctor = yield* run(at, ["doctor", "node", "npm"], { columns: 60 })
      for (const line of [...words.node, ...words.npm]) {
        assert.strictEqual(doctor.out.includes(`    | ${line}\n`), !isClutter(line), line)
      }
      for (const line of doctor.out.split("\n").filter((line) => !line.includes(" | "))) {
        assert.isTrue(line.length <= 60 || !line.trim().includes(" "), line)
      }
    }))
})
