import * as Path from "@effect/platform/Path"
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FastCheck from "effect/FastCheck"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as ConfigDiscovery from "../../src/config/ConfigDiscovery.ts"
import * as ConfigFiles from "../../src/config/ConfigFiles.ts"
import * as HostEnvironment from "../../src/config/HostEnvironment.ts"
import * as Resolution from "../../src/config/Resolution.ts"
import * as Trust from "../../src/config/Trust.ts"
import * as Configs from "../support/configs.ts"
import { costlyRuns } from "../support/runs.ts"

const home = "/home/me"
const root = "/project"
const user = `${home}/.config/mcp-runtime/mcp-client.json`
const managed = "/etc/mcp-runtime/mcp-client.json"

const servers = (entries: object, beside: object = {}): string => JSON.stringify({ mcpServers: entries, ...beside })

/** Discovers in files of memory; `use` may change them and look again. */
const withFiles = <A>(
  files: Readonly<Record<string, string>> | Map<string, string>,
  options: Partial<ConfigDiscovery.Options>,
  use: (
    service: ConfigDiscovery.ConfigDiscovery["Type"],
    trust: Trust.Trust["Type"]
  ) => Effect.Effect<A, unknown>
): Effect.Effect<A, unknown> =>
  Effect.gen(function*() {
    return yield* use(yield* ConfigDiscovery.ConfigDiscovery, yield* Trust.Trust)
  }).pipe(
    Effect.provide(Layer.provideMerge(
      ConfigDiscovery.layerTest(files instanceof Map ? files : new Map(Object.entries(files)), options),
      Trust.layerMemory()
    ))
  )

const discovered = (
  files: Readonly<Record<string, string>>,
  options: Partial<ConfigDiscovery.Options> = {}
): Effect.Effect<ConfigDiscovery.Discovery, unknown> => withFiles(files, options, ({ discover }) => discover)

const states = ({ servers }: ConfigDiscovery.Discovery): Readonly<Record<string, string>> =>
  Object.fromEntries(servers.map(({ name, state }) => [name, state._tag]))

const kinds = ({ issues }: ConfigDiscovery.Discovery): ReadonlyArray<string> =>
  issues.map(({ kind, server }) => server === undefined ? kind : `${server}: ${kind}`)

