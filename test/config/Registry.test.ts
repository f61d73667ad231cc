import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer } from "effect"
import * as ConfigDiscovery from "../../src/config/ConfigDiscovery.ts"
import * as Registry from "../../src/config/Registry.ts"
import * as Trust from "../../src/config/Trust.ts"
import * as McpError from "../../src/McpError.ts"
import { registry, weather } from "../support/registry.ts"

const lookUp = (name: string, options: Partial<Registry.LookUpOptions>) =>
  Registry.lookUp(name, options).pipe(Effect.provide(FetchHttpClient.layer))

const detailOf = (name: string, options: Partial<Registry.LookUpOptions>) =>
  Effect.map(Effect.flip(lookUp(name, options)), ({ detail }) => detail)

describe("Registry.lookUp", () => {
  it.scopedLive("gives the entries of the latest version, with the address of the document", () =>
    Effect.gen(function*() {
      const address = yield* registry()
      const found = yield* lookUp("io.github.acme/weather", { address })
      assert.deepStrictEqual([found.name, found.version], ["io.github.acme/weather", "1.2.0"])
      assert.deepStrictEqual(found.options.map(({ source }) => source), ["npm", "mcpb", "streamable-http"])
      assert.deepStrictEqual(found.options[1]?.entry, { kind: "unsupported-field", at: "registryType" })
      const source = `${address}/v0.1/servers/io.github.acme%2Fweather/versions/latest`
      assert.deepStrictEqual(Registry.document(found, found.options[0]!), {
        mcpServers: {
          weather: {
            type: "stdio",
            command: "npx",
            args: ["-y", "@acme/weather@1.2.0"],
            env: { KEY: "${input:KEY}" },
            source
          }
        },
        inputs: [{ id: "KEY", description: "The key", secret: true, default: undefined, choices: undefined }]
      })
      assert.isUndefined(Registry.document(found, found.options[1]!))
      assert.deepStrictEqual(Registry.document(found, found.options[2]!), {
        mcpServers: {
          weather: {
            type: "streamable-http",
            url: "https://weather.example/mcp",
            headers: { "X-Client": "us" },
            source
          }
        }
      })
    }))

  it.scopedLive("asks for the version that is named", () =>
    Effect.gen(function*() {
      const asked: Array<string> = []
      const address = yield* registry((path) => {
        asked.push(path)
        return { body: { server: { ...weather.server, version: "1.0.0" } } }
      })
      const { version } = yield* lookUp("io.github.acme/weather@1.0.0", { address: `${address}/mirror` })
      assert.deepStrictEqual([version, asked], [
        "1.0.0",
        ["/mirror/v0.1/servers/io.github.acme%2Fweather/versions/1.0.0"]
      ])
    }))

  it.scopedLive("gives a document that a discovery reads without an issue", () =>
    Effect.gen(function*() {
      const address = yield* registry()
      const found = yield* lookUp("io.github.acme/weather", { address })
      const text = JSON.stringify(Registry.document(found, found.options[0]!))
      const files = new Map([["/home/me/.config/mcp-runtime/mcp-client.json", text]])
      const { issues, servers } = yield* ConfigDiscovery.ConfigDiscovery.pipe(
        Effect.flatMap(({ discover }) => discover),
        Effect.provide(Layer.provide(ConfigDiscovery.layerTest(files), Trust.layerMemory()))
      )
      assert.deepStrictEqual(issues, [])
      assert.deepStrictEqual(servers.map(({ name, state }) => [name, state._tag]), [["weather", "Ready"]])
    }))

  it.scopedLive("asks the API of version 0 where there is none of version 0.1", () =>
    Effect.gen(function*() {
      for (const last of ["/v0/servers/io.github.acme%2Fweather", "/versions/latest"]) {
        const address = yield* registry((path) =>
          path.startsWith("/v0/") && path.endsWith(last) ? { body: weather } : { status: 404, body: {} }
        )
        const found = yield* lookUp("io.github.acme/weather", { address })
        assert.strictEqual(found.version, "1.2.0")
        assert.isTrue(found.address.startsWith(`${address}/v0/`), found.address)
      }
    }))

  it.scopedLive("reads the server.json at an address as it is", () =>
    Effect.gen(function*() {
      const address = `${yield* registry(() => ({ body: weather.server }))}/acme/server.json`
      const found = yield* lookUp(address, {})
      assert.deepStrictEqual([found.name, found.address], ["io.github.acme/weather", address])
      for (const other of ["http://acme.example/server.json", "https://me:secret@acme.example/server.json", "x://"]) {
        assert.match(yield* detailOf(other, {}), /https address/)
      }
    }))

  it.scopedLive("says what to do about an answer that it does not take", () =>
    Effect.gen(function*() {
      const answers: ReadonlyArray<readonly [Parameters<typeof registry>[0], RegExp]> = [
        [() => ({ status: 404, body: {} }), /no such server or version: check the name/],
        [() => ({ status: 503, body: {} }), /status 503: try again later/],
        [() => ({ status: 302, headers: { location: "https://elsewhere.example/" }, body: {} }), /status 302/],
        [() => ({ body: { server: { name: "io.github.evil/weather" } } }), /no document of this server/],
        [() => ({ text: "<html>" }), /no document of this server/],
        [() => ({ text: "[".repeat(1_000) }), /no document of this server/],
        [() => ({ text: JSON.stringify({ padding: "x".repeat(5_000) }) }), /more than 4096 bytes/],
        [() => undefined, /not answer in time/],
        [
          () => ({
            body: { ...weather, _meta: { "io.modelcontextprotocol.registry/official": { status: "deleted" } } }
          }),
          /deleted from the registry/
        ]
      ]
      for (const [answer, expected] of answers) {
        const address = yield* registry(answer)
        const limits = {
          address,
          maxBytes: 4_096,
          timeout: answer?.("") === undefined ? "50 millis" : "5 seconds"
        } as const
        assert.match(yield* detailOf("io.github.acme/weather", limits), expected)
      }
    }))

  it.effect("connects to no address that is not encrypted, but of this machine, and to none for a wrong name", () =>
    Effect.gen(function*() {
      for (const address of ["http://registry.example", "ftp://localhost", "https://me:secret@registry.example", "x"]) {
        assert.match(yield* detailOf("io.github.acme/weather", { address }), /https address/)
      }
      for (const name of ["", "weather", "a/b/c", "a/..", "../a", "a/b@", "a/b@1/2", "a b/c", `${"a".repeat(200)}/b`]) {
        assert.match(yield* detailOf(name, {}), /like io\.github\.acme\/weather/)
      }
    }))

  it.effect("names the registry and not a file in its errors", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(lookUp("weather", { address: "https://registry.example" }))
      assert.strictEqual(error._tag, "RegistryError")
      assert.match(error.message, /registry.*"https:\/\/registry\.example": a name in the registry is like/)
      assert.notMatch(McpError.forPerson(error), /Correct the file/)
    }))

  it.live("fails for a registry that is not there", () =>
    Effect.gen(function*() {
      const exit = yield* Effect.exit(lookUp("io.github.acme/weather", { address: "http://127.0.0.1:1" }))
      assert.match(String(Exit.isFailure(exit) && exit.cause), /cannot be reached/)
    }))
})

