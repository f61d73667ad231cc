/** `add` looks a server up in a registry, shows what it would run, and writes it after a yes. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { registry, weather } from "../support/registry.ts"
import { own, type Place, place, run } from "./inProcess.ts"

const userFile = ({ home }: Place): string => join(home, ".config/mcp-runtime/mcp-client.json")

const written = (at: Place) => JSON.parse(readFileSync(userFile(at), "utf8"))

describe("add", () => {
  it.scopedLive("shows what it would run, and writes the pinned entry after a yes", () =>
    Effect.gen(function*() {
      const at = yield* place
      const address = yield* registry()
      const argv = ["add", "io.github.acme/weather", "--registry", address]
      const no = yield* run(at, argv, { answers: ["n"] })
      assert.deepStrictEqual([no.code, no.asked], [2, ["Add this server? [y/N] "]])
      assert.isFalse(existsSync(userFile(at)))
      const { code, err } = yield* run(at, argv, { answers: ["y"] })
      assert.strictEqual(code, 0, err)
      assert.match(err, /io\.github\.acme\/weather 1\.2\.0, as npm\nTells the weather\n/)
      assert.match(err, /program: +"npx"\n +argument 1: +"-y"\n +argument 2: +"@acme\/weather@1\.2\.0"/)
      assert.match(err, /asks you: +"weather-KEY"/)
      assert.match(err, /Optional: env\.LOG_FILE, Where to log/)
      assert.match(err, /Also available with --source: streamable-http/)
      assert.match(err, new RegExp(`Added weather in ${userFile(at)}`))
      const { inputs, mcpServers } = written(at)
      assert.deepInclude(mcpServers.weather, {
        command: "npx",
        args: ["-y", "@acme/weather@1.2.0"],
        env: { KEY: "${input:weather-KEY}" }
      })
      assert.deepStrictEqual(inputs, [{ id: "weather-KEY", description: "The key", secret: true }])
      const { out } = yield* run(at, ["config", "--json"])
      assert.deepStrictEqual(JSON.parse(out).servers.map(({ name, state }: never) => [name, state]), [[
        "weather",
        "waiting"
      ]])
    }))

  it.scopedLive("shows the program last, also with --quiet, and of a description its beginning", () =>
    Effect.gen(function*() {
      const at = yield* place
      const long = "x".repeat(100_000)
      const body = structuredClone(weather)
      body.server.description = long
      body.server.packages[0]!.environmentVariables![1]!.description = long
      const argv = ["add", "io.github.acme/weather", "--quiet", "--registry", yield* registry(() => ({ body }))]
      const { asked, err } = yield* run(at, argv, { answers: ["n"] })
      assert.lengthOf(asked, 1)
      assert.isBelow(err.length, 2000)
      assert.match(err, /Optional: env\.LOG_FILE, x+….*\n.*Also available.*\n[^]* program: +"npx"/)
    }))

  it.scopedLive("asks nothing about a program that is too long to be seen", () =>
    Effect.gen(function*() {
      const at = yield* place
      const body = structuredClone(weather)
      Object.assign(body.server.packages[0]!, {
        packageArguments: [{ type: "positional", value: "x".repeat(100_000) }]
      })
      const argv = ["add", "io.github.acme/weather", "--registry", yield* registry(() => ({ body }))]
      const { asked, code, err } = yield* run(at, argv, { answers: ["y"] })
      assert.deepStrictEqual([code, asked], [2, []])
      assert.match(err, /the entry is too long to be shown for confirmation\n.*--print/)
      assert.strictEqual((yield* run(at, [...argv, "--yes"])).code, 0)
    }))

  it.scopedLive("replaces with --force a question that is a secret now", () =>
    Effect.gen(function*() {
      const at = yield* place
      at.write(own, { inputs: [{ id: "weather-KEY" }], mcpServers: { weather: { command: "x" } } })
      const argv = ["add", "io.github.acme/weather", "--registry", yield* registry(), "--yes", "--force"]
      assert.strictEqual((yield* run(at, argv)).code, 0)
      assert.deepStrictEqual(written(at).inputs, [{ id: "weather-KEY", description: "The key", secret: true }])
    }))

  it.scopedLive("writes nothing without a terminal, unless --yes is given", () =>
    Effect.gen(function*() {
      const at = yield* place
      const argv = ["add", "io.github.acme/weather", "--registry", yield* registry()]
      const { code, err } = yield* run(at, argv)
      assert.strictEqual(code, 2)
      assert.match(err, /nothing was added\n.*--yes/)
      assert.isFalse(existsSync(userFile(at)))
      const forced = yield* run(at, [...argv, "--yes", "--json"])
      assert.deepStrictEqual(JSON.parse(forced.out), {
        file: userFile(at),
        added: ["weather"],
        removed: [],
        imported: []
      })
      const again = yield* run(at, [...argv, "--yes"])
      assert.strictEqual(again.code, 2)
      assert.match(again.err, /the server "weather" already exists in .*\n.*--force/)
    }))

  it.scopedLive("keeps the questions of two servers apart, and takes another name", () =>
    Effect.gen(function*() {
      const at = yield* place
      const argv = ["add", "io.github.acme/weather", "--registry", yield* registry(), "--yes"]
      for (const name of ["a", "b"]) assert.strictEqual((yield* run(at, [...argv, "--name", name])).code, 0)
      const { inputs, mcpServers } = written(at)
      assert.deepStrictEqual(inputs.map(({ id }: { id: string }) => id), ["a-KEY", "b-KEY"])
      assert.deepStrictEqual([mcpServers.a.env.KEY, mcpServers.b.env.KEY], ["${input:a-KEY}", "${input:b-KEY}"])
    }))

  it.scopedLive("takes another way to run it with --source, and only prints it with --print", () =>
    Effect.gen(function*() {
      const at = yield* place
      const argv = ["add", "io.github.acme/weather", "--registry", yield* registry(), "--print"]
      const remote = yield* run(at, [...argv, "--source", "streamable-http"])
      assert.strictEqual(JSON.parse(remote.out).mcpServers.weather.url, "https://weather.example/mcp")
      const validated = yield* run(at, ["config", "validate", at.write("mcp-client.json", remote.out)])
      assert.deepStrictEqual([validated.code, validated.out], [0, "valid: 1 server, format native\n"])
      const unknown = yield* run(at, [...argv, "--source", "oci"])
      assert.deepStrictEqual([unknown.code, unknown.out], [3, ""])
      assert.match(unknown.err, /not available as oci; choose one of npm, streamable-http/)
      assert.isFalse(existsSync(userFile(at)))
    }))

  it.scopedLive("reads a document from a file or an address, and the registry of the environment", () =>
    Effect.gen(function*() {
      const at = yield* place
      const asked: Array<string> = []
      const address = yield* registry((path) => {
        asked.push(path)
        return { body: weather }
      })
      const file = at.write("work/server.json", weather.server)
      for (const wanted of [file, `${address}/server.json`]) {
        assert.strictEqual((yield* run(at, ["add", wanted, "--yes", "--force"])).code, 0)
        assert.strictEqual(written(at).mcpServers.weather.source, wanted)
      }
      yield* run(at, ["add", "io.github.acme/weather", "--print"], { variables: { MCP_REGISTRY_URL: address } })
      assert.deepStrictEqual(asked, ["/server.json", "/v0.1/servers/io.github.acme%2Fweather/versions/latest"])
      const { code, err } = yield* run(at, ["add", "./none.json"])
      assert.deepStrictEqual([code, /none\.json.*cannot read the file/.test(err)], [3, true])
    }))

  it.scopedLive("finds names by a part of them", () =>
    Effect.gen(function*() {
      const at = yield* place
      const address = yield* registry((path) => ({
        body: { servers: path.includes("weather") ? [weather] : [] }
      }))
      const { code, err } = yield* run(at, ["add", "weather", "--registry", address])
      assert.strictEqual(code, 2)
      assert.match(err, /"weather" is not a full registry name such as io\.github\.acme\/weather/)
      assert.match(err, /Matching servers: io\.github\.acme\/weather/)
      assert.match(
        (yield* run(at, ["add", "nothing", "--registry", address])).err,
        /No server in the registry matches it/
      )
    }))

  it.scopedLive("gives the lines to write into a file of TOML", () =>
    Effect.gen(function*() {
      const at = yield* place
      const toml = at.write(own.replace(/json$/, "toml"), "# mine\n")
      const { code, err, out } = yield* run(at, [
        "add",
        "io.github.acme/weather",
        "--registry",
        yield* registry(),
        "--yes"
      ])
      assert.strictEqual(code, 2)
      assert.match(err, /mcp-client\.toml: only JSON files can be edited\nEdit the file by hand/)
      at.write(own.replace(/json$/, "toml"), `# mine\n${out}`)
      const { out: found } = yield* run(at, ["config", "validate", toml])
      assert.match(found, /^valid: 1 server/)
    }))
})
