import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as ConfigFile from "../../src/config/ConfigFile.ts"
import * as McpRuntime from "../../src/McpRuntime.ts"
import * as PermissionRule from "../../src/safety/PermissionRule.ts"
import * as MemoryServer from "../../src/testing/MemoryServer.ts"
import * as Pool from "../support/pool.ts"
import * as Runtime from "../support/runtime.ts"
import { usualOrigin } from "../support/samples.ts"

const read = (text: string, options: Omit<ConfigFile.Options, "origin">) =>
  Effect.map(
    ConfigFile.decode(new TextEncoder().encode(text), { ...options, origin: usualOrigin[options.scope] }),
    ({ issues, permissions }) => ({
      rules: permissions ?? [],
      issues: issues.map(({ at, kind }) => [kind, at])
    })
  )

const decide = (rules: ReadonlyArray<PermissionRule.Input>, server: string, name: string, args = {}) =>
  PermissionRule.compile(rules).decide({ kind: "tool", server, name, args })?.decision

const json = (permissions: unknown): string => JSON.stringify({ mcpServers: {}, permissions })

const user = { host: "native", scope: "user", path: "mcp-client.json" } as const

describe("rules in a file", () => {
  it.effect("are read from TOML and JSON, and from agent-code's files", () =>
    Effect.gen(function*() {
      const toml = `[[permissions.rules]]
tool = "mcp__github__*"
action = "allow"

[[permissions.rules]]
tool = "mcp__github__delete_*"
action = "deny"

[[permissions.rules]]
tool = "fs/read"
action = "allow"
args = { path = "/repo/**" }
`
      for (
        const options of [
          { host: "native", scope: "user", path: "mcp.toml" },
          { host: "agent-code", scope: "user", path: "config.toml" }
        ] as const
      ) {
        const { issues, rules } = yield* read(toml, options)
        assert.deepStrictEqual(issues, [])
        assert.strictEqual(decide(rules, "github", "get"), "allow")
        assert.strictEqual(decide(rules, "github", "delete_repo"), "deny")
        assert.strictEqual(decide(rules, "fs", "read", { path: "/repo/a" }), "allow")
        assert.isUndefined(decide(rules, "fs", "read", { path: "/etc/a" }))
      }
      const lists = yield* read(json({ allow: ["s/get"], ask: ["s/put"], deny: ["*/drop"] }), user)
      assert.deepStrictEqual(lists.issues, [])
      assert.deepStrictEqual(
        ["get", "put", "drop", "other"].map((name) => decide(lists.rules, "s", name)),
        ["allow", "ask", "deny", undefined]
      )
    }))

  it.effect("accept `allow mcp__*` in every notation of rules in a file", () =>
    Effect.gen(function*() {
      const toml = `[[permissions.rules]]\ntool = "mcp__*"\naction = "allow"\n`
      const lists = `[permissions]\nallow = ["mcp__*"]\n`
      for (const host of ["native", "agent-code"]) {
        for (const text of [toml, lists]) {
          const { issues, rules } = yield* read(text, { host, scope: "user", path: "config.toml" })
          assert.deepStrictEqual(issues, [], `${host} ${text}`)
          assert.strictEqual(decide(rules, "github", "get"), "allow", `${host} ${text}`)
        }
      }
      for (const permissions of [{ allow: ["mcp__*"] }, { rules: [{ tool: "mcp__*", action: "allow" }] }]) {
        const { issues, rules } = yield* read(json(permissions), user)
        assert.deepStrictEqual([issues, decide(rules, "github", "get")], [[], "allow"])
        // a workspace's file still allows nothing
        const workspace = yield* read(json(permissions), { ...user, scope: "project" })
        assert.strictEqual(workspace.issues.length, 1)
        assert.isUndefined(decide(workspace.rules, "github", "get"))
      }
    }))

  it.effect("of a workspace only narrow", () =>
    Effect.gen(function*() {
      const text = json({ rules: [{ tool: "s/get", action: "allow" }, { tool: "s/put", action: "deny" }] })
      const { issues, rules } = yield* read(text, { host: "native", scope: "project", path: "mcp-client.json" })
      assert.deepStrictEqual(issues, [["invalid-permission", "permissions/rules/0"]])
      assert.isUndefined(decide(rules, "s", "get"))
      assert.strictEqual(decide(rules, "s", "put"), "deny")
    }))

  it.effect("that cannot be understood permit nothing", () =>
    Effect.gen(function*() {
      const cases: ReadonlyArray<readonly [permissions: unknown, at: string, user: string, workspace: string]> = [
        ["all", "permissions", "deny", "ask"],
        [{ rules: "s/get" }, "permissions/rules", "deny", "ask"],
        [{ deny: "s/get" }, "permissions/deny", "deny", "ask"],
        [{ rules: [1] }, "permissions/rules/0", "deny", "ask"],
        [{ rules: [{ action: "deny" }] }, "permissions/rules/0", "deny", "ask"],
        [{ rules: [{ tool: "s/get", action: "dney" }] }, "permissions/rules/0", "deny", "ask"],
        [{ rules: [{ tool: "s/get", action: "allow", when: "x" }] }, "permissions/rules/0", "deny", "ask"],
        [{ rules: [{ tool: "s/get", action: "allow", args: { a: 1 } }] }, "permissions/rules/0", "deny", "ask"],
        [{ rules: [{ tool: "[", action: "deny" }] }, "permissions/rules/0", "deny", "ask"],
        [{ rules: [{ tool: "s/get", action: "allow", decision: "deny" }] }, "permissions/rules/0", "deny", "ask"],
        [{ deny: [null] }, "permissions/deny/0", "deny", "ask"],
        [{ allow: ["s/get"], ask: [{}] }, "permissions/ask/0", "ask", "ask"]
      ]
      for (const [permissions, at, ofUser, ofWorkspace] of cases) {
        const mine = yield* read(json(permissions), user)
        assert.deepInclude(mine.issues, ["invalid-permission", at], JSON.stringify(permissions))
        assert.strictEqual(decide(mine.rules, "s", "get"), ofUser, JSON.stringify(permissions))
        const theirs = yield* read(json(permissions), { ...user, scope: "project" })
        assert.strictEqual(decide(theirs.rules, "s", "get"), ofWorkspace, JSON.stringify(permissions))
      }
      // nobody is denied what a list says that is none, but everybody is told
      const none = yield* read(json({ allow: ["s/get"], denied: ["s/get"] }), user)
      assert.deepStrictEqual(none.issues, [["invalid-permission", "permissions/denied"]])
      // of an allow that nobody understands nothing is allowed, and nothing else is lost
      const other = yield* read(json({ allow: ["*", "s/get"] }), user)
      assert.deepStrictEqual(other.issues, [["invalid-permission", "permissions/allow/0"]])
      assert.strictEqual(decide(other.rules, "s", "get"), "allow")
      assert.isUndefined(decide(other.rules, "t", "get"))
    }))

  it.scoped("and `autoApprove` of a server let a model call its tools, and no others", () =>
    Effect.gen(function*() {
      const peer = () =>
        MemoryServer.make({
          era: "session",
          tools: ["get", "get_all", "put"].map((name) => ({ name, call: () => Effect.succeed(name) }))
        })
      const url = "http://ab.test/mcp"
      const layer = Runtime.layer({ "a b": yield* peer(), s: yield* peer() }, {
        servers: [Pool.remote("a b", { url, autoApprove: ["get*"] }), Pool.remote("s")]
      })
      yield* Effect.gen(function*() {
        const service = yield* McpRuntime.McpRuntime
        const { tools } = yield* service.tools
        assert.deepStrictEqual(
          tools.map(({ requiresApproval, serverName, tool }) => [serverName, tool.name, requiresApproval]),
          [
            ["a b", "get", false],
            ["a b", "get_all", false],
            ["a b", "put", true],
            ["s", "get", true],
            ["s", "get_all", true],
            ["s", "put", true]
          ]
        )
        yield* service.callTool({ server: "a b", tool: "get" }, {}, { origin: "model" })
        yield* service.servers.reload([Pool.remote("a b", { url }), Pool.remote("s")])
        const error = yield* Effect.flip(service.callTool({ server: "a b", tool: "get" }, {}, { origin: "model" }))
        assert.strictEqual(error._tag, "PermissionDenied")
      }).pipe(Effect.provide(layer))
    }))
})
