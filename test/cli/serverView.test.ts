/** The state, the cause and the next step of a server, which every command shows in the same words. */
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect } from "effect"
import * as View from "../../src/cli/serverView.ts"
import type * as ConfigDiscovery from "../../src/config/ConfigDiscovery.ts"
import type * as ConfigIssue from "../../src/config/ConfigIssue.ts"
import * as McpError from "../../src/McpError.ts"
import type * as McpRuntime from "../../src/McpRuntime.ts"
import * as ServerStatus from "../../src/runtime/ServerStatus.ts"
import { ofWorkspace, own, type Place, place, run, server } from "./inProcess.ts"

const { Blocked, Connected, Connecting, Disabled, Failed, Idle, NeedsAuth, Reconnecting } = ServerStatus.ServerStatus

const provenance = { provider: "native", scope: "user", origin: "home", path: "/f.json", pointer: [], line: 3 } as const

const found = (state: ConfigDiscovery.State = { _tag: "Ready" }): ConfigDiscovery.Found => ({
  name: "a",
  state,
  entry: undefined,
  config: undefined,
  provenance,
  shadows: [],
  sources: [],
  sameAs: undefined,
  fingerprint: "f"
})

const info = (status: ServerStatus.ServerStatus) =>
  ({ name: "a", status, error: "error" in status ? status.error : undefined }) as McpRuntime.ServerInfo

const issue = (kind: ConfigIssue.Kind): ConfigIssue.ConfigIssue => ({
  ...provenance,
  column: undefined,
  kind,
  severity: "error",
  server: "a",
  at: "env.X",
  message: `about ${kind}`
})

const of = (status: ServerStatus.ServerStatus, issues: ReadonlyArray<ConfigIssue.ConfigIssue> = []) =>
  View.of(found(), { issues }, info(status))

const refused = new McpError.NetworkError({ server: "a", code: "ECONNREFUSED", detail: "no", outcome: "not-sent" })
const login = new McpError.AuthorizationFailed({ server: "a", reason: "unauthorized" })
const unset = new McpError.ConfigurationError({
  server: "a",
  path: "env.X",
  detail: "\"X\" is not set",
  variable: { name: "X", why: "variable-unset" }
})
const failed = (error: McpError.ConnectError) => Failed({ error, stderrTail: undefined })
const connected = Connected({ since: 0, era: "session", tools: 1, pausedUntil: undefined })

describe("the state of a server", () => {
  it("is one of seven words", () => {
    const table: ReadonlyArray<readonly [ServerStatus.ServerStatus, View.State]> = [
      [connected, "connected"],
      [Connecting(), "starting"],
      [Idle({ tools: undefined }), "waiting"],
      [Reconnecting({ attempt: 1, until: 0, error: refused }), "waiting"],
      [NeedsAuth({ error: login }), "needs login"],
      [Blocked({ why: "untrusted" }), "needs approval"],
      [Blocked({ why: "denied" }), "off"],
      [Disabled({ why: "configuration" }), "off"],
      [failed(refused), "failed"]
    ]
    for (const [status, state] of table) assert.strictEqual(of(status).state, state)
    const invalid = View.of(found({ _tag: "Invalid", kind: "missing-transport" }), {
      issues: [issue("missing-transport")]
    }, undefined)
    assert.deepInclude(invalid, {
      state: "failed",
      why: "missing-transport",
      reason: "about missing-transport (/f.json:3 (env.X))"
    })
  })

  it("decides if the server is missing: not if it is off, or waits for a person or its first use", () => {
    const missing = [Connecting(), failed(refused), Reconnecting({ attempt: 1, until: 0, error: refused })]
    for (const status of missing) assert.isTrue(View.isMissing(of(status)))
    const others = [
      connected,
      Idle({ tools: undefined }),
      NeedsAuth({ error: login }),
      Blocked({ why: "untrusted" }),
      Disabled({ why: "disabled" })
    ]
    for (const status of others) assert.isFalse(View.isMissing(of(status)), status._tag)
    assert.isTrue(View.isMissing(View.of(found(), { issues: [] }, info(connected), refused)))
  })
})