describe("Registry.search", () => {
  it.scopedLive("gives the names that contain a text, without the deleted, the older and the misshapen", () =>
    Effect.gen(function*() {
      const asked: Array<string> = []
      const official = "io.modelcontextprotocol.registry/official"
      const address = yield* registry((path) => {
        asked.push(path)
        const older = { ...weather, _meta: { [official]: { isLatest: false } } }
        const deleted = { ...weather, _meta: { [official]: { status: "deleted" } } }
        return path.startsWith("/v0.1/")
          ? { status: 404, body: {} }
          : { body: { servers: [older, deleted, weather, { name: "io.github.b/c" }, { name: "\u001b[2J" }, 5] } }
      })
      const found = yield* Registry.search("wea ther", { address }).pipe(Effect.provide(FetchHttpClient.layer))
      assert.deepStrictEqual(found, [
        { name: "io.github.acme/weather", version: "1.2.0", description: "Tells the weather" },
        { name: "io.github.b/c", version: "", description: undefined }
      ])
      assert.deepStrictEqual(
        asked,
        ["0.1", "0"].map((version) => `/v${version}/servers?search=wea%20ther&version=latest&limit=30`)
      )
    }))
})

describe("Registry.read", () => {
  const read = (value: unknown) => Registry.read(new TextEncoder().encode(JSON.stringify(value)), "/work/server.json")

  it.effect("reads a document that is at hand, with its path as the source", () =>
    Effect.gen(function*() {
      const found = yield* read(weather.server)
      assert.deepStrictEqual(found, yield* read(weather))
      const document = Registry.document(found, found.options[2]!)
      assert.deepStrictEqual(document, {
        mcpServers: {
          weather: {
            type: "streamable-http",
            url: "https://weather.example/mcp",
            headers: { "X-Client": "us" },
            source: "/work/server.json"
          }
        }
      })
      for (const other of [{}, [], 5, { name: "" }]) {
        assert.match((yield* Effect.flip(read(other))).detail, /no document of a server: give a server.json/)
      }
    }))

  it.effect("shows all of what an option would run, and no value of a secret", () =>
    Effect.gen(function*() {
      const found = yield* read(weather.server)
      const shown = found.options.map((option) => Registry.lines(option).map(({ label, text }) => `${label}: ${text}`))
      assert.deepStrictEqual(shown[0], [
        "server: \"weather\"",
        "program: \"npx\"",
        "argument 1: \"-y\"",
        "argument 2: \"@acme/weather@1.2.0\"",
        "variable: \"KEY\" = (hidden, 12 characters) with \"input:KEY\"",
        "asks you: \"KEY\""
      ])
      assert.deepStrictEqual(shown[1], [])
      assert.include(shown[2]!, "address: \"https://weather.example/mcp\"")
    }))
})
