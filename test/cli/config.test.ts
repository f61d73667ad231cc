import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { Validated } from "../../src/cli/commands/config.ts"
import { Found, policyLines } from "../../src/cli/configFound.ts"
import * as IssueShape from "../../src/cli/issueShape.ts"
import * as ConfigDiscovery from "../../src/config/ConfigDiscovery.ts"
import type * as ConfigIssue from "../../src/config/ConfigIssue.ts"
import type * as ServerPolicy from "../../src/config/ServerPolicy.ts"
import * as Trust from "../../src/config/Trust.ts"
import * as PermissionRule from "../../src/safety/PermissionRule.ts"
import { ofWorkspace, own, type Place, place, run as runAny, type Typing } from "./inProcess.ts"

const run = (at: Place, argv: ReadonlyArray<string>, typing: Typing = {}) => runAny(at, argv, typing)

const decode = <A, I>(shape: Schema.Schema<A, I>, text: string) =>
  Schema.decodeUnknownSync(Schema.parseJson(shape), { onExcessProperty: "error" })(text)

const issue = (about: Partial<ConfigIssue.ConfigIssue>): ConfigIssue.ConfigIssue => ({
  kind: "syntax",
  severity: "error",
  provider: "native",
  scope: "user",
  path: "/a.json",
  server: undefined,
  at: undefined,
  line: undefined,
  column: undefined,
  message: "It is broken.",
  ...about
})

const policy = (about: Partial<ServerPolicy.Policy>): ServerPolicy.Policy => ({
  provider: "native",
  scope: "user",
  origin: "home",
  allow: [],
  deny: [],
  ordered: [],
  managedOnly: false,
  identities: undefined,
  broken: false,
  ...about
})

describe("what config says", () => {
  it("counts errors and warnings apart", () => {
    const table = [
      [[], ""],
      [[issue({})], "1 error"],
      [[issue({}), issue({})], "2 errors"],
      [[issue({ severity: "warning" })], "1 warning"],
      [[issue({}), issue({ severity: "warning" }), issue({ severity: "warning" })], "1 error, 2 warnings"]
    ] as const
    for (const [issues, text] of table) assert.strictEqual(IssueShape.count(issues), text)
  })

  it("tells in words what a policy does", () => {
    const table: ReadonlyArray<readonly [Partial<ServerPolicy.Policy>, ReadonlyArray<string>]> = [
      [{}, []],
      [{ broken: true }, ["allows nothing, because it cannot be read"]],
      [{ deny: [{ _tag: "Name", pattern: "a*" }] }, ["denies servers named a*"]],
      [{ deny: [{ _tag: "Command", argv: ["npx", "a"] }] }, ["denies the command npx a"]],
      [
        { allow: [{ _tag: "Url", pattern: "https://a/*" }, { _tag: "Program", pattern: "uvx" }] },
        ["allows only URLs matching https://a/*, or the program uvx"]
      ],
      [
        { ordered: [{ action: "allow", matcher: { _tag: "CommandLine", pattern: "npx *" } }] },
        ["then allows commands matching npx *"]
      ],
      [{ managedOnly: true }, ["overrides the lists of other policies"]],
      [{ requireIdentity: true }, ["does not allow servers by name alone"]],
      [
        { identities: new Map([["db", { _tag: "Fingerprint", pattern: "sha256:1" }]]) },
        ["requires sha256:1 for the name db"]
      ]
    ]
    for (const [about, says] of table) assert.deepStrictEqual(policyLines(policy(about)), says)
  })

  it("writes a rule in one line", () => {
    const table = [
      [{ decision: "deny", tool: "fs/*" }, "fs/*"],
      [{ decision: "allow", tool: "read", server: "my fs" }, "my fs/read"],
      [{ decision: "ask", tool: "fs/read", args: { path: "/etc/**", mode: "w" } }, "fs/read(path=/etc/**, mode=w)"]
    ] as const
    for (const [input, text] of table) assert.strictEqual(PermissionRule.format(input), text)
  })
})

