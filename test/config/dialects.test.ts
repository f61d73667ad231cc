import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as ConfigFile from "../../src/config/ConfigFile.ts"
import * as ConfigIssue from "../../src/config/ConfigIssue.ts"
import * as Dialect from "../../src/config/Dialect.ts"
import type * as Document from "../../src/config/document.ts"
import * as Variables from "../../src/config/environmentVariables.ts"
import type { Item } from "../../src/config/readEntry.ts"
import * as Rights from "../../src/config/readEntry.ts"
import * as Reader from "../../src/config/reader.ts"
import * as Scope from "../../src/config/Scope.ts"
import type * as ServerEntry from "../../src/config/serverEntry.ts"
import { costlyRuns, samples } from "../support/runs.ts"
import * as Samples from "../support/samples.ts"

const contextOf = (options: Partial<Dialect.Context>): Dialect.Context => ({
  scope: "user",
  origin: options.scope === "project" ? "workspace" : "home",
  path: undefined,
  ...options
})

const hostOf = (host: string): Dialect.Dialect => {
  const found = Dialect.find(host)
  assert.isDefined(found, host)
  return found!
}

/** Data as a document; what an object cannot hold under a name of its own is given as a map. */
const json = (value: unknown): Document.Value => {
  if (Array.isArray(value)) return value.map(json)
  if (typeof value !== "object" || value === null) return value as Document.Value
  const pairs: Iterable<readonly [string, unknown]> = value instanceof Map ? value : Object.entries(value)
  return new Map(Array.from(pairs, ([key, held]) => [key, json(held)] as const))
}

const rootOf = (value: unknown): Document.Table => {
  const root = json(value)
  assert.instanceOf(root, Map)
  return root as Document.Table
}

const decode = (host: string, root: unknown, options: Partial<Dialect.Context> = {}): Dialect.Decoded =>
  Reader.decode(hostOf(host), rootOf(root), contextOf(options))

/** Plain data, for comparing. */
const plain = (value: unknown): unknown => {
  if (value instanceof Map) return Object.fromEntries(Array.from(value, ([key, held]) => [key, plain(held)]))
  if (Array.isArray(value)) return value.map(plain)
  return typeof value === "object" && value !== null && !(value instanceof Date)
    ? Object.fromEntries(Object.entries(value).map(([key, held]) => [key, plain(held)]))
    : value
}

const words = (warnings: ReadonlyArray<ConfigIssue.EntryWarning>): ReadonlyArray<string> =>
  warnings.map(({ at, kind }) => at === undefined ? kind : `${kind}:${at}`)

/** An item in short: what it is, or its fault. */
const short = (item: Item): unknown => {
  if (item._tag === "Invalid") return item.at === undefined ? item.kind : `${item.kind}:${item.at}`
  if (item._tag === "Patch") return { patch: item.enabled }
  if (item._tag === "Given") return item.name
  const { name: _, ...entry } = Samples.entryOf(item)
  return { ...entry, ...(item.warnings.length === 0 ? {} : { warnings: words(item.warnings) }) }
}

const rootKeys: { readonly [host: string]: string } = {
  vscode: "servers",
  opencode: "mcp",
  kilo: "mcp",
  zed: "context_servers",
  amp: "amp.mcpServers",
  codex: "mcp_servers",
  crush: "mcp",
  goose: "extensions"
}

const one = (host: string, entry: unknown, options: Partial<Dialect.Context> = {}): unknown => {
  const { items } = decode(host, { [rootKeys[host] ?? "mcpServers"]: { a: entry } }, options)
  assert.lengthOf(items, 1)
  return short(items[0]!)
}

const url = "https://a.example/mcp"
const program = { transport: "stdio", command: "x", args: [], enabled: true }
const behind = (transport: string) => ({ transport, url, enabled: true })

interface Case {
  readonly host: string
  readonly it: string
  readonly entry: unknown
  readonly is: unknown
  readonly scope?: Scope.Scope
}

