import { FileSystem, Path } from "@effect/platform"
import { SystemError } from "@effect/platform/Error"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Layer } from "effect"
import * as DemoConfig from "../../src/demo/DemoConfig.ts"

const file = "/project/.mcp.json"

const read = (text: string) =>
  DemoConfig.read(file).pipe(
    Effect.provide(Layer.merge(FileSystem.layerNoop({ readFileString: () => Effect.succeed(text) }), Path.layer))
  )

const servers = (mcpServers: object) => read(JSON.stringify({ mcpServers }))

describe("DemoConfig", () => {
  it.effect("takes a command for a process in the folder of the file", () =>
    Effect.gen(function*() {
      const [server] = yield* servers({ demo: { command: "node", args: ["server.js"], startupTimeout: "3 seconds" } })
      assert.include(server, { name: "demo", transport: "stdio", command: "node", cwd: "/project" })
      assert.deepStrictEqual(server?.startupTimeout, Duration.seconds(3))
    }))

  it.effect("takes a relative folder from the folder of the file", () =>
    Effect.gen(function*() {
      const [server] = yield* servers({ demo: { command: "node", cwd: "tools" } })
      assert.include(server, { cwd: "/project/tools" })
    }))

  it.effect("takes a URL for Streamable HTTP, unless a type says otherwise", () =>
    Effect.gen(function*() {
      const found = yield* servers({
        a: { url: "https://example.com/mcp" },
        b: { type: "http", url: "https://example.com/mcp" },
        c: { type: "sse", url: "https://example.com/sse" }
      })
      assert.deepStrictEqual(found.map(({ transport }) => transport), ["streamable-http", "streamable-http", "sse"])
    }))

  it.effect("names the entry that cannot be used", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(servers({ good: { command: "node" }, bad: { args: [] } }))
      assert.include(error, { _tag: "ConfigurationError", server: "bad" })
    }))

  it.effect("refuses a server that is called __proto__", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(read(`{ "mcpServers": { "__proto__": { "command": "node" } } }`))
      assert.include(error, { _tag: "ConfigurationError", server: "__proto__", path: "name" })
    }))

  it.effect("refuses what is no file of servers", () =>
    Effect.gen(function*() {
      for (const text of ["", "[]", "{}", `{"mcpServers":[]}`, `{"mcpServers":{"a":1}}`]) {
        const error = yield* Effect.flip(read(text))
        assert.include(error, { _tag: "ConfigurationError", path: file })
      }
    }))

  it.effect("says which file cannot be read", () =>
    Effect.gen(function*() {
      const gone = new SystemError({ module: "FileSystem", method: "readFileString", reason: "NotFound" })
      const error = yield* DemoConfig.read(file).pipe(
        Effect.provide(Layer.merge(FileSystem.layerNoop({ readFileString: () => Effect.fail(gone) }), Path.layer)),
        Effect.flip
      )
      assert.include(error, { _tag: "ConfigurationError", path: file })
    }))
})
