/** A field that a host applies and this runtime does not is an issue of its entry, which names the missing effect. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { ofWorkspace, own, type Place, place, run } from "./inProcess.ts"

interface Issue {
  readonly kind: string
  readonly severity: string
  readonly server: string | null
  readonly at: string | null
  readonly line: number | null
  readonly message: string
}

const program = { command: "node", args: ["server.js"] }

const lacking = (issues: ReadonlyArray<Issue>): ReadonlyArray<string> =>
  issues.filter(({ kind }) => kind === "not-honoured").map(({ at, server }) => `${server}: ${at}`)

const validated = (at: Place, host: string, content: unknown) =>
  Effect.map(
    run(at, ["config", "validate", "-", "--host", host, "--json"], {
      input: typeof content === "string" ? content : JSON.stringify(content)
    }),
    ({ out }) => JSON.parse(out) as { readonly valid: boolean; readonly issues: ReadonlyArray<Issue> }
  )

describe("a sandbox that a file asks for", () => {
  it.scopedLive("is an issue of the entry in each view, in files of several hosts, and the entry is used", () =>
    Effect.gen(function*() {
      const at = yield* place
      at.write("work/.vscode/mcp.json", {
        servers: {
          enabled: { type: "stdio", ...program, sandboxEnabled: true },
          off: { type: "stdio", ...program, sandboxEnabled: false },
          remote: { type: "http", url: "http://127.0.0.1:9/mcp" }
        }
      })
      at.write(ofWorkspace, { mcpServers: { claude: { ...program, sandbox: { network: false } } } })
      at.write(own, { mcpServers: { native: { ...program, sandbox: true, disabled: true } } })
      const options = ["--json", "--import", "vscode"]
      const expected = ["claude: sandbox", "enabled: sandboxEnabled", "native: sandbox"]

      const config = JSON.parse((yield* run(at, ["config", ...options])).out)
      assert.deepStrictEqual(lacking(config.issues).toSorted(), expected)
      for (
        const { message, severity } of (config.issues as ReadonlyArray<Issue>).filter(({ at }) =>
          /sandbox/.test(at ?? "")
        )
      ) {
        assert.strictEqual(severity, "warning")
        assert.include(message, "not confined here")
      }
      const list = JSON.parse((yield* run(at, ["list", ...options])).out)
      const listed = list.servers as ReadonlyArray<{ readonly issues?: ReadonlyArray<Issue> }>
      assert.deepStrictEqual(lacking(listed.flatMap(({ issues = [] }) => issues)).toSorted(), expected)
      const doctor = JSON.parse((yield* run(at, ["doctor", ...options])).out)
      for (const { name, problems } of doctor.servers) {
        const isTold = JSON.stringify(problems).includes("not confined here")
        assert.strictEqual(isTold, expected.some((one) => one.startsWith(`${name}:`)), name)
      }
    }))

  it.scopedLive("is a warning at consent", () =>
    Effect.gen(function*() {
      const at = yield* place
      at.write(ofWorkspace, { mcpServers: { tool: { ...program, sandbox: { network: false } } } })
      const { out } = yield* run(at, ["approve", "--json"])
      const lines = JSON.parse(out).servers[0].consent as ReadonlyArray<{ level: string; text: string }>
      const told = lines.filter(({ level, text }) => level === "warning" && text.includes("not confined here"))
      assert.lengthOf(told, 1)
    }))

  it.scopedLive("counts for all programs of a VS Code file, where it stands beside them", () =>
    Effect.gen(function*() {
      const at = yield* place
      const { issues, valid } = yield* validated(at, "vscode", {
        sandbox: { network: { allowedDomains: [] } },
        servers: {
          a: { type: "stdio", ...program },
          b: { type: "stdio", ...program, sandboxEnabled: true },
          c: { type: "http", url: "https://c.example/mcp" }
        }
      })
      assert.isTrue(valid)
      assert.deepStrictEqual(lacking(issues), ["a: sandbox", "b: sandboxEnabled"])
    }))
})

describe("a field that its host applies", () => {
  const url = "https://a.example/mcp"
  const table: ReadonlyArray<readonly [host: string, content: unknown, told: ReadonlyArray<string>]> = [
    ["vscode", { servers: { a: { type: "stdio", ...program, dev: { watch: "src/**" } } } }, ["a: dev"]],
    [
      "codex",
      "[mcp_servers.a]\ncommand = \"a\"\ndefault_tools_approval_mode = \"prompt\"\nenvironment_id = \"remote\"\n",
      ["a: default_tools_approval_mode", "a: environment_id"]
    ],
    ["codex", "[mcp_servers.a]\ncommand = \"a\"\nsupports_parallel_tool_calls = true\n", []],
    ["gemini-cli", { mcpServers: { a: { url, authProviderType: "google_credentials" } } }, ["a: authProviderType"]],
    ["gemini-cli", { mcpServers: { a: { url, authProviderType: "dynamic_discovery", trust: true } } }, []],
    ["gemini-cli", { mcpServers: { a: { url, oauth: { authorizationUrl: url } } } }, ["a: oauth.authorizationUrl"]],
    ["copilot-cli", { mcpServers: { a: { type: "http", url, oidc: true } } }, ["a: oidc"]],
    ["roo", { mcpServers: { a: { ...program, watchPaths: ["src"] } } }, ["a: watchPaths"]],
    ["hermes", "mcp_servers:\n  a:\n    command: a\n    trust: trusted\n    sampling:\n      enabled: false\n", [
      "a: trust",
      "a: sampling"
    ]],
    ["hermes", "mcp_servers:\n  a:\n    command: a\n    trust: untrusted\n", []],
    ["zed", { context_servers: { a: { ...program, remote: true } } }, ["a: remote"]],
    ["sidecar", { mcpServers: { a: { ...program, maxResultChars: 1000 } } }, []],
    ["oh-my-pi", { mcpServers: { a: { type: "http", url, auth: { type: "apikey" } } } }, ["a: auth"]],
    ["opencode", { tools: { "a_*": false, write: false }, mcp: { a: { type: "local", command: ["a"] } } }, [
      "a: tools"
    ]],
    ["opencode", { tools: { write: false }, mcp: { a: { type: "local", command: ["a"] } } }, []]
  ]

  it.scopedLive("is an issue with the missing effect, unless its value has no effect in the host either", () =>
    Effect.gen(function*() {
      const at = yield* place
      for (const [host, content, told] of table) {
        const { issues, valid } = yield* validated(at, host, content)
        assert.deepStrictEqual([host, lacking(issues)], [host, told])
        assert.isTrue(valid, host)
        for (const { message } of issues.filter(({ kind }) => kind === "not-honoured")) {
          assert.match(message, /^Server "a": The field \S+ is not supported: .{10,}\.$/)
        }
      }
    }))

  it.scopedLive("is no issue where it only describes the server", () =>
    Effect.gen(function*() {
      const at = yield* place
      const silent: ReadonlyArray<readonly [host: string, content: unknown]> = [
        ["vscode", { servers: { a: { type: "stdio", ...program, gallery: "https://g.example", version: "1.0.0" } } }],
        ["continue", "mcpServers:\n  - name: a\n    command: a\n    faviconUrl: https://a.example/i.png\n"],
        [
          "goose",
          "extensions:\n  a:\n    name: a\n    type: stdio\n    cmd: a\n    bundled: true\n    description: an a\n"
        ],
        ["claude-code", { mcpServers: { a: { ...program, alwaysLoad: true, description: "an a" } } }]
      ]
      for (const [host, content] of silent) {
        assert.deepStrictEqual((yield* validated(at, host, content)).issues, [], host)
      }
    }))
})