describe("ConfigDiscovery", () => {
  it.effect("finds the servers of a person and of a project, and says where each was written", () =>
    Effect.gen(function*() {
      const found = yield* discovered({
        [user]: servers({ mine: { command: "mine" } }),
        [`${root}/.mcp.json`]: "{\n  \"mcpServers\": {\n    \"ours\": { \"command\": \"ours\" }\n  }\n}"
      })
      assert.deepStrictEqual(states(found), { mine: "Ready", ours: "Untrusted" })
      const ours = found.servers.find(({ name }) => name === "ours")
      assert.deepStrictEqual(ours?.provenance, {
        provider: "claude-code",
        scope: "project",
        origin: "workspace",
        path: `${root}/.mcp.json`,
        pointer: ["mcpServers", "ours"],
        line: 3
      })
      assert.deepStrictEqual(kinds(found), [])
    }))

  it.effect("blocks what the workspace says until that very text is approved", () =>
    Effect.gen(function*() {
      const path = `${root}/.mcp.json`
      const files = new Map([[path, servers({ tool: { command: "a", args: ["1", "2"], env: { X: "1" } } })]])
      yield* withFiles(files, {}, ({ discover }, trust) =>
        Effect.gen(function*() {
          const before = yield* discover
          assert.strictEqual(before.configs[0]?.blocked, "untrusted")
          yield* trust.approve("tool")
          assert.deepStrictEqual(states(yield* discover), { tool: "Ready" })
          files.set(path, servers({ tool: { env: { X: "1" }, args: ["1", "2"], command: "a" } }))
          assert.deepStrictEqual(states(yield* discover), { tool: "Ready" })
          files.set(path, servers({ tool: { env: { X: "1" }, args: ["2", "1"], command: "a" } }))
          const changed = yield* discover
          assert.deepStrictEqual(changed.servers[0]?.state, { _tag: "Untrusted", why: "changed" })
        }))
    }))

  for (const [type, scheme] of [["http", "http"], ["sse", "http"], ["ws", "ws"]] as const) {
    it.effect(`ignores allowUnencrypted and proxy of a workspace entry (${type}), and keeps those of a user entry`, () =>
      Effect.gen(function*() {
        const entry = { type, url: `${scheme}://mcp.example/mcp`, allowUnencrypted: true, proxy: "direct" }
        const found = yield* discovered({
          [user]: servers({ mine: entry }),
          [`${root}/mcp-client.json`]: servers({ theirs: entry })
        })
        const allowed = found.servers.flatMap(({ config, name }) =>
          config !== undefined && ("allowUnencrypted" in config || "proxy" in config)
            ? [[name, config.allowUnencrypted, config.proxy]]
            : []
        )
        assert.deepStrictEqual(allowed, [["mine", true, "direct"]])
        assert.include(kinds(found), "theirs: ignored-in-project")
        assert.notInclude(kinds(found), "mine: ignored-in-project")
      }))
  }

  it.effect("lets the whole entry of the strongest scope win, and keeps what it shadows", () =>
    Effect.gen(function*() {
      const found = yield* discovered({
        [user]: servers({ a: { command: "user", env: { X: "1" } }, b: { command: "user" } }),
        [`${root}/mcp-client.json`]: servers({ a: { command: "project" } }),
        [`${root}/.mcp.json`]: servers({ a: { command: "shared" } })
      })
      const a = found.servers.find(({ name }) => name === "a")
      assert.strictEqual(a?.entry?.transport === "stdio" ? a.entry.command : undefined, "project")
      assert.deepStrictEqual(a?.shadows.map(({ path }) => path), [`${root}/.mcp.json`, user])
    }))

  it.effect("says what putting files together has come to: what is switched and not there, what did not follow", () =>
    Effect.gen(function*() {
      const found = yield* discovered({
        [`${home}/.config/opencode/opencode.json`]: JSON.stringify({
          mcp: {
            api: { type: "remote", url: "https://good.example.com", headers: { A: "b" }, oauth: { clientId: "c" } }
          }
        }),
        [`${root}/opencode.json`]:
          `{"mcp":{"api":{"type":"remote","url":"https://other.example.com"},\n"gone":{"enabled":true}}}`
      }, { imports: ["opencode"] })
      assert.deepStrictEqual(states(found), { api: "Untrusted", gone: "Invalid" })
      assert.deepStrictEqual(
        found.issues.map(({ at, kind, line, path, server }) => [kind, server, at, path, line]),
        [
          ["not-inherited", "api", "headers, oauth", `${root}/opencode.json`, 1],
          ["missing-transport", "gone", undefined, `${root}/opencode.json`, 2]
        ]
      )
    }))

  it.effect("lets the nearest folder of the workspace win, whatever kinds of files there are", () =>
    Effect.gen(function*() {
      const found = yield* discovered({
        [`${root}/.cursor/mcp.json`]: servers({ a: { command: "cursor" }, far: { command: "far" } }),
        [`${root}/mcp-client.json`]: servers({ a: { command: "root" } }),
        [`${root}/part/.github/mcp.json`]: servers({ a: { command: "copilot" }, near: { command: "near" } }),
        [`${root}/part/.mcp.json`]: servers({ a: { command: "part" } })
      }, { directory: `${root}/part`, imports: ["cursor", "copilot-cli"] })
      const a = found.servers.find(({ name }) => name === "a")
      assert.deepStrictEqual([a?.provenance, ...a?.shadows ?? []].map((at) => at?.path), [
        `${root}/part/.mcp.json`,
        `${root}/part/.github/mcp.json`,
        `${root}/mcp-client.json`,
        `${root}/.cursor/mcp.json`
      ])
      assert.sameMembers(found.servers.map(({ name }) => name), ["a", "near", "far"])
    }))

  it.effect("reads all kinds of files of a host that is named, and says which name is none", () =>
    Effect.gen(function*() {
      const path = `${root}/.continue/mcpServers/solo.json`
      const files = { [path]: JSON.stringify({ command: "x" }) }
      const found = yield* discovered(files, { imports: ["continue", "vs-code"] })
      assert.deepStrictEqual(states(found), { solo: "Untrusted" })
      assert.deepStrictEqual(found.issues.map(({ message }) => message), [
        "The list imports names an unknown host: correct or remove it (vs-code; did you mean vscode?)."
      ])
      const hidden = yield* discovered(files, { imports: ["continue"], hide: { providers: ["continue"] } })
      assert.deepStrictEqual(states(hidden), {})
      const one = { [user]: "{\n\"imports\": [\"nobody\"]}" }
      assert.deepStrictEqual((yield* discovered(one)).issues.map(({ line, path }) => [path, line]), [[user, 2]])
    }))

  it.effect("takes a file of the administrator that lists servers for all there is", () =>
    Effect.gen(function*() {
      const files = {
        [managed]: servers({ corp: { command: "corp" } }),
        [user]: servers({ mine: { command: "mine" } }),
        [`${root}/.mcp.json`]: servers({ ours: { command: "ours" } })
      }
      assert.deepStrictEqual(states(yield* discovered(files)), { corp: "Ready" })
      const open = { ...files, [managed]: servers({ corp: { command: "corp" } }, { policy: { exclusive: false } }) }
      assert.deepStrictEqual(states(yield* discovered(open)), { corp: "Ready", ours: "Untrusted", mine: "Ready" })
    }))

  it.effect("allows nothing when the administrator's file cannot be read", () =>
    Effect.gen(function*() {
      const found = yield* discovered({ [managed]: "{ \"policy\": ", [user]: servers({ mine: { command: "mine" } }) })
      assert.deepStrictEqual(states(found), { mine: "Denied" })
      assert.strictEqual(found.configs[0]?.blocked, "denied")
      assert.include(kinds(found), "syntax")
    }))

  it.effect("denies by policy, and only a scope with the right to may allow", () =>
    Effect.gen(function*() {
      const found = yield* discovered({
        [managed]: JSON.stringify({ policy: { deny: [{ url: "https://*.bad.example/*" }] } }),
        [user]: servers({
          bad: { url: "https://API.Bad.Example:443/mcp" },
          good: { url: "https://good.example/mcp" },
          off: { command: "x" }
        }),
        [`${root}/mcp-client.json`]: JSON.stringify({
          policy: { allow: [{ url: "https://*.bad.example/*" }, { url: "https://good.example/*" }] }
        })
      })
      // a list of the workspace narrows, and allows nothing that somebody else denies
      assert.deepStrictEqual(states(found), { bad: "Denied", good: "Ready", off: "Denied" })
    }))

  it.effect("takes a name for no identity where a policy says so or the reading is strict (perm-046)", () =>
    Effect.gen(function*() {
      const mine = {
        [user]: servers({
          github: { command: "npx", args: ["-y", "evil"] },
          docs: { url: "https://docs.example/mcp" },
          ours: { command: "ours" }
        })
      }
      const list = (beside: object) => ({
        [managed]: JSON.stringify({
          policy: { allow: [{ name: "github" }, { name: "docs" }, { fingerprint: "f" }], ...beside }
        })
      })
      const lenient = yield* discovered({ ...mine, ...list({}) })
      assert.deepStrictEqual(states(lenient), { github: "Ready", docs: "Ready", ours: "Denied" })
      const required = yield* discovered({ ...mine, ...list({ requireIdentity: true }) })
      const strict = yield* discovered({ ...mine, ...list({}) }, { strict: true })
      for (const found of [required, strict]) {
        assert.deepStrictEqual(states(found), { github: "Denied", docs: "Denied", ours: "Denied" })
        const why = (server: string) => found.issues.find((issue) => issue.server === server)?.message
        assert.include(why("github"), "needs a rule about its command")
        assert.include(why("docs"), "needs a rule about its url")
        // this one is in no list at all
        assert.notInclude(why("ours"), "needs a rule")
      }
      const settings = {
        "/etc/claude-code/managed-settings.json": "{\"allowedMcpServers\":[{\"serverName\":\"github\"}]}"
      }
      const imports = ["claude-code"]
      assert.strictEqual(states(yield* discovered({ ...mine, ...settings }, { imports }))["github"], "Ready")
      const theirs = yield* discovered({ ...mine, ...settings }, { imports, strict: true })
      assert.strictEqual(states(theirs)["github"], "Denied")
    }))

  it.effect("lets nobody keep an application from starting who could not have started its servers", () =>
    Effect.gen(function*() {
      const required = servers({ mine: { command: "mine", required: true } })
      const path = `${root}/mcp-client.json`
      const deny = { policy: { deny: [{ name: "*" }] } }
      const found = yield* discovered({
        [user]: required,
        [path]: servers({ ours: { command: "ours", required: true } }, deny)
      })
      assert.deepStrictEqual(states(found), { ours: "Denied", mine: "Denied" })
      assert.deepStrictEqual(found.configs.map((config) => config.required), [false, false])
      const own = yield* discovered({ [user]: required, [managed]: JSON.stringify(deny) })
      assert.deepStrictEqual(own.configs.map((config) => [config.blocked, config.required]), [["denied", true]])
    }))

  it.effect("takes a limit that the administrator has written wrongly for one", () =>
    Effect.gen(function*() {
      const mine = { [user]: servers({ mine: { command: "mine" } }), [`${root}/.mcp.json`]: servers({ ours: {} }) }
      for (const [policy, left] of [[{ exclusive: "true" }, ""], [{ providers: "native" }, "mine"]] as const) {
        const found = yield* discovered({ ...mine, [managed]: JSON.stringify({ policy }) })
        assert.strictEqual(found.servers.map(({ name }) => name).join(), left)
        assert.include(kinds(found), "invalid-policy")
      }
    }))

  it.effect("lets nobody else leave out what the administrator has written for a host", () =>
    Effect.gen(function*() {
      const settings = "/etc/claude-code/managed-settings.json"
      const found = yield* discovered({
        [settings]: JSON.stringify({ deniedMcpServers: [{ serverName: "mine" }] }),
        [user]: servers({ mine: { command: "mine" } }, { policy: { providers: [] }, imports: ["claude-code"] })
      })
      assert.deepStrictEqual(states(found), { mine: "Denied" })
    }))

  it.effect("finds what a person has for this workspace, and not for another that its name brings to mind", () =>
    Effect.gen(function*() {
      const mine = { "/home/me/work": { mcpServers: { mine: { command: "./run" } } } }
      const files = { [`${home}/.claude.json`]: JSON.stringify({ projects: mine }) }
      const inside = (root: string) => discovered(files, { imports: ["claude-code"], root, directory: root })
      assert.deepStrictEqual(states(yield* inside("/home/me/work")), { mine: "Ready" })
      assert.deepStrictEqual(states(yield* inside("/home/me/work$`")), {})
    }))

  it.effect("keeps the questions of a host whose file another host reads after it", () =>
    Effect.gen(function*() {
      const inputs = [
        { id: "token", type: "promptString", password: true },
        { id: "stage", type: "pickString", options: ["dev", "live"], default: "dev" }
      ]
      const tool = { command: "node", args: ["${input:stage}"], env: { TOKEN: "${input:token}" } }
      const settings = {
        mcp: { inputs, servers: { tool } },
        "sidecar.mcpServers": { other: { command: "node" } }
      }
      const files = { [`${home}/.config/Code/User/settings.json`]: JSON.stringify(settings) }
      for (const imports of [["all"], ["vscode", "sidecar"], ["sidecar", "vscode"]]) {
        const { configs } = yield* discovered(files, { imports })
        const declared = new Map(configs.map(({ expansion, name }) => [name, expansion?.inputs]))
        assert.deepStrictEqual(declared.get("tool"), [
          { id: "token", secret: true },
          { id: "stage", default: "dev", choices: ["dev", "live"] }
        ])
        assert.isTrue(declared.has("other"))
        assert.isUndefined(declared.get("other"))
      }
    }))

  it.effect("takes braces in the variable of a host as they are", () =>
    Effect.gen(function*() {
      const folders = ["/srv/{team}/codex", "/srv/{home}/{root}", "~/{dir}"]
      for (const folder of folders) {
        const path = `${folder.replace("~", home)}/config.toml`
        const found = yield* Effect.flatMap(ConfigDiscovery.ConfigDiscovery, ({ discover }) => discover).pipe(
          Effect.provide(Layer.provide(
            ConfigDiscovery.layerFiles({ directory: root, root, home, imports: ["codex"] }),
            Layer.mergeAll(
              ConfigFiles.layerMemory(new Map([[path, "[mcp_servers.theirs]\ncommand = \"node\""]])),
              Path.layer,
              Trust.layerMemory(),
              Layer.succeed(HostEnvironment.HostEnvironment, {
                platform: "linux",
                variables: () => ({ HOME: home, CODEX_HOME: folder })
              })
            )
          ))
        )
        assert.deepStrictEqual(states(found), { theirs: "Ready" }, folder)
      }
    }))

  it.effect("asks about a server with the questions that it asks, and their answers for nobody", () =>
    Effect.gen(function*() {
      const mode = { id: "mode", default: "--import=./evil" }
      const inputs = [mode, { id: "other", default: "x" }]
      const file = servers({ tool: { command: "node", args: ["${input:mode}"] } }, { inputs })
      yield* withFiles({ [`${root}/mcp-client.json`]: file }, {}, ({ discover }, trust) =>
        Effect.gen(function*() {
          yield* discover
          const [tool] = yield* trust.pending
          assert.deepStrictEqual(tool?.inputs, [mode])
        }))
    }))

  it.effect("takes the administrator's list of hosts, and the variables of when the program began", () =>
    Effect.gen(function*() {
      const files = {
        [managed]: JSON.stringify({ policy: { providers: ["vscode"], deny: [{ command: ["${env:HOME}/bin/x"] }] } }),
        [user]: servers({ mine: { command: "/home/me/bin/x" }, other: { command: "y" } }),
        [`${home}/.cursor/mcp.json`]: servers({ theirs: { command: "theirs" } }),
        [`${root}/.mcp.json`]: servers({ ours: { command: "ours" } })
      }
      assert.deepStrictEqual(states(yield* discovered(files, { imports: ["cursor"] })), {
        mine: "Denied",
        other: "Ready"
      })
    }))

  it.effect("reads other hosts' files when somebody with the right to asks for them", () =>
    Effect.gen(function*() {
      const cursor = { [`${home}/.cursor/mcp.json`]: servers({ theirs: { command: "theirs" } }) }
      const project = { [`${root}/.cursor/mcp.json`]: servers({ near: { command: "near" } }) }
      const files = { ...cursor, ...project }
      assert.deepStrictEqual(states(yield* discovered(files)), {})
      const both = { near: "Untrusted", theirs: "Ready" }
      assert.deepStrictEqual(states(yield* discovered(files, { imports: ["cursor"] })), both)
      const asked = { ...files, [user]: JSON.stringify({ imports: ["cursor"] }) }
      assert.deepStrictEqual(states(yield* discovered(asked)), both)
      const sneaked = { ...files, [`${root}/mcp-client.json`]: JSON.stringify({ imports: ["cursor"] }) }
      assert.deepStrictEqual(states(yield* discovered(sneaked)), { near: "Untrusted" })
      assert.deepStrictEqual(kinds(yield* discovered({}, { imports: ["cursr"] })), ["unknown-import"])
    }))

  it.effect("leaves the workspace out where it is told to", () =>
    Effect.gen(function*() {
      const files = {
        [user]: servers({ a: { command: "a" } }),
        [`${root}/.mcp.json`]: servers({ b: { command: "b" } })
      }
      const found = yield* discovered(files, { enableProjectConfig: false, imports: ["all"] })
      assert.deepStrictEqual(states(found), { a: "Ready" })
    }))

  it.effect("leaves the home folder out too, and reads a file that it is given", () =>
    Effect.gen(function*() {
      const given = "/elsewhere/servers.json"
      const files = { [user]: servers({ a: { command: "a" } }), [given]: servers({ b: { command: "./b" } }) }
      const only = { enableProjectConfig: false, enableUserConfig: false, files: [{ path: given }] }
      const found = yield* discovered(files, only)
      assert.deepStrictEqual(states(found), { b: "Ready" })
      assert.strictEqual(found.configs[0]?.expansion?.directory, "/elsewhere")
      const named = {
        "/x/.cursor/mcp.json": servers({ c: { url: "https://a.example", env: {} } }),
        "/x/.mcp.json": "{}"
      }
      const hosts = yield* discovered(named, { ...only, files: Object.keys(named).map((path) => ({ path })) })
      assert.deepStrictEqual(hosts.files.map(({ provider }) => provider), ["cursor", "claude-code"])
      const relative = yield* discovered({ "/project/mine.json": files[given]! }, {
        ...only,
        files: [{ path: "mine.json" }]
      })
      assert.strictEqual(relative.configs[0]?.expansion?.directory, "/project")
      const gone = yield* discovered(files, { ...only, files: [{ path: "/nowhere.json" }] })
      assert.deepStrictEqual(gone.issues.map(({ kind, path }) => [kind, path]), [["unreadable", "/nowhere.json"]])
    }))

  it.effect("reads what plugins bring, and lets everything else be stronger", () =>
    Effect.gen(function*() {
      const files = {
        "/plugins/one/.mcp.json": JSON.stringify({ a: { command: "${CLAUDE_PLUGIN_ROOT}/a" }, b: { command: "b" } }),
        [user]: servers({ b: { command: "mine" } })
      }
      const found = yield* discovered(files, { plugins: ["/plugins/one"] })
      assert.deepStrictEqual(found.servers.map(({ name, provenance }) => [name, provenance.scope]).toSorted(), [
        ["a", "plugin"],
        ["b", "user"]
      ])
      const a = found.configs.find(({ name }) => name === "a")
      assert.strictEqual(a?.expansion?.builtins["pluginRoot"], "/plugins/one")
    }))

  it.effect("switches servers on and off, and hides them, by options", () =>
    Effect.gen(function*() {
      const files = {
        [user]: servers({ a: { command: "a" }, b: { command: "b", enabled: false }, c: { command: "c" } })
      }
      const found = yield* discovered(files, { disable: ["a"], enable: ["a", "b"], hide: { names: ["c"] } })
      assert.deepStrictEqual(states(found), { a: "Disabled", b: "Ready" })
      assert.deepStrictEqual(found.configs.map(({ enabled, name }) => [name, enabled]), [["a", false], ["b", true]])
      assert.deepStrictEqual(states(yield* discovered(files, { hide: { providers: ["native"] } })), {})
      const where = { where: ({ name }: ConfigDiscovery.Found) => name < "c" }
      assert.deepStrictEqual(states(yield* discovered(files, { hide: where })), { c: "Ready" })
    }))

  it.effect("sets what code gives above files, and below the administrator", () =>
    Effect.gen(function*() {
      const given = [Configs.stdio({ name: "a", command: "code" })]
      const files = { [user]: servers({ a: { command: "user" }, b: { command: "user" } }) }
      const found = yield* discovered(files, { servers: given })
      assert.deepStrictEqual(found.servers.map(({ name, provenance }) => [name, provenance.provider]), [
        ["a", "code"],
        ["b", "native"]
      ])
      const denied = { ...files, [managed]: JSON.stringify({ policy: { deny: [{ command: ["code"] }] } }) }
      assert.deepStrictEqual(states(yield* discovered(denied, { servers: given })), { a: "Denied", b: "Ready" })
    }))

  it.effect("gives each bad entry its sentence and its line, and its siblings their chance", () =>
    Effect.gen(function*() {
      const found = yield* discovered({
        [user]: "{ \"mcpServers\": {\n\"bad\": { \"command\": 5 },\n\"good\": { \"command\": \"x\" } } }",
        [`${root}/.mcp.json`]: "{ broken"
      })
      assert.deepStrictEqual(states(found), { bad: "Invalid", good: "Ready" })
      const issue = found.issues.find(({ server }) => server === "bad")
      assert.deepStrictEqual([issue?.kind, issue?.at, issue?.line, issue?.path], ["invalid-type", "command", 2, user])
      assert.isAbove(issue?.message.length ?? 0, 20)
      assert.include(kinds(found), "syntax")
    }))

  it.effect("keeps the last good state of a file that has gone bad, and forgets one that is gone", () =>
    Effect.gen(function*() {
      const files = new Map([[user, servers({ a: { command: "a" } })]])
      yield* withFiles(files, {}, ({ discover }) =>
        Effect.gen(function*() {
          yield* discover
          files.set(user, "{ \"mcpServers\": { \"a\": ")
          const stale = yield* discover
          assert.deepStrictEqual([states(stale), stale.files[0]?.stale], [{ a: "Ready" }, true])
          assert.deepStrictEqual(kinds(stale), ["syntax"])
          files.set(user, servers({ a: { command: "a" } }))
          const again = yield* discover
          assert.deepStrictEqual([states(again), again.files[0]?.stale, kinds(again)], [{ a: "Ready" }, false, []])
          files.delete(user)
          assert.deepStrictEqual(states(yield* discover), {})
        }))
    }))

  it.effect("says of a file that has not changed what it has said of it, and of one that has what is in it now", () =>
    Effect.gen(function*() {
      const files = new Map([[user, servers({ a: { command: "a", strange: 1 }, b: {} })]])
      yield* withFiles(files, {}, ({ discover }) =>
        Effect.gen(function*() {
          const first = yield* discover
          assert.include(kinds(first), "a: unknown-key")
          assert.deepStrictEqual(yield* discover, first)
          files.set(user, servers({ a: { command: "c", strange: 1 }, b: {} }))
          const [server] = (yield* discover).servers
          assert.strictEqual(server?.entry?.transport === "stdio" ? server.entry.command : undefined, "c")
        }))
    }))

  it.effect("is what code gives, and nothing else, when it is static", () =>
    Effect.gen(function*() {
      const { current, discover } = yield* ConfigDiscovery.ConfigDiscovery
      assert.deepStrictEqual(states(yield* discover), { a: "Ready" })
      assert.strictEqual((yield* current).configs[0]?.name, "a")
    }).pipe(Effect.provide(ConfigDiscovery.layerStatic([Configs.stdio({ name: "a", command: "a" })]))))

  const headerOf = (found: ConfigDiscovery.Discovery, host: Readonly<Record<string, string>>) =>
    Effect.gen(function*() {
      const config = found.configs[0]!
      const { config: resolved } = yield* (yield* Resolution.Resolution).resolve(config)
      return "headers" in resolved ? Redacted.value(resolved.headers?.get("Authorization") ?? Redacted.make("")) : ""
    }).pipe(Effect.provide(HostEnvironment.layer(host)))

  it.effect("expands the settings of SideCar from the env of the entry only, and with expandFrom those of all", () =>
    Effect.gen(function*() {
      const entry = { url: "https://a.example/mcp", headers: { Authorization: "Bearer ${GH}" }, env: { GH: "own" } }
      const settings = `${home}/.config/Code/User/settings.json`
      const sidecar = (entry: object) =>
        discovered({ [settings]: JSON.stringify({ "sidecar.mcpServers": { gh: entry } }) }, { imports: ["sidecar"] })
      const own = yield* sidecar(entry)
      assert.deepStrictEqual(kinds(own), [])
      assert.strictEqual(yield* headerOf(own, { GH: "outer" }), "Bearer own")
      const { env: _, ...unset } = entry
      const none = yield* sidecar(unset)
      assert.deepStrictEqual(kinds(none), ["gh: variable-unset"])
      assert.strictEqual((yield* Effect.flip(headerOf(none, { GH: "outer" })))._tag, "ConfigurationError")
      const native = (options: Partial<ConfigDiscovery.Options>) =>
        discovered({ [user]: servers({ gh: { ...unset, type: "http" } }) }, options)
      assert.strictEqual(yield* headerOf(yield* native({}), { GH: "outer" }), "Bearer outer")
      const exit = yield* Effect.exit(headerOf(yield* native({ expandFrom: "entry" }), { GH: "outer" }))
      assert.isTrue(Exit.isFailure(exit))
    }))

  it.scopedLive("follows a stream of the application, whose documents keep their last good content", () =>
    Effect.gen(function*() {
      const snapshots = yield* Queue.unbounded<ConfigDiscovery.Snapshot>()
      const mine = (...names: ReadonlyArray<string>) => names.map((name) => Configs.stdio({ name, command: name }))
      const document = (content: string) => [{ path: "/app/mcp-client.json", content }]
      yield* snapshots.offer({ servers: mine("a"), documents: document(servers({ b: { command: "b" } })) })
      const layer = ConfigDiscovery.layerStream(Stream.fromQueue(snapshots), { disable: ["c"] })
      const context = yield* Layer.build(Layer.provide(layer, Trust.layerMemory()))
      const { changes, current } = Context.get(context, ConfigDiscovery.ConfigDiscovery)
      assert.deepStrictEqual(states(yield* current), { a: "Ready", b: "Ready" })
      const seen = yield* Stream.toQueueOfElements(changes)
      const next = Effect.map(Effect.flatMap(Queue.take(seen), (exit) => exit), (discovery) => ({
        states: states(discovery),
        issues: kinds(discovery)
      }))
      yield* snapshots.offer({ servers: mine("a", "c"), documents: document("{") })
      assert.deepStrictEqual(yield* next, {
        states: { a: "Ready", b: "Ready", c: "Disabled" },
        issues: ["syntax"]
      })
      yield* snapshots.offer({})
      assert.deepStrictEqual(yield* next, {
        states: {},
        issues: []
      })
    }))

  const json = FastCheck.jsonValue({ maxDepth: 4 })
  const field = FastCheck.oneof(
    json,
    FastCheck.constantFrom<unknown>(
      "x",
      true,
      ["*"],
      "${env:SECRET}",
      { SECRET: "${SECRET:-a}" },
      "stdio",
      "http://a.example"
    )
  )
  const keys = [
    "command",
    "args",
    "env",
    "url",
    "headers",
    "autoApprove",
    "alwaysAllow",
    "trust",
    "trusted",
    "enabled",
    "headersHelper",
    "expansion",
    "blocked",
    "provenance",
    "__proto__",
    "bearer_token_env_var"
  ]
  const entry = FastCheck.dictionary(FastCheck.constantFrom(...keys), field, { maxKeys: 6 })
  const document = FastCheck.record({
    mcpServers: FastCheck.oneof(FastCheck.dictionary(FastCheck.string(), FastCheck.oneof(entry, json)), json),
    policy: field,
    imports: FastCheck.constantFrom<unknown>(["all"], "all", undefined)
  }, { requiredKeys: [] })

  it.effect.prop(
    "gives nothing in the workspace a right, whatever it says",
    [document, document, FastCheck.constantFrom(".mcp.json", "mcp-client.json", "mcp-client.local.json")],
    ([project, mine, name]) =>
      Effect.gen(function*() {
        const own = { [user]: JSON.stringify(mine) }
        const without = yield* discovered(own)
        const found = yield* discovered({ ...own, [`${root}/${name}`]: JSON.stringify(project) })
        for (const { config, provenance } of found.servers) {
          if (provenance.origin !== "workspace" || config === undefined) continue
          assert.isDefined(config.blocked)
          assert.isUndefined(config.autoApprove)
          assert.isUndefined(config.trusted)
          assert.deepStrictEqual(config.expansion?.grants, [])
        }
        // what was not ready before is not ready because of it
        const ready = new Set(without.servers.flatMap(({ name, state }) => state._tag === "Ready" ? [name] : []))
        for (const { name, state } of found.servers) if (state._tag === "Ready") assert.isTrue(ready.has(name))
      }).pipe(Effect.orDie),
    { fastCheck: { numRuns: costlyRuns(60) } }
  )
})
