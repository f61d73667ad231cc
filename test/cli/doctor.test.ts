import { assert, describe, it } from "@effect/vitest"
import { Effect, type Scope } from "effect"
import * as Schema from "effect/Schema"
import { spawn } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Report } from "../../src/cli/commands/doctor.ts"
import type * as ExitCode from "../../src/cli/ExitCode.ts"
import * as Processes from "../../src/cli/processes.ts"
import type { State } from "../../src/cli/serverView.ts"
import * as Journal from "../faults/journal.ts"
import { modes } from "../fixtures/faults/httpModes.ts"
import * as HttpServer from "../fixtures/faults/httpServer.ts"
import { ofWorkspace, own, type Place, place, run as runAny, server } from "./inProcess.ts"

const run = (at: Place, ...argv: ReadonlyArray<string>) => runAny(at, ["doctor", "--timeout", "2s", ...argv])

const decode = Schema.decodeUnknownSync(Schema.parseJson(Report), { onExcessProperty: "error" })

type Entry = Readonly<Record<string, unknown>>

/** A process whose journal ends with the test, and it too. */
const fleet = (mode: string, more: Entry = {}) =>
  Effect.map(Journal.make, (journal): Entry => ({ ...server("faults/server.mjs", mode, journal.file), ...more }))

const node = (script: string): Entry => ({ command: process.execPath, args: ["-e", script] })

const remote = (mode: HttpServer.Mode, path = "/mcp") =>
  Effect.map(HttpServer.serve(mode), ({ origin }): Entry => ({ url: `${origin}${path}` }))

const always = (status: number, headers = {}, body = "no"): HttpServer.Mode => ({
  post: (exchange) => exchange.status(status, headers, body),
  get: (exchange) => exchange.status(status, headers, body)
})

/** The real one, with a registry of its own. */
const npx = (registry: string, spec: string): Entry => ({
  command: "npx",
  args: ["-y", spec],
  env: { npm_config_registry: registry, npm_config_fetch_retries: "0", npm_config_prefer_online: "true" },
  startupTimeout: 60_000
})

/** A package with a program, in a folder that is gone when the scope closes. */
const program = (script: string) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "mcp-package-"))),
      (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
    ),
    (folder) => {
      writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "it", version: "1.0.0", bin: "./it.cjs" }))
      writeFileSync(join(folder, "it.cjs"), `#!/usr/bin/env node\n${script}\n`, { mode: 0o755 })
      return folder
    }
  )

interface Broken {
  readonly name: string
  readonly entry: Effect.Effect<Entry, never, Scope.Scope>
  readonly cause: string
  readonly hint: RegExp
  readonly step: string
  readonly code: ExitCode.ExitCode
  readonly state?: State
  readonly file?: string
}