const cases: ReadonlyArray<Case> = [
  // how to log in
  {
    host: "mcporter",
    it: "has words for other ways to log in, which cost nothing",
    entry: { url, auth: "bearer" },
    is: { ...behind("auto"), extra: { auth: "bearer" } }
  },
  {
    host: "mcporter",
    it: "takes a client secret from the environment variable that the entry names",
    entry: { url, oauthClientId: "c", oauthClientSecretEnv: "A_SECRET" },
    is: { ...behind("auto"), oauth: { clientId: "c", clientSecret: "${env:A_SECRET}" } }
  },
  {
    host: "codex",
    it: "says with a word that one logs in by OAuth",
    entry: { url, auth: "oauth" },
    is: { ...behind("streamable-http"), oauth: {} }
  },
  {
    host: "vscode",
    it: "knows of a login what this runtime has not, which is told apart from a mistake",
    entry: { type: "http", url, oauth: { clientId: "c", enterpriseManaged: true, clientld: "d" } },
    is: {
      ...behind("streamable-http"),
      oauth: { clientId: "c" },
      warnings: ["not-honoured:oauth.enterpriseManaged", "unknown-key:oauth.clientld"]
    }
  },
  // which transport
  {
    host: "goose",
    it: "has no HTTP+SSE any more",
    entry: { type: "sse", uri: url },
    is: { ...behind("sse"), warnings: ["host-would-reject"] }
  },
  {
    host: "crush",
    it: "takes no entry without a type",
    entry: { command: "x" },
    is: { ...program, warnings: ["host-would-reject"] }
  },
  {
    host: "roo",
    it: "takes no entry with the fields of another transport",
    entry: { type: "stdio", command: "x", url },
    is: { ...program, warnings: ["host-would-reject", "unused-field:url"] }
  },
  {
    host: "kilo-legacy",
    it: "is read as Roo, with times in seconds",
    entry: { command: "x", timeout: 60, alwaysAllow: ["t"] },
    is: { ...program, timeouts: { requestMs: 60_000 }, tools: { autoApprove: ["t"] } }
  },
  {
    host: "gemini-cli",
    it: "lets httpUrl win over url, and url over the command",
    entry: { command: "c", url: "https://b.example", httpUrl: url },
    is: { ...behind("streamable-http"), warnings: ["unused-field:command", "deprecated:httpUrl", "unused-field:url"] }
  },
  {
    host: "gemini-cli",
    it: "has WebSockets under tcp",
    entry: { tcp: "ws://localhost/x" },
    is: { transport: "ws", url: "ws://localhost/x", enabled: true }
  },
  {
    host: "gemini-cli",
    it: "takes trust for the approval of all tools",
    entry: { command: "x", trust: true, excludeTools: ["a"] },
    is: { ...program, tools: { deny: ["a"], autoApprove: ["*"] } }
  },
  {
    host: "qwen-code",
    it: "has servers inside itself",
    entry: { type: "sdk", command: "x" },
    is: "not-an-mcp-server"
  },
  {
    host: "claude-code",
    it: "does not see an address without a type",
    entry: { url },
    is: { ...behind("auto"), warnings: ["host-would-reject"] }
  },
  {
    host: "roo",
    it: "does not take an address without a type",
    entry: { url },
    is: { ...behind("auto"), warnings: ["host-would-reject"] }
  },
  {
    host: "cursor",
    it: "does not know a nested transport",
    entry: { transport: { type: "http", url } },
    is: { ...behind("streamable-http"), warnings: ["host-would-reject"] }
  },
  {
    host: "cursor",
    it: "has a WebSocket where the address says so",
    entry: { url: "wss://a.example" },
    is: { transport: "ws", url: "wss://a.example", enabled: true }
  },
  {
    host: "cursor",
    it: "has no place for two addresses that differ",
    entry: { url, serverUrl: "https://b.example" },
    is: "ambiguous-url"
  },
  { host: "cursor", it: "does not mind the same address twice", entry: { url, serverUrl: url }, is: behind("auto") },
  { host: "antigravity", it: "calls an address serverUrl", entry: { serverUrl: url }, is: behind("auto") },
  { host: "sep-2633", it: "requires a type", entry: { command: "x" }, is: "missing-type:type" },
  {
    host: "copilot-cloud",
    it: "wants types and tools",
    entry: { command: "x" },
    is: { ...program, warnings: ["host-would-reject"] }
  },
  {
    host: "zed",
    it: "takes what sets up an extension for no server",
    entry: { source: "extension", settings: {} },
    is: "not-an-mcp-server"
  },
  // commands
  {
    host: "claude-code",
    it: "takes a command with its arguments in one list",
    entry: { command: ["x", "y"], args: ["z"] },
    is: { ...program, args: ["y", "z"] }
  },
  {
    host: "claude-code",
    it: "has no place for an empty list as a command",
    entry: { command: [] },
    is: "empty-command:command"
  },
  {
    host: "claude-code",
    it: "runs no program of another machine (cfg-024)",
    entry: { command: "\\\\attacker.example\\s\\a.exe" },
    is: "invalid-value:command"
  },
  {
    host: "claude-code",
    it: "runs no program of another machine, with slashes",
    entry: { command: "//attacker.example/s/a.exe" },
    is: "invalid-value:command"
  },
  ...[
    "/\\attacker.example\\s",
    "\\/attacker.example/s",
    "\\??\\UNC\\attacker.example\\s",
    "\\\\?\\C:\\s",
    "\\\\.\\pipe\\s"
  ].map((
    command
  ) => (
    {
      host: "claude-code",
      it: `runs no program of another machine, or past the names of files: ${command}`,
      entry: { command },
      is: "invalid-value:command"
    }
  )),
  {
    host: "claude-code",
    it: "goes to no folder of another machine",
    entry: { command: "x", cwd: "\\\\attacker.example\\s" },
    is: "invalid-value:cwd"
  },
  {
    host: "claude-code",
    it: "hands on no line breaks (cfg-057)",
    entry: { command: "tool.cmd", args: ["a&calc", "a\nb"] },
    is: "invalid-value:args.1"
  },
  {
    host: "claude-code",
    it: "hands on what only a shell would understand",
    entry: { command: "x", args: ["a&calc", "%PATH%", "!x!"] },
    is: { ...program, args: ["a&calc", "%PATH%", "!x!"] }
  },
  {
    host: "vscode",
    it: "takes variables away with null",
    entry: { command: "x", env: { A: null } },
    is: { ...program, env: { A: null } }
  },
  {
    host: "claude-code",
    it: "has no names that pollute",
    entry: { command: "x", constructor: {} },
    is: "reserved-key:constructor"
  },
  {
    host: "claude-code",
    it: "has no names that pollute in its parts",
    entry: { command: "x", env: new Map([["__proto__", "1"]]) },
    is: "reserved-key:env.__proto__"
  },
  {
    host: "claude-code",
    it: "flags what was pasted with a line break",
    entry: { command: "x", env: { T: "secret\n" } },
    is: { ...program, env: { T: "secret\n" }, warnings: ["whitespace:env.T"] }
  },
  // headers and addresses
  {
    host: "cursor",
    it: "sends no header that is two (cfg-062)",
    entry: { url, headers: { "X-A": "a\r\nHost: evil" } },
    is: "invalid-header:X-A"
  },
  {
    host: "cursor",
    it: "sends no name of a header that is two (cfg-062)",
    entry: { url, headers: { "B\nC": "d" } },
    is: "invalid-header:B\nC"
  },
  {
    host: "cursor",
    it: "sends no header of which there are two",
    entry: { url, headers: { Authorization: "a", authorization: "b" } },
    is: "invalid-header:authorization"
  },
  {
    host: "codex",
    it: "sends no header that is written and read from a variable",
    entry: { url, http_headers: { "X-Key": "a" }, env_http_headers: { "x-key": "B" } },
    is: "invalid-header:x-key"
  },
  {
    host: "cursor",
    it: "sends no header that ends with what HTTP does not have",
    entry: { url, headers: { A: "x\u2028" } },
    is: "invalid-header:A"
  },
  {
    host: "cursor",
    it: "sends no header that HTTP does not have",
    entry: { url, headers: { A: "日本" } },
    is: "invalid-header:A"
  },
  ...["Host", "Content-Length", "Transfer-Encoding", "Connection", "mcp-session-id", "MCP-Protocol-Version"].map((
    name
  ) => (
    {
      host: "cursor",
      it: `leaves ${name} to the client (cfg-063)`,
      entry: { url, headers: { [name]: "1" } },
      is: `invalid-header:${name}`
    }
  )),
  {
    host: "cursor",
    it: "sends cookies (cfg-063)",
    entry: { url, headers: { Cookie: "a=b" } },
    is: { ...behind("auto"), headers: { Cookie: "a=b" } }
  },
  {
    host: "cursor",
    it: "reads no files by address (cfg-059)",
    entry: { url: "file:///etc/passwd" },
    is: "unsupported-url-scheme:url"
  },
  {
    host: "cursor",
    it: "speaks to no sockets of the machine (cfg-060)",
    entry: { url: "unix:///var/run/docker.sock#/v1" },
    is: "unsupported-url-scheme:url"
  },
  {
    host: "cursor",
    it: "reads no files by address with a variable in it",
    entry: { url: "file:///${env:A}" },
    is: "unsupported-url-scheme:url"
  },
  {
    host: "cursor",
    it: "cannot say yet where a variable leads",
    entry: { url: "http://${env:A}/x" },
    is: { transport: "auto", url: "http://${env:A}/x", enabled: true }
  },
  {
    host: "cursor",
    it: "flags what others can read, whatever its path is",
    entry: { url: "http://a.example/${env:A}" },
    is: { transport: "auto", url: "http://a.example/${env:A}", enabled: true, warnings: ["insecure-url"] }
  },
  {
    host: "cursor",
    it: "does not flag this machine",
    entry: { url: "http://api.localhost:1/x" },
    is: { transport: "auto", url: "http://api.localhost:1/x", enabled: true }
  },
  {
    host: "cursor",
    it: "has no line break in an address",
    entry: { url: "https://a.example/\nx" },
    is: "invalid-url:url"
  },
  {
    host: "claude-code",
    it: "takes the words of a line for headers",
    entry: { type: "http", url, headersHelper: "${CLAUDE_PLUGIN_ROOT}/h --x" },
    is: {
      ...behind("streamable-http"),
      headersCommand: ["${var:pluginRoot}/h", "--x"],
      extra: { headersHelper: "${CLAUDE_PLUGIN_ROOT}/h --x" }
    }
  },
  {
    host: "claude-code",
    it: "gives no line to a shell",
    entry: { type: "http", url, headersHelper: "a; b" },
    is: { ...behind("streamable-http"), extra: { headersHelper: "a; b" }, warnings: ["unused-field:headersHelper"] }
  },
  {
    host: "native",
    it: "lets a header that is written out win over the variable",
    entry: { url, headers: { authorization: "x" }, bearer_token_env_var: "T" },
    is: {
      ...behind("auto"),
      headers: { authorization: "x" },
      warnings: ["deprecated:bearer_token_env_var", "unused-field:bearer_token_env_var"]
    }
  },
  {
    host: "native",
    it: "has no variables with odd names",
    entry: { url, bearer_token_env_var: "T}${cmd:x" },
    is: "invalid-value:bearer_token_env_var"
  },
  // times
  ...[["cline", 60_000], ["roo", 60_000], ["zed", 60_000], ["opencode", 60], ["kiro", 60], ["gemini-cli", 60], [
    "claude-code",
    60
  ]].map(([host, ms]) => (
    {
      host: String(host),
      it: `means ${ms} ms by a timeout of 60`,
      entry: { command: "x", timeout: 60 },
      is: {
        ...program,
        timeouts: { requestMs: ms },
        ...(ms === 60 ? { warnings: ["timeout-suspicious:timeout"] } : {})
      }
    }
  )),
  {
    host: "cline",
    it: "flags seconds that must be milliseconds",
    entry: { command: "x", timeout: 30_000 },
    is: { ...program, timeouts: { requestMs: 30_000_000 }, warnings: ["timeout-suspicious:timeout"] }
  },
  {
    host: "native",
    it: "does not know a time without a unit",
    entry: { command: "x", timeout: 60 },
    is: { ...program, extra: { timeout: 60 }, warnings: ["unknown-key:timeout"] }
  },
  {
    host: "native",
    it: "believes a unit that is said",
    entry: { command: "x", startupTimeoutMs: 1 },
    is: { ...program, timeouts: { startupMs: 1 } }
  },
  // the rest
  {
    host: "copilot-cli",
    it: "takes one tool without a list",
    entry: { command: "x", tools: "a" },
    is: { ...program, tools: { allow: ["a"] } }
  },
  {
    host: "copilot-cli",
    it: "keeps a list of no tools",
    entry: { command: "x", tools: [] },
    is: { ...program, tools: { allow: [] } }
  },
  {
    host: "gemini-cli",
    it: "allows what two lists allow",
    entry: { command: "x", enabledTools: ["a", "b"], includeTools: ["b", "c"] },
    is: { ...program, tools: { allow: ["b"] } }
  },
  {
    host: "warp",
    it: "calls the folder working_directory",
    entry: { command: "x", working_directory: "/w" },
    is: { ...program, cwd: "/w" }
  },
  {
    host: "claude-code",
    it: "splits scopes at spaces",
    entry: { type: "http", url, oauth: { clientId: "c", scopes: "a b" } },
    is: { ...behind("streamable-http"), oauth: { clientId: "c", scopes: ["a", "b"] } }
  },
  {
    host: "claude-code",
    it: "has no ports beyond the last",
    entry: { type: "http", url, oauth: { callbackPort: 70_000 } },
    is: "invalid-value:oauth.callbackPort"
  },
  {
    host: "kilo",
    it: "lets a person's own file read variables for headers",
    entry: { type: "remote", url, headers: { A: "{env:T}" } },
    is: { ...behind("auto"), headers: { A: "${env:T}" } }
  },
  ...[
    { headers: { Authorization: "Bearer x" } },
    { headers: { "X-Api-Key": "x" } },
    { headers: { Cookie: "x" } },
    { headers: { "X-Team": "${env:TEAM}" } },
    { headersCommand: ["print-token"] },
    { oauth: { clientId: "a", clientSecret: "x" } },
    { url: "http://me:x@a.example/" },
    { url: "ws://a.example/", headers: { Authorization: "x" } },
    { url: "http://a.example/${env:A}", headers: { Authorization: "x" } }
  ].map((more) => (
    {
      host: "native",
      it: `sends no credentials of a project in the clear: ${JSON.stringify(more)}`,
      scope: "project" as const,
      entry: { url: "http://a.example/", ...more },
      is: "insecure-url:url"
    }
  )),
  {
    host: "native",
    it: "sends what is no secret",
    scope: "project",
    entry: { url: "http://a.example/", headers: { "X-Team": "a" } },
    is: { ...behind("auto"), url: "http://a.example/", headers: { "X-Team": "a" }, warnings: ["insecure-url"] }
  },
  {
    host: "native",
    it: "sends credentials to this machine, where nobody is on the way",
    scope: "project",
    entry: { url: "http://127.0.0.1:1/", headers: { Authorization: "x" } },
    is: { ...behind("auto"), url: "http://127.0.0.1:1/", headers: { Authorization: "x" } }
  },
  {
    host: "native",
    it: "sends them as the person says that it is",
    entry: { url: "http://a.example/", headers: { Authorization: "x" } },
    is: { ...behind("auto"), url: "http://a.example/", headers: { Authorization: "x" }, warnings: ["insecure-url"] }
  },
  {
    host: "kilo",
    it: "lets no file of a project read variables for headers",
    scope: "project",
    entry: { type: "remote", url, headers: { A: "{env:T}" } },
    is: "variable-forbidden:headers"
  }
]