describe("config", () => {
  const both = Effect.map(place, (at) => {
    const file = at.write(own, {
      servers: { notes: { command: "notes", args: ["--all"] }, off: { command: "off", enabled: false } },
      policy: { deny: [{ name: "evil*" }] },
      permissions: { deny: ["notes/drop"] }
    })
    const other = at.write(ofWorkspace, {
      mcpServers: { notes: { command: "other" }, wants: { command: "wants" }, bad: {} }
    })
    return { at, file, other }
  })

  it.live("tells what was found where, as one document", () =>
    Effect.scoped(Effect.gen(function*() {
      const { at, file, other } = yield* both
      const { code, out } = yield* run(at, ["config", "--import", "claude-code", "--json"])
      const found = decode(Found, out)
      assert.strictEqual(code, 0)
      assert.sameMembers(found.files.map(({ path }) => path), [file, other])
      const byName = new Map(found.servers.map((one) => [one.name, one]))
      assert.deepStrictEqual(
        Array.from(byName, ([name, { state, why }]) => [name, state, why]).toSorted(),
        [
          ["bad", "failed", "missing-transport"],
          ["notes", "needs approval", "new"],
          ["off", "off", "disabled"],
          ["wants", "needs approval", "new"]
        ]
      )
      assert.strictEqual(byName.get("notes")?.from.path, other)
      assert.deepStrictEqual(byName.get("notes")?.shadows.map(({ path, scope }) => [path, scope]), [[file, "user"]])
      const fault = found.issues.find(({ severity }) => severity === "error")
      assert.deepInclude(fault, { server: "bad", kind: "missing-transport", path: other })
      assert.isNumber(fault?.line)
      assert.deepStrictEqual(found.policies.map(({ says }) => says), [["denies servers named evil*"]])
      assert.deepStrictEqual(found.permissions, [{ decision: "deny", rule: "notes/drop", source: "user" }])
    })))

  it.live("shows the same to people", () =>
    Effect.scoped(Effect.gen(function*() {
      const { at, file, other } = yield* both
      const { code, err, out } = yield* run(at, ["config", "--import", "claude-code"], { columns: 80 })
      assert.strictEqual(code, 0)
      assert.strictEqual(err, "")
      assert.isTrue(out.startsWith("Files\n"))
      assert.include(out, `  ${other}\n    claude-code, project: 3 servers\n`)
      assert.include(out, `  notes  needs approval (new)  stdio\n    from ${other}:`)
      assert.include(out, `    overrides ${file}:`)
      assert.match(out, /\.mcp\.json:\d+.*\n {4}error: /)
      assert.include(out, "  native (user) denies servers named evil*\n")
      assert.include(out, "Permission rules\n  deny  notes/drop (user)\n")
    })))

  it.live("shows a file that nothing can be done with, and fails for nothing", () =>
    Effect.scoped(Effect.gen(function*() {
      const at = yield* place
      at.write(own, "{ \"servers\": ")
      const { code, out } = yield* run(at, ["config"])
      assert.strictEqual(code, 0)
      assert.match(out, /Issues \(1 error\)\n.*mcp-client\.json:\d+:\d+\n {4}error: /)
    })))

  it.live("says that there is nothing", () =>
    Effect.scoped(Effect.gen(function*() {
      const at = yield* place
      const { code, err, out } = yield* run(at, ["config"])
      assert.deepStrictEqual([code, out], [0, ""])
      assert.include(err, "No configuration files were found.")
    })))

  it.live("lets no text of a file reach the terminal as it is", () =>
    Effect.scoped(Effect.gen(function*() {
      const at = yield* place
      at.write(own, { servers: { "a\u001b[31mb": { command: "x\u202ey" } } })
      const shown = yield* run(at, ["config"], { columns: 80 })
      const written = yield* run(at, ["config", "--json"])
      assert.include(shown.out, "\\x1b[31m")
      // oxlint-disable-next-line no-control-regex
      for (const { out } of [shown, written]) assert.notMatch(out, /[\u001b\u202e]/)
    })))

  it.live("writes the schema that the package has", () =>
    Effect.scoped(Effect.gen(function*() {
      const { code, out } = yield* run(yield* place, ["config", "schema"])
      assert.strictEqual(code, 0)
      assert.strictEqual(JSON.parse(out).$id, "urn:effect-mcp-runtime:mcp-client:1")
    })))

  it.live("refuses unknown actions and words, with what is right", () =>
    Effect.scoped(Effect.gen(function*() {
      const at = yield* place
      const table = [
        [["config", "valdate"], "Did you mean \"validate\"?"],
        [["config", "validate"], "needs one file"],
        [["config", "schema", "x"], "takes no arguments"],
        [["config", "validate", "-", "--host", "cursr"], "Did you mean \"cursor\"?"]
      ] as const
      for (const [argv, text] of table) {
        const { code, err } = yield* run(at, argv)
        assert.strictEqual(code, 2)
        assert.include(err, text)
      }
    })))
})

