import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
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
      assert.deepStrictEqual(Registry.options(found.server).map(({ source }) => source), [
        "npm",
        "mcpb",
        "streamable-http"
      ])
      assert.deepStrictEqual(Registry.options(found.server)[1]?.entry, {
        kind: "unsupported-field",
        at: "registryType"
      })
      const source = `${address}/v0.1/servers/io.github.acme%2Fweather/versions/latest`
      assert.deepStrictEqual(Registry.document(found, Registry.options(found.server)[0]!), {
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
      assert.isUndefined(Registry.document(found, Registry.options(found.server)[1]!))
      assert.deepStrictEqual(Registry.document(found, Registry.options(found.server)[2]!), {
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
      const text = JSON.stringify(Registry.document(found, Registry.options(found.server)[0]!))
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
        assert.match(yield* detailOf(other, {}), /must be https/)
      }
    }))

  it.scopedLive("says what to do about an answer that it does not take", () =>
    Effect.gen(function*() {
      const answers: ReadonlyArray<readonly [Parameters<typeof registry>[0], RegExp]> = [
        [() => ({ status: 404, body: {} }), /no such server or version: check the name/],
        [() => ({ status: 503, body: {} }), /status 503: try again later/],
        [
          () => ({ status: 302, headers: { location: "https://elsewhere.example/" }, body: {} }),
          /status 302: it redirects: use the final address/
        ],
        [() => ({ status: 403, body: {} }), /status 403: it refuses the request: check the address/],
        [() => ({ status: 429, body: {} }), /status 429: try again later/],
        [() => ({ body: { server: { name: "io.github.evil/weather" } } }), /not the document of this server/],
        [() => ({ text: "<html>" }), /not the document of this server/],
        [() => ({ text: "[".repeat(1_000) }), /not the document of this server/],
        [() => ({ text: JSON.stringify({ padding: "x".repeat(5_000) }) }), /more than 4096 bytes/],
        [() => undefined, /not respond in time/],
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
        assert.match(yield* detailOf("io.github.acme/weather", { address }), /must be https/)
      }
      for (const name of ["", "weather", "a/b/c", "a/..", "../a", "a/b@", "a/b@1/2", "a b/c", `${"a".repeat(200)}/b`]) {
        assert.match(yield* detailOf(name, {}), /like io\.github\.acme\/weather/)
      }
    }))

  it.effect("shows no user and no password of an address in its errors", () =>
    Effect.gen(function*() {
      const credentials = "https://me:secret@acme.example"
      const attempts = [
        lookUp(`${credentials}/server.json`, {}),
        lookUp("https://me:sec/ret@acme.example:x/server.json", {}),
        lookUp("io.github.acme/weather", { address: credentials }),
        lookUp("weather", { address: credentials }),
        Registry.search("weather", { address: credentials }).pipe(Effect.provide(FetchHttpClient.layer))
      ]
      for (const attempt of attempts) {
        const { address, message, server } = yield* Effect.flip<unknown, McpError.RegistryError, never>(attempt)
        assert.notMatch([address, message, server].join(" "), /me:|sec|ret@/)
        assert.match(address, /^https:\/\/acme\.example/)
      }
      const { address } = yield* Effect.flip(lookUp("http://npm.example/@acme/server.json", {}))
      assert.strictEqual(address, "http://npm.example/@acme/server.json")
    }))

  // what took quadratic time would not end within the time that a test has
  it.effect("reads an answer of many small parts", () =>
    Effect.gen(function*() {
      const bytes = new TextEncoder().encode(JSON.stringify(weather).padEnd(400_000))
      let at = 0
      const body = new ReadableStream<Uint8Array>({
        pull: (controller) => at === bytes.length ? controller.close() : controller.enqueue(bytes.subarray(at, ++at))
      })
      const client = HttpClient.make((request) =>
        Effect.succeed(HttpClientResponse.fromWeb(request, new Response(body)))
      )
      const found = yield* Effect.provideService(
        Registry.lookUp("io.github.acme/weather", { timeout: "10 minutes" }),
        HttpClient.HttpClient,
        client
      )
      assert.strictEqual(found.version, "1.2.0")
    }))

  it.effect("names the registry and not a file in its errors", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(lookUp("weather", { address: "https://registry.example" }))
      assert.strictEqual(error._tag, "RegistryError")
      assert.match(error.message, /registry.*"https:\/\/registry\.example": a registry name looks like/)
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
      const document = Registry.document(found, Registry.options(found.server)[2]!)
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
        assert.match((yield* Effect.flip(read(other))).detail, /not the document of a server: provide a server.json/)
      }
    }))

  it.effect("shows all of what an option would run, and no value of a secret", () =>
    Effect.gen(function*() {
      const found = yield* read(weather.server)
      const shown = Registry.options(found.server).map((option) =>
        Registry.lines(option).map(({ label, text }) => `${label}: ${text}`)
      )
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

describe("Registry.options", () => {
  const optionsOf = (parts: object, as?: string) =>
    Effect.map(
      Registry.read(new TextEncoder().encode(JSON.stringify({ name: "acme/weather", ...parts })), "/server.json"),
      ({ server }) => Registry.options(server, as)[0]!
    )
  const npm = { registryType: "npm", identifier: "weather", version: "1.0.0" }

  it.effect("asks for each input on its own, and once for a variable that one input has twice", () =>
    Effect.gen(function*() {
      const path = { type: "positional", valueHint: "path", isRequired: true }
      const { entry, inputs } = yield* optionsOf({
        packages: [{
          ...npm,
          packageArguments: [
            path,
            path,
            { type: "named", name: "--token", isRequired: true, isSecret: true },
            { type: "positional", value: "{part}/{part}", variables: { part: { isRequired: true } } },
            { type: "positional", value: "{part}", variables: { part: { isRequired: true } } }
          ],
          environmentVariables: [{ name: "token", isRequired: true }, { name: "TOKEN", isRequired: true }]
        }]
      })
      assert.deepStrictEqual(Registry.isFault(entry) ? entry : [entry.get("args"), entry.get("env")], [
        [
          "-y",
          "weather@1.0.0",
          "${input:path}",
          "${input:path-2}",
          "--token",
          "${input:token}",
          "${input:part}/${input:part}",
          "${input:part-3}"
        ],
        new Map([["token", "${input:token-4}"], ["TOKEN", "${input:TOKEN-5}"]])
      ])
      assert.deepStrictEqual(inputs.map(({ id, secret }) => [id, secret]), [
        ["path", false],
        ["path-2", false],
        ["token", true],
        ["part", false],
        ["part-3", false],
        ["token-4", false],
        ["TOKEN-5", false]
      ])
    }))

  it.effect("begins the ids of questions with a given name, and keeps literal text that looks like a question", () =>
    Effect.gen(function*() {
      const { entry, inputs, name } = yield* optionsOf({
        packages: [{
          ...npm,
          packageArguments: [{ type: "positional", value: "${input:x}" }],
          environmentVariables: [{ name: "KEY", isRequired: true }]
        }]
      }, "my weather")
      assert.strictEqual(name, "my weather")
      assert.deepStrictEqual(Registry.isFault(entry) ? entry : [entry.get("args"), entry.get("env")], [
        ["-y", "weather@1.0.0", "$${input:x}"],
        new Map([["KEY", "${input:my-weather-KEY}"]])
      ])
      assert.deepStrictEqual(inputs.map(({ id }) => id), ["my-weather-KEY"])
    }))

  // what took quadratic time would not end within the time that a test has
  it.effect("asks many inputs of one name in linear time", () =>
    Effect.gen(function*() {
      const same = Array.from({ length: 20_000 }, () => ({ name: "KEY", isRequired: true }))
      const taken = same.map((_, at) => ({ name: `KEY-${at}`, isRequired: true }))
      const { inputs } = yield* optionsOf({
        packages: [{ ...npm, environmentVariables: [...taken, ...same] }]
      })
      assert.strictEqual(new Set(inputs.map(({ id }) => id)).size, 40_000)
    }))
})
