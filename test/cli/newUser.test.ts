/**
 * Every command in the situations that somebody new is in: nothing is configured, or it is broken, or the server is dead,
 * or takes too long. Each has to say something sensible, end with the right code, and leave nothing behind.
 */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber } from "effect"
import { spawnSync } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import * as Commands from "../../src/cli/Commands.ts"
import * as Journal from "../faults/journal.ts"
import { own, place, type Ran, run, server } from "./inProcess.ts"
import * as Workspace from "./workspace.ts"

type Said = readonly [line: string, code: number, words: RegExp]

/** What is done with a terminal, which is no text; a line that was taken away goes with it. */
const controls = /[^\n]*\r\u001b\[K|\u001b\[[\d;?]*[A-Za-z]|\r/g

const text = ({ err, out }: Ran): string => `${out}${err}`.replaceAll(controls, "")

/** What holds for whatever is written, and whatever has happened. */
const assertSane = (line: string, ran: Ran): void => {
  assert.notMatch(text(ran), /^\s+at .*[:(]\d+/m, `${line} shows a stack`)
  assert.notMatch(text(ran), /\bundefined\b|\[object |Error:|\binternal error\b/, line)
  assert.notMatch(
    text(ran),
    /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/,
    `${line} writes to the terminal what it must not`
  )
  if (ran.code !== 0) assert.match(text(ran), /^ *error:? +\S/m, line)
}

const commands = new Set(Commands.all.map(({ name }) => name))

/** What every command says: each is in such a list, but `smoke`, which needs no configuration. */
const each = (said: ReadonlyArray<Said>, file: string | object | undefined): void => {
  it("is known for every command", () => {
    const asked = new Set(said.map(([line]) => line.split(" ")[0]))
    assert.deepStrictEqual([...commands].filter((name) => name !== "smoke" && !asked.has(name)), [])
  })

  for (const [line, code, words] of said) {
    it.scopedLive(`mcp-runtime ${line} ends with ${code}`, () =>
      Effect.gen(function*() {
        const at = yield* place
        if (file !== undefined) at.write(own, file)
        const ran = yield* run(at, [...line.split(" "), "--timeout", "2s"], { columns: 80 })
        assert.strictEqual(ran.code, code, text(ran))
        assert.match(text(ran), words)
        assertSane(line, ran)
      }))
  }
}

describe("where nothing is configured", () => {
  const none = /^(error: )?([Nn])o servers are configured\.?\nAdd a server with `mcp-runtime config add`/
  each([
    ["list", 0, none],
    ["tools", 0, none],
    ["show a/b", 2, none],
    ["call a/b x=1", 2, none],
    ["resources", 0, none],
    ["read file:///a", 2, none],
    ["prompts", 0, none],
    ["prompt a", 2, none],
    ["status", 0, none],
    ["status --watch --for 50ms", 0, /No servers are configured\./],
    ["events --for 50ms", 0, none],
    ["config", 0, /No configuration files were found\./],
    ["add none.json", 3, /none\.json: no usable entry in the registry/],
    ["approve", 0, /No server needs approval\./],
    ["approve a", 2, /there is no server "a"/],
    ["revoke", 0, /This workspace has no approvals\./],
    ["revoke a", 2, /there is no server "a"/],
    ["auth", 0, none],
    ["auth status a", 2, none],
    ["auth login a", 2, none],
    ["doctor", 0, none],
    ["serve --http no", 2, /invalid port "no" for --http/],
    ["serve --http 0 --server a", 2, /there is no server "a"/],
    ["repl", 0, /^/]
  ], undefined)
})

describe("where the file is broken", () => {
  const broken = /mcp-client\.json:1\b[^]*fix the syntax/
  const lines = [
    "list;tools;show a/b;call a/b;resources;read a://b;prompts;prompt a;status;status --watch;events",
    "approve;approve a;revoke;revoke a;auth;auth login a;doctor;repl;serve;serve --http 0"
  ].join(";").split(";")
  const edits = ["config add a --url https://a.example", "config import cursor"]
    .map((line): Said => [line, 3, /mcp-client\.json": line 1:[^]*fix the syntax/])
  each([
    ...lines.map((line): Said => [line, 3, broken]),
    ...edits,
    ["config", 0, broken],
    ["add none.json", 3, /no usable entry in the registry/]
  ], "{\"mcpServers\": {")
})

describe("where the server is dead", () => {
  const why = /dead: could not start "no-such" \(ENOENT\): there is no such command/
  each([
    ["list", 4, why],
    ["list", 4, /^dead +stdio +failed /m],
    ["list --allow-missing", 0, why],
    ["tools", 4, why],
    ["tools --allow-missing", 0, why],
    ["show dead/a", 4, why],
    ["show a", 4, why],
    ["call a", 4, why],
    ["call dead/a", 4, /Install it, or use its full path in the configuration\./],
    ["resources", 0, why],
    ["read a://b", 4, why],
    ["read a://b --server dead", 4, why],
    ["prompts", 0, why],
    ["prompt a", 4, why],
    ["status", 0, why],
    ["status --watch --for 300ms", 0, /^dead +failed [^]*no such command/m],
    ["events --for 300ms", 0, / dead connect failed: could not start "no-such"/],
    ["config", 0, /^ {2}dead +waiting +stdio$/m],
    ["add none.json", 3, /no usable entry in the registry/],
    ["approve", 0, /No server needs approval/],
    ["approve dead", 0, /dead: needs no approval/],
    ["revoke", 0, /This workspace has no approvals\./],
    ["revoke dead", 0, /dead/],
    ["auth", 0, /No remote servers are configured/],
    ["auth login dead", 2, /the server "dead" is local/],
    ["serve --http no", 2, /invalid port "no" for --http/],
    ["doctor", 4, /^ {2}error +command not found on PATH/m],
    ["serve --print-config codex", 0, /^\[mcp_servers\.mcp-runtime\]$/m],
    ["repl", 0, /^/]
  ], { mcpServers: { dead: { command: "no-such" } } })
})

describe("where a server never answers, and somebody presses Ctrl-C", () => {
  const lines =
    "list;tools;show mute/a;call mute/a;resources;read a://b;prompts;prompt a;status;status --watch;events;doctor"
      .split(";")
  for (const line of lines) {
    it.scopedLive(`mcp-runtime ${line} ends at once, and takes the server with it`, () =>
      Effect.gen(function*() {
        const at = yield* place
        const pids = join(dirname(at.root), "pids")
        at.write(own, {
          mcpServers: { mute: { command: "sh", args: ["-c", `echo $$ >> '${pids}'; while read -r _; do :; done`] } }
        })
        let written = ""
        const running = yield* Effect.fork(run(at, line.split(" "), {
          columns: 80,
          onWrite: (more) => {
            written += more
          }
        }))
        yield* Effect.repeat(Effect.delay(Effect.sync(() => existsSync(pids)), "5 millis"), { until: (is) => is })
        const exit = yield* Fiber.interrupt(running)
        assert.isTrue(Exit.isInterrupted(exit))
        const started = readFileSync(pids, "utf8").trim().split("\n").map(Number)
        assert.deepStrictEqual(started.filter(Journal.isAlive), [])
        assertSane(line, { code: 0, out: written, err: "", asked: [] })
        // no half of a line is left, and the cursor was never hidden
        assert.notInclude(written, "\u001b[?25l")
        assert.match(written, /(^|\n|\u001b\[K|\u001b\[J)$/)
      }))
  }
})

describe("where whoever could answer has left", () => {
  it.scopedLive("mcp-runtime events ends when its reader does", () =>
    Effect.gen(function*() {
      const at = yield* place
      at.write(own, { mcpServers: { offers: server("cli/offers.mjs") } })
      const seen = yield* Deferred.make<void>()
      const running = yield* Effect.fork(run(at, ["events"], {
        onWrite: (more) => {
          if (more.includes("offers connected")) Deferred.unsafeDone(seen, Effect.void)
        }
      }))
      yield* Deferred.await(seen)
      assert.isTrue(Exit.isInterrupted(yield* Fiber.interrupt(running)))
    }))

  it.scopedLive("mcp-runtime repl ends with its input, and call takes an empty one for no arguments", () =>
    Effect.gen(function*() {
      const at = yield* place
      assert.strictEqual((yield* run(at, ["repl"], { input: "" })).code, 0)
      const called = yield* run(at, ["call", "a/b", "-"], { input: "" })
      assert.strictEqual(called.code, 2)
      assert.match(called.err, /^error: no servers are configured/)
    }))
})

describe("on a terminal of 80 columns", () => {
  it.scopedLive("no table is wider than that", () =>
    Effect.gen(function*() {
      const at = yield* place
      at.write(own, {
        mcpServers: {
          "a-server-with-a-rather-long-name": server("cli/offers.mjs", "a".repeat(60)),
          offers: server("cli/offers.mjs")
        }
      })
      for (const line of ["list", "tools", "resources", "prompts", "status"]) {
        const { out } = yield* run(at, line.split(" "), { columns: 80 })
        const rows = out.replaceAll(controls, "").split("\n").filter((row) => / {2}\S/.test(row))
        for (const row of rows) assert.isAtMost(row.length, 80, `${line}: ${row}`)
      }
    }))
})

// a terminal for a program in another process: where there is no `script` of Linux, there is none
const hasTerminal = spawnSync("script", ["-qec", "true", "/dev/null"], { stdio: "ignore" }).status === 0

describe.skipIf(!hasTerminal)("on a terminal that the program itself is asked about", () => {
  const shown = (line: string, variables: Readonly<Record<string, string>> = {}) => {
    const work = Workspace.make()
    try {
      const command = `'${process.execPath}' '${Workspace.bin}' ${line}`
      const env = { ...work.environment, TERM: "xterm", SHELL: "/bin/sh", ...variables }
      return spawnSync("script", ["-qec", command, "/dev/null"], { encoding: "utf8", env, cwd: work.folder }).stdout
    } finally {
      work.remove()
    }
  }

  it("the progress of a slow server is shown at once, then its state with the cause below it", () => {
    const work = Workspace.make()
    const slow = { command: "sh", args: ["-c", "sleep 1.2; echo API_KEY is missing >&2; exit 3"] }
    const file = work.write("servers.json", { mcpServers: { slow } })
    for (const line of ["list", "tools", "status", "doctor"]) {
      const screen = shown(`${line} --config ${file}`)
      assert.match(screen, /^[^\n]*(connecting…|0 of 1 checked) [^\n]*\(1s\) slow/, line)
      assert.match(screen, /\n[^\n]*slow\b[^]*failed|failed: slow/, line)
      assert.match(screen, /API_KEY is missing\r\n/, line)
    }
    work.remove()
  }, 60_000)

  it("there is colour, and none where that is not wanted", () => {
    assert.include(shown("--help"), "\u001b[1m")
    assert.notInclude(shown("--help --no-color"), "\u001b")
    assert.notInclude(shown("--help", { NO_COLOR: "1" }), "\u001b")
    assert.notInclude(shown("--help", { TERM: "dumb" }), "\u001b")
  }, 60_000)
})
