import { afterEach, assert, beforeEach, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import * as Cli from "../../src/cli/Cli.ts"
import type * as Screen from "../../src/cli/Screen.ts"
import * as HostEnvironment from "../../src/config/HostEnvironment.ts"
import { pidsWithArgument } from "../support/leaks.ts"
import * as Device from "./device.ts"
import * as Workspace from "./workspace.ts"

const patient = { timeout: 30_000 }

let work: Workspace.Workspace

beforeEach(() => {
  work = Workspace.make()
})

afterEach(() => {
  const left = pidsWithArgument(work.journal)
  work.remove()
  assert.deepStrictEqual(left, [])
})

const person: Partial<Screen.Device> = { isInteractive: true, isTerminal: { out: true, err: true } }

const run = (
  args: ReadonlyArray<string>,
  more: Partial<Screen.Device> = {},
  answers: ReadonlyArray<string> = []
) =>
  Effect.gen(function*() {
    const device = Device.make(more, answers)
    const code = yield* Cli.run({ argv: [...args, "--root", work.folder], version: "1.2.3", device })
    return { code, out: device.out(), err: device.err(), asked: device.asked }
  }).pipe(Effect.provide(HostEnvironment.layer({ ...work.environment })))

const document = (text: string): unknown =>
  JSON.parse(text.replaceAll(work.folder, "FOLDER").replaceAll(/"milliseconds": \d+/g, "\"milliseconds\": 0"))

describe("the documents of commands", patient, () => {
  it.live("are these for list", () =>
    Effect.gen(function*() {
      const file = work.write("servers.json", {
        mcpServers: { slow: work.server, dead: { command: "no-such" }, off: { command: "x", disabled: true }, bad: {} }
      })
      const { code, out } = yield* run(["list", "--json", "--config", file])
      assert.strictEqual(code, 4)
      const from = { provider: "native", path: "FOLDER/servers.json", line: 1 }
      const none = {
        transport: "stdio",
        scope: "session",
        why: null,
        tools: null,
        era: null,
        protocolVersion: null,
        from,
        issues: [],
        pausedUntil: null
      }
      const bad = {
        severity: "error",
        kind: "missing-transport",
        path: "FOLDER/servers.json",
        line: 1,
        // the file is one line, and holds the path of this folder
        column: readFileSync(file, "utf8").indexOf("\"bad\"") + 1,
        server: "bad",
        at: null,
        provider: "native",
        scope: "session",
        message: "Server \"bad\": The entry does not say how to reach the server: add a command or a url."
      }
      assert.deepStrictEqual(document(out), {
        servers: [
          {
            ...none,
            name: "slow",
            state: "connected",
            tools: 4,
            era: "session",
            protocolVersion: "2025-11-25",
            error: null
          },
          {
            ...none,
            name: "dead",
            state: "failed",
            error: {
              tag: "SpawnFailed",
              message: "dead: could not start \"no-such\" (ENOENT): there is no such command on the PATH of the server"
            }
          },
          { ...none, name: "off", state: "off", why: "configuration", error: null },
          {
            ...none,
            name: "bad",
            transport: null,
            state: "failed",
            why: "missing-transport",
            error: null,
            issues: [bad]
          }
        ]
      })
    }))

  it.live("are these for tools, show and call", () =>
    Effect.gen(function*() {
      const file = work.write("servers.json", { mcpServers: { slow: work.server, dead: { command: "no-such" } } })
      const fail = {
        server: "slow",
        tool: "fail",
        name: "mcp__slow__fail",
        title: null,
        description: "Fails.",
        inputSchema: { type: "object" },
        outputSchema: null,
        annotations: { readOnly: null, destructive: null, idempotent: null, openWorld: null },
        requiresApproval: true
      }
      const tools = yield* run(["tools", "--json", "--search", "fails", "--config", file])
      assert.deepStrictEqual(document(tools.out), {
        tools: [fail],
        missing: [{
          server: "dead",
          tag: "SpawnFailed",
          message: "dead: could not start \"no-such\" (ENOENT): there is no such command on the PATH of the server"
        }],
        withheld: []
      })
      const shown = yield* run(["show", "slow.fail", "--json", "--config", file])
      assert.deepStrictEqual(document(shown.out), fail)
      const called = yield* run(["call", "mcp__slow__fail", "--json", "--config", file])
      assert.strictEqual(called.code, 1)
      assert.deepStrictEqual(document(called.out), {
        server: "slow",
        tool: "fail",
        isError: true,
        content: [{ type: "text", text: "the file does not exist" }],
        structuredContent: null,
        milliseconds: 0,
        attempts: 1
      })
    }))
})

describe("call", patient, () => {
  it.live("takes --key value for keys of the schema, and suggests the nearest key or option for others", () =>
    Effect.gen(function*() {
      const file = work.write("servers.json", { mcpServers: { slow: work.server } })
      const call = (...words: ReadonlyArray<string>) => run(["call", "slow/typed", ...words, "--config", file])
      const { code, out } = yield* call("--title", "a b", "--labels=x", "labels=y", "--at.x", "-1.5")
      assert.strictEqual(code, 0)
      assert.include(out, "{\"title\":\"a b\",\"labels\":[\"x\",\"y\"],\"at\":{\"x\":-1.5}}")
      const calls = () => work.entries().filter(({ called }) => called !== undefined).length
      const before = calls()
      for (const [word, near] of [["--tilte", "--title"], ["--tiemout", "--timeout"]] as const) {
        const wrong = yield* call("--title", "a", word, "3")
        assert.strictEqual(wrong.code, 2)
        assert.include(wrong.err, `unknown option "${word}", and the tool has no argument "${word.slice(2)}"`)
        assert.include(wrong.err, `Did you mean "${near}"?`)
      }
      assert.strictEqual(calls(), before)
    }))

  it.live("writes its result as text, Markdown, or as it came", () =>
    Effect.gen(function*() {
      const file = work.write("servers.json", { mcpServers: { slow: work.server } })
      const shown = (tool: string, format: string) =>
        Effect.map(run(["call", `slow/${tool}`, "--config", file, "--output", format]), ({ code, err, out }) => ({
          code,
          err,
          out
        }))
      assert.strictEqual(
        (yield* shown("picture", "text")).out,
        "[image, image/png, 8 bytes; use --out FILE to save it]\n"
      )
      assert.strictEqual((yield* shown("picture", "markdown")).out, "*image, image/png, 8 bytes*\n")
      const image = { type: "image", mimeType: "image/png", data: "iVBORw0KGgo=" }
      assert.strictEqual((yield* shown("picture", "raw")).out, `${JSON.stringify({ content: [image] })}\n`)
      const failed = yield* shown("fail", "raw")
      assert.strictEqual(failed.code, 1)
      assert.deepInclude(JSON.parse(failed.out), { isError: true })
      const both = yield* run(["call", "slow/fail", "--config", file, "--output", "raw", "--json"])
      assert.strictEqual(both.code, 2)
    }))
})

describe("somebody at a terminal", patient, () => {
  it.live("is asked before a server of a workspace is started, sees what would be, and says yes once for ever", () =>
    Effect.gen(function*() {
      work.write(".mcp.json", { mcpServers: { slow: work.server } })
      const call = ["call", "slow/typed", "title=a"]
      const no = yield* run(call, person, [""])
      assert.strictEqual(no.code, 5)
      assert.strictEqual(no.asked.length, 1)
      assert.include(no.err, "slow needs approval before its first start:")
      assert.include(no.err, work.journal)
      assert.deepStrictEqual(work.entries(), [])

      const yes = yield* run(call, person, ["y"])
      assert.strictEqual(yes.code, 0, yes.err)
      const again = yield* run(call)
      assert.strictEqual(again.code, 0, again.err)
      assert.deepStrictEqual(again.asked, [])

      work.write(".mcp.json", { mcpServers: { slow: { ...work.server, args: [...work.server.args, "more"] } } })
      const changed = yield* run(call, person, ["n"])
      assert.strictEqual(changed.code, 5)
      assert.include(changed.err, "slow has changed since it was approved:")
    }))

  it.live("is asked where a rule wants it, sees what would be sent, and nothing is sent without a yes", () =>
    Effect.gen(function*() {
      const file = work.write("servers.json", {
        mcpServers: { slow: work.server },
        permissions: { rules: [{ tool: "slow/typed", action: "ask" }] }
      })
      const call = ["call", "slow/typed", "title=secret plan", "--config", file]
      const alone = yield* run(call)
      assert.strictEqual(alone.code, 5)
      assert.include(alone.err, "the rule \"slow/typed\" asks for approval, and no person answered")
      const no = yield* run(call, person, ["no"])
      assert.strictEqual(no.code, 5)
      assert.include(no.err, "\"title\": \"secret plan\"")
      assert.deepStrictEqual(work.entries().filter(({ called }) => called !== undefined), [])
      const yes = yield* run(call, person, ["yes"])
      assert.strictEqual(yes.code, 0, yes.err)
      assert.deepStrictEqual(yes.asked, ["Allow this call? [y/N] "])
    }))

  it.live("sees the progress of a call, and then its result", () =>
    Effect.gen(function*() {
      const file = work.write("servers.json", { mcpServers: { slow: work.server } })
      const { code, err } = yield* run(["call", "slow/wait", "--config", file, "--timeout", "2s"], person)
      assert.strictEqual(code, 4)
      assert.include(err, "\r\u001b[K[######------------------] 25 % a quarter")
    }))
})