describe("an entry", () => {
  for (const { entry, host, is, it: does, scope } of cases) {
    it(`of ${host} ${does}`, () => {
      assert.deepStrictEqual(one(host, entry, scope === undefined ? {} : { scope }), is)
    })
  }

  it("has the name of an option no more than one that pollutes (cfg-058)", () => {
    const names = ["--yolo", "-x", "", "a\u0000b", "a".repeat(129), "__proto__", "prototype", "a b"]
    const { items } = decode("cursor", { mcpServers: new Map(names.map((name) => [name, { command: "x" }])) })
    assert.deepStrictEqual(items.map((item) => item._tag === "Invalid" ? item.kind : item._tag), [
      "invalid-name",
      "invalid-name",
      "invalid-name",
      "invalid-name",
      "invalid-name",
      "reserved-name",
      "reserved-name",
      "Server"
    ])
  })

  it("that the host would not take is a fault for a strict reader, for its own reason", () => {
    const strict = (host: string, entry: unknown) => one(host, entry, { strict: true })
    assert.strictEqual(strict("claude-code", { url }), "missing-type:type")
    assert.strictEqual(strict("claude-code", { type: "http", serverUrl: url }), "unknown-key:serverUrl")
    assert.strictEqual(strict("claude-desktop", { url }), "transport-mismatch:command")
    assert.strictEqual(strict("cursor", { transport: { type: "http", url } }), "invalid-type:transport")
    assert.deepStrictEqual(strict("cursor", { url }), behind("auto"))
  })

  it("of Agent Plugins is closed, and stays inside the plugin", () => {
    const entries = {
      ok: { type: "stdio", command: "./bin/x", args: ["${PLUGIN_ROOT}/a", "${HOME}"], cwd: "${PLUGIN_DATA}/w" },
      key: { type: "stdio", command: "x", timeout: 1 },
      mixed: { type: "stdio", command: "x", headers: {} },
      untyped: { command: "x" },
      word: { type: "http", url },
      up: { type: "stdio", command: "./a/../../x" },
      line: { type: "stdio", command: "node --eval" },
      absolute: { type: "stdio", command: "/bin/sh" },
      cwd: { type: "stdio", command: "x", cwd: "/etc" },
      cwdUp: { type: "stdio", command: "x", cwd: "${PLUGIN_ROOT}/../x" },
      env: { type: "stdio", command: "x", env: { PLUGIN_OTHER: "/" } },
      number: { type: "stdio", command: "x", args: [1] },
      plain: { type: "sse", url: "http://a.example/" },
      loop: { type: "sse", url: "http://127.0.0.1:1/" },
      user: { type: "sse", url: "https://u@a.example/" },
      twice: { type: "sse", url, headers: { A: "1", a: "2" } },
      variable: { type: "sse", url, headers: { A: "${PLUGIN_ROOT}" } }
    }
    const $schema = "https://agent-plugins.org/schemas/1.0.0/mcp.schema.json"
    const { items } = decode("agent-plugins", { $schema, mcpServers: entries }, { scope: "plugin", origin: "plugin" })
    assert.deepStrictEqual(Object.fromEntries(items.map((item) => [item.name, short(item)])), {
      ok: {
        ...program,
        command: "./bin/x",
        args: ["${var:pluginRoot}/a", "$${HOME}"],
        cwd: "${var:pluginData}/w",
        warnings: ["looks-like-variable:args.1"]
      },
      key: "unknown-key:timeout",
      mixed: "unknown-key:headers",
      untyped: "missing-type:type",
      word: "unknown-transport:type",
      up: "path-escape:command",
      line: "invalid-value:command",
      absolute: "path-escape:command",
      cwd: "path-escape:cwd",
      cwdUp: "path-escape:cwd",
      env: "invalid-env:PLUGIN_OTHER",
      number: "invalid-type:args.0",
      plain: "insecure-url:url",
      loop: { transport: "sse", url: "http://127.0.0.1:1/", enabled: true },
      user: "invalid-url:url",
      twice: "invalid-header:a",
      variable: {
        ...behind("sse"),
        headers: { A: "$${PLUGIN_ROOT}" },
        warnings: ["looks-like-variable:headers.A"]
      }
    })
  })
})

