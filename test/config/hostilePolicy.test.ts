import * as Path from "@effect/platform/Path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Layer } from "effect"
import * as ConfigDiscovery from "../../src/config/ConfigDiscovery.ts"
import * as ConfigFiles from "../../src/config/ConfigFiles.ts"
import * as HostEnvironment from "../../src/config/HostEnvironment.ts"
import * as Resolution from "../../src/config/Resolution.ts"
import * as Trust from "../../src/config/Trust.ts"
import * as McpError from "../../src/McpError.ts"
import * as Configs from "../support/configs.ts"

const managed = "/etc/ours/mcp-client.json"
const settings = "/etc/claude-code/managed-settings.json"
const user = "/home/me/.config/ours/mcp-client.json"

type Files = Readonly<Record<string, string>>

const discovered = (files: Files, options: Partial<ConfigDiscovery.Options> = {}) =>
  Effect.flatMap(ConfigDiscovery.ConfigDiscovery, ({ discover }) => discover).pipe(
    Effect.provide(
      Layer.provide(
        ConfigDiscovery.layerTest(new Map(Object.entries(files)), {
          app: "ours",
          imports: ["claude-code"],
          ...options
        }),
        Trust.layerMemory()
      )
    )
  )

const states = (files: Files, options: Partial<ConfigDiscovery.Options> = {}) =>
  Effect.map(
    discovered(files, options),
    ({ servers }) => Object.fromEntries(servers.map(({ name, state }) => [name, state._tag]))
  )

const entry = (of: object) => JSON.stringify({ mcpServers: { x: of } })

/** The same rules in our words and in those of a host, as an administrator has laid them down. */
const administrators = (deny: ReadonlyArray<unknown>, theirs: ReadonlyArray<unknown>): ReadonlyArray<Files> => [
  { [managed]: JSON.stringify({ policy: { deny } }) },
  { [settings]: JSON.stringify({ deniedMcpServers: theirs }) }
]

const bad = "https://API.Bad.Example:443/mcp"