describe("config validate", () => {
  it.live("finds nothing wrong with a good file, whatever else there is", () =>
    Effect.scoped(Effect.gen(function*() {
      const at = yield* place
      at.write(own, "{ broken")
      const file = at.write("work/servers.json", {
        mcpServers: { a: { command: "a" }, b: { url: "https://b.example/mcp" } }
      })
      const { code, out } = yield* run(at, ["config", "validate", file])
      assert.strictEqual(code, 0)
      assert.match(out, /^valid: 2 servers, format [a-z-]+\n$/)
    })))

  it.live("ends with 3 and says which line and column are wrong", () =>
    Effect.scoped(Effect.gen(function*() {
      const at = yield* place
      const file = at.write(
        "work/x.json",
        "{\n  \"mcpServers\": {\n    \"a\": {},\n    \"b\": { \"command\": \"b\" }\n  }\n}\n"
      )
      const shown = yield* run(at, ["config", "validate", file])
      assert.strictEqual(shown.code, 3)
      assert.match(shown.out, /^invalid: 2 servers, format .*; 1 error\n/)
      assert.include(shown.out, `  ${file}:3:5\n    error: `)
      const written = yield* run(at, ["config", "validate", file, "--json"])
      const told = decode(Validated, written.out)
      assert.strictEqual(written.code, 3)
      assert.deepInclude(told, { file, valid: false, servers: ["a", "b"] })
      assert.deepInclude(told.issues[0], { kind: "missing-transport", server: "a", line: 3, path: file })
    })))

  it.scopedLive("finds a command that is a whole line, and says what to write", () =>
    Effect.gen(function*() {
      const at = yield* place
      const file = at.write("work/a.json", {
        mcpServers: {
          line: { command: "npx -y pkg --token secret" },
          path: { command: "/opt/My Tools/npx -y pkg" },
          inPath: { command: "/opt/My Tools/server" },
          withArgs: { command: "my tool", args: ["x"] }
        }
      })
      const { code, err, out } = yield* run(at, ["config", "validate", file, "--json"])
      const { issues, valid } = decode(Validated, out)
      assert.deepStrictEqual([code, valid, err], [3, false, ""])
      assert.deepStrictEqual(issues.map(({ at, kind, server, severity }) => [server, at, kind, severity]), [
        ["line", "command", "command-line", "error"],
        ["path", "command", "command-line", "error"]
      ])
      assert.match(issues[0]!.message, /^Server "line": .*: put only "npx" there, and put each other word into args\.$/)
    }))

  it.scopedLive("names no server where an entry has no name", () =>
    Effect.gen(function*() {
      const at = yield* place
      const file = at.write("work/a.json", { mcpServers: { "": { command: "x" } } })
      const { code, out } = yield* run(at, ["config", "validate", file])
      assert.strictEqual(code, 3)
      assert.match(out, /error: A server without a name: The name is not valid/)
    }))

  it.live("reads what is piped in, in the format of a host", () =>
    Effect.scoped(Effect.gen(function*() {
      const at = yield* place
      const toml = yield* run(at, ["config", "validate", "-", "--host", "codex"], {
        input: "[mcp_servers.a]\ncommand = \"a\"\n"
      })
      assert.deepStrictEqual([toml.code, toml.out], [0, "valid: 1 server, format codex\n"])
      const native = yield* run(at, ["config", "validate", "-"], {
        input: "{ \"servers\": { \"a\": { \"command\": 1 } } }"
      })
      assert.strictEqual(native.code, 3)
      assert.include(native.out, "  -:1:23 (command)\n    error: ")
    })))

  it.live("says that the file does not exist, or nothing that is one", () =>
    Effect.scoped(Effect.gen(function*() {
      const at = yield* place
      for (const file of [`${at.root}/none.json`, at.root]) {
        const { code, err } = yield* run(at, ["config", "validate", file])
        assert.strictEqual(code, 3)
        assert.include(err, file)
      }
    })))
})

describe("a file", () => {
  const read = (path: string, text: string) =>
    Effect.flatMap(ConfigDiscovery.ConfigDiscovery, ({ discover }) => discover).pipe(
      Effect.provide(
        ConfigDiscovery.layerTest(new Map([[path, text]]), { files: [{ path }] }).pipe(
          Layer.provide(Trust.layerMemory())
        )
      )
    )

  it.effect("may lie in the folder above all others", () =>
    Effect.gen(function*() {
      const { configs, issues } = yield* read("/x.toml", "[mcp_servers.a]\ncommand = \"a\"")
      assert.deepStrictEqual(issues, [])
      assert.deepInclude(configs[0], { cwd: "/" })
    }))

  it.effect("with the key of another host is used, and tells its own key as such files spell it", () =>
    Effect.gen(function*() {
      const table = [
        ["/project/a/mcp-client.json", "{\"servers\":{\"a\":{\"command\":\"a\"}}}", "mcpServers"],
        ["/project/a/mcp-client.toml", "[servers.a]\ncommand = \"a\"", "mcp_servers"]
      ] as const
      for (const [path, text, key] of table) {
        const { configs, issues } = yield* read(path, text)
        assert.lengthOf(configs, 1)
        assert.deepStrictEqual(issues.map(({ message }) => message), [
          `The servers are under servers, the root key of another host: rename the key (use ${key}).`
        ])
      }
    }))
})