const named = ({ items }: Pick<Dialect.Decoded, "items">): ReadonlyArray<string> => items.map(({ name }) => name)

const said = ({ issues }: Dialect.Decoded): ReadonlyArray<string> =>
  issues.map(({ at, kind, severity }) => `${severity} ${kind}${at === undefined ? "" : ` ${at}`}`)

describe("a document", () => {
  it("has its servers where another host has them, and that is said", () => {
    const found = decode("vscode", { mcpServers: { a: { command: "x" } } })
    assert.deepStrictEqual([named(found), said(found)], [["a"], ["warning wrong-root-key mcpServers"]])
    const older = decode("vscode", { mcp: { servers: { a: { command: "x" } } } })
    assert.deepStrictEqual([named(older), said(older)], [["a"], ["warning wrong-root-key mcp"]])
    assert.deepStrictEqual(named(decode("vscode", { mcpServers: { a: { command: "x" } } }, { strict: true })), [])
  })

  it("that holds other settings has them there only where there is nothing else under that key", () => {
    const misplaced = decode("crush", { options: {}, mcpServers: { a: { type: "stdio", command: "x" } } })
    assert.deepStrictEqual([named(misplaced), said(misplaced)], [["a"], ["warning wrong-root-key mcpServers"]])
    const settings = decode("crush", { servers: { a: { command: "x" }, limit: 5 } })
    assert.deepStrictEqual([named(settings), said(settings)], [[], []])
    assert.deepStrictEqual(named(decode("crush", { mcpServers: { a: { command: "x" } } }, { strict: true })), [])
  })

  it("without servers is told apart from one that is not about servers alone", () => {
    assert.deepStrictEqual(said(decode("cursor", {})), ["warning no-servers"])
    assert.deepStrictEqual(said(decode("cursor", { mcpServers: {} })), [])
    assert.deepStrictEqual(said(decode("native", { imports: ["cursor"] })), [])
    assert.deepStrictEqual(said(decode("native", { import: ["cursor"] })), ["warning no-servers"])
    assert.deepStrictEqual(said(decode("oh-my-pi", { disabledServers: ["a"] })), [])
    assert.deepStrictEqual(said(decode("gemini-cli", { theme: "x" })), [])
    assert.deepStrictEqual(said(decode("claude-code", { numStartups: 1 })), [])
    assert.deepStrictEqual(said(decode("claude-code", { numStartups: 1 }, { scope: "project" })), [
      "warning no-servers"
    ])
  })

  it("holds no servers where its host has only rules in it", () => {
    const path = "/etc/claude-code/managed-settings.json"
    const found = decode("claude-code", { mcpServers: { a: { command: "x" } } }, { scope: "managed", path })
    assert.deepStrictEqual([named(found), said(found)], [[], []])
  })

  it("is a map of servers itself only where its host has such files", () => {
    const bare = { $schema: "x", servers: { command: "x" }, b: { url } }
    assert.deepStrictEqual(named(decode("copilot-cli", bare, { scope: "project" })), ["servers", "b"])
    assert.deepStrictEqual(named(decode("warp", { a: { command: "x" } })), ["a"])
    assert.deepStrictEqual(said(decode("cursor", { a: { command: "x" } })), ["warning no-servers"])
  })

  it("has lists of servers only where its host has them", () => {
    const list = [{ name: "a", command: "x" }, { command: "y" }, 5, { name: "a", command: "z" }]
    const found = decode("trae", { mcpServers: list })
    assert.deepStrictEqual(found.items.map((item) => [item.name, short(item), item.provenance.pointer]), [
      ["a", { ...program, command: "z" }, ["mcpServers", 3]],
      ["#1", "missing-name", ["mcpServers", 1]],
      ["#2", "not-an-object", ["mcpServers", 2]]
    ])
    assert.deepStrictEqual(said(found), ["warning duplicate-name a"])
    assert.deepStrictEqual(named(decode("codebuddy", { servers: list.slice(0, 1) })), ["a"])
    assert.deepStrictEqual(said(decode("cursor", { mcpServers: list })), ["error servers-not-a-map mcpServers"])
  })

  it.effect("has the servers of a TOML array of tables by their names", () =>
    Effect.gen(function*() {
      const bytes = new TextEncoder().encode(
        ["one", "two"].map((name) => `[[mcp_servers]]\nname = "${name}"\ncommand = "x"\n`).join("\n")
      )
      for (const host of ["codex", "cocode", "agent-code", "mistral-vibe"]) {
        const { issues, items } = yield* ConfigFile.decode(bytes, {
          host,
          scope: "user",
          origin: "home",
          path: "/h/a.toml"
        })
        assert.deepStrictEqual([items.map(({ name }) => name), issues], [["one", "two"], []], host)
      }
    }))

  it("has the servers of one project for one person where its location says", () => {
    const root = { mcpServers: { a: { command: "x" } }, projects: { "/w": { mcpServers: { b: { command: "y" } } } } }
    const of = (folder: string) =>
      named(decode("claude-code", root, { scope: "local", pointer: ["projects", folder, "mcpServers"] }))
    assert.deepStrictEqual(of("/w"), ["b"])
    assert.deepStrictEqual(of("/other"), [])
  })

  it("has its questions beside its servers", () => {
    const mcp = {
      servers: { a: { type: "http", url, headers: { A: "${input:one} ${input:two}" } } },
      inputs: [{ id: "one", type: "promptString", password: true, description: "d" }, { type: "promptString" }, 5]
    }
    const found = decode("vscode", { "editor.x": 1, mcp }, { pointer: ["mcp", "servers"] })
    assert.deepStrictEqual(found.inputs, [{ id: "one", description: "d", secret: true }])
  })

  it("of OpenCode may be in the newer or the older shape", () => {
    const entry = { type: "local", command: ["x"] }
    assert.deepStrictEqual(named(decode("opencode", { mcp: { timeout: {}, servers: { a: entry } } })), ["a"])
    assert.deepStrictEqual(named(decode("opencode", { mcp: { servers: entry, b: entry } })), ["servers", "b"])
    const patched = decode("opencode", { mcp: { servers: { enabled: false } } })
    assert.deepStrictEqual(patched.items.map((item) => [item.name, short(item)]), [["servers", { patch: false }]])
  })

  it("of ours takes snake case, with a warning where camel case is the rule", () => {
    const entry = { program: "x", startup_timeout_sec: 2 }
    const is = { ...program, timeouts: { startupMs: 2000 } }
    assert.deepStrictEqual(short(decode("native", { mcp_servers: { a: entry } }).items[0]!), is)
    assert.deepStrictEqual(short(decode("native", { mcpServers: { a: entry } }).items[0]!), {
      ...is,
      warnings: ["deprecated:program", "deprecated:startup_timeout_sec"]
    })
  })

  it("of Agent Plugins needs a schema that is known", () => {
    const context = { scope: "plugin", origin: "plugin" } as const
    const $schema = "https://agent-plugins.org/schemas/1.0.0/mcp.schema.json"
    assert.deepStrictEqual(said(decode("agent-plugins", { mcpServers: {} }, context)), [
      "error unsupported-schema $schema"
    ])
    assert.deepStrictEqual(said(decode("agent-plugins", { $schema, mcpServers: {}, x: 1 }, context)), [
      "error unsupported-schema x"
    ])
    assert.deepStrictEqual(said(decode("agent-plugins", { $schema, mcpServers: {} }, context)), [])
  })
})