describe("what an administrator denies", () => {
  const denials = administrators([{ url: "https://*.bad.example/*" }], [{ serverUrl: "https://*.bad.example/*" }])

  it.effect("is denied on every way in which a server can be found (cfg-067)", () =>
    Effect.gen(function*() {
      const claude = JSON.stringify({ mcpServers: { x: { type: "http", url: bad } } })
      const ways: ReadonlyArray<readonly [Files, Partial<ConfigDiscovery.Options>]> = [
        [{ [user]: entry({ url: bad }) }, {}],
        [{ "/project/.mcp.json": claude }, {}],
        [{ "/project/mcp-client.json": entry({ url: bad }) }, {}],
        [{ "/project/mcp-client.local.json": entry({ url: bad }) }, {}],
        [{ "/home/me/.claude.json": claude }, {}],
        [{ "/home/me/.cursor/mcp.json": entry({ url: bad }) }, { imports: ["claude-code", "cursor"] }],
        [{ "/plugins/a/.mcp.json": claude }, { plugins: ["/plugins/a"] }],
        [{ "/given.json": entry({ url: bad }) }, { files: [{ path: "/given.json" }] }],
        [{}, { servers: [Configs.http({ name: "x", url: bad })] }],
        // switching it on is not enough
        [{ [user]: entry({ url: bad, enabled: false }) }, { enable: ["x"] }]
      ]
      for (const denial of denials) {
        for (const [files, options] of ways) {
          assert.deepStrictEqual(
            yield* states({ ...denial, ...files }, options),
            { x: "Denied" },
            JSON.stringify(files)
          )
        }
      }
    }))

  it.effect("is denied when a variable turns out to lead there, at each connect anew (cfg-067)", () =>
    Effect.gen(function*() {
      const found = yield* discovered({ ...denials[0]!, [user]: entry({ url: "https://${WHERE}/mcp" }) })
      const connect = (where: string) =>
        Effect.flatMap(Resolution.Resolution, ({ resolve }) => resolve(found.configs[0]!)).pipe(
          Effect.provide(
            Layer.merge(Resolution.layerTest({ policies: found.policies }), HostEnvironment.layer({ WHERE: where }))
          ),
          Effect.either
        )
      assert.isTrue(Either.isRight(yield* connect("good.example")))
      const denied = yield* connect("API.bad.example:443")
      assert.strictEqual(Either.isLeft(denied) ? McpError.label(denied.left) : undefined, "PermissionDenied/policy")
    }))

  it.effect("holds beside a rule that is none, and that is said (cfg-068)", () =>
    Effect.gen(function*() {
      const rules = administrators([{ url: "[" }, { name: "x" }], [{ serverUrl: "[" }, { serverName: "x" }])
      for (const policy of rules) {
        const files = {
          ...policy,
          [user]: JSON.stringify({ mcpServers: { x: { command: "a" }, y: { command: "b" } } })
        }
        assert.deepStrictEqual(yield* states(files), { x: "Denied", y: "Ready" })
        const { issues } = yield* discovered(files)
        const said = issues.filter(({ kind }) => kind === "invalid-policy")
        assert.lengthOf(said, 1)
        assert.include(said[0]?.at, "/0")
      }
    }))

  it.effect("is everything, if what is written cannot be read (cfg-068)", () =>
    Effect.gen(function*() {
      for (const file of [managed, settings, "/etc/claude-code/managed-mcp.json", "/etc/ours/mcp-client.toml"]) {
        for (const text of ["{\"policy\":", "\ufffe", "[]", "null", "{} {}", "x y", "{\"a\":1,\"a\":2}"]) {
          const files = { [file]: text, [user]: entry({ command: "a" }), "/project/.mcp.json": entry({ command: "b" }) }
          const found = yield* states(files)
          assert.notInclude(Object.values(found), "Ready", `${file} ${text}`)
          assert.notInclude(Object.values(found), "Untrusted", `${file} ${text}`)
        }
      }
    }))

  it.effect("is what the variables were when the program began (cfg-069)", () =>
    Effect.gen(function*() {
      const variables = { HOME: "/home/me" }
      const host = Layer.succeed(HostEnvironment.HostEnvironment, { platform: "linux", variables: () => variables })
      for (
        const policy of [
          { [managed]: JSON.stringify({ policy: { allow: [{ command: ["${HOME}/bin/srv"] }] } }) },
          { [settings]: JSON.stringify({ allowedMcpServers: [{ serverCommand: ["${HOME}/bin/srv"] }] }) }
        ]
      ) {
        const servers = {
          mine: { command: "/home/me/bin/srv" },
          more: { command: "/home/me/bin/srv", args: ["--evil"] },
          evil: { command: "/evil/bin/srv" }
        }
        const text = JSON.stringify({ mcpServers: servers })
        // its own files are those of the host that wrote the list
        const files = policy[settings] === undefined ? { [user]: text } : { "/home/me/.claude.json": text }
        const found = yield* Effect.gen(function*() {
          const { discover } = yield* ConfigDiscovery.ConfigDiscovery
          const before = yield* discover
          Object.assign(variables, { HOME: "/evil" })
          return [before, yield* discover]
        }).pipe(
          Effect.ensuring(Effect.sync(() => Object.assign(variables, { HOME: "/home/me" }))),
          Effect.provide(Layer.provide(
            ConfigDiscovery.layerFiles({
              app: "ours",
              imports: ["claude-code"],
              directory: "/project",
              root: "/project",
              home: "/home/me"
            }),
            Layer.mergeAll(
              Trust.layerMemory(),
              ConfigFiles.layerMemory(new Map(Object.entries({ ...policy, ...files }))),
              Path.layer,
              host
            )
          ))
        )
        for (const { servers } of found) {
          assert.deepStrictEqual(Object.fromEntries(servers.map(({ name, state }) => [name, state._tag])), {
            mine: "Ready",
            more: "Denied",
            evil: "Denied"
          })
        }
      }
    }))

  it.effect("is not allowed by a workspace, a plugin or a name (cfg-004, cfg-067)", () =>
    Effect.gen(function*() {
      const allowing = { policy: { allow: [{ name: "*" }, { url: "*" }], deny: [], managedOnly: false } }
      const own = JSON.stringify({ mcpServers: { x: { url: bad } }, ...allowing })
      for (const file of ["/project/mcp-client.json", "/project/mcp-client.local.json", user]) {
        assert.deepStrictEqual(yield* states({ ...denials[0]!, [file]: own }), { x: "Denied" }, file)
      }
      // who lists argv does not allow a name
      const listed = { [managed]: JSON.stringify({ policy: { allow: [{ command: ["good"] }, { name: "x" }] } }) }
      assert.deepStrictEqual(yield* states({ ...listed, [user]: entry({ command: "evil" }) }), { x: "Denied" })
      assert.deepStrictEqual(yield* states({ ...listed, [user]: entry({ command: "good" }) }), { x: "Ready" })
    }))
})