const broken: ReadonlyArray<Broken> = [
  {
    name: "a command that is not there",
    entry: Effect.succeed({ command: "no-such-command-anywhere" }),
    cause: "command not found on PATH",
    hint: /^Searched for "no-such-command-anywhere" in \/.*, \/.*\. Install it/,
    step: "connect",
    code: 4
  },
  {
    name: "a folder that is not there",
    entry: Effect.succeed({ ...node(""), cwd: "/nowhere/at/all" }),
    cause: "working folder does not exist",
    hint: /"\/nowhere\/at\/all"/,
    step: "connect",
    code: 4
  },
  {
    name: "npx and a package that does not exist",
    entry: Effect.map(
      HttpServer.serve(always(404, { "content-type": "application/json" }, "{\"error\":\"Not found\"}")),
      ({ origin }) => npx(origin, "@nobody/has-this")
    ),
    cause: "npm cannot find the package \"@nobody/has-this\"",
    hint: /^Check the name and the version in "args"/,
    step: "initialize",
    code: 4
  },
  {
    name: "npx without a network",
    entry: Effect.succeed(npx("http://127.0.0.1:9/", "a-package-that-nobody-has-here")),
    cause: "npm cannot reach its registry (http://127.0.0.1:9, ECONNREFUSED)",
    hint: /^Check the network, the proxy and the registry of npm/,
    step: "initialize",
    code: 4
  },
  {
    name: "what a server connects to that npx starts",
    entry: Effect.map(
      program("require('net').connect(9, '127.0.0.1')"),
      (folder) => npx("http://127.0.0.1:9/", folder)
    ),
    cause: "the server cannot reach 127.0.0.1:9 (ECONNREFUSED)",
    hint: /^Start the service that it connects to, or correct the address/,
    step: "initialize",
    code: 4
  },
  {
    name: "a process that exits at once",
    entry: Effect.succeed(node("console.error('TOKEN is required'); process.exit(3)")),
    cause: "the server exits at startup (code 3)",
    hint: /^See the last lines of its stderr/,
    step: "initialize",
    code: 4
  },
  {
    name: "a process that lacks a module",
    entry: Effect.succeed({ command: process.execPath, args: ["/nowhere/index.js"] }),
    cause: "the server cannot find the module \"/nowhere/index.js\"",
    hint: /^Install the server's dependencies/,
    step: "initialize",
    code: 4
  },
  {
    name: "a process that prints logs on its standard output",
    entry: Effect.succeed(
      node(
        "setInterval(() => console.log('Listening on 3000'), 50); process.stdin.on('end', () => process.exit(0)).resume()"
      )
    ),
    cause: "logs on stdout",
    hint: /^stdout: "Listening on 3000" Make the server log to stderr/,
    step: "initialize",
    code: 4
  },
  {
    name: "a process that writes invalid JSON",
    entry: fleet("pretty-json"),
    cause: "stdout has JSON that is not an MCP message",
    hint: /each line must be one JSON-RPC message/,
    step: "initialize",
    code: 4
  },
  {
    name: "a process that never answers initialize",
    entry: fleet("init-never"),
    cause: "no answer to initialize",
    hint: /^It runs, but did not answer within 2s/,
    step: "initialize",
    code: 4
  },
  {
    name: "a process that refuses to initialize",
    entry: fleet("init-error"),
    cause: "the handshake was refused with -32000",
    hint: /^The message of the server says why/,
    step: "initialize",
    code: 4
  },
  {
    name: "a process of another protocol version",
    entry: fleet("ver-ancient"),
    cause: "it uses another version of the protocol",
    hint: /^Update the server/,
    step: "initialize",
    code: 4
  },
  {
    name: "a process whose tools/list fails",
    entry: fleet("page-fails"),
    cause: "tools/list failed (-32603)",
    hint: /^It is connected but cannot list its tools/,
    step: "list",
    code: 1,
    state: "connected"
  },
  {
    name: "a URL that wants credentials",
    entry: remote(modes["http-401-init"]),
    cause: "the server asks for credentials (401)",
    hint: /^Log in with `mcp-runtime auth login \S+`\. Or add a header to its configuration/,
    step: "initialize",
    code: 5,
    state: "needs login"
  },
  {
    name: "a URL that refuses the credentials it is given",
    entry: Effect.map(
      remote(modes["http-401-init"]),
      (entry) => ({ ...entry, headers: { Authorization: "Bearer old" } })
    ),
    cause: "the server asks for credentials (401)",
    hint: /^The credentials in its headers are rejected/,
    step: "initialize",
    code: 5,
    state: "needs login"
  },
  {
    name: "a URL that refuses access",
    entry: remote(modes["http-403-init"]),
    cause: "the server refused access (403)",
    hint: /^Check the permissions of its credentials/,
    step: "initialize",
    code: 5
  },
  {
    name: "a URL with another path",
    entry: remote(always(404), "/api"),
    cause: "wrong path in the URL",
    hint: /^No MCP server at "\/api" \(404\)\. MCP servers usually use \/mcp/,
    step: "initialize",
    code: 4
  },
  {
    name: "a URL of the newer transport in the place of the older",
    entry: Effect.map(remote(modes["http-ok"]), (entry) => ({ ...entry, type: "sse" })),
    cause: "this URL does not accept messages",
    hint: /set "type" to "http"/,
    step: "connect",
    code: 4
  },
  {
    name: "a URL that takes no messages",
    entry: remote(always(405), "/sse"),
    cause: "this URL does not accept messages",
    hint: /set "type" to "sse", or try \/mcp/,
    step: "initialize",
    code: 4
  },
  {
    name: "a URL behind which the server fails",
    entry: remote(modes["http-500-init"]),
    cause: "server error (500)",
    hint: /check its log/,
    step: "initialize",
    code: 4
  },
  {
    name: "a URL with a web page",
    entry: remote(always(200, { "content-type": "text/html" }, "<html>Welcome</html>")),
    cause: "unexpected content type",
    hint: /^Another service answers at this address. Check the address: it often ends in \/mcp/,
    step: "initialize",
    code: 4
  },
  {
    name: "a port that speaks no TLS",
    entry: Effect.map(HttpServer.serve(modes["http-ok"]), ({ url }) => ({ url: url.replace("http:", "https:") })),
    cause: "TLS failed (EPROTO)",
    hint: /^Check that the port uses TLS/,
    step: "connect",
    code: 4
  },
  {
    name: "a port without a listener",
    entry: Effect.succeed({ url: "http://127.0.0.1:9/mcp" }),
    cause: "no server listens at this URL",
    hint: /^Check the host and port/,
    step: "connect",
    code: 4
  },
  {
    name: "a variable that is not set",
    entry: fleet("ok", { env: { TOKEN: "${DOCTOR_HAS_NO_SUCH_VARIABLE}" } }),
    cause: "\"DOCTOR_HAS_NO_SUCH_VARIABLE\" is not set",
    hint: /^Set DOCTOR_HAS_NO_SUCH_VARIABLE/,
    step: "variables",
    code: 3
  },
  {
    name: "a server that is not approved",
    entry: fleet("ok"),
    cause: "not approved",
    hint: /`mcp-runtime approve it`/,
    step: "trust",
    code: 5,
    state: "needs approval",
    file: ofWorkspace
  }
]