const read = (
  text: string,
  { scope = "project", ...options }: Omit<ConfigFile.Options, "origin" | "scope"> & { readonly scope?: Scope.Scope }
) => ConfigFile.decode(new TextEncoder().encode(text), { ...options, scope, origin: Samples.usualOrigin[scope] })

describe("a file", () => {
  const doubled = `{"mcpServers":{"a":{"command":"safe"}},\n"mcpServers":{"a":{"command":"canary"}}}`

  it.effect("with two maps of servers has none (cfg-033)", () =>
    Effect.gen(function*() {
      const { issues, items } = yield* read(doubled, { host: "claude-code", path: ".mcp.json" })
      assert.deepStrictEqual(items, [])
      assert.deepStrictEqual(issues.map(({ kind, severity }) => [kind, severity]), [["duplicate-root-key", "error"]])
      const shared = yield* read(doubled, { host: "gemini-cli" })
      assert.deepStrictEqual(shared.items, [])
    }))

  it.effect("that holds other settings may have them twice", () =>
    Effect.gen(function*() {
      const text = `{"theme":1,"theme":2,"mcpServers":{"a":{"command":"x"}}}`
      const shared = yield* read(text, { host: "gemini-cli" })
      assert.deepStrictEqual(shared.items.map(({ name }) => name), ["a"])
      assert.deepStrictEqual(shared.issues.map(({ at, kind }) => [kind, at]), [["duplicate-key", "theme"]])
      const own = yield* read(text, { host: "cursor" })
      assert.deepStrictEqual(own.items, [])
    }))

  it.effect("says in which line what is wrong, and to whom", () =>
    Effect.gen(function*() {
      const text = `{\n"mcpServers": {\n"a": {\n"command": "x",\n"env": {\n"A.B": 1 } },\n"b": 5 } }`
      const { issues } = yield* read(text, { host: "claude-code", path: "/w/.mcp.json" })
      assert.deepStrictEqual(
        issues.map(({ at, kind, line, path, server }) => [kind, server, at, line, path]),
        [["coerced", "a", "env.A.B", 6, "/w/.mcp.json"], ["not-an-object", "b", undefined, 7, "/w/.mcp.json"]]
      )
      assert.strictEqual(
        issues[1]?.message,
        "Server \"b\": The entry is not an object: give it a command or a url."
      )
    }))

  it.effect("says what was expected, and which key was meant", () =>
    Effect.gen(function*() {
      const sentences = (host: string, entry: string) =>
        Effect.map(
          read(`{"${rootKeys[host] ?? "mcpServers"}":{"a":${entry}}}`, { host, path: "/w/a.json" }),
          ({ issues }) => issues.map(({ message }) => message.replace("Server \"a\": ", ""))
        )
      const told: ReadonlyArray<readonly [host: string, entry: string, sentence: RegExp]> = [
        ["cursor", `{"command":"x","args":"-y"}`, /The field args .* \(expected a list of strings\)/],
        [
          "cursor",
          `{"command":"x","env":["A=b"]}`,
          /The field env .* \(expected an object of names and values\)/
        ],
        ["cursor", `{"command":"x","env":{"A":{}}}`, /The field env\.A .* \(expected a string\)/],
        ["cursor", `{"command":"x","disabled":"yes"}`, /The field disabled .* \(expected true or false\)/],
        ["cursor", `{"comand":"x"}`, /add a command or a url \(unknown key comand: is command meant\?\)/],
        ["cursor", `{"run":"x"}`, /add a command or a url \(unknown key run\)/],
        ["cursor", `{"command":"x","Env":{}}`, /The key Env is unknown: .* \(is env meant\?\)/],
        ["native", `{"command":"x","timeout":1}`, /The key timeout is unknown: .* \(is requestTimeout meant\?\)/],
        [
          "native",
          `{"command":"x","request_timeout":1}`,
          /request_timeout is unknown: .* \(is requestTimeout meant\?\)/
        ],
        [
          "native",
          `{"command":"x","tool_timeout_sec":1}`,
          /tool_timeout_sec is deprecated.*\(use requestTimeout\)/
        ],
        [
          "native",
          `{"url":"${url}","bearer_token_env_var":"T"}`,
          /bearer_token_env_var is deprecated.*\(use headers\)/
        ],
        ["claude-code", `{"url":"${url}"}`, /claude-code would reject .* \(the entry needs a type: .*\)/],
        ["cline", `{"command":"x","timeout":60000}`, /The time in timeout is unusual .* \(it is in seconds\)/],
        ["kiro", `{"command":"x","timeout":60}`, /The time in timeout is unusual .* \(it is in milliseconds\)/]
      ]
      for (const [host, entry, sentence] of told) {
        const said = yield* sentences(host, entry)
        assert.match(said[0] ?? "", sentence, `${host} ${entry}`)
        assert.lengthOf(said, 1, `${host} ${entry}`)
      }
    }))

  it.effect("without servers, or with them at another place, says where they belong", () =>
    Effect.gen(function*() {
      const none = yield* read(`{}`, { host: "vscode" })
      assert.include(none.issues[0]?.message, "(use servers)")
      const other = yield* read(`{"mcpServers":{}}`, { host: "vscode" })
      assert.include(other.issues[0]?.message, "(use servers)")
    }))

  it.effect("points to headers, variables and rules, wherever their names stand", () =>
    Effect.gen(function*() {
      const lines = (text: string) =>
        Effect.map(read(text, { host: "native" }), ({ issues }) => issues.map(({ kind, line }) => [kind, line]))
      const header = `{"mcpServers":{"a":{"url":"${url}",\n"headers":{\n"Host":"x"}}}}`
      assert.deepStrictEqual(yield* lines(header), [["invalid-header", 3]])
      const variable = `{"mcpServers":{"a":{"command":"x",\n"env":{\n"A=B":"x"}}}}`
      assert.deepStrictEqual(yield* lines(variable), [["invalid-env", 3]])
      const rule = `{"mcpServers":{},"policy":{"deny":[\n{"name":"x"},\n{"nme":"x"}]}}`
      assert.deepStrictEqual(yield* lines(rule), [["invalid-policy", 3]])
    }))

  it.effect("of TOML says what is wrong without a word of what stands there", () =>
    Effect.gen(function*() {
      const told: ReadonlyArray<readonly [text: string, line: number, what: string]> = [
        [`[mcp_servers.a]\ncommand = "a"\n[mcp_servers.a]\n`, 3, "a table or key that appears twice"],
        [`[mcp_servers.a]\ncommand = hidden\n`, 2, "not a value: strings need quotes"],
        [`[mcp_servers.a]\ncommand = "hidden\n`, 2, "a string that is not closed, or has a control character"],
        [`[mcp_servers.a]\nargs = ["hidden" "b"]\n`, 2, "a comma or the end of a list or table is missing"],
        [`hidden text\n`, 1, "neither a table nor a key with a value, or a key that needs quotes"]
      ]
      for (const [text, line, what] of told) {
        const { issues } = yield* read(text, { host: "codex" })
        assert.deepStrictEqual(issues.map((issue) => [issue.kind, issue.line]), [["syntax", line]], text)
        assert.include(issues[0]?.message, `(${what})`)
        assert.notInclude(issues[0]?.message, "hidden")
      }
    }))

  it.effect("that its host would not read at all has no servers for a strict reader", () =>
    Effect.gen(function*() {
      const text = `{"mcpServers":{"a":{"command":"x"},}}`
      const lenient = yield* read(text, { host: "claude-code" })
      assert.deepStrictEqual(lenient.issues.map(({ kind, severity }) => [kind, severity]), [
        ["jsonc-in-strict-json", "warning"]
      ])
      const strict = yield* read(text, { host: "claude-code", strict: true })
      assert.deepStrictEqual(strict.items, [])
    }))

  it.effect("without anything in it is said to be empty, and nothing else", () =>
    Effect.gen(function*() {
      const { issues } = yield* read("", { host: "cursor" })
      assert.deepStrictEqual(issues.map(({ kind }) => kind), ["empty-file"])
    }))

  it.effect("has its servers where its name says", () =>
    Effect.gen(function*() {
      const text = JSON.stringify({ "editor.x": 1, mcp: { servers: { a: { command: "x" } } } })
      const settings = yield* read(text, { host: "vscode", path: "/home/me/.config/Code/User/settings.json" })
      assert.deepStrictEqual([named(settings), settings.issues], [["a"], []])
      const mine = yield* read(JSON.stringify({ mcpServers: { a: { command: "x" } } }), {
        host: "claude-code",
        path: "/home/me/.claude.json",
        scope: "user"
      })
      assert.deepStrictEqual(named(mine), ["a"])
    }))

  it.effect("is in the format that its name says", () =>
    Effect.gen(function*() {
      const toml = yield* read(`[mcp_servers.a]\nprogram = "x"`, { host: "native", path: "C:\\w\\.mcp.toml" })
      assert.deepStrictEqual(toml.items.map(({ name }) => name), ["a"])
      const commented = yield* read(`{"mcpServers":{}} // x`, { host: "native", path: "mcp-client.jsonc" })
      assert.deepStrictEqual(commented.issues, [])
    }))
})