describe("the cause of a server without tools", () => {
  it("is the first that a person has to remove", () => {
    const input = new McpError.ConfigurationError({
      server: "a",
      path: "env.X",
      detail: "no answer",
      variable: { name: "X", why: "input-required" }
    })
    const limit = Duration.seconds(1)
    const ordered: ReadonlyArray<McpError.RuntimeError> = [
      unset,
      input,
      new McpError.SpawnFailed({ server: "a", errno: "ENOENT", command: "x", detail: "none" }),
      refused,
      new McpError.HttpError({ server: "a", reason: "status", status: 404, outcome: "not-sent" }),
      login,
      new McpError.ConnectTimeout({ server: "a", phase: "initialize", limit }),
      new McpError.ProtocolViolation({ server: "a", what: "no JSON", outcome: "not-sent" })
    ]
    for (let at = 0; at < ordered.length; at++) {
      assert.strictEqual(View.cause(ordered.slice(at).toReversed()), ordered[at])
    }
    const waited = new McpError.RequestTimeout({
      server: "a",
      kind: "total",
      operation: "tools/list",
      limit,
      outcome: "not-sent",
      waitedFor: "connection",
      lastError: refused
    })
    assert.strictEqual(View.cause([waited]), refused)
  })

  it("is an unset variable before a refused login", () => {
    const issues = [issue("variable-unset")]
    assert.strictEqual(of(NeedsAuth({ error: login }), issues).reason, "about variable-unset (/f.json:3 (env.X))")
    // the error names the variable, its place and the next step
    assert.match(of(failed(unset), issues).reason ?? "", /^"X" is not set; the configuration uses it in "env.X"$/)
  })

  it("is shown after the name, with the next step below it", () => {
    const lines = View.lines(of(failed(refused)), 40)
    assert.deepStrictEqual(lines, [
      "a: network error ECONNREFUSED: no",
      "  Check the host and port in its",
      "  configuration, and that the server is",
      "  running."
    ])
    assert.deepStrictEqual(View.lines(of(connected), 40), [])
  })
})

const names = ["good", "late", "none", "off", "unset"]

const several = (at: Place) => {
  at.write(own, {
    mcpServers: {
      late: { command: "sh", args: ["-c", "sleep 0.3; echo API_KEY is missing >&2; exit 3"] },
      good: server("cli/silent.mjs"),
      unset: { url: "http://127.0.0.1:9/mcp", headers: { Authorization: "Bearer ${env:NO_SUCH_TOKEN}" } },
      none: { command: "there-is-no-such-program" },
      off: { command: "x", disabled: true }
    }
  })
  at.write(ofWorkspace, { mcpServers: { wants: { command: "wants" } } })
}

/** The lines of each server, in the order in which they are shown. */
const blocks = (text: string) => {
  const all: Array<readonly [name: string, ...lines: ReadonlyArray<string>]> = []
  for (const line of text.split("\n")) {
    const name = /^(?:[a-z ]+: )?(\w+)(?:: | {2}[a-z])/.exec(line)?.[1]
    if (name !== undefined && [...names, "wants"].includes(name)) all.push([name, line])
    else if (line.startsWith("  ") && all.length > 0) all[all.length - 1] = [...all.at(-1)!, line]
  }
  return all
}

describe("list, tools, status and doctor", () => {
  it.scopedLive(
    "show the same state of each server, the cause and its step below it, as configured",
    () =>
      Effect.gen(function*() {
        const at = yield* place
        several(at)
        const states = {
          wants: "needs approval",
          late: "failed",
          good: "connected",
          unset: "failed",
          none: "failed",
          off: "off"
        }
        for (const command of ["list", "status", "doctor"]) {
          const { out } = yield* run(at, [command, "--json"])
          const servers: ReadonlyArray<{ readonly name: string; readonly state: string }> = JSON.parse(out).servers
          assert.deepStrictEqual(Object.fromEntries(servers.map(({ name, state }) => [name, state])), states, command)
          assert.deepStrictEqual(servers.map(({ name }) => name), Object.keys(states), command)
        }
        for (const command of ["list", "tools", "status"]) {
          const { err } = yield* run(at, [command])
          const shown = blocks(err)
          assert.deepStrictEqual(shown.map(([name]) => name), ["wants", "late", "unset", "none"], command)
          const [wants, late, unset, none] = shown
          assert.match(wants![2] ?? "", /^ {2}Review and approve it/)
          assert.match(late![1] ?? "", /; its stderr: API_KEY is missing$/)
          assert.match(late![2] ?? "", /^ {2}Run its command in a terminal/)
          assert.match(unset![1] ?? "", /unset: "NO_SUCH_TOKEN" is not set/)
          assert.notMatch(unset!.join(" "), /auth login|refused/)
          assert.match(none![2] ?? "", /^ {2}Install it/)
        }
      }),
    60_000
  )

  it.scopedLive(
    "end with 4 where a server is missing, and not where one is off or waits for an approval",
    () =>
      Effect.gen(function*() {
        const at = yield* place
        several(at)
        for (const command of ["list", "tools"]) {
          const missing = yield* run(at, [command])
          assert.strictEqual(missing.code, 4, command)
          assert.match(
            missing.err,
            /^error: 3 servers unavailable: late, unset, none \(ignore with --allow-missing\)/m
          )
          assert.match((yield* run(at, [command, "--quiet"])).err, /^error: 3 servers unavailable/m)
          assert.strictEqual((yield* run(at, [command, "--allow-missing"])).code, 0, command)
          const whole = yield* run(at, [command, "--server", "good", "--server", "off", "--server", "wants"])
          assert.strictEqual(whole.code, 0, `${command} ${whole.err}`)
        }
      }),
    60_000
  )
})