describe("doctor", () => {
  for (const { cause, code, entry, file = own, hint, name, state = "failed", step } of broken) {
    it.scopedLive(`names what is wrong with ${name}, and what to do`, () =>
      Effect.gen(function*() {
        const at = yield* place
        at.write(file, { mcpServers: { it: yield* entry } })
        const ran = yield* run(at, "--json")
        const report = decode(ran.out)
        const [ill] = report.servers
        const problem = ill!.problems.find(({ level }) => level === "error")!
        assert.deepInclude(problem, { cause, step }, ran.out)
        assert.match(problem.hint ?? "", hint)
        assert.deepInclude(ill, { state, exitCode: code })
        assert.strictEqual(ill!.steps.find((one) => one.step === step)?.outcome, "failed")
        assert.strictEqual(report.socketsLeft, 0)
        assert.strictEqual(ran.code, code)
        assert.strictEqual(report.exitCode, code)
      }), 90_000)
  }

  it.scopedLive("says what a policy denies, and starts nothing", () =>
    Effect.gen(function*() {
      const at = yield* place
      const journal = yield* Journal.make
      const entry = server("faults/server.mjs", "ok", journal.file)
      at.write("home/.config/mcp-runtime/mcp.toml", `[security]\nmcp_server_denylist = ["it"]\n`)
      at.write(own, { mcpServers: { it: entry } })
      const ran = yield* run(at, "--json")
      const [denied] = decode(ran.out).servers
      assert.deepInclude(denied!.problems[0], { cause: "denied by a policy", step: "trust" })
      assert.strictEqual(ran.code, 5)
      assert.deepStrictEqual(journal.pids(), [])
    }))

  it.scopedLive("goes with a server that is well through every step, and leaves nothing of it", () =>
    Effect.gen(function*() {
      const at = yield* place
      const journal = yield* Journal.make
      const web = yield* HttpServer.serve(modes["http-ok"])
      at.write(own, {
        mcpServers: {
          local: server("faults/server.mjs", "grandchild-detached", journal.file),
          web: { url: web.url },
          off: { ...node(""), enabled: false }
        }
      })
      const ran = yield* run(at, "--json")
      const { servers } = decode(ran.out)
      const steps = ["config", "trust", "connect", "initialize", "list", "ping", "close", "leaks"]
      for (const name of ["local", "web"]) {
        const well = servers.find((one) => one.name === name)!
        assert.strictEqual(well.state, "connected")
        assert.deepStrictEqual(well.steps.map(({ step }) => step), steps)
        assert.isTrue(well.steps.every(({ milliseconds, outcome }) => outcome === "ok" && milliseconds >= 0))
        assert.deepInclude(well, { era: "session", protocolVersion: "2025-11-25", tools: 4, stderr: null })
      }
      assert.strictEqual(servers.find(({ name }) => name === "off")?.state, "off")
      assert.strictEqual(ran.code, 0)
      assert.isAbove(journal.pids().length, 1)
      assert.deepStrictEqual(journal.pids().filter(Journal.isAlive), [])
    }))

  it.scopedLive("looks through names and schemas, and shows no control character of them", () =>
    Effect.gen(function*() {
      const at = yield* place
      const journal = yield* Journal.make
      at.write(own, { mcpServers: { odd: server("faults/server.mjs", "odd-tool-names", journal.file) } })
      const ran = yield* run(at, "odd")
      assert.include(ran.out, "tool name too long")
      assert.include(ran.out, "reserved tool name")
      assert.include(ran.out, "a\\x1b[31mb")
      assert.notInclude(ran.out, "\u001b")
      assert.notInclude(ran.out, "\u202e")
      assert.strictEqual(ran.code, 1)
    }))

  it.scopedLive("shows the last words of what ended, and hides what is secret in them", () =>
    Effect.gen(function*() {
      const at = yield* place
      at.write(own, {
        mcpServers: {
          it: {
            ...node("console.error('bad token ' + process.env.TOKEN); process.exit(1)"),
            env: { TOKEN: "hunter2hunter2" }
          }
        }
      })
      const ran = yield* run(at)
      assert.include(ran.out, "| bad token")
      assert.notInclude(ran.out + ran.err, "hunter2hunter2")
    }))

  it.scopedLive("gives the code of the worst, and looks at those that are named only", () =>
    Effect.gen(function*() {
      const at = yield* place
      const journal = yield* Journal.make
      const fine = server("faults/server.mjs", "ok", journal.file)
      at.write(own, { mcpServers: { fine, refused: { url: "http://127.0.0.1:9/mcp" }, bad: { command: 7 } } })
      const all = yield* run(at, "--json")
      assert.strictEqual(all.code, 4)
      assert.strictEqual(decode(all.out).servers.find(({ name }) => name === "bad")?.exitCode, 3)
      assert.strictEqual((yield* run(at, "bad")).code, 3)
      assert.strictEqual((yield* run(at, "fine")).code, 0)
      const unknown = yield* run(at, "fin")
      assert.strictEqual(unknown.code, 2)
      assert.include(unknown.err, "did you mean \"fine\"")
    }))

  it.scopedLive("says that there is nothing to look at", () =>
    Effect.gen(function*() {
      const ran = yield* Effect.flatMap(place, (at) => run(at))
      assert.strictEqual(ran.code, 0)
      assert.include(ran.err, "No servers are configured.")
    }))
})