// documents that come near to being sensible in one of the hosts, and then are not
const wordsOf = (text: string): ReadonlyArray<string> => text.trim().split(/\s+/)
const rootWords = wordsOf("mcpServers servers mcp mcp_servers context_servers amp.mcpServers")
const keys = rootWords.concat(
  wordsOf(`
    inputs policy $schema type transport command args env cwd envFile url serverUrl httpUrl headers headersHelper
    headersCommand oauth auth timeout enabled disabled tools trust name autoApprove alwaysAllow enabledTools
    disabledTools inheritEnv environment env_vars id NODE_OPTIONS ld_preload PATH a.b __proto__ constructor
  `),
  ["", "\u0000", "x".repeat(200)]
)
const odd: ReadonlyArray<Document.Value> = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  Infinity,
  Number.NaN,
  2n ** 70n,
  new Date(0),
  new Date(Number.NaN)
]
const values = odd.concat(
  wordsOf(`
    stdio http sse remote x * true 30 \${A} \${env:A:-b} {env:A} $A !x \${input:i} https://a.example http://[::1]
    wss://a file:///x \${A}/x https://\${A} \\\\h\\s
  `),
  ["a\nb", "\u0000", " "]
)
const canary = "sk-canary-4711"

const documents = FastCheck.letrec<{ value: Document.Value; table: Document.Table }>((tie) => ({
  value: FastCheck.oneof(
    { maxDepth: 5, depthSize: "medium" },
    FastCheck.constantFrom(...values, canary),
    FastCheck.string().map((text) => `${text}${canary}`),
    FastCheck.array(tie("value"), { maxLength: 4 }),
    tie("table")
  ),
  table: FastCheck.array(FastCheck.tuple(FastCheck.constantFrom(...keys), tie("value")), { maxLength: 7 })
    .map((pairs) => new Map(pairs))
}))
// an entry that nothing is wrong with but one or two of its fields, so that many of them are read to their end
const near = FastCheck.tuple(
  FastCheck.constantFrom<ReadonlyArray<readonly [string, Document.Value]>>(
    [["type", "stdio"], ["command", "x"]],
    [["type", "http"], ["url", "https://a.example"]]
  ),
  FastCheck.subarray<readonly [string, Document.Value]>([
    ["autoApprove", ["*"]],
    ["alwaysAllow", "*"],
    ["trust", true],
    ["inheritEnv", true],
    ["env", new Map([["Node_Options", "-r x"], ["LD_AUDIT", "x"], ["A", "1"]])],
    ["tools", new Map([["a", new Map([["approval_mode", "approve"]])]])]
  ]),
  documents.table
).map(([target, rights, table]) =>
  new Map<string, Document.Value>([...Array.from(table).slice(0, 1), ...target, ...rights])
)
const servers = FastCheck.tuple(near, documents.table)
  .map(([one, other]): Document.Value => new Map<string, Document.Value>([["a", one], ["b", other]]))
const lists = FastCheck.array(documents.table).map((tables): Document.Value => tables)
const roots = FastCheck.oneof(
  documents.table,
  FastCheck.tuple(FastCheck.constantFrom(...rootWords), FastCheck.oneof(servers, lists))
    .map(([key, held]) => new Map<string, Document.Value>([[key, held]]))
)
const scopes = FastCheck.constantFrom(...Scope.order)
const origins = FastCheck.constantFrom(...Scope.Origin.literals)

describe("whatever a file holds", () => {
  it.prop(
    "no host fails over it, loses an entry or says more than its place",
    [roots, scopes, origins],
    ([root, scope, origin]) => {
      for (const dialect of Dialect.all) {
        const { issues, items } = Reader.decode(dialect, root, { scope, origin, path: "/w/x.json" })
        const names = items.map(({ name }) => name)
        assert.strictEqual(new Set(names).size, names.length)
        for (const item of items) {
          const warnings = item._tag === "Server" ? item.warnings : item._tag === "Invalid" ? [item] : []
          for (const { at, kind } of warnings) {
            const message = ConfigIssue.make({ provider: dialect.host, scope }, "error", kind, { at }).message
            assert.notInclude(message, canary)
            assert.notMatch(message, /[\u0000-\u001f]/)
          }
        }
        if (issues.some(({ severity }) => severity === "error")) assert.deepStrictEqual(items, [])
      }
      const object: { readonly command?: unknown } = {}
      assert.isUndefined(object.command)
    },
    { fastCheck: { numRuns: costlyRuns(150) } }
  )

  it.prop("a file of a workspace or a plugin gains no right by it", [roots, scopes], ([root, scope]) => {
    for (const dialect of Dialect.all) {
      for (const origin of ["workspace", "plugin"] as const) {
        for (const item of Reader.decode(dialect, root, { scope, origin, path: undefined }).items) {
          if (item._tag !== "Server") continue
          const { entry } = Rights.withRights(item.entry, origin)
          assert.isUndefined(entry.autoApprove)
          assert.notStrictEqual(entry.transport === "stdio" && (entry.inheritEnv ?? false), true)
          for (const [name, value] of entry.env ?? []) {
            assert.isFalse(Variables.isHostile(name), `${name}=${value}`)
          }
          assert.deepStrictEqual(Rights.withRights(entry, origin), { entry, warnings: [] })
          assert.strictEqual(Rights.withRights(item.entry, "home").entry, item.entry)
        }
      }
    }
  }, { fastCheck: { numRuns: costlyRuns(100) } })

  it("as many servers are read as anybody has, and no more", () => {
    const of = (count: number) => new Map(Array.from({ length: count }, (_, index) => [`s${index}`, { command: "x" }]))
    const read = (count: number) => decode("cursor", { mcpServers: of(count) })
    assert.lengthOf(read(10_000).items, 10_000)
    assert.deepStrictEqual(read(10_001).items, [])
    assert.deepStrictEqual(said(read(10_001)), ["error too-many-entries"])
    const env = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`E${index}`, "x"]))
    const one = (count: number) => decode("cursor", { mcpServers: { a: { command: "x", env: env(count) } } }).items[0]
    assert.strictEqual(one(50_000)?._tag, "Server")
    assert.strictEqual(short(one(50_001)!), "invalid-value:env")
  })

  it("thousands of entries, or of keys, or of spellings, are read", () => {
    const entry = new Map<string, Document.Value>([["command", "c"], ["args", ["1"]]])
    const many = (count: number, of: (index: number) => Document.Value): Document.Table =>
      new Map(Array.from({ length: count }, (_, index) => [`s${index}`, of(index)]))
    const wide = new Map([...entry, ["env", many(20_000, String)], ...many(20_000, () => null)])
    const lists = new Map<string, Document.Value>([
      ...entry,
      ["enabledTools", Array.from(many(20_000, String).keys())],
      ["includeTools", Array.from(many(20_000, String).keys()).toReversed()]
    ])
    const dots = new Map([...entry, ["env", new Map([[".".repeat(300_000), 1]])], [".=".repeat(200_000), 1]])
    for (const servers of [many(3001, () => entry), new Map([["a", wide], ["b", lists], ["c", dots]])]) {
      for (const host of samples(["claude-code", "gemini-cli", "native"])) {
        const { items } = Reader.decode(hostOf(host), new Map([["mcpServers", servers]]), contextOf({}))
        assert.strictEqual(items.length, servers.size)
      }
    }
  })
})