describe("the processes of a server", () => {
  it.scopedLive("are found when the one that started them is gone", () =>
    Effect.gen(function*() {
      const child = yield* Effect.acquireRelease(
        Effect.sync(() =>
          spawn("sh", ["-c", "sleep 60 & read line"], { detached: true, stdio: ["pipe", "ignore", "ignore"] })
        ),
        (child) => Effect.sync(() => process.kill(-child.pid!, "SIGKILL"))
      )
      const roots = Processes.children("linux").filter(({ pid }) => pid === child.pid)
      const tree = yield* Effect.repeat(Effect.delay(Effect.sync(() => Processes.tree(roots, "linux")), "10 millis"), {
        until: (found) => found.length === 2
      })
      child.stdin.end()
      const left = yield* Effect.repeat(
        Effect.delay(Effect.sync(() => Processes.remaining(roots, "linux")), "10 millis"),
        {
          until: (found) => found.every(({ pid }) => pid !== child.pid)
        }
      )
      assert.deepStrictEqual(left.map(({ pid }) => pid), tree.map(({ pid }) => pid).filter((pid) => pid !== child.pid))
      assert.lengthOf(left, 1)
    }))

  it("are not known elsewhere", () => {
    assert.deepStrictEqual(Processes.children("win32"), [])
  })
})