describe("a sentence", () => {
  it("names what it is about, cut and made visible", () => {
    const server = `a\u001b[2J\u202e${"x".repeat(500)}`
    const place = { provider: "cursor", scope: "user", server } as const
    const sentence = ConfigIssue.make(place, "warning", "coerced", { at: "env.A\nB" }).message
    // eslint-disable-next-line no-control-regex
    assert.notMatch(sentence, /[\u0000-\u001f\u202e]/)
    assert.include(sentence, "a\\x1b[2J\\u{202e}xxx")
    assert.include(sentence, "env.A\\nB")
    assert.isBelow(sentence.length, 400)
  })
})

describe("the rights of an entry", () => {
  const entry: ServerEntry.StdioEntry = {
    name: "a",
    transport: "stdio",
    command: "x",
    args: [],
    enabled: true,
    inheritEnv: ["SECRET"],
    env: new Map([["NODE_OPTIONS", "--require ./x.js"], ["npm_config_x", "1"], ["A", "1"]]),
    withoutEnv: ["LD_PRELOAD"],
    disabledTools: ["b"],
    autoApprove: ["*"],
    affinity: "shared",
    trusted: true
  }

  it("in a workspace are to say less, and what is left out is said", () => {
    const { entry: left, warnings } = Rights.withRights(
      entry,
      "workspace",
      new Map([["a", "approve"], ["b", "prompt"]])
    )
    assert.deepStrictEqual(plain(left), {
      name: "a",
      transport: "stdio",
      command: "x",
      args: [],
      enabled: true,
      env: { A: "1" },
      withoutEnv: ["LD_PRELOAD"],
      disabledTools: ["b"]
    })
    assert.deepStrictEqual(words(warnings), [
      "ignored-in-project:trusted",
      "ignored-in-project:affinity",
      "ignored-in-project:autoApprove",
      "ignored-in-project:inheritEnv",
      "ignored-in-project:approval",
      "env-dropped:env.NODE_OPTIONS",
      "env-dropped:env.npm_config_x"
    ])
  })

  it("in a workspace let no program be made to trust whoever answers", () => {
    const env = new Map([["NODE_TLS_REJECT_UNAUTHORIZED", "0"], ["ssl_key", "x"], ["sslkeylogfile", "/tmp/x"]])
    const { entry: left } = Rights.withRights({ ...entry, env }, "workspace")
    assert.deepStrictEqual(plain(left.env), { ssl_key: "x" })
  })

  it("in a file of one's own are all there", () => {
    assert.deepStrictEqual(Rights.withRights(entry, "home"), { entry, warnings: [] })
  })
})

describe("the hosts", () => {
  it("are told apart by their ids", () => {
    assert.strictEqual(new Set(Dialect.all.map(({ host }) => host)).size, Dialect.all.length)
    assert.strictEqual(Dialect.all[0]?.host, "native")
  })

  it("have their files at places that can be found", () => {
    const isPaths = (path: Dialect.Location["path"]): path is ReadonlyArray<string> => Array.isArray(path)
    for (const { host, locations } of Dialect.all) {
      for (const { origin, path, scope } of locations) {
        const paths = typeof path === "string" || isPaths(path) ? [path].flat() : Object.values(path).flat()
        for (const one of paths) {
          assert.match(
            one,
            /^(~\/|\/|[A-Z]:\/|\{(root|dir|vscode|config|appdata|localappdata|programdata|plugin)\}\/)/,
            host
          )
          assert.strictEqual(/^\{(root|dir)\}/.test(one), origin === "workspace", `${host} ${one}`)
          if (scope === "project") assert.strictEqual(origin, "workspace", host)
        }
      }
    }
  })
})
